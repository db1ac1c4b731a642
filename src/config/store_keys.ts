/** The keys of the store room (reference 15.2), spelled as Apache spells them. */
import type { MessageStoreOptions } from "../store/store_options.ts";
import {
  choice,
  type ConfigKey,
  flag,
  integer,
  millis,
  percent,
  size,
  text,
} from "./config_key.ts";

const LIVE = { isLive: true } as const;
const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const STORE_OPEN_FILES_MIN = 16;
const STORE_OPEN_FILES_MAX = 512;

/** The default of `storeOpenFilesMax`: the rest is for sockets. */
export function storeOpenFiles(openFilesMax: number): number {
  const half = Math.floor(openFilesMax / 2);
  return Math.max(STORE_OPEN_FILES_MIN, Math.min(STORE_OPEN_FILES_MAX, half));
}

/** `04`, or several hours separated by `;`. */
function deleteWhenError(value: string): string | undefined {
  const isFine = value.split(";").every((it) =>
    /^\d{1,2}$/.test(it.trim()) && Number(it) < 24
  );
  return isFine ? undefined : "give an hour 00 to 23, several separated by ;";
}

/** `1s 5s … 2h`. */
function delayLevelError(value: string): string | undefined {
  return /^\d+[smhd](\s+\d+[smhd])*$/.test(value)
    ? undefined
    : "give times as 1s 5s 1m 2h 1d separated by spaces";
}

const SIZE_KEYS = {
  mappedFileSizeCommitLog: size(GIB, "Bytes of one commit log file", {
    min: 64 * 1024,
    max: 2 * GIB - 1,
    aliases: ["mapedFileSizeCommitLog"],
  }),
  mappedFileSizeConsumeQueue: size(
    6_000_000,
    "Bytes of one consume queue file, rounded up to a multiple of 20",
    { min: 20, max: 2 * GIB - 20, aliases: ["mapedFileSizeConsumeQueue"] },
  ),
  maxHashSlotNum: integer(5_000_000, "Hash slots of one index file", {
    min: 1,
    max: 100_000_000,
  }),
  maxIndexNum: integer(20_000_000, "Entries of one index file", {
    min: 2,
    max: 100_000_000,
  }),
  maxMessageSize: size(4 * MIB, "Bytes of one message body", {
    ...LIVE,
    min: 1,
    max: 64 * MIB,
  }),
} as const;

const FLUSH_KEYS = {
  flushDiskType: choice(
    ["ASYNC_FLUSH", "SYNC_FLUSH"],
    "ASYNC_FLUSH",
    "SYNC_FLUSH answers a send once it is on the disk",
  ),
  flushIntervalCommitLog: millis(500, "Between two flushes of the log", {
    ...LIVE,
    min: 1,
  }),
  flushCommitLogLeastPages: integer(
    4,
    "Pages of 4 KiB below which an interval does not flush",
    { ...LIVE, unit: "pages" },
  ),
  flushCommitLogThoroughInterval: millis(
    10_000,
    "Flush whatever there is after",
    LIVE,
  ),
  flushIntervalConsumeQueue: millis(1_000, "Between two flushes of queues", {
    ...LIVE,
    min: 1,
  }),
  flushConsumeQueueThoroughInterval: millis(
    60_000,
    "Flush all queues after",
    LIVE,
  ),
  syncFlushTimeout: millis(5_000, "A SYNC_FLUSH put waits at most", {
    ...LIVE,
    min: 1,
  }),
  messageVisibleAfter: choice(
    ["", "append", "flush", "replicated"],
    "",
    "How far consumers see; empty: flush under SYNC_FLUSH, else append",
  ),
} as const;

const DELETION_KEYS = {
  fileReservedTime: integer(72, "Age at which files may be deleted", {
    ...LIVE,
    unit: "h",
  }),
  deleteWhen: text("04", "Hours of the day at which old files are deleted", {
    ...LIVE,
    errorOf: deleteWhenError,
  }),
  diskMaxUsedSpaceRatio: percent(
    75,
    "Used disk at which old files are deleted",
    LIVE,
  ),
  diskSpaceCleanForciblyRatio: percent(
    85,
    "Used disk at which files are deleted whatever their age",
    LIVE,
  ),
  diskSpaceWarningLevelRatio: percent(
    90,
    "Used disk at which sends are refused",
    LIVE,
  ),
  cleanFileForciblyEnable: flag(true, "Allow deletion before age", LIVE),
  deleteFileBatchMax: integer(10, "Files deleted for their age in one round", {
    ...LIVE,
    min: 1,
  }),
  cleanResourceInterval: millis(10_000, "Between two rounds of deletion", {
    min: 100,
  }),
} as const;

const READ_KEYS = {
  maxTransferBytesOnMessageInMemory: size(
    256 * 1024,
    "Bytes of one pull from memory",
    { ...LIVE, min: 1 },
  ),
  maxTransferCountOnMessageInMemory: integer(
    32,
    "Messages of one pull from memory",
    { ...LIVE, min: 1 },
  ),
  maxTransferBytesOnMessageInDisk: size(
    64 * 1024,
    "Bytes of one pull from the disk",
    { ...LIVE, min: 1 },
  ),
  maxTransferCountOnMessageInDisk: integer(
    8,
    "Messages of one pull from the disk",
    { ...LIVE, min: 1 },
  ),
  accessMessageInMemoryMaxRatio: percent(
    40,
    "Share of memory in which messages count as hot",
    LIVE,
  ),
  maxFilterMessageSize: size(
    16_000,
    "Bytes of queue units that one pull examines",
    { ...LIVE, min: 20 },
  ),
  defaultQueryMaxNum: integer(32, "Messages of one query by key", {
    ...LIVE,
    min: 1,
  }),
  maxMsgsNumBatch: integer(64, "Index hits of one query by key", {
    ...LIVE,
    min: 1,
  }),
} as const;

const LIMIT_KEYS = {
  maxStoreBytes: size(0, "Bytes of all commit log files; 0: no limit", LIVE),
  storeOpenFilesMax: integer(
    STORE_OPEN_FILES_MAX,
    "Store files open at once; by default at most half of the limit of open files (ulimit -n)",
    { min: STORE_OPEN_FILES_MIN },
  ),
  pendingSyncPutsMax: integer(100_000, "SYNC_FLUSH puts waiting at once", {
    ...LIVE,
    min: 1,
  }),
  hotReadBytesMax: size(
    64 * MIB,
    "Bytes behind the log's end that are read at once",
    LIVE,
  ),
  coldReadBytesPerSecondMax: size(
    8 * MIB,
    "Bytes of old data that pulls read in a second while messages arrive; 0: no limit",
  ),
  coldReadsMax: integer(
    0,
    "Reads of old data at once; 0: one less than cores",
  ),
  pullBytesMax: size(128 * MIB, "Bytes of one pull's answer", {
    ...LIVE,
    min: MIB,
  }),
} as const;

/** The keys of MessageStoreOptions that the broker room does not have. */
export const STORE_KEYS = {
  storePathCommitLog: text("", "Folder of the log; empty: root/commitlog"),
  ...SIZE_KEYS,
  ...FLUSH_KEYS,
  ...DELETION_KEYS,
  ...READ_KEYS,
  ...LIMIT_KEYS,
  messageIndexEnable: flag(true, "Index messages by key"),
  messageIndexSafe: flag(false, "Rebuild the index after an unclean stop"),
  checkCRCOnRecover: flag(true, "Check bodies in recovery"),
  offsetCheckInSlave: flag(false, "A slave corrects offsets of pulls", LIVE),
  messageDelayLevel: text(
    "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h",
    "Times of the delay levels",
    { errorOf: delayLevelError },
  ),
} as const satisfies {
  readonly [P in Exclude<keyof MessageStoreOptions, SharedOption>]: ConfigKey<
    MessageStoreOptions[P]
  >;
};

/** Options that come from the broker's keys, or from all of them. */
type SharedOption =
  | "storePathRootDir"
  | "brokerRole"
  | "brokerId"
  | "explicitKeys";
