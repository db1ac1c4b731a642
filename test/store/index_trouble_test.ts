/** Keys are found, or it is said that they are not, whatever happened to the index (scenarios 76, 77, 80). */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import { put, ROOT, StoreSite } from "./message_store_fixture.ts";

function send(store: MessageStore, from: number, to: number, prefix = "k") {
  for (let index = from; index < to; index++) {
    const sent = put(store, {
      propertiesText: `KEYS\u0001${prefix}${index}\u0002` +
        `UNIQ_KEY\u0001U${prefix}${index}\u0002`,
    });
    assertEquals(sent.status, "PUT_OK", sent.reason);
  }
}

/** Queue offsets of what has the key. */
async function find(store: MessageStore, key: string): Promise<number[]> {
  const { records } = await store.queryMessage("TopicTest", key, 32, 0, 1e15);
  return records.map((it) => decodeMessageRecord(it).queueOffset);
}

async function assertFindsAll(
  store: MessageStore,
  from: number,
  to: number,
): Promise<void> {
  for (let index = from; index < to; index++) {
    assertEquals(await find(store, `k${index}`), [index], `k${index}`);
    assertEquals(await find(store, `Uk${index}`), [index], `Uk${index}`);
  }
}

for (const lossless of [true, false]) {
  test(`76: every key is found after ${lossless ? "kill -9" : "a power cut"}`, async () => {
    const site = new StoreSite();
    let store = await site.open();
    let count = 0;
    // Files of the index end, begin, and lie half written at the time.
    for (const more of [5, 40, 31, 70]) {
      send(store, count, count + more);
      count += more;
      if (more % 2 === 0) await site.pass(store, 70_000);
      if (lossless) site.disk.kill();
      else site.disk.crash();
      store = await site.open();
      const end = store.getMaxOffsetInQueue("TopicTest", 3);
      assert(lossless ? end === count : end <= count);
      count = end;
      await assertFindsAll(store, 0, count);
    }
    await store.shutdown();
  });
}

test("77: without a place for its index the store goes on, says so, and leaves no heap of files", async () => {
  const site = new StoreSite();
  const store = await site.open();
  send(store, 0, 20);
  site.disk.faults.failWrite = (path) => path.includes("/index/");
  send(store, 20, 1_020);
  await site.pass(store, 120_000);
  send(store, 1_020, 1_030);
  assert(store.isWritable);
  assertEquals(site.disk.list(`${ROOT}/index`).length, 1);
  assert(store.degradedReason?.includes("index"), `${store.degradedReason}`);
  const told = site.logger.lines.filter((it) => !it.startsWith("info"));
  assert(told.length <= 5, told.join("\n"));
  // Once it has a place it makes up for what it has missed.
  site.disk.faults.failWrite = undefined;
  await site.pass(store, 120_000);
  assertEquals(store.degradedReason, null);
  await assertFindsAll(store, 0, 1_030);
  await store.shutdown();
});

/** A store that makes up for more keys than fit into one tick, at the end of the first slice. */
async function catchingUp(site: StoreSite): Promise<MessageStore> {
  const store = await site.open({ mappedFileSizeCommitLog: 1_048_576 });
  site.disk.faults.failWrite = (path) => path.includes("/index/");
  const body = new Uint8Array(2_000);
  const propertiesText = "KEYS\u0001k\u0002";
  // More than one file takes: entries are missing from the next one on.
  for (let index = 0; index < 100; index++) put(store, { propertiesText });
  while (store.maxPhyOffset < 5 * 1_048_576) put(store, { body });
  for (let index = 0; index < 100; index++) put(store, { propertiesText });
  await site.pass(store, 200);
  assert(store.degradedReason?.includes("index"), `${store.degradedReason}`);
  site.disk.faults.failWrite = undefined;
  while (store.degradedReason !== null) await site.pass(store, 100);
  return store;
}

test("77: the log may lose its first files while the index makes up for what it has missed", async () => {
  const site = new StoreSite();
  const store = await catchingUp(site);
  await store.commitLog.mappedFileQueue.deleteFirstFiles(5);
  await site.pass(store, 1_000);
  const { records } = await store.queryMessage("TopicTest", "k", 32, 0, 1e15);
  assertEquals(records.length, 32);
  await store.shutdown();
});

test("77: the index goes on making up once the log can be read again", async () => {
  const site = new StoreSite();
  const store = await catchingUp(site);
  site.disk.faults.failRead = (path) => path.includes("/commitlog/");
  await site.pass(store, 1_000);
  site.disk.faults.failRead = undefined;
  await site.pass(store, 1_000);
  const { records } = await store.queryMessage("TopicTest", "k", 32, 0, 1e15);
  assertEquals(records.length, 32);
  await store.shutdown();
});

for (const more of [5, 200]) {
  test(`80: an index of another log is given up, with a word; ${more} new messages`, async () => {
    const site = new StoreSite();
    const old = await site.open();
    send(old, 0, 100, "old");
    await old.shutdown();
    // The log was never synced, for all that is known.
    const checkpoint = site.disk.open(`${ROOT}/checkpoint`, "write");
    checkpoint.writeAt(0, new Uint8Array(8));
    checkpoint.close();
    const moved = { storePathCommitLog: "/data/other/commitlog" };
    const store = await site.open(moved);
    const told = site.logger.lines.filter((it) =>
      it.startsWith("warn") && it.includes("ndex")
    );
    assertEquals(told.length, 1, site.logger.lines.join("\n"));
    send(store, 0, more);
    await assertFindsAll(store, 0, more);
    assertEquals(await find(store, "old3"), []);
    await store.shutdown();
    const again = await site.open(moved);
    await assertFindsAll(again, 0, more);
    await again.shutdown();
  });
}
