/**
 * ConsumeQueueStore: all ConsumeQueues, `consumequeue/<topic>/<queueId>/`.
 *
 * Invariants
 * - Units taken by `putMessagePosition` are readable at once, and in the page cache (safe from
 *   kill -9) when `endBatch` returns.
 * - Descriptors are bounded by the cache; a queue that nobody uses costs one small object.
 */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { ConsumeQueue, type ConsumeQueueShared } from "./consume_queue.ts";
import { ConsumeQueueFlusher } from "./consume_queue_flusher.ts";
import { isTopicFolderName, listQueueFolders } from "./consume_queue_folder.ts";
import { roundUpToUnits } from "./consume_queue_unit.ts";
import { DescriptorCache } from "./descriptor_cache.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import { warnOfForeignFiles } from "./foreign_files.ts";
import { MissingFileError } from "./mapped_file_fault.ts";
import { UnitBatchPool } from "./unit_batch.ts";

/** What ConsumeQueueStore needs to know. */
export interface ConsumeQueueStoreOptions {
  readonly storePathRootDir: string;
  /** Bytes of one file, rounded up here to whole units. */
  readonly mappedFileSizeConsumeQueue: number;
}

/** Units that were missing when a later one arrived. */
export interface ConsumeQueueGap {
  readonly topic: string;
  readonly queueId: number;
  /** First missing queue offset. */
  readonly from: number;
  /** Queue offset of the unit behind the gap. */
  readonly to: number;
}

/** What was written longer ago is on the disk by itself: kernels wait half a minute. */
const WRITE_BACK_MS = 900_000;
/** Units of one dispatch batch, over all queues: with more a batch ends early. */
const BATCH_BYTES_MAX = 33_554_432;
const GAPS_KEPT_MAX = 1_000;
const TOPIC_SHOWN_MAX = 255;

/** The table of queues. */
export class ConsumeQueueStore {
  readonly directory: string;
  readonly fileSystem: FileSystem;
  readonly #logger: Logger;
  readonly #cache: DescriptorCache;
  readonly #fileSize: number;
  readonly #shared: ConsumeQueueShared;
  readonly #table = new Map<string, Map<number, ConsumeQueue>>();
  #batch: ConsumeQueue[] = [];
  readonly #flusher: ConsumeQueueFlusher;
  #gaps: ConsumeQueueGap[] = [];
  #refusedTopics = new Set<string>();
  #lastTopic = "";
  #lastQueues: Map<number, ConsumeQueue> | undefined;

  constructor(
    fileSystem: FileSystem,
    options: ConsumeQueueStoreOptions,
    logger: Logger,
    cache = new DescriptorCache(),
  ) {
    this.fileSystem = fileSystem;
    this.#logger = logger;
    this.#cache = cache;
    this.directory = `${options.storePathRootDir}/consumequeue`;
    this.#fileSize = roundUpToUnits(options.mappedFileSizeConsumeQueue);
    this.#shared = { pool: new UnitBatchPool(), minPhyOffset: 0 };
    this.#flusher = new ConsumeQueueFlusher(this);
  }

  /** Bytes of one file, in whole units. */
  get mappedFileSize(): number {
    return this.#fileSize;
  }

  get queueCount(): number {
    let count = 0;
    for (const queues of this.#table.values()) count += queues.size;
    return count;
  }

  /**
   * Finds the queues and checks their files; opens none. Returns those that lack a file in the
   * middle: `resetQueue` has to follow. Throws `StoreFileError`.
   */
  load(lastExitOk = true): ConsumeQueue[] {
    const lacking: ConsumeQueue[] = [];
    const { queues, foreign } = listQueueFolders(
      this.fileSystem,
      this.directory,
    );
    for (const { topic, queueId } of queues) {
      const queue = this.#add(topic, queueId);
      try {
        queue.load(lastExitOk);
      } catch (error) {
        if (!(error instanceof MissingFileError)) throw error;
        lacking.push(queue);
      }
    }
    warnOfForeignFiles(this.#logger, this.directory, foreign);
    this.#flusher.openWhole(this.#table.keys());
    return lacking;
  }

  /**
   * Finds the end of every queue (reference 5.2). After an unclean stop the queues that were
   * written to lately are looked through, and go with the next flush: all of them would take
   * minutes.
   */
  recover(lastExitOk: boolean): void {
    if (!lastExitOk) {
      this.#flusher.markDirectoriesUnsynced(this.#table.keys());
    }
    const durableBefore = lastExitOk
      ? Number.POSITIVE_INFINITY
      : this.#newestModification() - WRITE_BACK_MS;
    for (const queue of this.#queues()) {
      const isDurable = queue.lastModifiedMs < durableBefore;
      queue.recover(isDurable);
      if (!isDurable) this.#flusher.add(queue);
    }
  }

  /** Highest phyOffset + size in any queue; -1 without any. */
  maxPhyOffset(): number {
    let highest = -1;
    for (const queue of this.#queues()) {
      highest = Math.max(highest, queue.maxPhyOffset);
    }
    return highest;
  }

  /** Sum of the max offsets of all queues: compared with the checkpoint of a clean stop. */
  queueOffsetSum(): number {
    let sum = 0;
    for (const queue of this.#queues()) sum += queue.maxOffsetInQueue;
    return sum;
  }

  /**
   * Takes the unit of one record; idempotent (reference 4.5). Whoever calls decides which
   * records have one. Throws `FileError` (a full disk) and then has not taken it: call again.
   */
  putMessagePosition(request: DispatchRequest): void {
    const queue = this.#queueFor(request.topic, request.queueId);
    if (queue === undefined) return;
    if (this.#shared.pool.bytesInUse > BATCH_BYTES_MAX) this.endBatch();
    const wasOpen = queue.isBatchOpen;
    const end = queue.maxOffsetInQueue;
    const result = queue.putMessagePosition(request);
    if (result === "skipped") return;
    if (result === "gap") this.#noteGap(request, end);
    if (result === "restarted") {
      this.#logger.info("A queue begins anew: its topic was made again", {
        topic: request.topic,
        queueId: request.queueId,
        previousEnd: end,
        queueOffset: request.queueOffset,
      });
    }
    if (!wasOpen) {
      this.#batch.push(queue);
      this.#flusher.add(queue);
    }
  }

  /** Writes what the dispatch batch brought; throws the first `FileError`, to be called again. */
  endBatch(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    let failure: unknown;
    for (const queue of batch) {
      try {
        queue.endBatch();
      } catch (error) {
        failure ??= error;
        this.#batch.push(queue);
      }
    }
    if (failure !== undefined) throw failure;
  }

  get(topic: string, queueId: number): ConsumeQueue | undefined {
    return this.#topicQueues(topic)?.get(queueId);
  }

  topics(): string[] {
    return [...this.#table.keys()];
  }

  /** Ascending. */
  queueIds(topic: string): number[] {
    return [...this.#table.get(topic)?.keys() ?? []].sort((a, b) => a - b);
  }

  /**
   * The gaps since the last call, at most 1000. During recovery a gap means that units of an
   * older, synced part are missing: `resetQueue` it and dispatch the log again from its start.
   */
  takeGaps(): ConsumeQueueGap[] {
    const gaps = this.#gaps;
    this.#gaps = [];
    return gaps;
  }

  /** Empties one queue, so that dispatch can build it again. */
  async resetQueue(topic: string, queueId: number): Promise<void> {
    const queue = this.get(topic, queueId);
    if (queue === undefined) return;
    this.#leaveBatch(queue);
    queue.destroyNow();
    await queue.mappedFileQueue.flush();
  }

  /**
   * Cuts units of records at or beyond `phyOffset` (reference 5.6); returns how many. Nothing is
   * synced.
   */
  truncateDirty(phyOffset: number): number {
    let count = 0;
    for (const queue of this.#queues()) {
      const cut = queue.truncateDirty(phyOffset);
      if (cut > 0) this.#flusher.add(queue);
      count += cut;
    }
    return count;
  }

  /** The log begins at `minPhyOffset` now; queues correct their min offset when asked for it. */
  correctMinOffset(minPhyOffset: number): void {
    this.#shared.minPhyOffset = minPhyOffset;
  }

  /** Makes all written units durable. Rejects for ever once a sync has failed. */
  async flush(): Promise<void> {
    this.endBatch();
    await this.#flusher.flush();
  }

  /** Removes the queues of a topic from the disk: in this turn, and for good when resolved. */
  async deleteTopic(topic: string): Promise<void> {
    const queues = this.#table.get(topic);
    if (queues === undefined) return;
    this.#table.delete(topic);
    this.#forgetLast();
    // In this turn: the first record of a new topic may make a queue at the same place.
    for (const queue of queues.values()) {
      this.#leaveBatch(queue);
      this.#flusher.forget(queue);
      queue.destroyNow();
    }
    const path = `${this.directory}/${topic}`;
    const { fileSystem } = this;
    if (fileSystem.stat(path) === undefined) return;
    if (fileSystem.list(path).length > 0) {
      for (const it of queues.values()) await it.mappedFileQueue.flush();
      return;
    }
    // With the topic's folder its entries are gone for good too.
    fileSystem.remove(path);
    await fileSystem.syncDirectory(this.directory);
  }

  /**
   * Removes files whose records are all below `minPhyOffset`, never the last of a queue;
   * resolves with their number.
   */
  async cleanExpired(minPhyOffset: number): Promise<number> {
    this.correctMinOffset(minPhyOffset);
    let count = 0;
    for (const queue of [...this.#queues()]) {
      if (queue.fileCount < 2) continue;
      count += await queue.deleteExpiredFiles(minPhyOffset);
    }
    return count;
  }

  /** Closes the descriptors; nothing is flushed. */
  close(): void {
    for (const queue of this.#queues()) queue.close();
    this.#flusher.close();
  }

  #newestModification(): number {
    let newest = 0;
    for (const { lastModifiedMs } of this.#queues()) {
      newest = Math.max(newest, lastModifiedMs);
    }
    return newest;
  }

  *#queues(): Iterable<ConsumeQueue> {
    for (const queues of this.#table.values()) yield* queues.values();
  }

  /** Consecutive records are often of one topic. */
  #topicQueues(topic: string): Map<number, ConsumeQueue> | undefined {
    if (this.#lastTopic === topic && this.#lastQueues !== undefined) {
      return this.#lastQueues;
    }
    const queues = this.#table.get(topic);
    this.#lastTopic = topic;
    this.#lastQueues = queues;
    return queues;
  }

  #forgetLast(): void {
    this.#lastQueues = undefined;
  }

  #queueFor(topic: string, queueId: number): ConsumeQueue | undefined {
    const queue = this.#topicQueues(topic)?.get(queueId);
    if (queue !== undefined) return queue;
    if (queueId >= 0 && isTopicFolderName(topic)) {
      return this.#add(topic, queueId);
    }
    if (this.#refusedTopics.size < GAPS_KEPT_MAX) {
      if (!this.#refusedTopics.has(topic)) {
        this.#logger.warn("A topic that is no folder name gets no queue", {
          topic: topic.slice(0, TOPIC_SHOWN_MAX),
          queueId,
        });
      }
      this.#refusedTopics.add(topic);
    }
    return undefined;
  }

  #add(topic: string, queueId: number): ConsumeQueue {
    let queues = this.#table.get(topic);
    if (queues === undefined) {
      queues = new Map();
      this.#table.set(topic, queues);
      this.#forgetLast();
    }
    const queue = new ConsumeQueue(
      topic,
      queueId,
      {
        fileSystem: this.fileSystem,
        directory: `${this.directory}/${topic}/${queueId}`,
        mappedFileSize: this.#fileSize,
        sizeKey: "mappedFileSizeConsumeQueue",
        logger: this.#logger,
        cache: this.#cache,
        dirtyParents: this.#flusher.dirtyDirectories,
      },
      this.#shared,
    );
    queues.set(queueId, queue);
    return queue;
  }

  #noteGap(request: DispatchRequest, from: number): void {
    const { topic, queueId, queueOffset } = request;
    this.#logger.warn("Units are missing in a ConsumeQueue", {
      topic,
      queueId,
      from,
      to: queueOffset,
    });
    if (this.#gaps.length === GAPS_KEPT_MAX) return;
    this.#gaps.push({ topic, queueId, from, to: queueOffset });
  }

  #leaveBatch(queue: ConsumeQueue): void {
    this.#batch = this.#batch.filter((it) => it !== queue);
  }
}
