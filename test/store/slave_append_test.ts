import { test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { FileError } from "../../src/io/file_system.ts";
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
