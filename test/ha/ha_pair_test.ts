/** A pair of brokers: what is sent to the master is on the slave, byte for byte. */
import { connect } from "node:net";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  caughtUp,
  logBytes,
  type PairNode,
  sends,
  startMaster,
  startSlave,
  stopAll,
} from "./pair_site.ts";

function sameLogs(master: PairNode, slave: PairNode): void {
  const from = slave.controller.messageStore.minPhyOffset;
  assertEquals(
    Buffer.compare(logBytes(master, from), logBytes(slave, from)),
    0,
  );
}

test("a slave holds the master's bytes over file boundaries, and derives the same queues", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    const slave = await startSlave(`${folder}/s`, master);
    await eventually(() =>
      slave.controller.ha.client.view().state === "TRANSFER"
    );
    const codes = await sends(master, 600);
    assert(codes.every((it) => it === 0));
    await caughtUp(master, slave);
    assert(master.controller.messageStore.maxPhyOffset > 2 * 262_144);
    sameLogs(master, slave);
    for (let queueId = 0; queueId < 4; queueId++) {
      await eventually(() =>
        slave.controller.messageStore.getMaxOffsetInQueue("T", queueId) === 150
      );
    }
    await stopAll(slave, master);
  }));

test("a slave refuses sends with 14 and makes no topic of them", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    const slave = await startSlave(`${folder}/s`, master);
    assertEquals(await sends(slave, 1), [14]);
    const topics = slave.controller.parts.topicConfigManager;
    assertEquals(topics.selectTopicConfig("T"), undefined);
    await stopAll(slave, master);
  }));

test("SYNC_MASTER: 11 without a slave, 0 with one, 12 with one that does not ack", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`, {
      broker: { brokerRole: "SYNC_MASTER" },
    });
    assertEquals(await sends(master, 2), [11, 11]);
    const slave = await startSlave(`${folder}/s`, master);
    await eventually(() => master.controller.ha.service.inSyncSlaveNums === 1);
    const codes = await sends(master, 50);
    assertEquals(codes, new Array(50).fill(0));
    await caughtUp(master, slave);
    sameLogs(master, slave);
    await slave.controller.stop();
    await eventually(() => master.controller.ha.service.inSyncSlaveNums === 0);
    assertEquals(await sends(master, 1), [11]);
    // A peer that reports our exact end counts as a slave, and then falls silent.
    const silent = connect(
      Number(master.haAddress.split(":")[1]),
      "127.0.0.1",
    );
    const report = new DataView(new ArrayBuffer(8));
    report.setBigInt64(
      0,
      BigInt(master.controller.messageStore.maxPhyOffset),
    );
    silent.write(new Uint8Array(report.buffer));
    await eventually(() => master.controller.ha.service.inSyncSlaveNums === 1);
    assertEquals(await sends(master, 3), [12, 12, 12]);
    silent.destroy();
    await eventually(() => master.controller.ha.service.inSyncSlaveNums === 0);
    assertEquals(await sends(master, 1), [11]);
    await stopAll(master);
  }));

test("27: minInSyncReplicas=2, set while it runs, refuses before anything is stored", () =>
  withTempDirectory(async (folder) => {
    const { controller, ...node } = await startMaster(`${folder}/m`, {
      broker: { brokerRole: "SYNC_MASTER" },
    });
    const master = { ...node, controller };
    assertEquals(await sends(master, 1), [11]);
    const { maxPhyOffset } = controller.messageStore;
    assert(maxPhyOffset > 0);
    const { options } = controller;
    controller.reconfigure({
      ...options,
      ha: { ...options.ha, minInSyncReplicas: 2 },
    });
    const client = await RawClient.open(master.address);
    const refused = await client.send("T", 0, new Uint8Array(10));
    client.close();
    assertEquals(refused.code, 1);
    assert(refused.remark!.includes("minInSyncReplicas=2"), refused.remark!);
    assertEquals(controller.messageStore.maxPhyOffset, maxPhyOffset);
    const slave = await startSlave(`${folder}/s`, master);
    await eventually(async () => (await sends(master, 1))[0] === 0);
    await stopAll(slave, master);
  }));

test("a slave that was away catches up, and one follows a master that was restarted", () =>
  withTempDirectory(async (folder) => {
    let master = await startMaster(`${folder}/m`);
    let slave = await startSlave(`${folder}/s`, master);
    await sends(master, 50);
    await caughtUp(master, slave);
    await slave.controller.stop();
    await sends(master, 300);
    slave = await startSlave(`${folder}/s`, master);
    await caughtUp(master, slave);
    sameLogs(master, slave);
    const { listenPort } = master.controller.options.broker;
    await master.controller.stop();
    await eventually(() => slave.controller.ha.client.view().problem !== null);
    master = await startMaster(`${folder}/m`, { broker: { listenPort } });
    await sends(master, 20);
    await caughtUp(master, slave);
    sameLogs(master, slave);
    assertEquals(slave.controller.ha.client.view().problem, null);
    await stopAll(slave, master);
  }));

test("a master that stops hands over what its slave still lacks", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    const slave = await startSlave(`${folder}/s`, master);
    await sends(master, 1);
    await caughtUp(master, slave);
    await sends(master, 500);
    const end = master.controller.messageStore.maxPhyOffset;
    await master.controller.stop();
    assertEquals(slave.controller.messageStore.maxPhyOffset, end);
    await stopAll(slave);
  }));

test("haSyncMode=degrade acknowledges alone after a while, says so, and waits again", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`, {
      broker: { brokerRole: "SYNC_MASTER" },
      ha: { haSyncMode: "degrade", haDegradeAfterMs: 1_000 },
    });
    assertEquals(await sends(master, 1), [11]);
    const { ha } = master.controller;
    await eventually(() => ha.state().state === "degraded");
    assertEquals(await sends(master, 3), [0, 0, 0]);
    const slave = await startSlave(`${folder}/s`, master);
    await eventually(() => ha.state().state === "healthy");
    assertEquals(await sends(master, 3), [0, 0, 0]);
    await caughtUp(master, slave);
    await slave.controller.stop();
    await eventually(() => ha.service.inSyncSlaveNums === 0);
    assertEquals(await sends(master, 1), [11]);
    await stopAll(master);
  }));

test("junk on the replication port costs its own link only", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    const slave = await startSlave(`${folder}/s`, master);
    await sends(master, 5);
    await caughtUp(master, slave);
    await eventually(() => master.controller.ha.service.inSyncSlaveNums === 1);
    const [host, port] = master.haAddress.split(":");
    const probes = Array.from(
      { length: 500 },
      (_, index) =>
        new Promise<void>((resolve) => {
          const socket = connect(Number(port), host!, () => {
            socket.write("GET / HTTP/1.1\r\n\r\n");
            if (index % 2 === 0) socket.resetAndDestroy();
            else socket.end();
          });
          socket.on("error", () => {});
          socket.on("close", () => resolve());
        }),
    );
    await Promise.all(probes);
    const { service } = master.controller.ha;
    await eventually(() => [...service.links].length === 1);
    assertEquals(service.inSyncSlaveNums, 1);
    assertEquals(slave.controller.ha.client.view().reconnects, 0);
    await sends(master, 5);
    await caughtUp(master, slave);
    await stopAll(slave, master);
  }));
