/**
 * StoreCheckpoint: up to which store time the parts of the store are durable (reference 4.7).
 *
 * File `checkpoint`, 4096 bytes, all integers big-endian int64.
 *
 * | offset | size | type  | field                      | note                                   |
 * | -----: | ---: | ----- | -------------------------- | -------------------------------------- |
 * |      0 |    8 | int64 | physicMsgTimestamp         | CommitLog synced up to this store time |
 * |      8 |    8 | int64 | logicsMsgTimestamp         | ConsumeQueues                          |
 * |     16 |    8 | int64 | indexMsgTimestamp          | index files                            |
 * |     24 |    8 | int64 | masterFlushedOffset        | 5.x                                    |
 * |     32 |    8 | int64 | confirmPhyOffset           | 5.x                                    |
 * |     40 |    8 | int64 | cleanMaxPhyOffset          | ours: end of the log at the clean stop |
 * |     48 |    8 | int64 | cleanQueueOffsetSum        | ours: sum of all queues' max offsets then |
 * |     56 |    8 | int64 | indexedPhyOffset           | ours: the index holds all keys below it |
 * |     64 |    8 | int64 | indexEndPhyOffset          | ours: end offset of the newest index then |
 * |     72 |    8 | int64 | mappedFileSizeCommitLog    | ours: the store's sizes; 0 unknown     |
 * |     80 |    8 | int64 | mappedFileSizeConsumeQueue | ours                                   |
 * |     88 |    8 | int64 | maxHashSlotNum             | ours                                   |
 * |     96 |    8 | int64 | maxIndexNum                | ours                                   |
 * |    104 |    8 | int64 | crc                        | ours: CRC-32 of bytes 40 to 71         |
 * |    112 |    8 | int64 | cleanQueueStartSum         | ours: 1 + sum of where queues began then; 0 unknown |
 * |    120 | 3976 | bytes | unused                     | zero                                   |
 *
 * Apache keeps the bytes from 40 on as they are and never reads them. The CRC is for a write
 * that reached the disk in part: what it covers then counts as 0, unknown.
 */
import { crc32 } from "../base/crc32.ts";
import { readInt64, UnsafeIntegerError, writeInt64 } from "../base/int64.ts";
import { FileError, type FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { Coalesced } from "./coalesced.ts";
import {
  createDirectories,
  parentDirectory,
  syncDirectories,
  withParents,
} from "./directories.ts";

export const STORE_CHECKPOINT_SIZE = 4096;
const CHECKED_FROM = 40;
const CHECKED_TO = 72;
const USED_SIZE = 120;
/** What may be between a timestamp and the data behind it (Java's margin). */
const SAFETY_MARGIN_MS = 3_000;
const TIMESTAMP_KEYS = [
  "physicMsgTimestamp",
  "logicsMsgTimestamp",
  "indexMsgTimestamp",
] as const;

/** What the file holds. */
export interface StoreCheckpointValues {
  readonly physicMsgTimestamp: number;
  readonly logicsMsgTimestamp: number;
  readonly indexMsgTimestamp: number;
  readonly masterFlushedOffset: number;
  readonly confirmPhyOffset: number;
  readonly cleanMaxPhyOffset: number;
  readonly cleanQueueOffsetSum: number;
  readonly cleanQueueStartSum: number;
  readonly indexedPhyOffset: number;
  readonly indexEndPhyOffset: number;
  readonly mappedFileSizeCommitLog: number;
  readonly mappedFileSizeConsumeQueue: number;
  readonly maxHashSlotNum: number;
  readonly maxIndexNum: number;
}

/** The values of a checkpoint file; null when there is none that can be read. Never writes. */
export function readStoreCheckpoint(
  fileSystem: FileSystem,
  path: string,
): StoreCheckpointValues | null {
  const stat = fileSystem.stat(path);
  if (stat === undefined || stat.size < USED_SIZE) return null;
  const bytes = new Uint8Array(USED_SIZE);
  const handle = fileSystem.open(path, "read");
  try {
    handle.readAt(0, bytes);
  } finally {
    handle.close();
  }
  return decodeStoreCheckpoint(bytes);
}

function decodeStoreCheckpoint(
  bytes: Uint8Array,
): StoreCheckpointValues | null {
  const view = new DataView(bytes.buffer);
  const crc = crc32(bytes.subarray(CHECKED_FROM, CHECKED_TO));
  if (view.getBigInt64(104) !== BigInt(crc)) {
    bytes.fill(0, CHECKED_FROM, CHECKED_TO);
  }
  try {
    return {
      physicMsgTimestamp: readInt64(view, 0),
      logicsMsgTimestamp: readInt64(view, 8),
      indexMsgTimestamp: readInt64(view, 16),
      masterFlushedOffset: readInt64(view, 24),
      confirmPhyOffset: readInt64(view, 32),
      cleanMaxPhyOffset: readInt64(view, 40),
      cleanQueueOffsetSum: readInt64(view, 48),
      indexedPhyOffset: readInt64(view, 56),
      indexEndPhyOffset: readInt64(view, 64),
      mappedFileSizeCommitLog: readInt64(view, 72),
      mappedFileSizeConsumeQueue: readInt64(view, 80),
      maxHashSlotNum: readInt64(view, 88),
      maxIndexNum: readInt64(view, 96),
      cleanQueueStartSum: readInt64(view, 112),
    };
  } catch (error) {
    if (error instanceof UnsafeIntegerError) return null;
    throw error;
  }
}

/** The values of the file; assign, then `flush`. */
export class StoreCheckpoint implements StoreCheckpointValues {
  physicMsgTimestamp = 0;
  logicsMsgTimestamp = 0;
  indexMsgTimestamp = 0;
  masterFlushedOffset = 0;
  confirmPhyOffset = 0;
  cleanMaxPhyOffset = 0;
  cleanQueueOffsetSum = 0;
  cleanQueueStartSum = 0;
  indexedPhyOffset = 0;
  indexEndPhyOffset = 0;
  mappedFileSizeCommitLog = 0;
  mappedFileSizeConsumeQueue = 0;
  maxHashSlotNum = 0;
  maxIndexNum = 0;
  readonly #fileSystem: FileSystem;
  readonly #logger: Logger;
  /** A process that was killed may have made file and folder without a sync. */
  readonly #unsyncedDirectories: Set<string>;
  readonly #flushing = new Coalesced(() => this.#flushNow());

  constructor(fileSystem: FileSystem, readonly path: string, logger: Logger) {
    this.#fileSystem = fileSystem;
    this.#logger = logger;
    this.#unsyncedDirectories = new Set(withParents(parentDirectory(path), 1));
  }

  /**
   * Reads the file. A missing, short or unreadable one counts as all zero, which makes an
   * unclean start read the whole log: slower, never wrong.
   */
  load(): void {
    if (this.#fileSystem.stat(this.path) === undefined) return;
    const values = readStoreCheckpoint(this.#fileSystem, this.path);
    if (values !== null) Object.assign(this, values);
    else {
      this.#logger.warn("The checkpoint cannot be read and is ignored", {
        path: this.path,
      });
    }
  }

  /** Up to this store time log and queues are durable; recovery begins at or before it. */
  minTimestamp(): number {
    return Math.max(
      0,
      Math.min(this.physicMsgTimestamp, this.logicsMsgTimestamp) -
        SAFETY_MARGIN_MS,
    );
  }

  /** As `minTimestamp`, with the index taken into account (`messageIndexSafe`). */
  minTimestampIndex(): number {
    return Math.min(this.minTimestamp(), this.indexMsgTimestamp);
  }

  /**
   * The log ends at `endOffset`, in a file whose first record was stored at `firstTimestamp`:
   * claims no more than that, so that nothing appended there counts as durable too early.
   */
  limitTo(endOffset: number, firstTimestamp: number): void {
    const timestamp = firstTimestamp === 0
      ? 0
      : firstTimestamp + SAFETY_MARGIN_MS;
    for (const key of TIMESTAMP_KEYS) {
      this[key] = Math.min(this[key], timestamp);
    }
    this.masterFlushedOffset = Math.min(this.masterFlushedOffset, endOffset);
    this.confirmPhyOffset = Math.min(this.confirmPhyOffset, endOffset);
    this.cleanMaxPhyOffset = 0;
    this.cleanQueueOffsetSum = 0;
    this.cleanQueueStartSum = 0;
  }

  /** Writes and syncs; the values are those at the moment of the write. */
  flush(): Promise<void> {
    return this.#flushing.run();
  }

  /**
   * Sets the value and writes without a sync: it outlives kill -9, and a power cut may put it
   * back. A write that fails changes nothing but that; the next `flush` reports it.
   */
  noteConfirmPhyOffset(offset: number): void {
    if (offset === this.confirmPhyOffset) return;
    this.confirmPhyOffset = offset;
    try {
      const handle = this.#fileSystem.open(this.path, "create");
      try {
        if (handle.size() < STORE_CHECKPOINT_SIZE) {
          handle.truncate(STORE_CHECKPOINT_SIZE);
        }
        handle.writeAt(0, this.#encode());
      } finally {
        handle.close();
      }
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
    }
  }

  async #flushNow(): Promise<void> {
    const directory = parentDirectory(this.path);
    for (const it of createDirectories(this.#fileSystem, directory)) {
      this.#unsyncedDirectories.add(it);
    }
    const handle = this.#fileSystem.open(this.path, "create");
    try {
      if (handle.size() !== STORE_CHECKPOINT_SIZE) {
        handle.truncate(STORE_CHECKPOINT_SIZE);
      }
      // One write below the sector size: never half of it.
      handle.writeAt(0, this.#encode());
      await handle.sync();
    } finally {
      handle.close();
    }
    await syncDirectories(this.#fileSystem, this.#unsyncedDirectories);
  }

  #encode(): Uint8Array {
    const bytes = new Uint8Array(USED_SIZE);
    const view = new DataView(bytes.buffer);
    writeInt64(view, 0, this.physicMsgTimestamp);
    writeInt64(view, 8, this.logicsMsgTimestamp);
    writeInt64(view, 16, this.indexMsgTimestamp);
    writeInt64(view, 24, this.masterFlushedOffset);
    writeInt64(view, 32, this.confirmPhyOffset);
    writeInt64(view, 40, this.cleanMaxPhyOffset);
    writeInt64(view, 48, this.cleanQueueOffsetSum);
    writeInt64(view, 56, this.indexedPhyOffset);
    writeInt64(view, 64, this.indexEndPhyOffset);
    writeInt64(view, 72, this.mappedFileSizeCommitLog);
    writeInt64(view, 80, this.mappedFileSizeConsumeQueue);
    writeInt64(view, 88, this.maxHashSlotNum);
    writeInt64(view, 96, this.maxIndexNum);
    writeInt64(view, 104, crc32(bytes.subarray(CHECKED_FROM, CHECKED_TO)));
    writeInt64(view, 112, this.cleanQueueStartSum);
    return bytes;
  }
}
