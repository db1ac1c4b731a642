/**
 * MessageStore: the store of one broker; everything outside talks to this class.
 *
 * Life: `load` (lock, recovery), `start`, `tick` every 100 ms, `shutdown`. Files, from the root:
 * `commitlog/`, `consumequeue/`, `index/`, `checkpoint`, `abort`, `lock`.
 */
import type { FileLock } from "../io/file_system.ts";
import type {
  MessageExtBatch,
  MessageExtBrokerInner,
} from "../model/message_ext.ts";
import type { CommitLog } from "./commit_log.ts";
import type { RecoveryReport } from "./commit_log_recovery.ts";
import type { BoundaryType } from "./consume_queue_time.ts";
import { DelayedMessages } from "./delayed_messages.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import type { GetMessageRequest } from "./get_message_service.ts";
import type { GetMessageResult } from "./get_message_result.ts";
import type {
  MessageArrivingListener,
  MessageStoreCounters,
  MessageStorePorts,
} from "./message_store_ports.ts";
import type { PutMessageResult } from "./put_message_result.ts";
import type {
  QueryMessageResult,
  QueryMessageService,
} from "./query_message_service.ts";
import { finishPendingCut } from "./log_cut.ts";
import { checkLogFiles } from "./log_file_check.ts";
import type { RecoveryProgress } from "./recovery_pace.ts";
import type { ReplicaLog } from "./replica_log.ts";
import { checkStoreFolders } from "./store_folders.ts";
import { StoreFileError } from "./store_file_error.ts";
import { hasAbortFile, lockStore, removeAbortFile } from "./store_lock.ts";
import type { MessageStoreOptions } from "./store_options.ts";
import { StoreParts } from "./store_parts.ts";
import { recoverStore } from "./store_recovery.ts";
import { adoptStoreSizes } from "./store_sizes.ts";
import { StoreStartError } from "./store_start_error.ts";

/** The store. */
export class MessageStore {
  messageArrivingListener: MessageArrivingListener | null = null;
  /** What recovery found; null before `load`. */
  recoveryReport: RecoveryReport | null = null;
  /** False when the process before this one did not stop cleanly. */
  lastExitOk = true;
  readonly delayedMessages: DelayedMessages;
  readonly #ports: MessageStorePorts;
  readonly #parts: StoreParts;
  readonly #startError: StoreStartError | undefined;
  #lock: FileLock | undefined;
  /** Running ones: the lock is kept until they have ended. */
  readonly #deletions = new Set<Promise<void>>();
  #isRunning = false;

  constructor(ports: MessageStorePorts, options: MessageStoreOptions) {
    this.#ports = ports;
    let effective = options;
    try {
      effective = adoptStoreSizes(ports.fileSystem, options, ports.logger);
    } catch (error) {
      if (!(error instanceof StoreStartError)) throw error;
      this.#startError = error;
    }
    this.#parts = new StoreParts(
      ports,
      effective,
      (it) => this.#onArriving(it),
    );
    this.delayedMessages = new DelayedMessages(this.#parts, ports.clock);
  }

  /** The options in force; sizes are those of the existing files. */
  get options(): MessageStoreOptions {
    return this.#parts.options;
  }

  /** How far `load` has read the log; null before it does. */
  get recoveryProgress(): RecoveryProgress | null {
    return this.#parts.recoveryPace.progress;
  }

  /** The log itself: for replication and tools. */
  get commitLog(): CommitLog {
    return this.#parts.files.log;
  }

  /** Takes the lock and recovers. Throws `StoreStartError`; the store is then not usable. */
  async load(): Promise<void> {
    const { fileSystem, clock } = this.#ports;
    const parts = this.#parts;
    const root = this.options.storePathRootDir;
    this.#lock = await lockStore(fileSystem, root);
    try {
      checkStoreFolders(fileSystem, this.options);
      await finishPendingCut(fileSystem, this.options, this.#ports.logger);
      await checkLogFiles(fileSystem, parts.options);
      if (this.#startError !== undefined) throw this.#startError;
      const startedMs = clock.monotonicMs();
      this.lastExitOk = !hasAbortFile(fileSystem, root);
      const report = await recoverStore({
        ...parts.recoveryParts(),
        lastExitOk: this.lastExitOk,
      });
      this.recoveryReport = report;
      parts.onRecovered(report);
      const { lastRecord: _, ...shown } = report;
      this.#ports.logger.info("The store is recovered", {
        lastExitOk: this.lastExitOk,
        ...shown,
        minOffset: this.minPhyOffset,
        elapsedMs: Math.round(clock.monotonicMs() - startedMs),
      });
    } catch (error) {
      this.#close();
      if (!(error instanceof StoreFileError)) throw error;
      throw new StoreStartError(
        `${error.message}; ${error.hint}`,
        "storePathRootDir",
        root,
        error.hint,
        { cause: error },
      );
    }
  }

  /** Takes writes from now on, unless the role forbids it. */
  async start(): Promise<void> {
    await this.#parts.prepareStart();
    this.#isRunning = true;
    this.#parts.start();
  }

  /** Every 100 ms. */
  tick(nowMs: number): void {
    if (this.#isRunning) this.#parts.tick(nowMs);
  }

  /** Refuses writes, makes everything durable, and tells the next start that all is well. */
  async shutdown(): Promise<void> {
    if (this.#lock === undefined) return;
    await Promise.all(this.#deletions);
    if (this.#isRunning) {
      this.#isRunning = false;
      if (await this.#parts.shutdown()) {
        removeAbortFile(
          this.#ports.fileSystem,
          this.options.storePathRootDir,
        );
      } else {
        this.#ports.logger.warn(
          "The store did not stop cleanly: the next start recovers it",
          { reason: this.unwritableReason },
        );
      }
    }
    this.#close();
  }

  reconfigure(options: MessageStoreOptions): void {
    this.#parts.reconfigure(options);
  }

  /** Synchronous under ASYNC_FLUSH and for refusals; else after the group's sync. */
  putMessage(
    message: MessageExtBrokerInner,
  ): PutMessageResult | Promise<PutMessageResult> {
    return this.#parts.putService.putMessage(message);
  }

  putMessages(
    batch: MessageExtBatch,
  ): PutMessageResult | Promise<PutMessageResult> {
    return this.#parts.putService.putMessages(batch);
  }

  /** Synchronous when the records are in the page cache. */
  getMessage(
    request: GetMessageRequest,
  ): GetMessageResult | Promise<GetMessageResult> {
    return this.#parts.reading.getService.getMessage(request);
  }

  /** 0 for a queue that does not exist. */
  getMinOffsetInQueue(topic: string, queueId: number): number {
    return this.#parts.files.queues.get(topic, queueId)?.minOffsetInQueue ?? 0;
  }

  /** End of what consumers may see, or else of all that is in the log; 0 for no queue. */
  getMaxOffsetInQueue(
    topic: string,
    queueId: number,
    committed = true,
  ): number {
    return this.#parts.getMaxOffsetInQueue(topic, queueId, committed);
  }

  getOffsetInQueueByTime(
    topic: string,
    queueId: number,
    timestampMs: number,
    boundary: BoundaryType = "lower",
  ): Promise<number> {
    return this.#parts.reading.queryService.getOffsetInQueueByTime(
      topic,
      queueId,
      timestampMs,
      boundary,
    );
  }

  /** Store time of the first record of a queue; -1 when there is none. */
  getEarliestMessageTime(topic: string, queueId: number): Promise<number> {
    const queueOffset = this.getMinOffsetInQueue(topic, queueId);
    return this.getMessageStoreTimeStamp(topic, queueId, queueOffset);
  }

  /** -1 when there is no such record. */
  getMessageStoreTimeStamp: QueryMessageService["getMessageStoreTimeStamp"] = (
    ...args
  ) => this.#parts.reading.queryService.getMessageStoreTimeStamp(...args);

  selectOneMessageByOffset(phyOffset: number): Promise<Uint8Array | undefined> {
    return this.#parts.reading.queryService.selectOneMessageByOffset(phyOffset);
  }

  queryMessage(
    topic: string,
    key: string,
    maxNum: number,
    beginMs: number,
    endMs: number,
  ): Promise<QueryMessageResult> {
    return this.#parts.reading.queryService.queryMessage(
      topic,
      key,
      Math.min(maxNum, this.options.maxMsgsNumBatch),
      beginMs,
      endMs,
    );
  }

  /** Units of a queue, as `QueryMessageService.queueUnits`. */
  queueUnits: QueryMessageService["queueUnits"] = (...args) =>
    this.#parts.reading.queryService.queueUnits(...args);

  /** True when the record at that place lies within the memory ratio (reference 9.6). */
  checkInMemByConsumeOffset(
    topic: string,
    queueId: number,
    queueOffset: number,
  ): boolean {
    return this.#parts.reading.isInMemory(topic, queueId, queueOffset);
  }

  get minPhyOffset(): number {
    return this.#parts.files.log.minOffset;
  }

  get maxPhyOffset(): number {
    return this.#parts.files.log.maxOffset;
  }

  /** Everything below it survives power loss. */
  get flushedOffset(): number {
    return this.#parts.files.log.flushedOffset;
  }

  /** End of what dispatch, and so consumers, may see. */
  get confirmOffset(): number {
    return this.#parts.confirmOffset();
  }

  get dispatchBehindBytes(): number {
    return this.#parts.reput.dispatchBehindBytes;
  }

  /** What slaves have confirmed; counts under messageVisibleAfter=replicated. */
  get replicatedOffset(): number {
    return this.#parts.replicatedOffset;
  }

  set replicatedOffset(offset: number) {
    this.#parts.replicatedOffset = offset;
    this.#parts.doReput();
  }

  /**
   * Appends bytes of a master at the end of the log and dispatches what is whole. False when
   * `phyOffset` is not the end. Throws `FileError`.
   */
  appendToCommitLog(phyOffset: number, bytes: Uint8Array): boolean {
    return this.#parts.appendToCommitLog(phyOffset, bytes);
  }

  get isWritable(): boolean {
    return this.#parts.flags.isWritable;
  }

  /** One sentence; null when the store takes writes. */
  get unwritableReason(): string | null {
    return this.#parts.flags.unwritableReason;
  }

  /** Why dispatch stands still, or queues are not durable; null when all is well. */
  get degradedReason(): string | null {
    return this.#parts.reput.stallReason ??
      this.#parts.flushing.flushQueues.failure ??
      this.#parts.files.index.offReason;
  }

  /** Store time up to which log, queues and index are durable; recovery relies on it. */
  get lastCheckpointTimestamp(): number {
    return this.#parts.flushing.flushQueues.lastTimestamp;
  }

  get counters(): MessageStoreCounters {
    return this.#parts.counters();
  }

  /** Percent of the disk in use; null when not known. */
  get diskUsedPercent(): number | null {
    return this.#parts.spaceGuard.usedPercent;
  }

  /** Every topic that has a queue. */
  topics(): string[] {
    return this.#parts.files.queues.topics();
  }

  queueIds(topic: string): number[] {
    return this.#parts.files.queues.queueIds(topic);
  }

  /**
   * Removes the queues of topics: at once, and for good when resolved. Their records stay in
   * the log until it is cleaned, but in no queue. Throws `FileError`.
   */
  async deleteTopics(topics: readonly string[]): Promise<void> {
    const deletion = this.#isRunning
      ? this.#parts.deleteTopics(topics)
      : this.#parts.deleteTopicsAtStart(topics);
    const done = deletion.catch(() => {}); // Told to the caller.
    this.#deletions.add(done);
    void done.then(() => this.#deletions.delete(done));
    await deletion;
  }

  /** Where the newest record of a topic's queues ends in the log; -1 without any. */
  recordsEnd(topic: string): number {
    return this.#parts.files.recordsEnd(topic);
  }

  /** Empties the queues of a topic whose records are all below `phyOffset`. */
  deleteQueuesBefore(topic: string, phyOffset: number): Promise<void> {
    return this.#parts.files.deleteQueuesBefore(topic, phyOffset);
  }

  /** Removes queue files whose records are gone; resolves with their number. */
  cleanExpiredConsumeQueue(): Promise<number> {
    return this.#parts.files.queues.cleanExpired(this.minPhyOffset);
  }

  /** The next 20 rounds of cleaning ignore the hour (reference 4.11). */
  executeDeleteFilesManually(): void {
    this.#parts.cleanService.commitLogCleaner.executeDeleteFilesManually();
  }

  /** The log as replication sees it. */
  get replicaLog(): ReplicaLog {
    return this.#parts.replicaLog;
  }

  /** Log files from this offset on are spared while space allows: a slave needs them. */
  set slaveNeedsFrom(ask: (() => number | undefined) | undefined) {
    this.#parts.slaveNeedsFrom = ask;
  }

  #onArriving(request: DispatchRequest): void {
    const listener = this.messageArrivingListener;
    if (listener === null) return;
    listener(
      request.topic,
      request.queueId,
      request.queueOffset + 1,
      request.tagsCode,
      request.storeTimestamp,
      request.propertiesText,
    );
  }

  #close(): void {
    this.#parts.files.close();
    this.#lock?.release();
    this.#lock = undefined;
  }
}
