import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { MessageStore } from "../../src/store/message_store.ts";
import { StoreStartError } from "../../src/store/store_start_error.ts";
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

const LOG = `${ROOT}/commitlog`;
const QUEUE = `${ROOT}/consumequeue/TopicTest/3`;
const FIRST_UNITS = "00000000000000000000";
const MIDDLE_UNITS = "00000000000000000400";
const LOST_END = "error The end of the commit log is lost";

/** Fifty messages, four in each log file, twenty units in each queue file. */
async function stopped(kind: "clean" | "kill" = "clean"): Promise<StoreSite> {
  const site = new StoreSite();
  const store = await site.open();
  for (let sent = 0; sent < 50; sent++) {
    put(store, { body: bytesOf(`m${sent}`.padEnd(800)) });
  }
  await site.pass(store, 61_000);
  if (kind === "kill") {
    for (let sent = 0; sent < 8; sent++) put(store, { queueId: 1 });
    await site.pass(store, 61_000);
  }
  if (kind === "clean") await store.shutdown();
  else site.disk.kill();
  return site;
}

function namesOf(store: MessageStore, offset = 0): string[] {
  const names: string[] = [];
  for (;;) {
    const result = get(store, offset);
    if (result.status !== "FOUND") return names;
    names.push(...messagesOf(result).map((it) => textOf(it.body).trim()));
    offset = result.nextBeginOffset;
  }
}

const named = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, it) => `m${from + it}`);

function shorten(site: StoreSite, path: string, size: number): void {
  const handle = site.disk.open(path, "write");
  handle.truncate(size);
  handle.close();
}

function lastLogFile(site: StoreSite): string {
  return `${LOG}/${site.disk.list(LOG).at(-1)!.name}`;
}

for (const kind of ["clean", "kill"] as const) {
  test(`A queue without a middle file is built again after a ${kind} stop`, async () => {
    const site = await stopped(kind);
    site.disk.remove(`${QUEUE}/${MIDDLE_UNITS}`);
    const store = await site.open();
    assertEquals(namesOf(store), named(0, 50));
    assertEquals(put(store).queueOffset, 50);
    assert(site.logger.lines.some((it) => it.includes("lacks a file")));
    await store.shutdown();
    assert((await verifyStore(site.disk, ROOT)).isSound);
  });
}

test("A stop while a queue is built again leaves it to the next start", async () => {
  const site = await stopped();
  site.disk.remove(`${QUEUE}/${MIDDLE_UNITS}`);
  const { faults } = site.disk;
  faults.failWrite = (path) => path.startsWith(QUEUE);
  await assertRejects(() => site.open());
  faults.failWrite = undefined;
  site.disk.kill();
  const store = await site.open();
  assertEquals(namesOf(store), named(0, 50));
  await store.shutdown();
});

test("A queue without its first file is built again when the log has its records", async () => {
  const site = await stopped();
  site.disk.remove(`${QUEUE}/${FIRST_UNITS}`);
  const store = await site.open();
  assertEquals(store.getMinOffsetInQueue("TopicTest", 3), 0);
  assertEquals(namesOf(store), named(0, 50));
  await store.shutdown();
});

test("After kill -9 a queue that may lack its first file is told of, and verify knows", async () => {
  const site = await stopped("kill");
  site.disk.remove(`${QUEUE}/${FIRST_UNITS}`);
  const store = await site.open();
  assert(store.recoveryReport!.startOffset > 0);
  assert(site.logger.lines.some((it) => it.includes("may lack its first")));
  await store.shutdown();
  const { findings } = await verifyStore(site.disk, ROOT);
  assertEquals(findings.map((it) => it.kind), ["unit-missing"]);
});

test("A queue whose first file went with the log's begins where it did, without a word", async () => {
  const site = await stopped();
  const store = await site.open();
  const { mappedFileQueue } = store.commitLog;
  // Its first record is the first one of the second queue file.
  await mappedFileQueue.deleteFirstFiles(5);
  assertEquals(await store.cleanExpiredConsumeQueue(), 1);
  await store.shutdown();
  site.logger.lines.length = 0;
  const again = await site.open();
  assertEquals(again.getMinOffsetInQueue("TopicTest", 3), 20);
  assertEquals(namesOf(again, 20), named(20, 50));
  assert(!site.logger.lines.some((it) => it.startsWith("warn")));
  await again.shutdown();
});

test("A last log file that is short after a clean stop is no reason to give up the others", async () => {
  const site = await stopped();
  const path = lastLogFile(site);
  shorten(site, path, 1_500);
  const error = await assertRejects(() => site.open(), StoreStartError);
  assert(error.message.includes(`${path}: it has 1500 bytes`), error.message);
  assert(!error.message.includes("smaller name"), error.message);
  assert(error.cure.includes("an empty file named abort"), error.cure);
  site.disk.plant(`${ROOT}/abort`, new Uint8Array(0));
  const store = await site.open();
  assertEquals(namesOf(store), named(0, 49));
  await store.shutdown();
});

test("A middle log file that is short costs what it has lost, and nothing else", async () => {
  const site = await stopped();
  const path = `${LOG}/00000000000000008192`;
  shorten(site, path, 1_500);
  const error = await assertRejects(() => site.open(), StoreStartError);
  assert(error.cure.includes("what is left of it"), error.cure);
  site.disk.plant(`${ROOT}/abort`, new Uint8Array(0));
  const store = await site.open();
  const lost = new Set(named(9, 12));
  const names = namesOf(store);
  const wanted = named(0, 50).filter((it) => !lost.has(it));
  assertEquals(wanted.filter((it) => !names.includes(it)), []);
  await store.shutdown();
});

for (const fault of ["is missing", "is empty", "holds zeros"]) {
  test(`A last log file that ${fault} after a clean stop is told of`, async () => {
    const site = await stopped();
    const path = lastLogFile(site);
    if (fault === "is missing") site.disk.remove(path);
    if (fault === "is empty") shorten(site, path, 0);
    if (fault === "holds zeros") site.disk.plant(path, new Uint8Array(4096));
    const store = await site.open();
    assertEquals(namesOf(store), named(0, 48));
    assert(site.logger.lines.some((it) => it.startsWith(LOST_END)));
    await store.shutdown();
    site.logger.lines.length = 0;
    await (await site.open()).shutdown();
    assert(!site.logger.lines.some((it) => it.startsWith(LOST_END)));
  });
}
