import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { test } from "node:test";
import { FileError } from "../../src/io/file_system.ts";
import { MessageSysFlag } from "../../src/model/message_sys_flag.ts";
import type { DispatchRequest } from "../../src/store/dispatch_request.ts";
import { indexFileName, indexGeometryOf } from "../../src/store/index_files.ts";
import { indexKeyHash } from "../../src/store/index_key.ts";
import { IndexService } from "../../src/store/index_service.ts";
import { StoreCheckpoint } from "../../src/store/store_checkpoint.ts";
import { StoreFileError } from "../../src/store/store_file_error.ts";
import { MemoryFileSystem, MemoryLogger } from "./memory_file_system.ts";
import { dispatchRequest, keyedProperties } from "./store_support.ts";

const START_MS = 1_790_000_000_000;

interface Opened {
  index: IndexService;
  checkpoint: StoreCheckpoint;
  logger: MemoryLogger;
  rebuildFrom: number;
}

function open(
  fileSystem: MemoryFileSystem,
  { lastExitOk = true, slots = 64, entries = 1_000 } = {},
): Opened {
  const logger = new MemoryLogger();
  const checkpoint = new StoreCheckpoint(
    fileSystem,
    "/store/checkpoint",
    logger,
  );
  checkpoint.load();
  const index = new IndexService(
    { fileSystem, clock: { nowMs: () => START_MS }, logger, checkpoint },
    {
      storePathRootDir: "/store",
      maxHashSlotNum: slots,
      maxIndexNum: entries,
      maxMsgsNumBatch: 64,
    },
  );
  const { rebuildFrom } = index.load(lastExitOk);
  return { index, checkpoint, logger, rebuildFrom };
}

/** Record n: 100 bytes at n * 100, stored at START_MS + n seconds, with key `k<n>`. */
function record(n: number, key = `k${n}`, keys = ""): DispatchRequest {
  return dispatchRequest({
    phyOffset: n * 100,
    storeTimestamp: START_MS + n * 1000,
    propertiesText: keyedProperties(key, keys),
  });
}

function build(index: IndexService, from: number, to: number): void {
  for (let n = from; n < to; n++) index.buildIndex(record(n));
  index.endBatch();
}

async function find(index: IndexService, key: string, maxNum = 64) {
  const result = await index.queryOffset(
    "T",
    key,
    maxNum,
    0,
    Number.MAX_SAFE_INTEGER,
  );
  return result.phyOffsets;
}

async function stop({ index, checkpoint }: Opened): Promise<void> {
  await index.flush();
  await checkpoint.flush();
  index.close();
}

async function assertFindsAll(index: IndexService, count: number) {
  for (let n = 0; n < count; n++) {
    const found = await find(index, `k${n}`);
    assert(found.includes(n * 100), `k${n}: ${found}`);
  }
}

test("indexKeyHash() agrees with the reference's vector and Java's abs", () => {
  assertEquals(
    indexKeyHash("TopicTest", "7F0000010BEE18B4AAC20000"),
    1728198292,
  );
  assertEquals(1728198292 % 5_000_000, 3198292);
});

test("indexFileName() is the local time in 17 digits", () => {
  const at = new Date(2026, 0, 2, 3, 4, 5, 6).getTime();
  assertEquals(indexFileName(at), "20260102030405006");
});

test("IndexService writes header, slot and entry where Apache reads them", async () => {
  const fileSystem = new MemoryFileSystem();
  const opened = open(fileSystem);
  opened.index.buildIndex(record(7, "A"));
  opened.index.buildIndex(record(9, "A"));
  await stop(opened);
  const name = fileSystem.list("/store/index")[0]!.name;
  assertEquals(name, indexFileName(START_MS));
  const bytes = fileSystem.bytes(`/store/index/${name}`);
  assertEquals(bytes.length, 40 + 64 * 4 + 1_000 * 20);
  const view = new DataView(bytes.buffer);
  const hash = indexKeyHash("T", "A");
  assertEquals(
    [0, 8, 16, 24].map((it) => Number(view.getBigInt64(it))),
    [START_MS + 7_000, START_MS + 9_000, 700, 900],
  );
  assertEquals([view.getInt32(32), view.getInt32(36)], [1, 3]);
  assertEquals(view.getInt32(40 + (hash % 64) * 4), 2);
  const entry = 40 + 64 * 4 + 2 * 20;
  assertEquals(view.getInt32(entry), hash);
  assertEquals(Number(view.getBigInt64(entry + 4)), 900);
  assertEquals(view.getInt32(entry + 12), 2);
  assertEquals(view.getInt32(entry + 16), 1);
});

test("IndexService files UNIQ_KEY and each word of KEYS, once each", async () => {
  const { index } = open(new MemoryFileSystem());
  index.buildIndex(record(1, "u1", "red  blue"));
  index.buildIndex(record(2, "same", "same"));
  index.buildIndex(dispatchRequest({ phyOffset: 300 }));
  assertEquals(await find(index, "u1"), [100]);
  assertEquals(await find(index, "red"), [100]);
  assertEquals(await find(index, "blue"), [100]);
  assertEquals(await find(index, ""), []);
  assertEquals(await find(index, "same"), [200]);
  assertEquals(index.files[0]?.header.indexCount, 5);
});

test("IndexService files prepared records but no rollbacks", async () => {
  const { index } = open(new MemoryFileSystem());
  const flags = [
    MessageSysFlag.TRANSACTION_PREPARED_TYPE,
    MessageSysFlag.TRANSACTION_COMMIT_TYPE,
    MessageSysFlag.TRANSACTION_ROLLBACK_TYPE,
  ];
  flags.forEach((sysFlag, n) =>
    index.buildIndex({ ...record(n, "tx"), sysFlag })
  );
  assertEquals(await find(index, "tx"), [100, 0]);
});

test("IndexService.queryOffset() obeys maxNum and time, newest first", async () => {
  const { index } = open(new MemoryFileSystem());
  for (let n = 0; n < 200; n++) index.buildIndex(record(n, "same"));
  assertEquals(await find(index, "same", 3), [19900, 19800, 19700]);
  assertEquals((await find(index, "same", 1_000)).length, 64);
  const result = await index.queryOffset(
    "T",
    "same",
    64,
    START_MS + 5_000,
    START_MS + 7_000,
  );
  assertEquals(result, {
    phyOffsets: [700, 600, 500],
    indexLastUpdateTimestamp: START_MS + 199_000,
    indexLastUpdatePhyoffset: 19900,
  });
});

test("IndexService skips records that it has", async () => {
  const { index } = open(new MemoryFileSystem());
  build(index, 0, 10);
  build(index, 0, 10);
  // The last one may have been filed in part: it is filed again, and found once.
  assertEquals(index.files[0]?.header.indexCount, 12);
  assertEquals(await find(index, "k9"), [900]);
});

test("IndexService rolls to a new file that inherits the end of the full one", async () => {
  const fileSystem = new MemoryFileSystem();
  const opened = open(fileSystem, { entries: 11 });
  build(opened.index, 0, 35);
  const names = fileSystem.list("/store/index").map((it) => it.name);
  assertEquals(names.length, 4);
  assertEquals(names, [...names].sort());
  await assertFindsAll(opened.index, 35);
  await stop(opened);
  const again = open(fileSystem, { entries: 11 });
  assertEquals(again.rebuildFrom, 3500);
  await assertFindsAll(again.index, 35);
  assertEquals(again.index.files[1]?.header.beginPhyOffset, 1000);
});

test("IndexService.deleteExpired() removes files below the log's start, never the last", async () => {
  const fileSystem = new MemoryFileSystem();
  const { index } = open(fileSystem, { entries: 11 });
  build(index, 0, 35);
  assertEquals(await index.deleteExpired(900), 0);
  assertEquals(await index.deleteExpired(901), 1);
  assertEquals(await index.deleteExpired(1_000_000), 2);
  assertEquals(index.files.length, 1);
  assertEquals(fileSystem.list("/store/index").length, 1);
});

test("IndexService keeps after an unclean stop what flush() made durable", async () => {
  const fileSystem = new MemoryFileSystem();
  const first = open(fileSystem);
  build(first.index, 0, 50);
  await first.index.flush();
  await first.checkpoint.flush();
  build(first.index, 50, 80);
  // Killed here: entries of 50..79 are in the file, slots and header are not.
  const again = open(fileSystem, { lastExitOk: false });
  assertEquals(again.rebuildFrom, 5_000);
  build(again.index, 50, 80);
  await assertFindsAll(again.index, 80);
});

test("IndexService repairs slots that ran ahead of the header", async () => {
  const fileSystem = new MemoryFileSystem();
  const first = open(fileSystem, { slots: 8 });
  build(first.index, 0, 50);
  await first.index.flush();
  await first.checkpoint.flush();
  build(first.index, 50, 80);
  // The kernel wrote slots of the next flush, then the power went.
  const { slots } = first.index.files[0]!;
  slots.writePages(slots.dirtyPages(), 0, 1_000_000, (it) => it);
  const intact = open(fileSystem, { lastExitOk: false, slots: 8 });
  await assertFindsAll(intact.index, 50);
  assertEquals(await find(intact.index, "k60"), []);
  intact.index.close();
  // The same, and the entries behind the count are lost: all slots are computed anew.
  const path = first.index.files[0]!.file.path;
  const bytes = fileSystem.bytes(path);
  bytes.fill(0, 40 + 8 * 4 + 51 * 20);
  fileSystem.put(path, bytes);
  const broken = open(fileSystem, { lastExitOk: false, slots: 8 });
  await assertFindsAll(broken.index, 50);
  assertEquals(broken.index.files[0]?.header.hashSlotCount, 8);
  build(broken.index, 50, 80);
  await assertFindsAll(broken.index, 80);
});

test("IndexService deletes after an unclean stop what Apache left unfinished, and says so", async () => {
  const fileSystem = new MemoryFileSystem();
  const first = open(fileSystem, { entries: 11 });
  build(first.index, 0, 35);
  await stop(first);
  // Apache sets this only when a file is full.
  first.checkpoint.indexMsgTimestamp = START_MS + 19_000;
  await first.checkpoint.flush();
  const again = open(fileSystem, { lastExitOk: false, entries: 11 });
  assertEquals(again.index.files.length, 2);
  assertEquals(again.rebuildFrom, 1900);
  assertEquals(again.logger.count("warn"), 2);
  build(again.index, 19, 35);
  await assertFindsAll(again.index, 35);
});

test("IndexService rebuilds everything when the folder was lost", async () => {
  const fileSystem = new MemoryFileSystem();
  const first = open(fileSystem);
  build(first.index, 0, 5);
  await stop(first);
  fileSystem.remove(first.index.files[0]!.file.path);
  for (const lastExitOk of [true, false]) {
    assertEquals(open(fileSystem, { lastExitOk }).rebuildFrom, 0);
  }
});

test("IndexService.load() knows of records without keys through the checkpoint", async () => {
  const fileSystem = new MemoryFileSystem();
  const first = open(fileSystem);
  build(first.index, 0, 5);
  for (let n = 5; n < 1_000; n++) {
    first.index.buildIndex(dispatchRequest({ phyOffset: n * 100 }));
  }
  await stop(first);
  assertEquals(open(fileSystem, { lastExitOk: false }).rebuildFrom, 100_000);
});

test("IndexService.truncateDirty() forgets records that the log lost", async () => {
  const fileSystem = new MemoryFileSystem();
  const first = open(fileSystem, { slots: 8, entries: 21 });
  build(first.index, 0, 50);
  await first.index.truncateDirty(3_050);
  await first.checkpoint.flush();
  assertEquals(first.index.files.length, 2);
  assertEquals(await find(first.index, "k31"), []);
  await assertFindsAll(first.index, 31);
  // Other records come to lie there.
  for (let n = 31; n < 60; n++) first.index.buildIndex(record(n, `new${n}`));
  assertEquals(await find(first.index, "new40"), [4_000]);
  await stop(first);
  const again = open(fileSystem, {
    lastExitOk: false,
    slots: 8,
    entries: 21,
  });
  await assertFindsAll(again.index, 31);
  assertEquals(await find(again.index, "new59"), [5_900]);
});

test("IndexService.truncateDirty() resets an index that is ahead of a new log, with a warning", async () => {
  const fileSystem = new MemoryFileSystem();
  const first = open(fileSystem);
  build(first.index, 10, 50);
  await stop(first);
  const again = open(fileSystem);
  await again.index.truncateDirty(0);
  assertEquals(again.logger.count("warn"), 1);
  assertEquals(again.index.files.length, 0);
  build(again.index, 0, 3);
  await assertFindsAll(again.index, 3);
});

test("IndexService marks itself off when no file can be made, after three tries", async () => {
  const fileSystem = new MemoryFileSystem();
  let tries = 0;
  fileSystem.fail = (operation, path) => {
    if (operation !== "open" || !path.includes("/index/")) return undefined;
    tries += 1;
    return new FileError("Denied", "denied", path);
  };
  const { index, logger } = open(fileSystem);
  build(index, 3, 1_003);
  assertEquals(tries, 3);
  assertEquals(fileSystem.list("/store/index"), []);
  assertEquals(logger.count("error"), 1);
  assert(index.offReason?.includes("Denied"));
  assertEquals(index.missedFrom, 300);
  await index.flush();
  fileSystem.fail = null;
  assert(index.tryResume());
  build(index, 1_003, 1_005);
  for (let n = 3; n < 800; n++) index.catchUp(record(n));
  index.endCatchUp();
  assertEquals(index.missedFrom, -1);
  assertEquals(await find(index, "k500"), [50_000]);
  assertEquals(index.offReason, null);
});

test("IndexService survives a full disk and resumes", async () => {
  const fileSystem = new MemoryFileSystem();
  const { index } = open(fileSystem, { entries: 20_000 });
  build(index, 0, 10);
  fileSystem.fail = (operation, path) =>
    operation === "writeAt"
      ? new FileError("No space", "no-space", path)
      : undefined;
  build(index, 10, 5_000);
  assert(index.offReason !== null);
  const missed = index.missedFrom;
  assert(missed > 1_000 && missed < 500_000);
  assert(!index.tryResume());
  fileSystem.fail = null;
  assert(index.tryResume());
  for (let n = missed / 100; n < 5_000; n++) index.catchUp(record(n));
  index.endCatchUp();
  build(index, 5_000, 5_010);
  await index.flush();
  for (const n of [0, 9, 10, 3_000, 3_276, 4_999, 5_005]) {
    assertEquals(await find(index, `k${n}`), [n * 100]);
  }
});

test("IndexService.flush() rejects when a sync fails", async () => {
  const fileSystem = new MemoryFileSystem();
  const { index } = open(fileSystem);
  build(index, 0, 3);
  fileSystem.fail = (operation, path) =>
    operation === "syncEnd" ? new FileError("EIO", "io", path) : undefined;
  await assertRejects(() => index.flush(), FileError);
});

test("IndexService.load() adopts the size of existing files, or names both keys", async () => {
  const fileSystem = new MemoryFileSystem();
  const first = open(fileSystem, { slots: 50, entries: 200 });
  build(first.index, 0, 20);
  await stop(first);
  assertEquals(indexGeometryOf(420_000_040), {
    maxHashSlotNum: 5_000_000,
    maxIndexNum: 20_000_000,
  });
  const again = open(fileSystem, { slots: 64, entries: 1_000 });
  assertEquals(again.index.geometry, { maxHashSlotNum: 50, maxIndexNum: 200 });
  await assertFindsAll(again.index, 20);
  fileSystem.put("/store/index/20200101000000000", new Uint8Array(777));
  let error: unknown;
  try {
    open(fileSystem);
  } catch (it) {
    error = it;
  }
  assert(error instanceof StoreFileError);
  assert(error.message.includes("maxHashSlotNum"));
});

test("IndexService drops files of a wrong size after an unclean stop", async () => {
  const fileSystem = new MemoryFileSystem();
  const first = open(fileSystem);
  build(first.index, 0, 20);
  await stop(first);
  const path = first.index.files[0]!.file.path;
  fileSystem.put(path, fileSystem.bytes(path).subarray(0, 100));
  const again = open(fileSystem, { lastExitOk: false });
  assertEquals(again.rebuildFrom, 0);
  assertEquals(fileSystem.stat(path), undefined);
});

test("IndexService.load() ignores foreign files and drops empty ones", () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.put("/store/index/.DS_Store", "x");
  fileSystem.put("/store/index/20260101000000000", "");
  fileSystem.createDirectory("/store/index/lost+found");
  const { index, logger } = open(fileSystem);
  assertEquals(index.files.length, 0);
  assertEquals(logger.count("warn"), 2);
  assertEquals(fileSystem.list("/store/index").length, 2);
});

test("IndexService gives memory back when idle", async () => {
  const fileSystem = new MemoryFileSystem();
  const { index } = open(fileSystem, { slots: 10_000, entries: 40_000 });
  build(index, 0, 5_000);
  await index.flush();
  assert(index.files[0]!.slots.peek(0) !== undefined);
  await index.flush();
  assertEquals(index.files[0]!.slots.peek(0), undefined);
  assertEquals(await find(index, "k4999"), [499_900]);
});

test("IndexService agrees with a map whatever happens", async () => {
  const step = fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        key: fc.integer({ min: 0, max: 20 }),
        more: fc.integer({ min: 0, max: 20 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant("flush" as const) },
    { weight: 1, arbitrary: fc.constant("restart" as const) },
    { weight: 1, arbitrary: fc.constant("kill" as const) },
    { weight: 1, arbitrary: fc.constant("cut" as const) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 120 }),
      async (steps) => {
        const options = { slots: 5, entries: 14 };
        const fileSystem = new MemoryFileSystem();
        const log: DispatchRequest[] = [];
        let opened = open(fileSystem, options);
        for (const it of steps) {
          if (it === "flush") await opened.index.flush();
          else if (it === "cut") {
            log.length = Math.floor(log.length * 0.7);
            await opened.index.truncateDirty(log.length * 100);
          } else if (it === "restart" || it === "kill") {
            if (it === "restart") await stop(opened);
            else {
              opened.index.endBatch();
              opened.index.close();
            }
            opened = open(fileSystem, {
              ...options,
              lastExitOk: it === "restart",
            });
            for (const request of log) {
              if (request.phyOffset >= opened.rebuildFrom) {
                opened.index.buildIndex(request);
              }
            }
          } else {
            const request = record(log.length, `u${it.key}`, `w${it.more}`);
            log.push(request);
            opened.index.buildIndex(request);
          }
        }
        for (let key = 0; key <= 20; key++) {
          for (const name of [`u${key}`, `w${key}`]) {
            const expected = log
              .filter((it) => hasKey(it, name))
              .map((it) => it.phyOffset).reverse();
            assertEquals(await find(opened.index, name), expected);
          }
        }
        opened.index.close();
        assertEquals(fileSystem.openCount, 0);
      },
    ),
    { numRuns: 100 },
  );
});

function hasKey(request: DispatchRequest, name: string): boolean {
  return request.propertiesText.includes(`\u0001${name}\u0002`);
}
