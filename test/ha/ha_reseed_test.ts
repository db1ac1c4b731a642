/** Slaves that cannot follow: they begin anew by themselves, or by one command. */
import { cpSync, existsSync } from "node:fs";
import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { HAReseedError } from "../../src/broker/ha_reseed.ts";
import { listAsideFolders } from "../../src/store/store_aside.ts";
import { setStoreAside } from "../../src/store/store_reseed.ts";
import type { FileSystem } from "../../src/io/file_system.ts";
import { dumpStore } from "../../src/store/store_dump.ts";
import { runtime } from "../broker/broker_site.ts";
import { eventually } from "../support/eventually.ts";
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

const FILE_SIZE = 262_144;

/** The real files, but for some calls. */
function filesWith(changes: Partial<FileSystem>): FileSystem {
  const { fileSystem } = runtime;
  return new Proxy(fileSystem, {
    get: (_, name) => {
      const change = changes[name as keyof FileSystem];
      const call = change ?? fileSystem[name as keyof FileSystem];
      return (call as (...them: unknown[]) => unknown).bind(fileSystem);
    },
  });
}

/** The offsets of all records in the log of a store. */
async function recordsIn(path: string): Promise<number[]> {
  const offsets: number[] = [];
  for await (const item of dumpStore(runtime.fileSystem, path)) {
    assertEquals(item.kind, "record");
    if (item.kind === "record") offsets.push(item.message.phyOffset);
  }
  return offsets;
}

function asidesOf(node: PairNode) {
  const { options } = node.controller.messageStore;
  return listAsideFolders(runtime.fileSystem, options);
}

/** Both logs and queues are the same from the slave's first byte on. */
async function isEqual(master: PairNode, slave: PairNode): Promise<void> {
  await caughtUp(master, slave);
  const from = slave.controller.messageStore.minPhyOffset;
  assertEquals(
    Buffer.compare(logBytes(master, from), logBytes(slave, from)),
    0,
  );
  for (let queueId = 0; queueId < 4; queueId++) {
    const [theirs, own] = [master, slave].map((it) =>
      it.controller.messageStore.getMaxOffsetInQueue("T", queueId)
    );
    assertEquals(own, theirs);
  }
}

/** A master whose first files are gone, and a slave's folder that ends below them. */
async function leftBehind(folder: string): Promise<PairNode> {
  const master = await startMaster(`${folder}/m`);
  const slave = await startSlave(`${folder}/s`, master);
  await sends(master, 20);
  await caughtUp(master, slave);
  await slave.controller.stop();
  await sends(master, 600);
  const { mappedFileQueue } = master.controller.messageStore.commitLog;
  await mappedFileQueue.deleteFirstFiles(2);
  return master;
}

test("a slave below its master's first byte begins anew by itself (rows 11, 12)", () =>
  withTempDirectory(async (folder) => {
    const master = await leftBehind(folder);
    // The default bootstrap would begin at the newest file.
    const slave = await startSlave(`${folder}/s`, master);
    await eventually(() =>
      slave.controller.isReady &&
      slave.controller.messageStore.minPhyOffset === 2 * FILE_SIZE
    );
    await isEqual(master, slave);
    await eventually(() => slave.controller.ha.state().state === "healthy");
    const [aside, ...others] = asidesOf(slave);
    assertEquals(others, []);
    assertEquals(aside!.note?.kind, "reseed");
    assertEquals((await recordsIn(aside!.path)).length, 20);
    const lines = slave.logger.lines.filter((it) =>
      it.includes("begins anew from its master's oldest byte")
    );
    assertEquals(lines.length, 1);
    assert(lines[0]!.includes("the master's begins at 524288"), lines[0]);
    assert(lines[0]!.includes(aside!.path), lines[0]);
    await stopAll(slave, master);
  }));

test("with haAutoReseed off it waits for the command, and says so", () =>
  withTempDirectory(async (folder) => {
    const master = await leftBehind(folder);
    const slave = await startSlave(`${folder}/s`, master, {
      ha: { haAutoReseed: false },
    });
    await eventually(() =>
      slave.controller.ha.state().reason?.includes(
        'haAutoReseed is off: run "pocketmq ha reseed"',
      )
    );
    assertEquals(slave.controller.ha.state().state, "needs-reseed");
    assertEquals(asidesOf(slave), []);
    const report = await slave.controller.reseed.reseed(false);
    assertEquals(report.action, "reseed");
    assertEquals(report.minOffset, 0);
    assert(report.reason.includes("the master's begins at 524288"));
    await isEqual(master, slave);
    assertEquals((await recordsIn(report.asideDirectory!)).length, 20);
    await stopAll(slave, master);
  }));

test("a slave killed while it begins anew goes on from its master's first byte", () =>
  withTempDirectory(async (folder) => {
    const master = await leftBehind(folder);
    let slave = await startSlave(`${folder}/s`, master, {
      ha: { haAutoReseed: false, haMasterAddress: "127.0.0.1:1" },
    });
    const { options, maxPhyOffset } = slave.controller.messageStore;
    await slave.controller.stop();
    await setStoreAside(
      { ...runtime, logger: slave.logger },
      options,
      { reason: "it was killed behind this", maxOffset: maxPhyOffset },
    );
    slave = await startSlave(`${folder}/s`, master);
    await caughtUp(master, slave);
    assertEquals(
      slave.controller.messageStore.minPhyOffset,
      2 * FILE_SIZE,
    );
    await isEqual(master, slave);
    await stopAll(slave, master);
  }));

/** A master that lost its last messages, with its slave that has them: both stopped. */
async function shorterMaster(folder: string, lost: number): Promise<number> {
  let master = await startMaster(`${folder}/m`);
  let slave = await startSlave(`${folder}/s`, master);
  await sends(master, 20);
  await caughtUp(master, slave);
  const end = master.controller.messageStore.maxPhyOffset;
  await stopAll(slave, master);
  cpSync(`${folder}/m`, `${folder}/old`, { recursive: true });
  master = await startMaster(`${folder}/m`);
  slave = await startSlave(`${folder}/s`, master);
  await sends(master, lost);
  await caughtUp(master, slave);
  await stopAll(slave, master);
  return end;
}

test("a slave longer than its master is cut by one command, and loses nothing (rows 19, 20)", () =>
  withTempDirectory(async (folder) => {
    const end = await shorterMaster(folder, 30);
    const master = await startMaster(`${folder}/old`, {
      broker: { brokerRole: "SYNC_MASTER" },
    });
    let slave = await startSlave(`${folder}/s`, master);
    await eventually(() =>
      slave.controller.ha.state().reason?.includes(`cuts this log at ${end}`)
    );
    assertEquals(slave.controller.ha.state().state, "diverged");
    const report = await slave.controller.reseed.reseed(false);
    assertEquals(report.action, "cut");
    assertEquals(report.minOffset, end);
    assertEquals((await recordsIn(report.asideDirectory!)).length, 30);
    assertEquals((await recordsIn(`${folder}/s`)).length, 20);
    assert(existsSync(`${report.asideDirectory}/aside.json`));
    await isEqual(master, slave);
    // What was cut does not come back with a restart.
    await stopAll(slave);
    slave = await startSlave(`${folder}/s`, master);
    await isEqual(master, slave);
    await eventually(() => slave.controller.ha.state().state === "healthy");
    assertEquals(await sends(master, 10), Array(10).fill(0));
    await isEqual(master, slave);
    assertEquals((await recordsIn(`${folder}/s`)).length, 30);
    await stopAll(slave, master);
  }));

test("a slave with other bytes copies its master's log, and keeps its own aside", () =>
  withTempDirectory(async (folder) => {
    await shorterMaster(folder, 30);
    const master = await startMaster(`${folder}/old`, {
      broker: { brokerRole: "SYNC_MASTER" },
    });
    assertEquals(await sends(master, 40), Array(40).fill(11));
    const slave = await startSlave(`${folder}/s`, master);
    const reason = await eventually(() => {
      const { reason } = slave.controller.ha.state();
      return reason?.includes("keeps this store aside") ? reason : "";
    });
    // No 0 until it is resolved.
    assertEquals(await sends(master, 2), [11, 11]);
    assert(reason.includes("differ from"), reason);
    const report = await slave.controller.reseed.reseed(false);
    assertEquals(report.action, "reseed");
    await isEqual(master, slave);
    assertEquals(slave.controller.messageStore.minPhyOffset, 0);
    assertEquals((await recordsIn(report.asideDirectory!)).length, 50);
    await stopAll(slave, master);
  }));

test("what need not or must not be re-seeded is refused with a sentence", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    const slave = await startSlave(`${folder}/s`, master);
    await sends(master, 5);
    await caughtUp(master, slave);
    await assertRejects(
      () => master.controller.reseed.reseed(true),
      HAReseedError,
      "Only a slave is re-seeded: this broker is a master",
    );
    await assertRejects(
      () => slave.controller.reseed.reseed(true),
      HAReseedError,
      "Replication is healthy",
    );
    await stopAll(slave, master);
  }));

test("without room the old data stays, unless somebody gives it up", () =>
  withTempDirectory(async (folder) => {
    const master = await leftBehind(folder);
    const slave = await startSlave(`${folder}/s`, master, {
      fileSystem: filesWith({
        diskSpace: () => ({ totalBytes: 20_000_000, freeBytes: 2_100_000 }),
      }),
    });
    const reason = await eventually(() => {
      const { reason } = slave.controller.ha.state();
      return reason?.includes("100000 are left") ? reason : "";
    });
    assert(reason.includes("--force"), reason);
    await assertRejects(
      () => slave.controller.reseed.reseed(false),
      HAReseedError,
      "There is no room",
    );
    assertEquals(slave.controller.messageStore.minPhyOffset, 0);
    const report = await slave.controller.reseed.reseed(true);
    assertEquals(report.asideDirectory, null);
    await isEqual(master, slave);
    assertEquals(asidesOf(slave), []);
    await stopAll(slave, master);
  }));

test("a surgery that fails leaves the old store, and a broker that runs", () =>
  withTempDirectory(async (folder) => {
    const master = await leftBehind(folder);
    const slave = await startSlave(`${folder}/s`, master, {
      fileSystem: filesWith({
        rename: (from: string, to: string) => {
          if (to.includes("/aside/") && from.endsWith("/commitlog")) {
            throw new Error("the device says no");
          }
          runtime.fileSystem.rename(from, to);
        },
      }),
    });
    const reason = await eventually(() => {
      if (!slave.controller.isReady) return "";
      const { reason } = slave.controller.ha.state();
      return reason?.includes("the device says no") ? reason : "";
    });
    assert(reason.includes("the last attempt failed"), reason);
    assertEquals(slave.controller.messageStore.minPhyOffset, 0);
    await assertRejects(
      () => slave.controller.reseed.reseed(false),
      HAReseedError,
      "Nothing has changed",
    );
    assert(slave.controller.isReady);
    await stopAll(slave, master);
  }));
