import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { FileError } from "../../src/io/file_system.ts";
import { MessageStore } from "../../src/store/message_store.ts";
import { StoreStartError } from "../../src/store/store_start_error.ts";
import { brokerInner, encodeRecord } from "../model/message_fixture.ts";
import {
  bytesOf,
  get,
  messagesOf,
  put,
  ROOT,
  StoreSite,
  textOf,
} from "./message_store_fixture.ts";

const FIRST = `${ROOT}/commitlog/00000000000000000000`;

function textsOf(store: MessageStore, queueId = 3): string[] {
  const texts: string[] = [];
  for (let offset = store.getMinOffsetInQueue("TopicTest", queueId);;) {
    const result = get(store, offset, queueId);
    if (result.status !== "FOUND") return texts;
    texts.push(...messagesOf(result).map((it) => textOf(it.body)));
    offset = result.nextBeginOffset;
  }
}

/** A store with `count` messages, `m0` and on, one in each kilobyte. */
async function filled(site: StoreSite, count: number): Promise<MessageStore> {
  const store = await site.open();
  for (let sent = 0; sent < count; sent++) {
    put(store, {
      body: bytesOf(`m${sent}`.padEnd(900)),
      propertiesText: `UNIQ_KEY\u0001K${sent}\u0002`,
    });
  }
  return store;
}

const named = (count: number) =>
  Array.from({ length: count }, (_, it) => `m${it}`.padEnd(900));

test("A clean stop removes abort, keeps all, and the next offsets go on", async () => {
  const site = new StoreSite();
  const store = await filled(site, 10);
  assertEquals(
    textOf(site.disk.readFile(`${ROOT}/abort`)),
    "0",
    "the pid of a host that is not given",
  );
  await store.shutdown();
  assertEquals(site.disk.stat(`${ROOT}/abort`), undefined);
  assertEquals(textOf(site.disk.readFile(`${ROOT}/lock`)), "lock");
  const again = await site.open();
  assertEquals(again.lastExitOk, true);
  assertEquals(textsOf(again), named(10));
  assertEquals(put(again).queueOffset, 10);
  const { startOffset, recordCount } = again.recoveryReport!;
  assertEquals([startOffset, recordCount], [8192, 2], "only the last file");
  await again.shutdown();
  assertEquals(site.disk.openFiles, 0);
});

test("A record that begins exactly at the end of the queues is dispatched after a clean stop", async () => {
  const site = new StoreSite();
  const store = await filled(site, 2);
  const end = store.maxPhyOffset;
  await store.shutdown();
  const late = brokerInner({ body: bytesOf("late") });
  site.disk.plant(FIRST, encodeRecord(late, 2, end, 1_790_000_000_000), end);
  const again = await site.open();
  assertEquals(textsOf(again), [...named(2), "late"]);
  await again.shutdown();
});

test("After kill -9 everything in the page cache is there, without any tick", async () => {
  const site = new StoreSite();
  await filled(site, 10);
  site.disk.kill();
  const again = await site.open();
  assertEquals(again.lastExitOk, false);
  assertEquals(textsOf(again), named(10));
  assertEquals(again.flushedOffset, again.maxPhyOffset);
  await again.shutdown();
});

test("A torn tail is cut, unreadable, and its queue offset is used again", async () => {
  const site = new StoreSite();
  const store = await filled(site, 3);
  const third = put(store, { body: bytesOf("torn") });
  site.disk.kill();
  const torn = third.phyOffset + third.size - 5;
  site.disk.plant(FIRST, new Uint8Array(5), torn);
  const again = await site.open();
  assertEquals(again.maxPhyOffset, third.phyOffset);
  const file = site.disk.readFile(FIRST);
  assertEquals(file.length, 4096);
  assert(file.subarray(third.phyOffset).every((it) => it === 0));
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), 3);
  assertEquals(put(again, { body: bytesOf("next") }).queueOffset, 3);
  assertEquals(textsOf(again), [...named(3), "next"]);
  await again.shutdown();
});

test("A log cut by hand takes its queue units with it", async () => {
  const site = new StoreSite();
  const store = await filled(site, 6);
  await store.shutdown();
  const last = `${ROOT}/commitlog/00000000000000004096`;
  const record = site.disk.readFile(last);
  site.disk.plant(last, new Uint8Array(600), 1400);
  assert(record.length === 4096);
  const again = await site.open();
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), 5);
  assertEquals(textsOf(again), named(5));
  assertEquals(put(again, { body: bytesOf("new") }).queueOffset, 5);
  assertEquals(textsOf(again), [...named(5), "new"]);
  await again.shutdown();
});

for (const kind of ["clean stop", "kill"] as const) {
  test(`Lost queue files are built again from the log after a ${kind}`, async () => {
    const site = new StoreSite();
    const store = await filled(site, 30);
    for (let sent = 0; sent < 30; sent++) {
      put(store, { queueId: 1, body: bytesOf(`m${sent}`.padEnd(900)) });
    }
    if (kind === "kill") site.disk.kill();
    else await store.shutdown();
    const folder = `${ROOT}/consumequeue/TopicTest/3`;
    site.disk.remove(`${folder}/00000000000000000400`);
    if (kind === "clean stop") {
      const zeroed = `${ROOT}/consumequeue/TopicTest/1/00000000000000000400`;
      site.disk.plant(zeroed, new Uint8Array(400));
    }
    const again = await site.open();
    assertEquals(textsOf(again, 3), named(30));
    assertEquals(textsOf(again, 1), named(30));
    assertEquals(put(again).queueOffset, 30);
    await again.shutdown();
  });
}

test("A flipped byte in an old file is passed over, counted, and the rest is served", async () => {
  const site = new StoreSite();
  const store = await filled(site, 12);
  await site.pass(store, 61_000);
  for (let sent = 12; sent < 20; sent++) {
    put(store, { body: bytesOf(`m${sent}`.padEnd(900)) });
  }
  site.disk.kill();
  site.disk.plant(
    `${ROOT}/commitlog/00000000000000004096`,
    Uint8Array.of(1),
    100,
  );
  // Without queues the whole log is read again.
  site.disk.remove(`${ROOT}/consumequeue/TopicTest/3/00000000000000000000`);
  const again = await site.open();
  assertEquals(again.recoveryReport!.corruptRecordCount, 1);
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), 20);
  const left = named(20).filter((_, index) => index !== 4);
  const found: string[] = [];
  for (let offset = 0; offset < 20; offset++) {
    const result = get(again, offset);
    if (result.status !== "FOUND") continue;
    found.push(textOf(messagesOf(result)[0]!.body));
  }
  assertEquals([...new Set(found)], left);
  await again.shutdown();
});

test("Foreign files are ignored, an empty last file goes, an empty middle one is an error", async () => {
  const site = new StoreSite();
  const store = await filled(site, 6);
  await store.shutdown();
  for (const folder of ["commitlog", "consumequeue", "index"]) {
    site.disk.plant(`${ROOT}/${folder}/.DS_Store`, bytesOf("junk"));
    site.disk.plant(`${ROOT}/${folder}/00000000000000000000.tmp`, bytesOf(""));
    site.disk.plant(`${ROOT}/${folder}/notes.txt`, new Uint8Array(0));
    site.disk.createDirectory(`${ROOT}/${folder}/lost+found`);
  }
  site.disk.plant(`${ROOT}/commitlog/00000000000000008192`, new Uint8Array(0));
  const again = await site.open();
  assertEquals(textsOf(again), named(6));
  assertEquals(
    site.disk.stat(`${ROOT}/commitlog/00000000000000008192`),
    undefined,
  );
  const told = site.logger.lines.filter((it) => it.includes("Foreign"));
  assertEquals(told.length, 3, "one for each folder");
  await again.shutdown();
  const middle = site.disk.open(FIRST, "write");
  middle.truncate(0);
  middle.close();
  const error = await assertRejects(() => site.open(), StoreStartError);
  assert(error.message.includes(FIRST), error.message);
  assert(error.cure.length > 10);
});

test("Sizes of an existing store win, unless somebody has set another by hand", async () => {
  const site = new StoreSite();
  await (await filled(site, 6)).shutdown();
  const other = {
    mappedFileSizeCommitLog: 65_536,
    mappedFileSizeConsumeQueue: 6_000_000,
    maxHashSlotNum: 100,
    maxIndexNum: 400,
  };
  const store = await site.open(other);
  assertEquals(store.options.mappedFileSizeCommitLog, 4096);
  assertEquals(store.options.mappedFileSizeConsumeQueue, 400);
  assertEquals(store.options.maxIndexNum, 64);
  assertEquals(textsOf(store), named(6));
  store.reconfigure({ ...store.options, ...other });
  assertEquals(store.options.mappedFileSizeCommitLog, 4096);
  await store.shutdown();
  // Without our own record of it, as in a store of Apache.
  const checkpoint = site.disk.readFile(`${ROOT}/checkpoint`);
  site.disk.plant(`${ROOT}/checkpoint`, new Uint8Array(4096 - 40), 40);
  assertEquals(checkpoint.length, 4096);
  const plain = await site.open(other);
  assertEquals(plain.options.mappedFileSizeCommitLog, 4096);
  assertEquals(plain.options.mappedFileSizeConsumeQueue, 400);
  await plain.shutdown();
  const error = await assertRejects(
    () => site.open({ ...other, explicitKeys: ["mappedFileSizeCommitLog"] }),
    StoreStartError,
  );
  assertEquals([error.key, error.value], ["mappedFileSizeCommitLog", "65536"]);
  assert(error.cure.includes("mappedFileSizeCommitLog=4096"));
});

test("A store in use, or in a folder that cannot be written, does not start", async () => {
  const site = new StoreSite();
  const store = await site.open();
  const inUse = await assertRejects(() => site.open(), StoreStartError);
  assert(inUse.message.includes("in use by another process"));
  assertEquals([inUse.key, inUse.value], ["storePathRootDir", ROOT]);
  await store.shutdown();
  site.disk.faults.isReadOnly = true;
  const readOnly = await assertRejects(() => site.open(), StoreStartError);
  assert(readOnly.message.includes("cannot be written"));
  site.disk.faults.isReadOnly = false;
  await (await site.open()).shutdown();
});

test("67: a lock file that was left is no obstacle, one of another user is named at once", async () => {
  const site = new StoreSite();
  const path = `${ROOT}/lock`;
  for (const left of ["lock", "", "12345 of a process that is gone"]) {
    await filled(site, 1);
    site.disk.kill();
    site.disk.remove(path);
    site.disk.plant(path, bytesOf(left));
    await (await site.open()).shutdown();
  }
  const { disk } = site;
  disk.lock = () => {
    throw new FileError(`Cannot lock ${path}: EACCES`, "denied", path);
  };
  const error = await assertRejects(() => site.open(), StoreStartError);
  assert(error.message.includes(`${path}: EACCES`), error.message);
  assert(error.cure.includes("change its owner"));
});

for (const folder of ["", "/commitlog", "/config", "/consumequeue", "/index"]) {
  test(`A store whose folder .${folder} belongs to another user does not start`, async () => {
    const site = new StoreSite();
    await (await filled(site, 3)).shutdown();
    site.disk.createDirectory(`${ROOT}/config`);
    const path = `${ROOT}${folder}`;
    site.disk.faults.denyFolder = (it) => it === path;
    const error = await assertRejects(() => site.open(), StoreStartError);
    assert(
      error.message.includes(`its folder ${path} cannot be written (EACCES`),
      error.message,
    );
    site.disk.faults.denyFolder = undefined;
    await (await site.open()).shutdown();
  });
}

test("Queues without a log, and without a checkpoint of one, are removed, and everything begins at 0", async () => {
  const site = new StoreSite();
  await (await filled(site, 3)).shutdown();
  site.disk.remove(FIRST);
  site.disk.remove(`${ROOT}/checkpoint`);
  const store = await site.open();
  assertEquals(store.topics(), []);
  const result = put(store, {
    propertiesText: "UNIQ_KEY\u0001K\u0002",
    body: bytesOf("new"),
  });
  assertEquals([result.queueOffset, result.phyOffset], [0, 0]);
  const found = await store.queryMessage("TopicTest", "K", 1, 0, 1e15);
  assertEquals(found.records.length, 1);
  await store.shutdown();
});

test("A clock that jumps forward and back does not keep the store from starting", async () => {
  const site = new StoreSite();
  const store = await filled(site, 6);
  await store.shutdown();
  site.clock.advance(10 * 365 * 86_400_000);
  const future = await site.open();
  put(future, { body: bytesOf("future") });
  await site.pass(future, 61_000);
  await future.shutdown();
  const past = new StoreSite();
  const disk = site.disk;
  const store2 = new MessageStore({
    fileSystem: disk,
    clock: past.clock,
    random: past.random,
    logger: past.logger,
  }, store.options);
  await store2.load();
  await store2.start();
  put(store2, { body: bytesOf("past") });
  for (let sent = 0; sent < 9; sent++) {
    put(store2, { body: new Uint8Array(900) });
  }
  disk.kill();
  const again = await site.open();
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), 17);
  assertEquals(textsOf(again).slice(6, 8), ["future", "past"]);
  await again.shutdown();
});

test("Records of the millisecond of the last sync, but behind it, are a torn tail and no damage", async () => {
  const site = new StoreSite();
  const store = await site.open();
  await site.pass(store, 60_000);
  await site.clock.run(100);
  put(store, { body: bytesOf("synced") });
  store.tick(site.clock.nowMs());
  while (store.lastCheckpointTimestamp === 0) await Promise.resolve();
  const torn = put(store, { body: bytesOf("torn") });
  put(store, { body: bytesOf("behind") });
  site.disk.kill();
  site.disk.plant(FIRST, new Uint8Array(torn.size), torn.phyOffset);
  const again = await site.open();
  assertEquals(again.recoveryReport!.corruptRecordCount, 0);
  assertEquals(textsOf(again), ["synced"]);
  await again.shutdown();
});

test("A flipped byte costs one record after a clean stop, also when all queues are gone", async () => {
  const site = new StoreSite();
  await (await filled(site, 12)).shutdown();
  const { disk } = site;
  disk.plant(`${ROOT}/commitlog/00000000000000004096`, Uint8Array.of(1), 100);
  disk.remove(`${ROOT}/consumequeue/TopicTest/3/00000000000000000000`);
  const again = await site.open();
  assertEquals(again.recoveryReport!.corruptRecordCount, 1);
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), 12);
  await again.shutdown();
});
