/** StoreParts: the parts of one store, wired; MessageStore is their face. */
import { CleanCommitLogService } from "./clean_commit_log_service.ts";
import { CleanConsumeQueueService } from "./clean_consume_queue_service.ts";
import { CleanService } from "./clean_service.ts";
import { CommitLogDispatcher } from "./commit_log_dispatcher.ts";
import type { RecoveryReport } from "./commit_log_recovery.ts";
import { queueStartSum } from "./lost_queue_files.ts";
import { DelayLevelTable } from "./delay_level_table.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import { IndexCatchUp } from "./index_catch_up.ts";
import type {
  MessageStoreCounters,
  MessageStorePorts,
} from "./message_store_ports.ts";
import { PutMessageService } from "./put_message_service.ts";
import { QueueOffsetTable } from "./queue_offset_table.ts";
import { RecoveryPace } from "./recovery_pace.ts";
import { ReputMessageService } from "./reput_message_service.ts";
import { ReplicaDispatch } from "./replica_dispatch.ts";
import { ReplicaLog } from "./replica_log.ts";
import { RunningFlags } from "./running_flags.ts";
import { StoreFiles } from "./store_files.ts";
import { createAbortFile } from "./store_lock.ts";
import { StoreFlushing } from "./store_flushing.ts";
import { type MessageStoreOptions, visibilityOf } from "./store_options.ts";
import { StoreReading } from "./store_reading.ts";
import type { StoreRecoveryParts } from "./store_recovery.ts";
import { withSizesOf } from "./store_sizes.ts";
import { StoreSpaceGuard } from "./store_space_guard.ts";
import { UnfinishedStart } from "./unfinished_start.ts";
import { WritabilityLog } from "./writability_log.ts";

/** What one call may spend on a backlog of dispatch. */
const REPUT_MAX_MS = 50;
/** What a stop may spend on dispatch, so that it is over within ten seconds. */
const DISPATCH_REST_MAX_MS = 4_000;

/** With these no stop is clean. */
const UNCLEAN = ["sync-failed", "dispatch-failed"] as const;

/** Everything inside a store. */
export class StoreParts {
  readonly flags = new RunningFlags();
  readonly queueOffsets = new QueueOffsetTable();
  readonly recoveryPace: RecoveryPace;
  readonly delayLevels: DelayLevelTable;
  readonly files: StoreFiles;
  readonly dispatcher: CommitLogDispatcher;
  readonly reput: ReputMessageService;
  readonly flushing: StoreFlushing;
  readonly putService: PutMessageService;
  readonly reading: StoreReading;
  readonly spaceGuard: StoreSpaceGuard;
  readonly cleanService: CleanService;
  readonly replicaLog: ReplicaLog;
  readonly #replicaDispatch: ReplicaDispatch;
  readonly #indexCatchUp: IndexCatchUp;
  readonly #writabilityLog: WritabilityLog;
  readonly #unfinished: UnfinishedStart;
  replicatedOffset = 0;
  /** First offset that a connected slave still needs. */
  slaveNeedsFrom: (() => number | undefined) | undefined;

  constructor(
    private readonly ports: MessageStorePorts,
    public options: MessageStoreOptions,
    onArriving: (request: DispatchRequest) => void,
  ) {
    const { clock } = ports;
    const { flags } = this;
    const logger = ports.logger.child("store");
    const isSlave = () => this.#isSlave();
    this.recoveryPace = new RecoveryPace(clock);
    this.delayLevels = new DelayLevelTable(options.messageDelayLevel);
    this.files = new StoreFiles(ports, options, logger);
    const { log, queues, index } = this.files;
    this.dispatcher = new CommitLogDispatcher(
      queues,
      index,
      this.files.deletedTopics,
      flags,
      options.messageIndexEnable,
    );
    this.reput = new ReputMessageService(log, this.delayLevels, {
      dispatch: (request) => this.dispatcher.dispatch(request),
      onArriving,
      confirmOffset: () => this.confirmOffset(),
      onDispatchFailed: (error) => this.dispatcher.onDispatchFailed(error),
      isSlave,
    }, logger);
    this.flushing = new StoreFlushing(this.files, {
      clock,
      logger,
      flags,
      isSlave,
      lastStoreTimestamp: () =>
        isSlave()
          ? this.dispatcher.lastStoreTimestamp
          : this.putService.lastStoreTimestamp,
      dispatchedTimestamp: () => this.dispatcher.lastStoreTimestamp,
      confirmOffset: () => this.confirmOffset(),
      onFlushed: () => {
        if (!this.#replicaDispatch.isBusy) this.doReput();
      },
    }, options);
    this.putService = new PutMessageService({
      clock,
      log,
      flags,
      queueOffsets: this.queueOffsets,
      groupCommit: this.flushing.groupCommit,
      reput: this.reput,
      delayLevels: this.delayLevels,
      onClockSetBack: (nowMs) => this.flushing.onClockSetBack(nowMs),
    }, options);
    this.reading = new StoreReading(
      clock,
      this.files,
      ports.host,
      options,
      isSlave,
      this.queueOffsets,
    );
    this.spaceGuard = new StoreSpaceGuard(
      ports.fileSystem,
      options.storePathRootDir,
      flags,
      options,
      () => log.mappedFileQueue.lastFile?.path,
    );
    this.cleanService = this.#cleaning();
    this.replicaLog = new ReplicaLog({
      log,
      reader: this.reading.reader,
      flags,
      append: (phyOffset, bytes) => this.appendToCommitLog(phyOffset, bytes),
      adoptFileSize: (size) => this.#adoptFileSize(size),
      lastRecord: () => this.dispatcher.lastRecord,
    });
    this.#replicaDispatch = new ReplicaDispatch(
      log,
      this.reput,
      this.reading.hotBytesMax,
    );
    this.#indexCatchUp = new IndexCatchUp(
      log,
      index,
      this.delayLevels,
      () => this.reput.reputFromOffset,
    );
    this.#writabilityLog = new WritabilityLog(flags, logger);
    this.#unfinished = new UnfinishedStart(flags, () => this.#finishStart());
    flags.set("not-started", "The store has not started yet");
    this.#setSlaveFlag();
  }

  recoveryParts(): Omit<StoreRecoveryParts, "lastExitOk"> {
    const { log, queues, index, checkpoint, deletedTopics } = this.files;
    return {
      log,
      deletedTopics,
      queues,
      index,
      checkpoint,
      queueOffsets: this.queueOffsets,
      delayLevels: this.delayLevels,
      options: this.options,
      logger: this.ports.logger.child("store"),
      pace: this.recoveryPace,
      markUnclean: () => this.#markUnclean(),
    };
  }

  onRecovered(report: RecoveryReport): void {
    this.putService.lastStoreTimestamp = report.lastStoreTimestamp;
    this.dispatcher.lastStoreTimestamp = report.lastStoreTimestamp;
    this.dispatcher.lastRecord = report.lastRecord ?? undefined;
    this.reput.corruptRecordCount = report.corruptRecordCount;
    // A power cut may have taken what slaves had confirmed.
    this.replicatedOffset = Math.min(
      this.files.checkpoint.confirmPhyOffset,
      report.endOffset,
    );
    this.reput.reset(report.reputFromOffset);
    if (report.shortage !== null) this.#unfinished.owe(report.shortage);
  }

  /** Resolves when the next start can tell how this one ends, or once the disk is full. */
  prepareStart(): Promise<void> {
    return this.#unfinished.attempt(() => this.#noteStart());
  }

  start(): void {
    this.flags.clear("not-started");
    this.files.log.mappedFileQueue.onFileCreated = () => {
      if (this.options.maxStoreBytes === 0) return;
      this.cleanService.tick(this.ports.clock.nowMs());
    };
    this.spaceGuard.check();
    this.doReput();
  }

  tick(nowMs: number): void {
    if (!this.#replicaDispatch.isBusy) this.doReput();
    if (this.#isSlave()) this.#replicaDispatch.tick();
    this.dispatcher.endBatch();
    if (this.#waitsForSlaves()) {
      this.files.checkpoint.noteConfirmPhyOffset(this.confirmOffset());
    }
    this.flushing.tick(nowMs);
    this.#indexCatchUp.tick(nowMs);
    // Before the guard: it may lift what a write has met in between.
    this.#writabilityLog.tick(nowMs);
    this.spaceGuard.tick(nowMs);
    this.#unfinished.tick(nowMs);
    this.cleanService.tick(nowMs);
  }

  /** Refuses writes and makes everything durable; true when the stop is clean. */
  async shutdown(): Promise<boolean> {
    this.flags.set("shutdown", "The store is shutting down");
    this.#replicaDispatch.stop();
    // Visible after the sync means dispatched after the sync.
    if (this.#unfinished.isOwed || this.flags.has("files-removed")) {
      return false;
    }
    if (!await this.flushing.flushQueues.flush()) return false;
    if (!this.#dispatchRest()) return false;
    if (!await this.flushing.flushQueues.flush()) return false;
    if (UNCLEAN.some((it) => this.flags.has(it))) return false;
    if (this.reput.dispatchBehindBytes > 0) return false;
    const { log, queues, checkpoint } = this.files;
    checkpoint.cleanMaxPhyOffset = log.maxOffset;
    checkpoint.cleanQueueOffsetSum = queues.queueOffsetSum();
    checkpoint.cleanQueueStartSum = 1 + queueStartSum(queues);
    await checkpoint.flush();
    return true;
  }

  reconfigure(options: MessageStoreOptions): void {
    this.options = withSizesOf(this.options, options);
    this.putService.reconfigure(this.options);
    this.reading.getService.reconfigure(this.options);
    this.flushing.reconfigure(this.options);
    this.spaceGuard.reconfigure(this.options);
    this.cleanService.commitLogCleaner.reconfigure(this.options);
    this.#setSlaveFlag();
    this.doReput();
  }

  confirmOffset(): number {
    const { log } = this.files;
    switch (visibilityOf(this.options)) {
      case "append":
        return log.maxOffset;
      case "flush":
        return log.flushedOffset;
      case "replicated":
        return this.#waitsForSlaves()
          ? Math.min(this.replicatedOffset, log.maxOffset)
          : log.maxOffset;
    }
  }

  /** A slave has nobody behind it that must confirm. */
  #waitsForSlaves(): boolean {
    return visibilityOf(this.options) === "replicated" && !this.#isSlave();
  }

  /** End of what consumers may see, or of all that is in the log. */
  getMaxOffsetInQueue(
    topic: string,
    queueId: number,
    committed: boolean,
  ): number {
    const visible = this.files.queues.get(topic, queueId)?.maxOffsetInQueue ??
      0;
    if (committed || this.#isSlave()) return visible;
    return Math.max(visible, this.queueOffsets.next(topic, queueId));
  }

  /** Dispatches what has become visible; a long backlog in portions, call by call. */
  doReput(): void {
    if (!this.reput.doReput()) return;
    const { clock } = this.ports;
    const deadlineMs = clock.monotonicMs() + REPUT_MAX_MS;
    while (clock.monotonicMs() < deadlineMs && this.reput.doReput());
  }

  /** All of it, unless it takes too long: then the next start does the rest. */
  #dispatchRest(): boolean {
    const { clock } = this.ports;
    const deadlineMs = clock.monotonicMs() + DISPATCH_REST_MAX_MS;
    while (this.reput.doReput()) {
      if (clock.monotonicMs() > deadlineMs) return false;
    }
    return true;
  }

  appendToCommitLog(phyOffset: number, bytes: Uint8Array): boolean {
    const { log } = this.files;
    const { files } = log.mappedFileQueue;
    // The first file of an empty log may be there already: its bytes never came, or were torn.
    const isElsewhere = files.length === 1 && log.maxOffset === 0 &&
      phyOffset > 0;
    if (isElsewhere) log.mappedFileQueue.moveEmptyFile(phyOffset);
    const isEmpty = files.length === 0 || isElsewhere;
    if (!isEmpty && phyOffset !== log.maxOffset) return false;
    // Before the append: a disk may take the first part of it and refuse the rest.
    if (isEmpty) this.reput.reset(phyOffset);
    else this.reput.onAppendedData();
    log.appendData(phyOffset, bytes);
    if (this.options.flushDiskType === "SYNC_FLUSH") {
      this.flushing.groupCommit.wakeup();
    }
    this.#replicaDispatch.onAppended(bytes.length);
    return true;
  }

  /**
   * Topics of which nothing is stored leave no trace, but a deletion of one of them may still
   * be on its way, or have failed.
   */
  async deleteTopics(topics: readonly string[]): Promise<void> {
    const { queues } = this.files;
    const known = topics.filter((it) =>
      this.queueOffsets.hasTopic(it) || queues.queueIds(it).length > 0
    );
    for (const it of known) this.queueOffsets.deleteTopic(it);
    if (known.length > 0) await this.files.deleteTopics(known);
    else await this.files.deletedTopics.flush();
  }

  /** As `deleteTopics`, before the start: a full disk is told of it later. */
  deleteTopicsAtStart(topics: readonly string[]): Promise<void> {
    return this.#unfinished.attempt(() => this.deleteTopics(topics));
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

  async #noteStart(): Promise<void> {
    await this.files.recordSizes(this.options);
    await this.#markUnclean();
  }

  async #markUnclean(): Promise<void> {
    const { fileSystem, host } = this.ports;
    const { storePathRootDir } = this.options;
    await createAbortFile(fileSystem, storePathRootDir, host?.pid ?? 0);
  }

  async #finishStart(): Promise<void> {
    await this.files.flushDerived();
    await this.#noteStart();
  }

  /** An empty log takes the file size of its master; known to the next start. */
  async #adoptFileSize(mappedFileSizeCommitLog: number): Promise<void> {
    this.files.log.mappedFileQueue.adoptMappedFileSize(mappedFileSizeCommitLog);
    this.options = Object.freeze({ ...this.options, mappedFileSizeCommitLog });
    await this.files.recordSizes(this.options);
  }

  #cleaning(): CleanService {
    const { fileSystem, clock } = this.ports;
    const { log, queues, index } = this.files;
    const logger = this.ports.logger.child("store");
    return new CleanService(
      log,
      new CleanCommitLogService({
        fileSystem,
        clock,
        commitLog: log.mappedFileQueue,
        logger,
        neededFrom: () => this.slaveNeedsFrom?.(),
      }, this.options),
      new CleanConsumeQueueService(queues, index),
      logger,
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
