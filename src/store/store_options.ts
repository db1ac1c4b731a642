/**
 * MessageStoreOptions: what the store reads from broker.conf.
 *
 * Fields are spelled as RocketMQ's keys (reference 15.2) and have their units; the last block
 * is ours. A slice is frozen; a live change builds a new one for `MessageStore.reconfigure`.
 */

/** How far dispatch, and so consumers, may see (DESIGN, "Visibility"). */
export type MessageVisibleAfter = "append" | "flush" | "replicated";

/** Every key of the store room. */
export interface MessageStoreOptions {
  readonly storePathRootDir: string;
  /** Folder of the log; empty: storePathRootDir + `/commitlog`. */
  readonly storePathCommitLog: string;
  readonly brokerRole: "ASYNC_MASTER" | "SYNC_MASTER" | "SLAVE";
  readonly brokerId: number;

  /** Bytes of one CommitLog file. */
  readonly mappedFileSizeCommitLog: number;
  /** Bytes of one ConsumeQueue file, rounded up to a multiple of 20. */
  readonly mappedFileSizeConsumeQueue: number;
  /** Hash slots of one index file. */
  readonly maxHashSlotNum: number;
  /** Entries of one index file. */
  readonly maxIndexNum: number;
  readonly messageIndexEnable: boolean;
  readonly messageIndexSafe: boolean;
  /** Bytes of one message body, and of the body of one batch. */
  readonly maxMessageSize: number;

  readonly flushDiskType: "ASYNC_FLUSH" | "SYNC_FLUSH";
  /** Milliseconds between two looks at what there is to flush. */
  readonly flushIntervalCommitLog: number;
  /** Dirty 4 KiB pages below which an interval does not flush. */
  readonly flushCommitLogLeastPages: number;
  /** Milliseconds after which whatever is dirty is flushed. */
  readonly flushCommitLogThoroughInterval: number;
  /** Milliseconds. */
  readonly flushIntervalConsumeQueue: number;
  /** Milliseconds. */
  readonly flushConsumeQueueThoroughInterval: number;
  /** Milliseconds that a SYNC_FLUSH put waits for its sync. */
  readonly syncFlushTimeout: number;

  /** Hours after which a file may go. */
  readonly fileReservedTime: number;
  /** Local hours of the day, `04` or `04;16`. */
  readonly deleteWhen: string;
  /** Percent of the disk in use. */
  readonly diskMaxUsedSpaceRatio: number;
  readonly diskSpaceCleanForciblyRatio: number;
  readonly diskSpaceWarningLevelRatio: number;
  readonly cleanFileForciblyEnable: boolean;
  readonly deleteFileBatchMax: number;
  /** Milliseconds between two rounds of cleaning. */
  readonly cleanResourceInterval: number;

  readonly checkCRCOnRecover: boolean;
  readonly maxTransferBytesOnMessageInMemory: number;
  readonly maxTransferCountOnMessageInMemory: number;
  readonly maxTransferBytesOnMessageInDisk: number;
  readonly maxTransferCountOnMessageInDisk: number;
  /** Percent of physical memory that counts as "in memory". */
  readonly accessMessageInMemoryMaxRatio: number;
  /** Bytes of ConsumeQueue units that one pull examines at least. */
  readonly maxFilterMessageSize: number;
  readonly defaultQueryMaxNum: number;
  /** Most index entries that one query by key looks at. */
  readonly maxMsgsNumBatch: number;
  readonly offsetCheckInSlave: boolean;
  /** `1s 5s … 2h`. */
  readonly messageDelayLevel: string;

  /** Ours. Empty: `flush` under SYNC_FLUSH, else `append`. */
  readonly messageVisibleAfter: MessageVisibleAfter | "";
  /** Ours. Bytes of all CommitLog files; 0: no limit. */
  readonly maxStoreBytes: number;
  /** Ours. Store files open at once; above it the least used are closed. */
  readonly storeOpenFilesMax: number;
  /** Ours. SYNC_FLUSH puts waiting at once; the next is refused. */
  readonly pendingSyncPutsMax: number;
  /** Ours. Bytes behind the end of the log that are read without leaving the loop. */
  readonly hotReadBytesMax: number;
  /** Ours. Asynchronous reads running at once in the process; 0: cores minus one, at least one. */
  readonly coldReadsMax: number;
  /** Ours. Bytes of old data that pulls read in a second while messages arrive; 0: no limit. */
  readonly coldReadBytesPerSecondMax: number;
  /** Ours. Bytes of the answer of one pull, and of one read from the log. */
  readonly pullBytesMax: number;
  /** Keys that somebody set by hand: an existing store must not contradict them. */
  readonly explicitKeys: readonly string[];
}

/** Apache's defaults, and ours where Apache has no key. */
export const DEFAULT_MESSAGE_STORE_OPTIONS: MessageStoreOptions = Object.freeze(
  {
    storePathRootDir: "store",
    storePathCommitLog: "",
    brokerRole: "ASYNC_MASTER",
    brokerId: 0,
    mappedFileSizeCommitLog: 1_073_741_824,
    mappedFileSizeConsumeQueue: 6_000_000,
    maxHashSlotNum: 5_000_000,
    maxIndexNum: 20_000_000,
    messageIndexEnable: true,
    messageIndexSafe: false,
    maxMessageSize: 4_194_304,
    flushDiskType: "ASYNC_FLUSH",
    flushIntervalCommitLog: 500,
    flushCommitLogLeastPages: 4,
    flushCommitLogThoroughInterval: 10_000,
    flushIntervalConsumeQueue: 1_000,
    flushConsumeQueueThoroughInterval: 60_000,
    syncFlushTimeout: 5_000,
    fileReservedTime: 72,
    deleteWhen: "04",
    diskMaxUsedSpaceRatio: 75,
    diskSpaceCleanForciblyRatio: 85,
    diskSpaceWarningLevelRatio: 90,
    cleanFileForciblyEnable: true,
    deleteFileBatchMax: 10,
    cleanResourceInterval: 10_000,
    checkCRCOnRecover: true,
    maxTransferBytesOnMessageInMemory: 262_144,
    maxTransferCountOnMessageInMemory: 32,
    maxTransferBytesOnMessageInDisk: 65_536,
    maxTransferCountOnMessageInDisk: 8,
    accessMessageInMemoryMaxRatio: 40,
    maxFilterMessageSize: 16_000,
    defaultQueryMaxNum: 32,
    maxMsgsNumBatch: 64,
    offsetCheckInSlave: false,
    messageDelayLevel:
      "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h",
    messageVisibleAfter: "",
    maxStoreBytes: 0,
    storeOpenFilesMax: 512,
    pendingSyncPutsMax: 100_000,
    hotReadBytesMax: 67_108_864,
    coldReadsMax: 0,
    coldReadBytesPerSecondMax: 8_388_608,
    pullBytesMax: 134_217_728,
    explicitKeys: [],
  },
);

/** The visibility in force. */
export function visibilityOf(
  options: MessageStoreOptions,
): MessageVisibleAfter {
  if (options.messageVisibleAfter !== "") return options.messageVisibleAfter;
  return options.flushDiskType === "SYNC_FLUSH" ? "flush" : "append";
}

/** Folder of the CommitLog. */
export function commitLogDirectoryOf(options: MessageStoreOptions): string {
  return options.storePathCommitLog === ""
    ? `${options.storePathRootDir}/commitlog`
    : options.storePathCommitLog;
}
