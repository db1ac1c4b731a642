import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { FileError } from "../../src/io/file_system.ts";
import { readDeletedTopics } from "../../src/store/deleted_topics.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import { verifyStore } from "../../src/store/store_verify.ts";
import {
  bytesOf,
  get,
  messagesOf,
  put,
  ROOT,
  StoreSite,
  textOf,
} from "./message_store_fixture.ts";

const FILE = `${ROOT}/config/deletedTopics.json`;
const QUEUES = [0, 1, 2];

function fill(store: MessageStore, text: string, queueIds = QUEUES): void {
  for (const queueId of queueIds) {
    for (let n = 0; n < 3; n++) {
      put(store, { queueId, body: bytesOf(`${text}${n}`) });
    }
  }
}

/** What consumers get of each queue. */
function textsOf(store: MessageStore): string[][] {
  return QUEUES.map((queueId) => {
    const offset = store.getMinOffsetInQueue("TopicTest", queueId);
    const result = get(store, offset, queueId);
    if (result.status !== "FOUND") return [];
    return messagesOf(result).map((it) => textOf(it.body));
  });
}

const NEW = ["new0", "new1", "new2"];

for (const stop of ["kill", "crash", "clean stop"] as const) {
  test(`A topic that was deleted and made again has only its new records after a ${stop}`, async () => {
    const site = new StoreSite();
    const store = await site.open();
    fill(store, "old");
    await store.deleteTopics(["TopicTest"]);
    assertEquals(store.topics(), []);
    fill(store, "new", [1]);
    assertEquals(textsOf(store), [[], NEW, []]);
    await store.commitLog.flush();
    if (stop === "clean stop") await store.shutdown();
    else site.disk[stop]();
    const again = await site.open();
    assertEquals(textsOf(again), [[], NEW, []]);
    assertEquals(again.getMaxOffsetInQueue("TopicTest", 0), 0);
    assertEquals(put(again, { queueId: 0 }).queueOffset, 0);
    assertEquals(put(again, { queueId: 1 }).queueOffset, 3);
    await again.shutdown();
  });
}

test("A deleted topic stays deleted when its records are dispatched again from the whole log", async () => {
  const site = new StoreSite();
  const store = await site.open();
  fill(store, "old");
  await store.deleteTopics(["TopicTest"]);
  put(store, { topic: "Other", queueId: 0 });
  site.disk.kill();
  site.disk.remove(`${ROOT}/checkpoint`);
  const again = await site.open();
  assertEquals(again.topics(), ["Other"]);
  await again.shutdown();
  const result = await verifyStore(site.disk, ROOT);
  assertEquals(result.findings, []);
});

test("Records that were not visible yet when their topic was deleted never become so", async () => {
  const site = new StoreSite();
  const store = await site.open({ messageVisibleAfter: "flush" });
  fill(store, "old");
  await store.deleteTopics(["TopicTest"]);
  fill(store, "new", [1]);
  await store.commitLog.flush();
  store.tick(site.clock.nowMs());
  assertEquals(textsOf(store), [[], NEW, []]);
  site.disk.kill();
  const again = await site.open({ messageVisibleAfter: "flush" });
  assertEquals(textsOf(again), [[], NEW, []]);
  await again.shutdown();
});

test("Queue files that come back after a power cut are not believed", async () => {
  const site = new StoreSite();
  const store = await site.open();
  fill(store, "old");
  store.tick(site.clock.nowMs());
  const path = (queueId: number) =>
    `${ROOT}/consumequeue/TopicTest/${queueId}/00000000000000000000`;
  const old = [0, 1].map((it) => site.disk.readFile(path(it)));
  await store.deleteTopics(["TopicTest"]);
  fill(store, "new", [1]);
  site.disk.kill();
  old.forEach((bytes, queueId) => site.disk.plant(path(queueId), bytes));
  const again = await site.open();
  assertEquals(textsOf(again), [[], NEW, []]);
  await again.shutdown();
});

test("Where the log was lost, its offsets count again", async () => {
  const site = new StoreSite();
  const store = await site.open();
  fill(store, "old");
  const { maxPhyOffset } = store;
  await store.deleteTopics(["TopicTest"]);
  assertEquals(
    readDeletedTopics(site.disk, ROOT).get("TopicTest"),
    maxPhyOffset,
  );
  site.disk.kill();
  site.disk.plant(`${ROOT}/commitlog/00000000000000000000`, new Uint8Array(4));
  site.disk.remove(`${ROOT}/checkpoint`);
  const again = await site.open();
  fill(again, "new", [1]);
  assertEquals(textsOf(again), [[], NEW, []]);
  site.disk.kill();
  const third = await site.open();
  assertEquals(textsOf(third), [[], NEW, []]);
  await third.shutdown();
});

test("A deletion is forgotten when the log begins behind it; unknown topics leave no trace", async () => {
  const site = new StoreSite();
  const store = await site.open();
  await store.deleteTopics(["Unknown"]);
  assertEquals(site.disk.stat(FILE), undefined);
  put(store, { topic: "A" });
  await store.deleteTopics(["A"]);
  for (let n = 0; n < 8; n++) put(store, { body: new Uint8Array(900) });
  await store.commitLog.mappedFileQueue.deleteFirstFiles(1);
  assertEquals([...readDeletedTopics(site.disk, ROOT).keys()], ["A"]);
  await store.deleteTopics(["TopicTest"]);
  assertEquals([...readDeletedTopics(site.disk, ROOT).keys()], ["TopicTest"]);
  await store.shutdown();
});

test("A broken list of deletions does not keep the store from starting", async () => {
  const site = new StoreSite();
  const store = await site.open();
  fill(store, "old");
  await store.deleteTopics(["TopicTest"]);
  fill(store, "new", [1]);
  await store.shutdown();
  for (const text of ["", "{}", `{"minPhyOffsets":{"T":-1}}`]) {
    site.disk.remove(FILE);
    if (site.disk.stat(`${FILE}.bak`)) site.disk.remove(`${FILE}.bak`);
    site.disk.plant(FILE, bytesOf(text));
    assertEquals([...readDeletedTopics(site.disk, ROOT)], []);
    const again = await site.open();
    assertEquals(textsOf(again)[1], NEW);
    await again.shutdown();
  }
  assert(site.logger.lines.some((it) => it.includes("deletedTopics.json")));
});

test("A deletion that failed, or is on its way, is not answered as done when it is asked for again", async () => {
  const site = new StoreSite();
  const store = await site.open();
  fill(store, "old");
  site.disk.faults.failSync = (it) => it.path.includes("deletedTopics");
  const ask = () => store.deleteTopics(["TopicTest"]);
  for (let times = 0; times < 2; times++) await assertRejects(ask, FileError);
  site.disk.faults.failSync = undefined;
  await Promise.all([ask(), ask()]);
  site.disk.kill();
  const again = await site.open();
  assertEquals(again.topics(), []);
  await again.shutdown();
});
