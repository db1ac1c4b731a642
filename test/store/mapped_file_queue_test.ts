import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { test } from "node:test";
import { FileError } from "../../src/io/file_system.ts";
import { DescriptorCache } from "../../src/store/descriptor_cache.ts";
import { MappedFileQueue } from "../../src/store/mapped_file_queue.ts";
import { StoreFileError } from "../../src/store/store_file_error.ts";
import { MemoryFileSystem, MemoryLogger } from "./memory_file_system.ts";

const DIRECTORY = "/store/commitlog";
const SIZE = 100;

function open(fileSystem: MemoryFileSystem, cache?: DescriptorCache) {
  const logger = new MemoryLogger();
  const queue = new MappedFileQueue({
    fileSystem,
    directory: DIRECTORY,
    mappedFileSize: SIZE,
    sizeKey: "mappedFileSizeCommitLog",
    logger,
    ...(cache === undefined ? {} : { cache }),
  });
  return { queue, logger };
}

function append(queue: MappedFileQueue, size: number, value = 1): void {
  queue.fileForAppend().append(new Uint8Array(size).fill(value));
}

function path(offset: number): string {
  return `${DIRECTORY}/${String(offset).padStart(20, "0")}`;
}

function loadError(fileSystem: MemoryFileSystem): StoreFileError {
  try {
    open(fileSystem).queue.load();
  } catch (error) {
    assert(error instanceof StoreFileError);
    return error;
  }
  throw new Error("load() accepted the files");
}

test("MappedFileQueue.fileForAppend() makes full-length files named by offset", () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  append(queue, 100);
  append(queue, 30);
  assertEquals(fileSystem.list(DIRECTORY).map((it) => it.name), [
    "00000000000000000000",
    "00000000000000000100",
  ]);
  assertEquals(fileSystem.stat(path(100))?.size, SIZE);
  assertEquals(queue.maxOffset, 130);
  assertEquals(queue.minOffset, 0);
});

test("MappedFileQueue.fileForAppend() begins an empty queue at the file of the offset", () => {
  const { queue } = open(new MemoryFileSystem());
  assertEquals(queue.fileForAppend(250).fileFromOffset, 200);
  assertEquals(queue.minOffset, 200);
  assertEquals(queue.flushedOffset, 200);
});

test("MappedFileQueue.readAt() crosses files and fails outside of them", () => {
  const { queue } = open(new MemoryFileSystem());
  append(queue, 100, 1);
  append(queue, 100, 2);
  const target = new Uint8Array(4);
  queue.readAt(98, target);
  assertEquals([...target], [1, 1, 2, 2]);
  let failed = false;
  try {
    queue.readAt(198, target);
  } catch {
    failed = true;
  }
  assert(failed);
});

test("MappedFileQueue.flush() syncs dirty files in order, then new folders", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  append(queue, 100);
  append(queue, 10);
  await queue.flush();
  assertEquals(fileSystem.events, [
    `sync ${path(0)}`,
    `sync ${path(100)}`,
    "syncDirectory /",
    "syncDirectory /store",
    "syncDirectory /store/commitlog",
  ]);
  assertEquals(queue.flushedOffset, 110);
  fileSystem.events.length = 0;
  append(queue, 10);
  await queue.flush();
  await queue.flush();
  assertEquals(fileSystem.events, [`sync ${path(100)}`]);
});

test("MappedFileQueue.flush() does not count what was written during the sync", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  append(queue, 10);
  fileSystem.holdSyncs = true;
  const first = queue.flush();
  while (fileSystem.heldSyncs() === 0) await Promise.resolve();
  append(queue, 10);
  const second = queue.flush();
  const third = queue.flush();
  assert(second === third);
  fileSystem.holdSyncs = false;
  fileSystem.releaseSyncs();
  await first;
  assertEquals(queue.flushedOffset, 10);
  await second;
  assertEquals(queue.flushedOffset, 20);
  const syncs = fileSystem.events.filter((it) => it.startsWith("sync /"));
  assertEquals(syncs.length, 2);
});

test("MappedFileQueue.flush() rejects for ever once a sync failed", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  append(queue, 10);
  fileSystem.fail = (operation, path) =>
    operation === "syncEnd" ? new FileError("EIO", "io", path) : undefined;
  await assertRejects(() => queue.flush(), FileError, "EIO");
  fileSystem.fail = null;
  await assertRejects(() => queue.flush(), FileError, "EIO");
  assertEquals(queue.flushedOffset, 0);
  assert(queue.lastFile!.isDirty);
});

test("MappedFileQueue.flush() rejects when the folder cannot be synced, then retries it", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  append(queue, 10);
  fileSystem.fail = (operation, path) =>
    operation === "syncDirectory"
      ? new FileError("EIO", "io", path)
      : undefined;
  await assertRejects(() => queue.flush(), FileError);
  assertEquals(queue.flushedOffset, 0);
  fileSystem.fail = null;
  await queue.flush();
  assertEquals(queue.flushedOffset, 10);
});

test("MappedFile.append() leaves nothing behind when the disk is full", () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  append(queue, 10);
  const file = queue.lastFile!;
  let writes = 0;
  fileSystem.fail = (operation, path) => {
    if (operation !== "writeAt" || writes++ > 0) return undefined;
    // Half of the write got through.
    const torn = fileSystem.files.get(path)!;
    torn.write(10, new Uint8Array(20).fill(9));
    return new FileError("No space", "no-space", path);
  };
  let kind = "";
  try {
    append(queue, 40);
  } catch (error) {
    if (error instanceof FileError) kind = error.kind;
  }
  assertEquals(kind, "no-space");
  assertEquals(file.wrotePosition, 10);
  assert(fileSystem.bytes(file.path).subarray(10).every((it) => it === 0));
  append(queue, 5, 3);
  assertEquals(queue.maxOffset, 15);
});

test("MappedFile.create() that fails leaves no file", () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  fileSystem.fail = (operation, path) =>
    operation === "truncate"
      ? new FileError("No space", "no-space", path)
      : undefined;
  let failed = false;
  try {
    queue.fileForAppend();
  } catch {
    failed = true;
  }
  assert(failed);
  assertEquals(fileSystem.list(DIRECTORY), []);
  assertEquals(fileSystem.openCount, 0);
  fileSystem.fail = null;
  append(queue, 10);
  assertEquals(queue.maxOffset, 10);
});

test("MappedFileQueue.load() ignores foreign files with one warning", () => {
  const fileSystem = new MemoryFileSystem();
  append(open(fileSystem).queue, 10);
  fileSystem.put(`${DIRECTORY}/.DS_Store`, "x");
  fileSystem.put(`${DIRECTORY}/notes.txt`, "");
  fileSystem.put(`${DIRECTORY}/00000000000000000100.tmp`, "x");
  fileSystem.createDirectory(`${DIRECTORY}/lost+found`);
  const { queue, logger } = open(fileSystem);
  queue.load();
  assertEquals(queue.files.length, 1);
  assertEquals(logger.count("warn"), 1);
  assertEquals(fileSystem.list(DIRECTORY).length, 5);
});

test("MappedFileQueue.load() drops an empty last file", async () => {
  const fileSystem = new MemoryFileSystem();
  append(open(fileSystem).queue, 100);
  fileSystem.put(path(100), "");
  const { queue } = open(fileSystem);
  queue.load();
  assertEquals(queue.maxOffset, 100);
  assertEquals(fileSystem.stat(path(100)), undefined);
  await queue.flush();
  assert(fileSystem.events.includes(`syncDirectory ${DIRECTORY}`));
  append(queue, 10);
  assertEquals(queue.maxOffset, 110);
});

test("MappedFileQueue.load() refuses an empty middle file with a hint", () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.put(path(0), new Uint8Array(SIZE));
  fileSystem.put(path(100), "");
  fileSystem.put(path(200), new Uint8Array(SIZE));
  const error = loadError(fileSystem);
  assertEquals(error.path, path(100));
  assert(error.message.includes("empty"));
  assert(error.hint.includes("replica"));
});

test("MappedFileQueue.load() refuses another size, naming file, size, key and cure", () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.put(path(0), new Uint8Array(64));
  const error = loadError(fileSystem);
  assert(error.message.includes(path(0)));
  assert(error.message.includes("64 bytes"));
  assert(error.message.includes("mappedFileSizeCommitLog is 100"));
  assert(!error.hint.includes("64"), "no size that only a cut file has");
  assert(error.hint.includes("Restore this file from a backup"), error.hint);
});

test("MappedFileQueue.load() refuses a gap between files", () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.put(path(0), new Uint8Array(SIZE));
  fileSystem.put(path(200), new Uint8Array(SIZE));
  assert(loadError(fileSystem).message.includes("ends at 100"));
});

test("MappedFileQueue.load(false) restores the length of short files", async () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.put(path(0), new Uint8Array(60).fill(1));
  fileSystem.put(path(100), "");
  fileSystem.put(path(200), new Uint8Array(SIZE).fill(2));
  const { queue } = open(fileSystem);
  queue.load(false);
  assertEquals(queue.files.length, 3);
  assertEquals(fileSystem.stat(path(0))?.size, SIZE);
  assertEquals(fileSystem.stat(path(100))?.size, SIZE);
  queue.markTailUnsynced();
  await queue.truncateDirtyFiles(60);
  assertEquals(queue.flushedOffset, 60);
  assertEquals(fileSystem.events, [
    `sync ${path(0)}`,
    `syncDirectory ${DIRECTORY}`,
    "syncDirectory /store",
    "syncDirectory /",
  ]);
  fileSystem.put(path(0), new Uint8Array(SIZE + 1));
  let error: unknown;
  try {
    open(fileSystem).queue.load(false);
  } catch (it) {
    error = it;
  }
  assert(error instanceof StoreFileError);
});

test("MappedFileQueue.truncateDirtyFiles() removes later files and zeroes the tail durably", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  for (let index = 0; index < 3; index++) append(queue, 100, 7);
  await queue.flush();
  fileSystem.events.length = 0;
  await queue.truncateDirtyFiles(130);
  assertEquals(queue.maxOffset, 130);
  assertEquals(queue.flushedOffset, 130);
  assertEquals(fileSystem.stat(path(200)), undefined);
  const bytes = fileSystem.bytes(path(100));
  assert(bytes.subarray(0, 30).every((it) => it === 7));
  assert(bytes.subarray(30).every((it) => it === 0));
  assertEquals(fileSystem.events, [
    `sync ${path(100)}`,
    `syncDirectory ${DIRECTORY}`,
  ]);
});

test("MappedFileQueue.truncateDirtyFiles() after load zeroes stale bytes behind a hole", async () => {
  const fileSystem = new MemoryFileSystem();
  const bytes = new Uint8Array(SIZE).fill(1, 0, 20).fill(5, 90, 95);
  fileSystem.put(path(0), bytes);
  const { queue } = open(fileSystem);
  queue.load();
  queue.markTailUnsynced();
  assertEquals(queue.flushedOffset, 0);
  await queue.truncateDirtyFiles(20);
  assert(fileSystem.bytes(path(0)).subarray(20).every((it) => it === 0));
  assertEquals(queue.flushedOffset, 20);
});

test("MappedFileQueue.truncateDirtyFiles() at a file boundary keeps the file to append to", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  append(queue, 100, 1);
  append(queue, 50, 2);
  await queue.truncateDirtyFiles(100);
  assertEquals(queue.maxOffset, 100);
  assertEquals(queue.files.length, 2);
  assert(fileSystem.bytes(path(100)).every((it) => it === 0));
});

test("MappedFileQueue.truncateDirtyFiles() below the first file removes everything", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  queue.fileForAppend(200).append(new Uint8Array(10));
  await queue.truncateDirtyFiles(50);
  assertEquals(queue.files.length, 0);
  assertEquals(queue.maxOffset, 0);
});

test("MappedFileQueue.deleteFirstFiles() spares the last and syncs the folder", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  for (let index = 0; index < 3; index++) append(queue, 100);
  await queue.flush();
  fileSystem.events.length = 0;
  assertEquals(await queue.deleteFirstFiles(5), 2);
  assertEquals(queue.minOffset, 200);
  assertEquals(queue.fileAt(250)?.fileFromOffset, 200);
  assertEquals(queue.fileAt(150), undefined);
  assertEquals(fileSystem.events, [`syncDirectory ${DIRECTORY}`]);
});

test("MappedFileQueue.fileForAppend() that fails in an empty queue leaves nothing flushed", () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  fileSystem.fail = (operation, path) =>
    operation === "open"
      ? new FileError("EROFS", "read-only", path)
      : undefined;
  assertThrows(() => queue.fileForAppend(250), FileError, "EROFS");
  assertEquals([queue.flushedOffset, queue.maxOffset], [0, 0]);
  fileSystem.fail = null;
  queue.fileForAppend(250);
  assertEquals([queue.flushedOffset, queue.maxOffset], [200, 200]);
});

test("MappedFileQueue.deleteFirstFiles() that fails leaves a file that is synced", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  for (let index = 0; index < 3; index++) append(queue, 100);
  fileSystem.fail = (operation, path) =>
    operation === "remove"
      ? new FileError("EROFS", "read-only", path)
      : undefined;
  await assertRejects(() => queue.deleteFirstFiles(1), FileError, "EROFS");
  fileSystem.fail = null;
  fileSystem.events.length = 0;
  await queue.flush();
  assertEquals(queue.flushedOffset, 300);
  assert(fileSystem.events.includes(`sync ${path(0)}`), "not synced");
  assertEquals(queue.files[0]!.isDirty, false);
});

test("MappedFileQueue tells of every failed flush, also of a deletion's", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  const failures: unknown[] = [];
  queue.onFlushFailed = (it) => void failures.push(it);
  for (let index = 0; index < 3; index++) append(queue, 100);
  await queue.flush();
  const error = new FileError("EIO", "io", DIRECTORY);
  fileSystem.fail = (operation) =>
    operation === "syncDirectory" ? error : undefined;
  await assertRejects(() => queue.deleteFirstFiles(1), FileError, "EIO");
  assertEquals(failures, [error]);
});

test("MappedFileQueue.destroy() removes files and folder", async () => {
  const fileSystem = new MemoryFileSystem();
  const { queue } = open(fileSystem);
  append(queue, 100);
  append(queue, 1);
  queue.destroyNow();
  await queue.flush();
  assertEquals(fileSystem.stat(DIRECTORY), undefined);
  assertEquals(fileSystem.openCount, 0);
  append(queue, 5);
  assertEquals(queue.maxOffset, 5);
});

test("DescriptorCache closes the least used clean file, and dirty ones when it must", async () => {
  const fileSystem = new MemoryFileSystem();
  const cache = new DescriptorCache(4);
  const queues = Array.from({ length: 20 }, (_, index) =>
    new MappedFileQueue({
      fileSystem,
      directory: `/q/${index}`,
      mappedFileSize: SIZE,
      sizeKey: "mappedFileSizeConsumeQueue",
      logger: new MemoryLogger(),
      cache,
    }));
  for (const queue of queues) append(queue, 10);
  assertEquals(fileSystem.openCount, 4);
  for (const queue of queues) await queue.flush();
  for (const queue of queues) queue.readAt(0, new Uint8Array(10));
  assertEquals(cache.openCount, 4);
  assertEquals(fileSystem.openCountMax, 4);
  for (const queue of queues) assertEquals(queue.flushedOffset, 10);
  for (const queue of queues) queue.close();
  assertEquals(fileSystem.openCount, 0);
});

test("DescriptorCache never closes a file that is being read", async () => {
  const fileSystem = new MemoryFileSystem();
  const cache = new DescriptorCache(1);
  const { queue } = open(fileSystem, cache);
  append(queue, 100, 1);
  append(queue, 100, 2);
  const target = new Uint8Array(200);
  await queue.readAtAsync(0, target);
  assertEquals(target[99], 1);
  assertEquals(target[100], 2);
  queue.close();
  assertEquals(fileSystem.openCount, 0);
});
