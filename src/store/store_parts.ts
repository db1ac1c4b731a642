/** StoreParts: the parts of one store, wired; MessageStore is their face. */
import { CleanCommitLogService } from "./clean_commit_log_service.ts";
import { CleanConsumeQueueService } from "./clean_consume_queue_service.ts";
import { CleanService } from "./clean_service.ts";
import { ColdReader } from "./cold_reader.ts";
import { CommitLog } from "./commit_log.ts";
import { CommitLogDispatcher } from "./commit_log_dispatcher.ts";
import type { RecoveryReport } from "./commit_log_recovery.ts";
import { ConsumeQueueStore } from "./consume_queue_store.ts";
import { DelayLevelTable } from "./delay_level_table.ts";
import { DescriptorCache } from "./descriptor_cache.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import { FlushConsumeQueueService } from "./flush_consume_queue_service.ts";
import { FlushRealTimeService } from "./flush_real_time_service.ts";
import { GetMessageService } from "./get_message_service.ts";
import { GroupCommitService } from "./group_commit_service.ts";
import { IndexCatchUp } from "./index_catch_up.ts";
import { IndexService } from "./index_service.ts";
import type {
  MessageStoreCounters,
  MessageStorePorts,
} from "./message_store.ts";
import { PutMessageService } from "./put_message_service.ts";
import { QueryMessageService } from "./query_message_service.ts";
import { QueueOffsetTable } from "./queue_offset_table.ts";
import { RecordReader } from "./record_reader.ts";
import { ReputMessageService } from "./reput_message_service.ts";
import { RunningFlags } from "./running_flags.ts";
import { StoreCheckpoint } from "./store_checkpoint.ts";
import { type MessageStoreOptions, visibilityOf } from "./store_options.ts";
import type { StoreRecoveryParts } from "./store_recovery.ts";
import { recordStoreSizes } from "./store_sizes.ts";
import { StoreSpaceGuard } from "./store_space_guard.ts";

const MEMORY_BYTES_DEFAULT = 1_073_741_824;
/** Share of memory that hot reads may assume to be page cache. */
const HOT_MEMORY_SHARE = 0.25;
const CORES_DEFAULT = 2;
/** Portions of the log that one call dispatches. */
const REPUT_SLICES_MAX = 4;

/** Everything inside a store. */
export class StoreParts {
  readonly flags = new RunningFlags();
  readonly queueOffsets = new QueueOffsetTable();
  readonly delayLevels: DelayLevelTable;
  readonly log: CommitLog;
  readonly queues: ConsumeQueueStore;
  readonly index: IndexService;
  readonly checkpoint: StoreCheckpoint;
  readonly reput: ReputMessageService;
  readonly groupCommit: GroupCommitService;
  readonly flushRealTime: FlushRealTimeService;
  readonly flushQueues: FlushConsumeQueueService;
  readonly putService: PutMessageService;
  readonly getService: GetMessageService;
  readonly queryService: QueryMessageService;
  readonly spaceGuard: StoreSpaceGuard;
  readonly dispatcher: CommitLogDispatcher;
  readonly cleanService: CleanService;
  readonly #indexCatchUp: IndexCatchUp;
  replicatedOffset = 0;
  /** First offset that a connected slave still needs. */
  slaveNeedsFrom: (() => number | undefined) | undefined;
  #memoryBytes: number;
  readonly #reader: RecordReader;

  constructor(
    private readonly ports: MessageStorePorts,
    public options: MessageStoreOptions,
    onArriving: (request: DispatchRequest) => void,
  ) {
    const { fileSystem, clock, host } = ports;
    const logger = ports.logger.child("store");
    const root = options.storePathRootDir;
    const cache = new DescriptorCache(options.storeOpenFilesMax);
    const onFlushFailed = (error: unknown) => this.#onSyncFailed(error);
    this.delayLevels = new DelayLevelTable(options.messageDelayLevel);
    this.log = new CommitLog(fileSystem, options, logger, cache);
    this.queues = new ConsumeQueueStore(fileSystem, options, logger, cache);
    this.checkpoint = new StoreCheckpoint(
      fileSystem,
      `${root}/checkpoint`,
      logger,
    );
    this.index = new IndexService(
      { fileSystem, clock, logger, checkpoint: this.checkpoint, cache },
      options,
    );
    this.dispatcher = new CommitLogDispatcher(
      this.queues,
      this.index,
      this.flags,
      options.messageIndexEnable,
    );
    this.reput = new ReputMessageService(this.log, this.delayLevels, {
      dispatch: (request) => this.dispatcher.dispatch(request),
      onArriving,
      confirmOffset: () => this.confirmOffset(),
      onDispatchFailed: (error) => this.dispatcher.onDispatchFailed(error),
      isSlave: () => this.#isSlave(),
    }, logger);
    const durableLog = this.#durableLog();
    this.groupCommit = new GroupCommitService(
      durableLog,
      () => this.doReput(),
      onFlushFailed,
    );
    this.flushRealTime = new FlushRealTimeService(
      durableLog,
      options,
      () => this.doReput(),
      onFlushFailed,
    );
    this.flushQueues = new FlushConsumeQueueService({
      log: durableLog,
      queues: this.queues,
      index: this.index,
      checkpoint: this.checkpoint,
      dispatchedTimestamp: () => this.dispatcher.lastStoreTimestamp,
      confirmOffset: () => this.confirmOffset(),
      logger,
    }, options);
    this.putService = new PutMessageService({
      clock,
      log: this.log,
      flags: this.flags,
      queueOffsets: this.queueOffsets,
      groupCommit: this.groupCommit,
      reput: this.reput,
      delayLevels: this.delayLevels,
      onClockSetBack: (nowMs) => this.#onClockSetBack(nowMs),
    }, options);
    const memoryLimit = host?.memoryLimitBytes() ?? MEMORY_BYTES_DEFAULT;
    this.#memoryBytes = memoryLimit * options.accessMessageInMemoryMaxRatio /
      100;
    const cores = host?.cpuCount() ?? CORES_DEFAULT;
    this.#reader = new RecordReader(
      this.log,
      new ColdReader(options.coldReadsMax || Math.max(1, cores - 1)),
      Math.min(options.hotReadBytesMax, memoryLimit * HOT_MEMORY_SHARE),
    );
    this.getService = new GetMessageService(
      this.log,
      this.queues,
      this.#reader,
      options,
      () => this.#memoryBytes,
      () => this.#isSlave(),
    );
    this.queryService = new QueryMessageService(
      this.log,
      this.queues,
      this.index,
      this.#reader,
    );
    this.spaceGuard = new StoreSpaceGuard(
      fileSystem,
      root,
      this.flags,
      options,
    );
    this.cleanService = new CleanService(
      this.log,
      new CleanCommitLogService({
        fileSystem,
        commitLog: this.log.mappedFileQueue,
        logger,
        neededFrom: () => this.slaveNeedsFrom?.(),
      }, options),
      new CleanConsumeQueueService(this.queues, this.index),
      logger,
    );
    this.#indexCatchUp = new IndexCatchUp(
      this.log,
      this.index,
      this.delayLevels,
      () => this.reput.reputFromOffset,
    );
    this.flags.set("not-started", "The store has not started yet");
    this.#setSlaveFlag();
  }

  recoveryParts(): Omit<StoreRecoveryParts, "lastExitOk"> {
    return {
      log: this.log,
      queues: this.queues,
      index: this.index,
      checkpoint: this.checkpoint,
      queueOffsets: this.queueOffsets,
      delayLevels: this.delayLevels,
      options: this.options,
      logger: this.ports.logger.child("store"),
    };
  }

  onRecovered(report: RecoveryReport): void {
    this.putService.lastStoreTimestamp = report.lastStoreTimestamp;
    this.dispatcher.lastStoreTimestamp = report.lastStoreTimestamp;
    this.reput.corruptRecordCount = report.corruptRecordCount;
    this.replicatedOffset = this.checkpoint.confirmPhyOffset;
    this.reput.reset(report.reputFromOffset);
  }

  /** Before the first file: a power cut may leave a short one. */
  async recordSizes(): Promise<void> {
    if (!recordStoreSizes(this.checkpoint, this.options)) return;
    await this.checkpoint.flush();
  }

  start(): void {
    this.flags.clear("not-started");
    this.spaceGuard.check();
    this.doReput();
  }

  tick(nowMs: number): void {
    const { options } = this;
    this.groupCommit.tick(this.ports.clock.monotonicMs());
    if (options.flushDiskType === "ASYNC_FLUSH") {
      this.flushRealTime.tick(nowMs);
    }
    this.doReput();
    this.dispatcher.endBatch();
    this.#indexCatchUp.tick(nowMs);
    this.flushQueues.tick(nowMs);
    this.spaceGuard.tick(nowMs);
    this.cleanService.tick(nowMs);
  }

  /** Refuses writes and makes everything durable; true when the stop is clean. */
  async shutdown(): Promise<boolean> {
    this.flags.set("shutdown", "The store is shutting down");
    // Visible after the sync means dispatched after the sync.
    if (!await this.flushQueues.flush()) return false;
    while (this.reput.doReput());
    if (!await this.flushQueues.flush()) return false;
    if (this.flags.has("sync-failed")) return false;
    if (this.flags.has("dispatch-failed")) return false;
    if (this.reput.dispatchBehindBytes > 0) return false;
    this.checkpoint.cleanMaxPhyOffset = this.log.maxOffset;
    this.checkpoint.cleanQueueOffsetSum = this.queues.queueOffsetSum();
    await this.checkpoint.flush();
    return true;
  }

  close(): void {
    this.log.mappedFileQueue.close();
    this.queues.close();
    this.index.close();
  }

  reconfigure(options: MessageStoreOptions): void {
    // Sizes are those of the files, whatever the new slice says.
    const { mappedFileSizeCommitLog, mappedFileSizeConsumeQueue } =
      this.options;
    const { maxHashSlotNum, maxIndexNum } = this.options;
    this.options = Object.freeze({
      ...options,
      mappedFileSizeCommitLog,
      mappedFileSizeConsumeQueue,
      maxHashSlotNum,
      maxIndexNum,
    });
    this.putService.reconfigure(this.options);
    this.getService.reconfigure(this.options);
    this.flushRealTime.reconfigure(this.options);
    this.flushQueues.reconfigure(this.options);
    this.spaceGuard.reconfigure(this.options);
    this.cleanService.commitLogCleaner.reconfigure(this.options);
    this.#setSlaveFlag();
    this.doReput();
  }

  /** Bytes behind the end of the log that count as "in memory". */
  memoryBytes(): number {
    return this.#memoryBytes;
  }

  confirmOffset(): number {
    const { log, options } = this;
    switch (visibilityOf(options)) {
      case "append":
        return log.maxOffset;
      case "flush":
        return log.flushedOffset;
      case "replicated":
        // A slave has nobody behind it that must confirm.
        return this.#isSlave()
          ? log.maxOffset
          : Math.min(this.replicatedOffset, log.maxOffset);
    }
  }

  /** Dispatches what has become visible; a long backlog in portions, call by call. */
  doReput(): void {
    for (let slice = 0; slice < REPUT_SLICES_MAX; slice++) {
      if (!this.reput.doReput()) return;
    }
  }

  appendToCommitLog(phyOffset: number, bytes: Uint8Array): boolean {
    const isEmpty = this.log.mappedFileQueue.files.length === 0;
    if (!isEmpty && phyOffset !== this.log.maxOffset) return false;
    this.log.appendData(phyOffset, bytes);
    if (isEmpty) this.reput.reset(phyOffset);
    else this.reput.onAppendedData();
    if (this.options.flushDiskType === "SYNC_FLUSH") this.groupCommit.wakeup();
    this.doReput();
    return true;
  }

  counters(): MessageStoreCounters {
    return {
      putCount: this.putService.putCount,
      putBytes: this.putService.putBytes,
      putFailedCount: this.putService.failedCount,
      corruptRecordCount: this.reput.corruptRecordCount,
      deletedFileCount: this.cleanService.commitLogCleaner.deletedFileCount,
    };
  }

  /** The log whose every sync is noted as physicMsgTimestamp. */
  #durableLog() {
    const { log } = this;
    const flush = async () => {
      const timestamp = this.putService.lastStoreTimestamp;
      try {
        await log.flush();
      } catch (error) {
        this.#onSyncFailed(error);
        throw error;
      }
      this.checkpoint.physicMsgTimestamp = timestamp;
    };
    return {
      get maxOffset() {
        return log.maxOffset;
      },
      get flushedOffset() {
        return log.flushedOffset;
      },
      flush,
    };
  }

  #onSyncFailed(error: unknown): void {
    if (this.flags.has("sync-failed")) return;
    const reason = `The disk failed to make the commit log durable (${
      error instanceof Error ? error.message : String(error)
    }): nothing is written any more, restart after checking the disk`;
    this.flags.set("sync-failed", reason);
    this.ports.logger.error(reason);
  }

  /**
   * Recovery compares store times: what was noted before the clock went back would make it
   * begin too late.
   */
  #onClockSetBack(nowMs: number): void {
    const { checkpoint } = this;
    this.ports.logger.warn("The clock was set back", {
      backMs: this.putService.lastStoreTimestamp - nowMs,
    });
    const { physicMsgTimestamp, logicsMsgTimestamp } = checkpoint;
    if (Math.min(physicMsgTimestamp, logicsMsgTimestamp) <= nowMs) return;
    checkpoint.physicMsgTimestamp = Math.min(physicMsgTimestamp, nowMs);
    checkpoint.logicsMsgTimestamp = Math.min(logicsMsgTimestamp, nowMs);
    checkpoint.flush().catch((error) =>
      this.ports.logger.error("Cannot write the checkpoint", { error })
    );
  }

  #isSlave(): boolean {
    return this.options.brokerRole === "SLAVE";
  }

  #setSlaveFlag(): void {
    if (this.#isSlave()) {
      this.flags.set("slave", "This broker is a slave: write to its master");
    } else this.flags.clear("slave");
  }
}
