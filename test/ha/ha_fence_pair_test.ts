/** The fence between brokers in this process, without a name server. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { PocketmqRequestCode } from "../../src/protocol/pocketmq_request_code.ts";
import { encodeMetadataVersions } from "../../src/protocol/body/metadata_versions.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  caughtUp,
  type PairNode,
  sends,
  startMaster,
  startSlave,
  stopAll,
} from "./pair_site.ts";

const stateOf = ({ controller }: PairNode) => controller.ha.state().state;

test("a master remembers its slave, and nobody who only says that it is one", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/a`);
    const { metadata, fence } = master.controller;
    const stranger = await RawClient.open(master.address);
    const { code } = await stranger.invoke(
      PocketmqRequestCode.WAIT_METADATA_CHANGE,
      { timeoutMillis: "0", brokerAddr: "10.0.0.66:10911" },
      encodeMetadataVersions(metadata.versions),
    );
    assertEquals(code, 0);
    stranger.close();
    assertEquals(fence.peerAddresses, []);
    const slave = await startSlave(`${folder}/b`, master);
    await eventually(() => fence.peerAddresses.includes(slave.address));
    await eventually(() =>
      slave.controller.fence.peerAddresses.includes(master.address)
    );
    await stopAll(slave, master);
  }));

test("a promotion by force fences the running master, and a third node follows it no more", () =>
  withTempDirectory(async (folder) => {
    const old = await startMaster(`${folder}/a`);
    const slave = await startSlave(`${folder}/b`, old);
    const third = await startSlave(`${folder}/c`, old, {
      broker: { brokerId: 2 },
    });
    await sends(old, 20);
    await caughtUp(old, slave);
    await caughtUp(old, third);
    const known = old.controller.fence;
    await eventually(() => known.peerAddresses.length === 2);
    await eventually(() => slave.controller.fence.peerAddresses.length === 1);
    await slave.controller.roles.promote({ force: true });
    await eventually(() => stateOf(old) === "diverged");
    const codes = await sends(old, 5);
    assertEquals(codes, codes.map(() => 14));
    // A node that goes on following it would look healthy, and get nothing.
    await eventually(() => stateOf(third) === "disconnected", {
      timeoutMs: 10_000,
    });
    assert(old.controller.fence.fencedReason!.includes(slave.address));
    assertEquals([...new Set(await sends(slave, 5))], [0]);
    await stopAll(third, slave, old);
  }));
