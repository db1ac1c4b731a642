import { test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FileError } from "../../src/io/file_system.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import { readStoreCheckpoint } from "../../src/store/store_checkpoint.ts";
import { brokerInner, encodeRecord } from "../model/message_fixture.ts";
import { put, ROOT, SMALL, StoreSite } from "./message_store_fixture.ts";

const SLAVE = { brokerRole: "SLAVE", brokerId: 1 } as const;
const FILE_SIZE = SMALL.mappedFileSizeCommitLog;

test("An empty log begins elsewhere although its first file is there", async () => {
  const site = new StoreSite();
  const store = await site.open(SLAVE);
  const record = encodeRecord(brokerInner(), 0, 0, 1_700_000_000_000);
  site.disk.faults.failWrite = (path) => path.includes("/commitlog/");
  assertThrows(() => store.appendToCommitLog(0, record), FileError);
  assertEquals(store.maxPhyOffset, 0);
  site.disk.faults.failWrite = undefined;
  const begin = 3 * FILE_SIZE;
  const later = encodeRecord(brokerInner(), 7, begin, 1_700_000_000_000);
  assertEquals(store.appendToCommitLog(begin, later), true);
  assertEquals(store.minPhyOffset, begin);
  assertEquals(store.maxPhyOffset, begin + later.length);
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 8);
  assertEquals(
    site.disk.list(`${ROOT}/commitlog`).map((it) => it.name),
    [String(begin).padStart(20, "0")],
  );
  await store.shutdown();
  site.disk.crash();
  const again = await site.open(SLAVE);
  assertEquals(again.maxPhyOffset, begin + later.length);
  await again.shutdown();
});

test("A log that cannot be read holds dispatch up, and lets it go on", async () => {
  const site = new StoreSite();
  const store = await site.open(SLAVE);
  const record = encodeRecord(brokerInner(), 0, 0, 1_700_000_000_000);
  site.disk.faults.failRead = (path) => path.includes("/commitlog/");
  assertEquals(store.appendToCommitLog(0, record), true);
  store.tick(site.clock.nowMs());
  assert(store.degradedReason?.includes("Cannot read"));
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 0);
  site.disk.faults.failRead = undefined;
  store.tick(site.clock.nowMs());
  assertEquals(store.degradedReason, null);
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 1);
  assertEquals(put(store).status, "SERVICE_NOT_AVAILABLE");
  await store.shutdown();
});

/** A record of a master's log. */
function recordAt(phyOffset: number, queueOffset = 0): Uint8Array {
  const message = brokerInner();
  return encodeRecord(message, queueOffset, phyOffset, 1_700_000_000_000);
}

for (const flushDiskType of ["SYNC_FLUSH", "ASYNC_FLUSH"] as const) {
  test(`An empty log whose first file cannot be made goes on later: ${flushDiskType}`, async () => {
    const site = new StoreSite();
    const store = await site.open({ ...SLAVE, flushDiskType });
    const begin = 3 * FILE_SIZE;
    // So that the folder is there, as after a re-seeding.
    site.disk.createDirectory(`${ROOT}/commitlog`);
    site.disk.faults.isReadOnly = true;
    assertThrows(() => store.appendToCommitLog(begin, recordAt(begin)));
    // Dispatch must not look for what was never there.
    store.tick(site.clock.nowMs());
    assertEquals([store.flushedOffset, store.maxPhyOffset], [0, 0]);
    assertEquals(store.dispatchBehindBytes, 0);
    site.disk.faults.isReadOnly = false;
    assertEquals(store.appendToCommitLog(begin, recordAt(begin)), true);
    await site.pass(store, 200);
    assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 1);
    await store.shutdown();
  });
}

test("A log that begins within a file is dispatched from there although its first append failed", async () => {
  const site = new StoreSite();
  const store = await site.open(SLAVE);
  const begin = 3 * FILE_SIZE + 500;
  const record = recordAt(begin, 7);
  site.disk.faults.failWrite = (path) => path.includes("/commitlog/");
  assertThrows(() => store.appendToCommitLog(begin, record), FileError);
  site.disk.faults.failWrite = undefined;
  assertEquals(store.appendToCommitLog(begin, record), true);
  assertEquals(store.degradedReason, null);
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 8);
  await store.shutdown();
});

test("A sync that fails for a slave's report stops the store as every other", async () => {
  const site = new StoreSite();
  const store = await site.open(SLAVE);
  store.appendToCommitLog(0, recordAt(0));
  site.disk.faults.failSync = ({ kind }) => kind === "directory";
  await assertRejects(() => store.replicaLog.flush(), FileError);
  site.disk.faults.failSync = undefined;
  assert(store.replicaLog.unappendableReason?.includes("restart after"));
  await store.shutdown();
  assertEquals((await site.open(SLAVE)).lastExitOk, false);
});

/** Appends to `slave` what `master` has beyond it. */
function follow(master: MessageStore, slave: MessageStore): void {
  while (slave.maxPhyOffset < master.maxPhyOffset) {
    const from = slave.maxPhyOffset;
    const size = Math.min(
      master.maxPhyOffset - from,
      FILE_SIZE - from % FILE_SIZE,
    );
    const bytes = new Uint8Array(size);
    assertEquals(master.replicaLog.read(from, bytes), true);
    assertEquals(slave.appendToCommitLog(from, bytes), true);
  }
}

/** A master and its slave with the same `fileCount` files, the last ones `freshFiles` unsaved. */
async function slaveOf(fileCount: number, freshFiles: number) {
  const [masterSite, site] = [new StoreSite(1), new StoreSite(2)];
  const master = await masterSite.open();
  const store = await site.open(SLAVE);
  const grow = async (end: number) => {
    while (master.maxPhyOffset < end) {
      put(master, { body: new Uint8Array(1_000) });
      await masterSite.clock.run(50);
      await site.clock.run(50);
    }
    follow(master, store);
  };
  await grow((fileCount - freshFiles) * FILE_SIZE);
  await site.pass(store, 61_000); // Queues, index and checkpoint are durable.
  await grow(fileCount * FILE_SIZE);
  await site.pass(store, 1_000);
  return { site, store, master, grow };
}

for (const how of ["kill", "crash"] as const) {
  test(`31: a slave with 200 files scans only the last ones after a ${how}`, async () => {
    const { site, store } = await slaveOf(200, 5);
    const end = store.maxPhyOffset;
    site.disk[how]();
    const again = await site.open(SLAVE);
    const { recordCount, startOffset } = again.recoveryReport!;
    assertEquals(again.maxPhyOffset, end);
    assert(startOffset >= end - 30 * FILE_SIZE, `from ${startOffset}`);
    assert(recordCount < 120, `${recordCount} records`);
    await again.shutdown();
  });
}

test("31: a slave that was stopped scans its last file, however many there are", async () => {
  const counts: number[] = [];
  for (const fileCount of [10, 200]) {
    const { site, store } = await slaveOf(fileCount, 2);
    await store.shutdown();
    const again = await site.open(SLAVE);
    counts.push(again.recoveryReport!.recordCount);
    await again.shutdown();
  }
  assert(counts[1]! <= counts[0]! + 1, `${counts}`);
  assert(counts[1]! <= 4, `${counts}`);
});

test("A master's clock that was set back takes the slave's checkpoint back with it", async () => {
  const site = new StoreSite();
  const store = await site.open(SLAVE);
  const timestampMs = 1_700_000_000_000;
  const append = (queueOffset: number, storeTimestamp: number) => {
    const at = store.maxPhyOffset;
    const record = encodeRecord(brokerInner(), queueOffset, at, storeTimestamp);
    assertEquals(store.appendToCommitLog(at, record), true);
  };
  const noted = () => {
    const path = `${ROOT}/checkpoint`;
    const values = readStoreCheckpoint(site.disk, path)!;
    return Math.min(values.physicMsgTimestamp, values.logicsMsgTimestamp);
  };
  append(0, timestampMs);
  await site.pass(store, 61_000);
  assertEquals(noted(), timestampMs - 1);
  append(1, timestampMs - 3_600_000);
  await site.pass(store, 1_000);
  assertEquals(noted(), timestampMs - 3_600_000);
  const isTold = (it: string) => it.includes("clock of the master");
  assertEquals(site.logger.lines.filter(isTold).length, 1);
  await store.shutdown();
});
