/** What consumers of a master see of messages that no slave has (scenarios 24, 36). */
import { assertEquals } from "@std/assert";
import { cpSync } from "node:fs";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { TcpLink } from "../support/tcp_link.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  caughtUp,
  type PairNode,
  sends,
  startMaster,
  startSlave,
  stopAll,
} from "./pair_site.ts";

const FOUND = 0;
const NOT_FOUND = 19;
const FLUSH_SLAVE_TIMEOUT = 12;

/** Code of a pull of queue 0 at `offset`. */
async function pullCode(node: PairNode, offset: number): Promise<number> {
  const client = await RawClient.open(node.address);
  const { code } = await client.pull("g", "T", 0, offset);
  client.close();
  return code;
}

/** The store as kill -9 leaves it, while `node` goes on. */
function killedCopy(node: PairNode, folder: string): string {
  cpSync(node.folder, folder, { recursive: true });
  return folder;
}

interface Site {
  readonly folder: string;
  readonly master: PairNode;
  readonly slave: PairNode;
  readonly link: TcpLink;
}

/** A pair that has one message; then nothing passes between the nodes. */
async function withLostLink(
  messageVisibleAfter: "" | "replicated",
  run: (site: Site) => Promise<void>,
): Promise<void> {
  await withTempDirectory(async (folder) => {
    const options = {
      broker: { brokerRole: "SYNC_MASTER" },
      store: { messageVisibleAfter },
      ha: { slaveTimeout: 300, haHousekeepingInterval: 60_000 },
    } as const;
    const master = await startMaster(`${folder}/m`, options);
    const link = await TcpLink.open(master.haAddress);
    const slave = await startSlave(`${folder}/s`, master, {
      store: options.store,
      ha: { haMasterAddress: link.address, masterAddress: master.address },
    });
    try {
      await eventually(() =>
        master.controller.ha.service.inSyncSlaveNums === 1
      );
      assertEquals(await sends(master, 1), [0]);
      await caughtUp(master, slave);
      assertEquals(await pullCode(master, 0), FOUND);
      link.blackhole();
      assertEquals(await sends(master, 1), [FLUSH_SLAVE_TIMEOUT]);
      await run({ folder, master, slave, link });
    } finally {
      await link.close();
      await stopAll(slave, master);
    }
  });
}

/** Another life of the master's store. */
async function restarted(
  { folder, master }: Site,
  messageVisibleAfter: "" | "replicated",
): Promise<PairNode> {
  return await startMaster(killedCopy(master, `${folder}/killed`), {
    broker: { brokerRole: "SYNC_MASTER" },
    store: { messageVisibleAfter },
  });
}

test("24, 36: with messageVisibleAfter=replicated nobody sees what no slave has, also after kill -9", () =>
  withLostLink("replicated", async (site) => {
    const { folder, link, master, slave } = site;
    assertEquals(await pullCode(master, 1), NOT_FOUND);
    const again = await restarted(site, "replicated");
    assertEquals(
      again.controller.messageStore.maxPhyOffset,
      master.controller.messageStore.maxPhyOffset,
    );
    assertEquals(await pullCode(again, 0), FOUND);
    assertEquals(await pullCode(again, 1), NOT_FOUND);
    await stopAll(again);
    // Whoever is promoted instead lacks nothing that anybody has consumed.
    const promoted = await startMaster(killedCopy(slave, `${folder}/p`));
    assertEquals(await pullCode(promoted, 0), FOUND);
    assertEquals(await pullCode(promoted, 1), NOT_FOUND);
    await stopAll(promoted);
    link.heal();
    await eventually(async () => await pullCode(master, 1) === FOUND);
    await caughtUp(master, slave);
  }));

test("36: by default a message is seen once it is in the master's log, also one answered with 12", () =>
  withLostLink("", async (site) => {
    assertEquals(await pullCode(site.master, 1), FOUND);
    const again = await restarted(site, "");
    assertEquals(await pullCode(again, 1), FOUND);
    await stopAll(again);
  }));
