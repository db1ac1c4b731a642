import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { FileError } from "../../src/io/file_system.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import {
  bytesOf,
  messagesOf,
  put,
  StoreSite,
  textOf,
} from "./message_store_fixture.ts";

const ALL_COLD = {
  mappedFileSizeCommitLog: 1_048_576,
  mappedFileSizeConsumeQueue: 100_000,
  hotReadBytesMax: 0,
};
const QUEUES = 8;

/** Fills eight queues in turn; gives the count of cold reads since. */
function fill(site: StoreSite, store: MessageStore, count: number) {
  for (let number = 0; number < count; number++) {
    put(store, {
      body: bytesOf(`message ${number} `.padEnd(1_000)),
      queueId: number % QUEUES,
    });
  }
  const reads = { count: 0, delayMs: 5 };
  site.disk.faults.readDelayMs = () => {
    reads.count++;
    return reads.delayMs;
  };
  return reads;
}

async function numbersOf(
  site: StoreSite,
  store: MessageStore,
  queueId: number,
  offset = 0,
): Promise<number[]> {
  const pull = store.getMessage({
    topic: "TopicTest",
    queueId,
    offset,
    maxMsgNums: 32,
    filter: null,
  });
  const result = await site.clock.complete(Promise.resolve(pull));
  return messagesOf(result).map((it) => Number(textOf(it.body).split(" ")[1]));
}

function wanted(queueId: number, offset = 0): number[] {
  return Array.from(
    { length: 32 },
    (_, it) => (offset + it) * QUEUES + queueId,
  );
}

test("Readers of interleaved queues share what one cold read brings", async () => {
  const site = new StoreSite();
  const store = await site.open(ALL_COLD);
  const reads = fill(site, store, 600);
  const all = await Promise.all(
    Array.from({ length: QUEUES }, (_, it) => numbersOf(site, store, it)),
  );
  all.forEach((numbers, queueId) => assertEquals(numbers, wanted(queueId)));
  assert(reads.count <= 3, `${reads.count} reads`);
  await store.shutdown();
});

test("The block at the end of the log is read again once it has grown", async () => {
  const site = new StoreSite();
  const store = await site.open(ALL_COLD);
  fill(site, store, 120);
  assertEquals(await numbersOf(site, store, 0), wanted(0).slice(0, 15));
  const reads = fill(site, store, 160);
  assertEquals((await numbersOf(site, store, 0, 15)).length, 20);
  assert(reads.count > 0);
  await store.shutdown();
});

test("A failed cold read is not remembered", async () => {
  const site = new StoreSite();
  const store = await site.open(ALL_COLD);
  fill(site, store, 600);
  site.disk.faults.failRead = () => true;
  await assertRejects(() => numbersOf(site, store, 1), FileError);
  site.disk.faults.failRead = () => false;
  assertEquals(await numbersOf(site, store, 1), wanted(1));
  await store.shutdown();
});

test("More readers than blocks all come to their end", async () => {
  const site = new StoreSite();
  const store = await site.open({ ...ALL_COLD, coldReadsMax: 1 });
  const reads = fill(site, store, 6_400);
  const offsets = Array.from({ length: 24 }, (_, it) => it * 32);
  const all = await Promise.all(
    offsets.map((offset) => numbersOf(site, store, 3, offset)),
  );
  all.forEach((numbers, at) => assertEquals(numbers, wanted(3, offsets[at])));
  assert(reads.count <= 60, `${reads.count} reads for 24 pulls`);
  await store.shutdown();
});
