import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  STORE_CHECKPOINT_SIZE,
  StoreCheckpoint,
} from "../../src/store/store_checkpoint.ts";
import { MemoryFileSystem, MemoryLogger } from "./memory_file_system.ts";

const PATH = "/store/checkpoint";

function open(fileSystem: MemoryFileSystem) {
  const logger = new MemoryLogger();
  return {
    checkpoint: new StoreCheckpoint(fileSystem, PATH, logger),
    logger,
  };
}

test("StoreCheckpoint keeps Apache's five fields at their places", async () => {
  const fileSystem = new MemoryFileSystem();
  const { checkpoint } = open(fileSystem);
  checkpoint.physicMsgTimestamp = 1;
  checkpoint.logicsMsgTimestamp = 2;
  checkpoint.indexMsgTimestamp = 3;
  checkpoint.masterFlushedOffset = 4;
  checkpoint.confirmPhyOffset = 0x1_0000_0005;
  await checkpoint.flush();
  const bytes = fileSystem.bytes(PATH);
  assertEquals(bytes.length, STORE_CHECKPOINT_SIZE);
  const view = new DataView(bytes.buffer);
  assertEquals(
    [0, 8, 16, 24, 32].map((it) => Number(view.getBigInt64(it))),
    [1, 2, 3, 4, 0x1_0000_0005],
  );
  assertEquals(fileSystem.events, [
    `sync ${PATH}`,
    "syncDirectory /store",
    "syncDirectory /",
  ]);
});

test("StoreCheckpoint.load() reads what flush() wrote", async () => {
  const fileSystem = new MemoryFileSystem();
  const { checkpoint } = open(fileSystem);
  checkpoint.physicMsgTimestamp = 1_790_000_000_000;
  checkpoint.logicsMsgTimestamp = 1_790_000_010_000;
  checkpoint.indexMsgTimestamp = 1_780_000_000_000;
  checkpoint.cleanMaxPhyOffset = 77;
  checkpoint.cleanQueueOffsetSum = 88;
  checkpoint.indexedPhyOffset = 99;
  checkpoint.indexEndPhyOffset = 66;
  checkpoint.mappedFileSizeCommitLog = 1;
  checkpoint.mappedFileSizeConsumeQueue = 2;
  checkpoint.maxHashSlotNum = 3;
  checkpoint.maxIndexNum = 4;
  await checkpoint.flush();
  const again = open(fileSystem).checkpoint;
  again.load();
  assertEquals(again.minTimestamp(), 1_789_999_997_000);
  assertEquals(again.minTimestampIndex(), 1_780_000_000_000);
  assertEquals(again.cleanMaxPhyOffset, 77);
  assertEquals(again.cleanQueueOffsetSum, 88);
  assertEquals(again.indexedPhyOffset, 99);
  assertEquals(again.indexEndPhyOffset, 66);
  assertEquals(again.mappedFileSizeCommitLog, 1);
  assertEquals(again.mappedFileSizeConsumeQueue, 2);
  assertEquals(again.maxHashSlotNum, 3);
  assertEquals(again.maxIndexNum, 4);
});

test("StoreCheckpoint.load() forgets our offsets when a write was torn, not the sizes", async () => {
  const fileSystem = new MemoryFileSystem();
  const { checkpoint } = open(fileSystem);
  checkpoint.physicMsgTimestamp = 5;
  checkpoint.indexedPhyOffset = 99;
  checkpoint.mappedFileSizeCommitLog = 1024;
  await checkpoint.flush();
  const bytes = fileSystem.bytes(PATH);
  bytes[63] = 100;
  fileSystem.put(PATH, bytes);
  const again = open(fileSystem).checkpoint;
  again.load();
  assertEquals(again.physicMsgTimestamp, 5);
  assertEquals(again.indexedPhyOffset, 0);
  assertEquals(again.mappedFileSizeCommitLog, 1024);
});

test("StoreCheckpoint.minTimestamp() is never negative", () => {
  const { checkpoint } = open(new MemoryFileSystem());
  checkpoint.physicMsgTimestamp = 100;
  assertEquals(checkpoint.minTimestamp(), 0);
});

test("StoreCheckpoint.load() counts a missing, short or garbled file as zero", () => {
  const fileSystem = new MemoryFileSystem();
  const missing = open(fileSystem);
  missing.checkpoint.load();
  assertEquals(missing.logger.count("warn"), 0);
  for (const content of [new Uint8Array(0), new Uint8Array(10)]) {
    fileSystem.put(PATH, content);
    const { checkpoint, logger } = open(fileSystem);
    checkpoint.load();
    assertEquals(checkpoint.minTimestamp(), 0);
    assertEquals(logger.count("warn"), 1);
  }
  fileSystem.put(PATH, new Uint8Array(STORE_CHECKPOINT_SIZE).fill(0x7f));
  const { checkpoint, logger } = open(fileSystem);
  checkpoint.load();
  assertEquals(checkpoint.minTimestamp(), 0);
  assert(logger.count("warn") === 1);
});

test("StoreCheckpoint.flush() makes a short file whole again", async () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.put(PATH, new Uint8Array(10).fill(9));
  const { checkpoint } = open(fileSystem);
  checkpoint.load();
  await checkpoint.flush();
  assertEquals(fileSystem.bytes(PATH).length, STORE_CHECKPOINT_SIZE);
  assertEquals(fileSystem.openCount, 0);
});
