import { assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  INDEX_ENTRY_SIZE,
  readIndexEntry,
} from "../../src/store/index_entry.ts";
import { INDEX_HEADER_SIZE } from "../../src/store/index_header.ts";
import { IndexService } from "../../src/store/index_service.ts";
import { StoreCheckpoint } from "../../src/store/store_checkpoint.ts";
import { MemoryFileSystem, MemoryLogger } from "./memory_file_system.ts";
import { dispatchRequest, keyedProperties } from "./store_support.ts";

const SLOTS = 64;

test("a batch that fills a file leaves no entry of it in memory", () => {
  const fileSystem = new MemoryFileSystem();
  const logger = new MemoryLogger();
  const index = new IndexService(
    {
      fileSystem,
      clock: { nowMs: () => 1_790_000_000_000 },
      logger,
      checkpoint: new StoreCheckpoint(fileSystem, "/store/checkpoint", logger),
    },
    {
      storePathRootDir: "/store",
      maxHashSlotNum: SLOTS,
      maxIndexNum: 11,
      maxMsgsNumBatch: 64,
    },
  );
  index.load(true);

  for (let n = 1; n <= 25; n++) {
    const propertiesText = keyedProperties(`k${n}`, "");
    index.buildIndex(dispatchRequest({ phyOffset: n * 100, propertiesText }));
  }
  index.endBatch();

  const inFiles = [...fileSystem.files.keys()]
    .filter((it) => it.startsWith("/store/index/")).sort()
    .flatMap((it) => phyOffsetsIn(fileSystem.bytes(it)));
  assertEquals(inFiles, Array.from({ length: 25 }, (_, n) => (n + 1) * 100));
});

/** Of all entries that are in the file, whatever its header says. */
function phyOffsetsIn(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const offsets: number[] = [];
  let at = INDEX_HEADER_SIZE + SLOTS * 4 + INDEX_ENTRY_SIZE;
  for (; at + INDEX_ENTRY_SIZE <= bytes.length; at += INDEX_ENTRY_SIZE) {
    const { phyOffset } = readIndexEntry(view, at);
    if (phyOffset > 0) offsets.push(phyOffset);
  }
  return offsets;
}
