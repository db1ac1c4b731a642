import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import { MessageSysFlag } from "../../src/model/message_sys_flag.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import type { PutMessageResult } from "../../src/store/put_message_result.ts";
import { brokerInner } from "../model/message_fixture.ts";
import {
  bytesOf,
  get,
  messagesOf,
  put,
  ROOT,
  StoreSite,
  textOf,
} from "./message_store_fixture.ts";

function putBatch(store: MessageStore, bodies: readonly string[]) {
  return store.putMessages({
    ...brokerInner(),
    isBatch: true,
    body: encodeMessageBatch(bodies.map((it, index) => ({
      flag: index,
      body: bytesOf(it),
      propertiesText: `TAGS\u0001T${index}\u0002`,
    }))),
  });
}

test("MessageStore.putMessage() stores, numbers and dispatches in one turn", async () => {
  const site = new StoreSite();
  const store = await site.open();
  const heard: unknown[] = [];
  store.messageArrivingListener = (...it) => void heard.push(it.slice(0, 4));
  const first = put(store, { body: bytesOf("one") });
  const second = put(store, { body: bytesOf("two") });
  assertEquals(first.status, "PUT_OK");
  assertEquals([first.queueOffset, second.queueOffset], [0, 1]);
  assertEquals(second.phyOffset, first.phyOffset + first.size);
  assertEquals(heard, [["TopicTest", 3, 1, 2_598_919], [
    "TopicTest",
    3,
    2,
    2_598_919,
  ]]);
  const result = get(store, 0);
  assertEquals(result.status, "FOUND");
  assertEquals(messagesOf(result).map((it) => textOf(it.body)), ["one", "two"]);
  assertEquals(result.nextBeginOffset, 2);
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), 2);
  assertEquals(store.counters.putCount, 2);
  await store.shutdown();
  assertEquals(site.disk.openFiles, 0);
});

test("MessageStore.putMessage() refuses what cannot be a record, with a reason", async () => {
  const store = await new StoreSite().open();
  const cases: [Parameters<typeof put>[1], string][] = [
    [{ topic: "" }, "MESSAGE_ILLEGAL"],
    [{ topic: "t".repeat(128) }, "MESSAGE_ILLEGAL"],
    [{ topic: "%RETRY%" + "t".repeat(249) }, "MESSAGE_ILLEGAL"],
    [{ topic: "漢".repeat(43) }, "MESSAGE_ILLEGAL"],
    [{ body: new Uint8Array(2049) }, "MESSAGE_ILLEGAL"],
    [{ propertiesText: "p".repeat(32_768) }, "MESSAGE_ILLEGAL"],
    [{ propertiesText: "漢".repeat(11_000) }, "PROPERTIES_SIZE_EXCEEDED"],
    [{ propertiesText: "p".repeat(4_000) }, "MESSAGE_ILLEGAL"],
    [{ sysFlag: MessageSysFlag.INNER_BATCH }, "MESSAGE_ILLEGAL"],
    [{ propertiesText: "INNER_NUM\u00012\u0002" }, "MESSAGE_ILLEGAL"],
  ];
  for (const [changes, status] of cases) {
    const result = put(store, changes);
    assertEquals(result.status as string, status);
    assert(result.reason !== undefined && result.reason.length > 10);
    assertEquals([result.phyOffset, result.messageCount], [-1, 0]);
  }
  assertEquals(store.maxPhyOffset, 0);
  const fine = ["t".repeat(127), "%RETRY%" + "t".repeat(248)];
  for (const topic of fine) {
    assertEquals(put(store, { topic }).status, "PUT_OK");
  }
  const exact = put(store, { body: new Uint8Array(2048) });
  assertEquals(exact.status, "PUT_OK");
  await store.shutdown();
  assertEquals(put(store).status, "SERVICE_NOT_AVAILABLE");
});

test("MessageStore refuses writes before the start and on a slave", async () => {
  const site = new StoreSite();
  const store = site.create();
  await store.load();
  assertEquals(put(store).reason, "The store has not started yet");
  await store.shutdown();
  const slave = await new StoreSite().open({ brokerRole: "SLAVE" });
  assertEquals(put(slave).status, "SERVICE_NOT_AVAILABLE");
  assert(slave.unwritableReason!.includes("slave"));
  await slave.shutdown();
});

test("CommitLog ends a file with a blank marker and moves the record on", async () => {
  const store = await new StoreSite().open({ maxMessageSize: 4000 });
  const body = new Uint8Array(1000);
  const results = [1, 2, 3, 4].map(() => put(store, { body }));
  assertEquals(results[3]!.phyOffset, 4096);
  const end = results[2]!.phyOffset + results[2]!.size;
  const marker = new Uint8Array(8);
  store.commitLog.readAt(end, marker);
  const view = new DataView(marker.buffer);
  assertEquals(view.getInt32(0), 4096 - end);
  assertEquals(view.getInt32(4), 0xcbd43194 | 0);
  assertEquals(messagesOf(get(store, 0)).length, 4);
  // A record that leaves exactly the marker's room stays; one byte more moves.
  const overhead = results[0]!.size - 1000;
  const room = 4096 - results[0]!.size - 8 - overhead;
  assertEquals(
    put(store, { body: new Uint8Array(room) }).phyOffset,
    4096 + results[0]!.size,
  );
  assertEquals(put(store).phyOffset, 8192);
  await store.shutdown();
});

test("MessageStore.putMessages() writes one record per entry, all in one file", async () => {
  const store = await new StoreSite().open();
  put(store, { body: new Uint8Array(2000) });
  put(store, { body: new Uint8Array(1000) });
  const result = putBatch(store, ["a".repeat(300), "b".repeat(300), "c"]);
  assert(!(result instanceof Promise));
  assertEquals(result.status, "PUT_OK");
  assertEquals(result.messageCount, 3);
  assertEquals(result.phyOffset, 4096);
  assertEquals(result.phyOffsets!.length, 3);
  const found = messagesOf(get(store, 2));
  assertEquals(found.map((it) => it.phyOffset), [...result.phyOffsets!]);
  assertEquals(found.map((it) => [it.queueOffset, it.flag]), [[2, 0], [3, 1], [
    4,
    2,
  ]]);
  assertEquals(
    found.map((it) => it.propertiesText),
    [0, 1, 2].map((it) => `TAGS\u0001T${it}\u0002`),
  );
  for (const bodies of [[], ["x".repeat(2000), "y".repeat(2000)]]) {
    const refused = putBatch(store, bodies);
    assertEquals((refused as PutMessageResult).status, "MESSAGE_ILLEGAL");
  }
  const torn = store.putMessages({
    ...brokerInner({ body: new Uint8Array(9) }),
    isBatch: true,
  });
  assertEquals((torn as PutMessageResult).status, "MESSAGE_ILLEGAL");
  await store.shutdown();
});

test("A full disk refuses with a reason, shows nothing of the message, and recovers", async () => {
  const site = new StoreSite();
  // Nothing is deleted to make room.
  const store = await site.open({
    cleanFileForciblyEnable: false,
    diskMaxUsedSpaceRatio: 100,
  });
  put(store, { body: bytesOf("before") });
  site.disk.faults.capacityBytes = site.disk.usedBytes;
  const refused: PutMessageResult[] = [];
  while (refused.length === 0) {
    const result = put(store, { body: new Uint8Array(2000).fill(7) });
    if (result.status !== "PUT_OK") refused.push(result);
  }
  assertEquals(refused[0]!.status, "SERVICE_NOT_AVAILABLE");
  assert(!store.isWritable);
  const end = store.maxPhyOffset;
  assertEquals(put(store).status, "SERVICE_NOT_AVAILABLE");
  await site.pass(store, 600);
  assert(!store.isWritable, "no space yet");
  site.disk.faults.capacityBytes = 1e9;
  await site.pass(store, 600);
  assertEquals(store.unwritableReason, null);
  const next = put(store, { body: bytesOf("after") });
  assert(next.phyOffset >= end);
  const messages = messagesOf(get(store, 0));
  assertEquals(textOf(messages.at(-1)!.body), "after");
  assertEquals(messages.length, next.queueOffset + 1);
  await store.shutdown();
  const again = await site.open();
  assertEquals(again.recoveryReport!.corruptRecordCount, 0);
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), messages.length);
  await again.shutdown();
});

test("A store that is removed under its broker takes no more messages", async () => {
  const site = new StoreSite();
  const store = await site.open();
  put(store);
  await site.pass(store, 1_000);
  assertEquals(store.unwritableReason, null);
  const file = `${ROOT}/commitlog/00000000000000000000`;
  site.disk.remove(file);
  site.disk.remove(`${ROOT}/checkpoint`);
  await site.pass(store, 1_000);
  const refused = put(store);
  assertEquals(refused.status, "SERVICE_NOT_AVAILABLE");
  assert(store.unwritableReason?.startsWith(`${file} was removed`));
  await store.shutdown();
  assert(site.disk.stat(`${ROOT}/abort`) !== undefined, "no clean stop");
  assertEquals(site.disk.stat(`${ROOT}/checkpoint`), undefined);
});

test("A write error concerns that put only", async () => {
  const site = new StoreSite();
  const store = await site.open();
  put(store);
  site.disk.faults.failWrite = (path) => path.includes("/commitlog/");
  const failed = put(store);
  assertEquals(failed.status, "SERVICE_NOT_AVAILABLE");
  assert(failed.reason!.includes("commit log"));
  site.disk.faults.failWrite = undefined;
  assertEquals(put(store).queueOffset, 1);
  assertEquals(messagesOf(get(store, 0)).length, 2);
  await store.shutdown();
});

test("A full disk is refused above the warning level before it is full", async () => {
  const site = new StoreSite();
  const store = await site.open();
  put(store);
  site.disk.faults.capacityBytes = site.disk.usedBytes + 2 * 1024 * 1024;
  const used = site.disk.usedBytes / site.disk.faults.capacityBytes * 100;
  store.reconfigure({ ...store.options, diskSpaceWarningLevelRatio: 0 });
  assert(used > 0);
  await site.pass(store, 600);
  assert(store.unwritableReason!.includes("diskSpaceWarningLevelRatio=0"));
  store.reconfigure({ ...store.options, diskSpaceWarningLevelRatio: 90 });
  await site.pass(store, 600);
  assert(store.isWritable);
  await store.shutdown();
});

test("SYNC_FLUSH answers after the sync and groups the puts of a turn", async () => {
  const site = new StoreSite();
  const store = await site.open({ flushDiskType: "SYNC_FLUSH" });
  site.disk.faults.syncDelayMs = () => 5;
  const answers: string[] = [];
  const send = (name: string) => {
    const result = store.putMessage(brokerInner({ body: bytesOf(name) }));
    assert(result instanceof Promise);
    void result.then((it) => answers.push(`${name} ${it.status}`));
  };
  const syncs = () =>
    site.disk.syncCalls.filter((it) =>
      it.kind === "file" && it.path.includes("/commitlog/")
    ).length;
  const before = syncs();
  for (const name of ["a", "b", "c"]) send(name);
  await site.clock.run(1);
  send("d");
  assertEquals(answers, []);
  assertEquals(get(store, 0).status, "NO_MATCHED_LOGIC_QUEUE");
  await site.clock.run(40);
  assertEquals(answers, ["a", "b", "c", "d"].map((it) => `${it} PUT_OK`));
  assertEquals(syncs() - before, 2);
  assertEquals(messagesOf(get(store, 0)).length, 4);
  const free = store.putMessage(brokerInner({ waitStoreMsgOk: false }));
  assertEquals((free as PutMessageResult).status, "PUT_OK");
  await site.clock.run(40);
  assertEquals(store.flushedOffset, store.maxPhyOffset);
  await site.clock.complete(store.shutdown());
});

test("SYNC_FLUSH answers FLUSH_DISK_TIMEOUT at the deadline", async () => {
  const site = new StoreSite();
  const store = await site.open({
    flushDiskType: "SYNC_FLUSH",
    syncFlushTimeout: 300,
    pendingSyncPutsMax: 2,
  });
  site.disk.faults.syncDelayMs = () => 10_000;
  const first = store.putMessage(brokerInner());
  const second = store.putMessage(brokerInner());
  const third = store.putMessage(brokerInner()) as PutMessageResult;
  assertEquals(third.status, "OS_PAGE_CACHE_BUSY");
  await site.pass(store, 400);
  const result = await first;
  assertEquals(result.status, "FLUSH_DISK_TIMEOUT");
  assert(result.reason!.includes("syncFlushTimeout=300"));
  assertEquals((await second).queueOffset, 1);
  assert(store.isWritable);
});

test("A failed sync makes the store read-only for good and is never tried again", async () => {
  const site = new StoreSite();
  const store = await site.open({ flushDiskType: "SYNC_FLUSH" });
  site.disk.faults.failSync = (call) => call.path.includes("/commitlog");
  const result = await store.putMessage(brokerInner());
  assertEquals(result.status, "FLUSH_DISK_TIMEOUT");
  assert(result.reason!.includes("durable"));
  site.disk.faults.failSync = undefined;
  const refused = put(store);
  assertEquals(refused.status, "SERVICE_NOT_AVAILABLE");
  await site.pass(store, 2_000);
  assert(!store.isWritable);
  await site.clock.complete(store.shutdown());
  assert(site.disk.stat("/data/store/abort") !== undefined);
  assert(site.logger.lines.some((it) => it.startsWith("error")));
});

test("ASYNC_FLUSH syncs by pages and by time, and a failure stops writes", async () => {
  const site = new StoreSite();
  const store = await site.open({ mappedFileSizeCommitLog: 65_536 });
  put(store);
  await site.pass(store, 700);
  const flushed = store.flushedOffset;
  put(store, { body: new Uint8Array(100) });
  await site.pass(store, 700);
  assertEquals(store.flushedOffset, flushed, "less than four pages");
  await site.pass(store, 10_000);
  assertEquals(store.flushedOffset, store.maxPhyOffset, "thorough");
  for (let count = 0; count < 9; count++) {
    put(store, { body: new Uint8Array(2000) });
  }
  await site.pass(store, 700);
  assertEquals(store.flushedOffset, store.maxPhyOffset, "four pages");
  site.disk.faults.failSync = () => true;
  put(store);
  await site.pass(store, 11_000);
  assertEquals(put(store).status, "SERVICE_NOT_AVAILABLE");
});

test("Prepared and rolled back messages take no queue offset", async () => {
  const store = await new StoreSite().open();
  const prepared = put(store, {
    sysFlag: MessageSysFlag.TRANSACTION_PREPARED_TYPE,
  });
  const rolledBack = put(store, {
    sysFlag: MessageSysFlag.TRANSACTION_ROLLBACK_TYPE,
  });
  const plain = put(store);
  assertEquals(
    [prepared, rolledBack, plain].map((it) => it.queueOffset),
    [0, 0, 0],
  );
  assertEquals(messagesOf(get(store, 0)).map((it) => it.phyOffset), [
    plain.phyOffset,
  ]);
  await store.shutdown();
});

test("A full disk is told of in one line, and its end in another", async () => {
  const site = new StoreSite();
  const store = await site.open();
  put(store);
  await site.pass(store, 1_000);
  const told = () => site.logger.lines.filter((it) => it.includes("Writes"));
  assertEquals(told(), []);
  // The disk says that there is room, and every write fails: a quota.
  const { disk } = site;
  disk.faults.capacityBytes = disk.usedBytes;
  disk.diskSpace = () => ({ totalBytes: 1e9, freeBytes: 9e8 });
  disk.roomFor = () => 0;
  for (let times = 0; times < 20; times++) {
    put(store, { body: new Uint8Array(2000) });
    await site.pass(store, 500);
  }
  assertEquals(told().length, 1, told().join("\n"));
  assert(told()[0]!.startsWith("error Writes are refused: Cannot write"));
  disk.faults.capacityBytes = Infinity;
  disk.roomFor = (_content, _position, size) => size;
  await site.pass(store, 5_000);
  assertEquals(put(store).status, "PUT_OK");
  assertEquals(told().slice(1), ["info Writes are taken again"]);
  await store.shutdown();
});
