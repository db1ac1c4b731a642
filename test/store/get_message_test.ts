import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type {
  GetMessageResult,
  MessageFilter,
} from "../../src/store/get_message_result.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import { javaHashCode } from "../../src/base/java_hash.ts";
import { brokerInner } from "../model/message_fixture.ts";
import {
  bytesOf,
  get,
  messagesOf,
  put,
  StoreSite,
  textOf,
} from "./message_store_fixture.ts";

function tagFilter(tag: string): MessageFilter {
  return { isMatchedByConsumeQueue: (it) => it === javaHashCode(tag) };
}

function pull(
  store: MessageStore,
  offset: number,
  filter: MessageFilter | null = null,
  maxMsgNums = 32,
) {
  return store.getMessage({
    topic: "TopicTest",
    queueId: 3,
    offset,
    maxMsgNums,
    filter,
  });
}

function statusOf(result: GetMessageResult): unknown[] {
  const { status, nextBeginOffset, minOffset, maxOffset } = result;
  return [status, nextBeginOffset, minOffset, maxOffset];
}

test("MessageStore.getMessage() answers by the table of reference 9.2", async () => {
  const store = await new StoreSite().open();
  assertEquals(statusOf(get(store, 0)), ["NO_MATCHED_LOGIC_QUEUE", 0, 0, 0]);
  assertEquals(statusOf(get(store, 7)), ["NO_MATCHED_LOGIC_QUEUE", 0, 0, 0]);
  for (let count = 0; count < 5; count++) put(store);
  assertEquals(statusOf(get(store, 0)), ["FOUND", 5, 0, 5]);
  assertEquals(statusOf(get(store, 5)), ["OFFSET_OVERFLOW_ONE", 5, 0, 5]);
  assertEquals(statusOf(get(store, 9)), ["OFFSET_OVERFLOW_BADLY", 5, 0, 5]);
  assertEquals(statusOf(get(store, -1)), ["OFFSET_TOO_SMALL", 0, 0, 5]);
  const none = pull(store, 1, tagFilter("Other")) as GetMessageResult;
  assertEquals(statusOf(none), ["NO_MATCHED_MESSAGE", 5, 0, 5]);
  assertEquals(none.body.length, 0);
  await store.shutdown();
});

test("A slave keeps the offset where a master corrects it", async () => {
  const site = new StoreSite();
  const master = await site.open();
  for (let count = 0; count < 3; count++) put(master);
  await master.shutdown();
  const slave = await site.open({ brokerRole: "SLAVE" });
  assertEquals(statusOf(get(slave, 9)), ["OFFSET_OVERFLOW_BADLY", 9, 0, 3]);
  slave.reconfigure({ ...slave.options, offsetCheckInSlave: true });
  assertEquals(statusOf(get(slave, 9)), ["OFFSET_OVERFLOW_BADLY", 3, 0, 3]);
  await slave.shutdown();
});

test("MessageStore.getMessage() filters by tag and by properties", async () => {
  const store = await new StoreSite().open();
  for (const tag of ["A", "B", "A", "C"]) {
    put(store, {
      body: bytesOf(tag),
      propertiesText: `TAGS\u0001${tag}\u0002n\u0001${tag}1\u0002`,
      tagsCode: javaHashCode(tag),
    });
  }
  const byTag = pull(store, 0, tagFilter("A")) as GetMessageResult;
  assertEquals(byTag.nextBeginOffset, 4);
  assertEquals(messagesOf(byTag).map((it) => it.queueOffset), [0, 2]);
  const byProperty = pull(store, 0, {
    isMatchedByConsumeQueue: () => true,
    isMatchedByCommitLog: (text) => text.includes("n\u0001B1"),
  }) as GetMessageResult;
  assertEquals(messagesOf(byProperty).map((it) => textOf(it.body)), ["B"]);
  assertEquals(byProperty.messageCount, 1);
  const nothing = pull(store, 0, {
    isMatchedByConsumeQueue: () => true,
    isMatchedByCommitLog: () => false,
  }) as GetMessageResult;
  assertEquals(nothing.status, "NO_MATCHED_MESSAGE");
  await store.shutdown();
});

test("MessageStore.getMessage() goes on behind batches that a filter on properties refuses", async () => {
  const store = await new StoreSite().open();
  for (let count = 0; count < 1_000; count++) {
    put(store, { propertiesText: `n\u0001${count}\u0002` });
  }
  let asked = 0;
  const nth = (wanted: number): MessageFilter => ({
    isMatchedByConsumeQueue: () => true,
    isMatchedByCommitLog: (text) => {
      asked++;
      return text === `n\u0001${wanted}\u0002`;
    },
  });
  const at = (wanted: number, offset: number) => {
    const it = pull(store, offset, nth(wanted)) as GetMessageResult;
    return [it.status, it.nextBeginOffset, it.messageCount];
  };
  assertEquals(at(700, 0), ["FOUND", 704, 1]);
  assertEquals(asked, 704);
  // maxFilterMessageSize bounds what one pull looks at.
  assertEquals(at(900, 0), ["NO_MATCHED_MESSAGE", 800, 0]);
  assertEquals(at(900, 800), ["FOUND", 928, 1]);
  assertEquals(at(2_000, 990), ["NO_MATCHED_MESSAGE", 1_000, 0]);
  await store.shutdown();
});

test("MessageStore.getMessage() keeps the batch limits, and always gives the first", async () => {
  const store = await new StoreSite().open({ maxMessageSize: 4000 });
  for (let count = 0; count < 40; count++) {
    put(store, { body: new Uint8Array(count === 0 ? 3000 : 100) });
  }
  const count = (maxMsgNums: number) =>
    (pull(store, 0, null, maxMsgNums) as GetMessageResult).messageCount;
  assertEquals([count(1), count(5), count(100)], [1, 5, 32]);
  store.reconfigure({
    ...store.options,
    maxTransferBytesOnMessageInMemory: 1000,
  });
  assertEquals(count(32), 1);
  assertEquals((pull(store, 1) as GetMessageResult).messageCount, 4);
  const bytes = store.getMessage({
    topic: "TopicTest",
    queueId: 3,
    offset: 1,
    maxMsgNums: 32,
    maxMsgBytes: 500,
    filter: null,
  }) as GetMessageResult;
  assertEquals(bytes.messageCount, 2);
  await store.shutdown();
});

test("Old records count as on disk: fewer come at once, and a slave is suggested", async () => {
  const site = new StoreSite();
  const store = site.create({ accessMessageInMemoryMaxRatio: 0 });
  await store.load();
  await store.start();
  for (let count = 0; count < 20; count++) put(store);
  const result = get(store, 0);
  assertEquals(result.messageCount, 8);
  assertEquals(result.suggestPullingFromSlave, true);
  await store.shutdown();
});

test("Cold records are read off the loop, a few reads at a time, and come out the same", async () => {
  const site = new StoreSite();
  const store = await site.open({ hotReadBytesMax: 300, coldReadsMax: 1 });
  for (let count = 0; count < 60; count++) {
    put(store, { body: bytesOf(`message ${count}`), queueId: count % 2 });
  }
  let running = 0;
  let runningMax = 0;
  site.disk.faults.readDelayMs = () => {
    running++;
    runningMax = Math.max(runningMax, running);
    site.clock.after(4, () => running--);
    return 5;
  };
  const request = {
    topic: "TopicTest",
    offset: 0,
    maxMsgNums: 30,
    filter: null,
  };
  const pulls = [0, 1].map((queueId) =>
    store.getMessage({ ...request, queueId })
  );
  assert(pulls.every((it) => it instanceof Promise));
  const [even, odd] = await site.clock.complete(Promise.all(pulls));
  assertEquals(
    messagesOf(even!).map((it) => textOf(it.body)),
    Array.from({ length: 30 }, (_, it) => `message ${it * 2}`),
  );
  assertEquals(messagesOf(odd!)[29]!.queueOffset, 29);
  assertEquals(runningMax, 1);
  await store.shutdown();
});

test("A cold read does not delay a sync", async () => {
  const site = new StoreSite();
  const store = await site.open({
    hotReadBytesMax: 0,
    flushDiskType: "SYNC_FLUSH",
  });
  await site.clock.complete(
    Promise.resolve(store.putMessage(brokerInner())),
  );
  site.disk.faults.readDelayMs = () => 5_000;
  const startedMs = site.clock.monotonicMs();
  const cold = Promise.resolve(pull(store, 0));
  const synced = Promise.resolve(store.putMessage(brokerInner()));
  assertEquals((await site.clock.complete(synced)).status, "PUT_OK");
  assert(site.clock.monotonicMs() - startedMs < 100);
  assertEquals((await site.clock.complete(cold)).messageCount, 1);
  await site.clock.complete(store.shutdown());
});

test("Deleted records: the offset is corrected, and a pull between says so", async () => {
  const site = new StoreSite();
  const store = await site.open({
    fileReservedTime: 0,
    cleanResourceInterval: 100,
  });
  for (let count = 0; count < 12; count++) {
    put(store, { body: new Uint8Array(1000) });
  }
  assert(store.commitLog.mappedFileQueue.files.length > 2);
  store.executeDeleteFilesManually();
  await site.pass(store, 1_000);
  assert(store.minPhyOffset > 0);
  assert(store.counters.deletedFileCount > 0);
  const min = store.getMinOffsetInQueue("TopicTest", 3);
  assert(min > 0);
  assertEquals(statusOf(get(store, 0)), ["OFFSET_TOO_SMALL", min, min, 12]);
  assertEquals(get(store, min).status, "FOUND");
  assertEquals(await store.selectOneMessageByOffset(0), undefined);
  await store.shutdown();
  const again = await site.open();
  assertEquals(again.getMinOffsetInQueue("TopicTest", 3), min);
  assertEquals(put(again).queueOffset, 12);
  await again.shutdown();
});

test("Far behind the end units are read off the loop too", async () => {
  const site = new StoreSite();
  const store = await site.open({
    mappedFileSizeCommitLog: 1_048_576,
    mappedFileSizeConsumeQueue: 100_000,
    messageIndexEnable: false,
  });
  for (let count = 0; count < 17_000; count++) put(store);
  await site.pass(store, 100);
  const cold = pull(store, 10);
  assert(cold instanceof Promise);
  const result = await cold;
  assertEquals(statusOf(result), ["FOUND", 42, 0, 17_000]);
  assertEquals(messagesOf(result)[0]!.queueOffset, 10);
  assert(!(pull(store, 16_990) instanceof Promise));
  await store.shutdown();
});
