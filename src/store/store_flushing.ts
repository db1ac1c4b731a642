/**
 * StoreFlushing: everything that makes a store durable, and what happens when the disk refuses.
 *
 * Invariant: after one failed sync of the log nothing is written any more. The kernel may have
 * dropped the pages, and a later sync would succeed without them.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import { FlushConsumeQueueService } from "./flush_consume_queue_service.ts";
import { FlushRealTimeService } from "./flush_real_time_service.ts";
import { GroupCommitService } from "./group_commit_service.ts";
import type { RunningFlags } from "./running_flags.ts";
import type { StoreFiles } from "./store_files.ts";
import type { MessageStoreOptions } from "./store_options.ts";

/** What flushing has to know and to tell. */
export interface StoreFlushingContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly flags: RunningFlags;
  /** The store times in the log are those of another node's clock. */
  isSlave(): boolean;
  /** Store time of the newest record in the log; of a slave, the newest that is whole. */
  lastStoreTimestamp(): number;
  /** Store time of the newest record handed to queues and index. */
  dispatchedTimestamp(): number;
  confirmOffset(): number;
  /** The log is durable further than before. */
  onFlushed(): void;
}

/** The flush services of one store. */
export class StoreFlushing {
  readonly groupCommit: GroupCommitService;
  readonly flushQueues: FlushConsumeQueueService;
  readonly #flushRealTime: FlushRealTimeService;

  constructor(
    private readonly files: StoreFiles,
    private readonly context: StoreFlushingContext,
    private options: MessageStoreOptions,
  ) {
    // Also for those who sync it without this class: a deletion of files, a slave's report.
    files.log.mappedFileQueue.onFlushFailed = (it) => this.#onSyncFailed(it);
    const log = this.#durableLog();
    const onFlushed = () => context.onFlushed();
    const onFailed = (error: unknown) => this.#onSyncFailed(error);
    this.groupCommit = new GroupCommitService(log, onFlushed, onFailed);
    this.#flushRealTime = new FlushRealTimeService(
      log,
      options,
      onFlushed,
      onFailed,
    );
    this.flushQueues = new FlushConsumeQueueService({
      log,
      queues: files.queues,
      index: files.index,
      checkpoint: files.checkpoint,
      dispatchedTimestamp: () => context.dispatchedTimestamp(),
      confirmOffset: () => context.confirmOffset(),
      logger: context.logger,
    }, options);
  }

  tick(nowMs: number): void {
    this.groupCommit.tick(this.context.clock.monotonicMs());
    if (this.options.flushDiskType === "ASYNC_FLUSH") {
      this.#flushRealTime.tick(nowMs);
    }
    this.flushQueues.tick(nowMs);
    if (this.context.isSlave()) this.#followMastersClock();
  }

  reconfigure(options: MessageStoreOptions): void {
    this.options = options;
    this.#flushRealTime.reconfigure(options);
    this.flushQueues.reconfigure(options);
  }

  /**
   * Recovery compares store times: what was noted before the clock went back would make it
   * begin too late.
   */
  onClockSetBack(nowMs: number): void {
    this.context.logger.warn("The clock was set back", {
      backMs: this.context.lastStoreTimestamp() - nowMs,
    });
    this.#lowerTimestamps(nowMs);
  }

  /** A slave sees it by the records: one is older than what the checkpoint calls durable. */
  #followMastersClock(): void {
    const { logicsMsgTimestamp, physicMsgTimestamp } = this.files.checkpoint;
    const noted = Math.min(logicsMsgTimestamp, physicMsgTimestamp);
    const last = this.context.dispatchedTimestamp();
    if (last === 0 || last >= noted) return;
    this.context.logger.warn("The clock of the master was set back", {
      backMs: noted - last,
    });
    this.#lowerTimestamps(last);
  }

  #lowerTimestamps(nowMs: number): void {
    const { checkpoint } = this.files;
    const { logger } = this.context;
    const { physicMsgTimestamp, logicsMsgTimestamp } = checkpoint;
    if (Math.min(physicMsgTimestamp, logicsMsgTimestamp) <= nowMs) return;
    checkpoint.physicMsgTimestamp = Math.min(physicMsgTimestamp, nowMs);
    checkpoint.logicsMsgTimestamp = Math.min(logicsMsgTimestamp, nowMs);
    checkpoint.flush().catch((error) =>
      logger.error("Cannot write the checkpoint", { error: String(error) })
    );
  }

  /** The log whose every sync is noted as physicMsgTimestamp. */
  #durableLog() {
    const { log, checkpoint } = this.files;
    const flush = async () => {
      const last = this.context.lastStoreTimestamp();
      // More records of this very millisecond may come, and this sync will not cover them.
      const { clock } = this.context;
      const isOver = !this.context.isSlave() && clock.nowMs() > last;
      const timestamp = isOver ? last : Math.max(0, last - 1);
      await log.flush();
      checkpoint.physicMsgTimestamp = timestamp;
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
    const { flags, logger } = this.context;
    if (flags.has("sync-failed")) return;
    const reason = `The disk failed to make the commit log durable (${
      error instanceof Error ? error.message : String(error)
    }): nothing is written any more, restart after checking the disk`;
    flags.set("sync-failed", reason);
    logger.error(reason);
  }
}
