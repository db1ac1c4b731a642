import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { isLogHead } from "../../src/store/log_file_check.ts";
import { StoreStartError } from "../../src/store/store_start_error.ts";
import { bytesOf, get, put, ROOT, StoreSite } from "./message_store_fixture.ts";

const FIRST = `${ROOT}/commitlog/00000000000000000000`;
const SECOND = `${ROOT}/commitlog/00000000000000004096`;

test("isLogHead() takes records, whole or torn, and zeros", () => {
  const head = [0, 0, 4, 0x41, 0xda, 0xa3, 0x20, 0xa7];
  for (let size = 0; size <= head.length; size++) {
    const bytes = new Uint8Array(8);
    bytes.set(head.slice(0, size));
    assert(isLogHead(bytes), `${size} bytes`);
  }
  for (const magic of [[0xda, 0xa3, 0x20, 0xab], [0xcb, 0xd4, 0x31, 0x94]]) {
    assert(isLogHead(Uint8Array.of(0, 0, 0, 99, ...magic)));
  }
  for (
    const other of ["not a log", "{}      ", "\u0000\u0000\u0000\u0001abcd"]
  ) {
    assert(!isLogHead(bytesOf(other).subarray(0, 8)), other);
  }
  assert(!isLogHead(Uint8Array.of(0x80, 0, 0, 1, 0xda, 0xa3, 0x20, 0xa7)));
});

test("A file that is no log keeps the store from starting and stays as it is", async () => {
  for (const isClean of [true, false]) {
    const site = new StoreSite();
    const text = bytesOf("not a log");
    site.disk.plant(FIRST, text);
    if (!isClean) site.disk.plant(`${ROOT}/abort`, bytesOf("1"));
    const error = await assertRejects(() => site.open(), StoreStartError);
    assert(error.message.includes(FIRST), error.message);
    assert(error.message.includes("no file of a RocketMQ log"));
    assert(error.cure.includes("Move it out"), error.cure);
    assertEquals(site.disk.readFile(FIRST), text);
    assertEquals(site.disk.openFiles, 0);
    site.disk.remove(FIRST);
    const store = await site.open();
    assertEquals(put(store).phyOffset, 0);
    await store.shutdown();
  }
});

test("A foreign file behind those of a log keeps the store from starting", async () => {
  const site = new StoreSite();
  const store = await site.open();
  put(store);
  await store.shutdown();
  const foreign = new Uint8Array(4096).fill(0x41);
  site.disk.plant(SECOND, foreign);
  await assertRejects(() => site.open(), StoreStartError, SECOND);
  assertEquals(site.disk.readFile(SECOND), foreign);
});

test("A damaged head of a file that holds records is passed over", async () => {
  const site = new StoreSite();
  const store = await site.open();
  for (let n = 0; n < 12; n++) put(store, { body: new Uint8Array(900) });
  await store.shutdown();
  site.disk.plant(SECOND, bytesOf("damaged!"));
  const again = await site.open();
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), 12);
  await again.shutdown();
});

for (const stop of ["clean stop", "unclean stop"] as const) {
  test(`What begins with zeros and holds no record is kept aside after a ${stop}`, async () => {
    const site = new StoreSite();
    const bytes = new Uint8Array(4096);
    bytes.set(bytesOf("something"), 1000);
    site.disk.plant(FIRST, bytes);
    if (stop !== "clean stop") site.disk.plant(`${ROOT}/abort`, bytesOf("1"));
    const store = await site.open();
    assertEquals(site.disk.readFile(`${FIRST}.aside`), bytes);
    assertEquals(put(store).phyOffset, 0);
    await store.shutdown();
    assert(site.logger.lines.some((it) => it.includes("set aside")));
  });
}

test("A first record that a power cut has torn does not keep the store from starting", async () => {
  const site = new StoreSite();
  const store = await site.open();
  const { size } = put(store, { body: new Uint8Array(900).fill(7) });
  const whole = site.disk.readFile(FIRST);
  site.disk.kill();
  for (const kept of [2, 4, 5, 7, 8, 90, size - 1]) {
    const torn = whole.slice();
    torn.fill(0, kept);
    site.disk.plant(FIRST, torn);
    const again = await site.open();
    assertEquals(again.maxPhyOffset, 0);
    assertEquals(get(again, 0).status === "FOUND", false);
    site.disk.kill();
  }
});

test("A log file that was cut keeps the store from starting, and no size is advised", async () => {
  const site = new StoreSite();
  const store = await site.open();
  for (let n = 0; n < 6; n++) put(store, { body: new Uint8Array(900) });
  await store.shutdown();
  const cut = async (path: string, size: number) => {
    const handle = site.disk.open(path, "write");
    handle.truncate(size);
    handle.close();
    const error = await assertRejects(() => site.open(), StoreStartError);
    assert(error.message.includes(`${path}: it has ${size} bytes`));
    assert(error.message.includes("mappedFileSizeCommitLog is 4096"));
    assert(!error.cure.includes(String(size)), error.cure);
    assert(error.cure.includes("Restore this file"), error.cure);
  };
  await cut(FIRST, 2048);
  // As Apache leaves it: nothing but the names tells the size.
  site.disk.remove(`${ROOT}/checkpoint`);
  await cut(FIRST, 1024);
  site.disk.remove(SECOND);
  await cut(FIRST, 1000);
});
