/**
 * FlushConsumeQueueService: makes queues, index and checkpoint durable now and then.
 *
 * Invariants
 * - A timestamp enters the checkpoint only after everything up to it is durable: recovery
 *   after a power cut begins there and never looks at what is before it.
 * - The log is synced first: no durable unit points beyond the durable log.
 */
import type { Logger } from "../io/logger.ts";
import type { MessageStoreOptions } from "./store_options.ts";
import type { StoreCheckpoint } from "./store_checkpoint.ts";

/** Something derived from the log that can be synced. */
export interface Flushable {
  flush(): Promise<void>;
}

/** What the service works with. */
export interface FlushConsumeQueueParts {
  /** Syncs the log and notes physicMsgTimestamp. */
  readonly log: Flushable;
  readonly queues: Flushable;
  readonly index: Flushable;
  readonly checkpoint: StoreCheckpoint;
  /** Store time of the newest record handed to queues and index. */
  dispatchedTimestamp(): number;
  confirmOffset(): number;
  readonly logger: Logger;
}

/** Flushes; a `tick`, not a thread. */
export class FlushConsumeQueueService {
  /** Why queues or index are not durable; null when they are. */
  failure: string | null = null;
  /** Store time up to which everything is durable and the checkpoint says so; 0 before. */
  lastTimestamp = 0;
  #running: Promise<boolean> | undefined;
  #lastMs = 0;

  constructor(
    private readonly parts: FlushConsumeQueueParts,
    private options: MessageStoreOptions,
  ) {}

  reconfigure(options: MessageStoreOptions): void {
    this.options = options;
  }

  tick(nowMs: number): void {
    if (this.#lastMs === 0 || nowMs < this.#lastMs) this.#lastMs = nowMs;
    const elapsed = nowMs - this.#lastMs;
    if (elapsed < this.options.flushConsumeQueueThoroughInterval) return;
    this.#lastMs = nowMs;
    void this.flush();
  }

  /** Syncs everything; false when it did not succeed. Never rejects. */
  flush(): Promise<boolean> {
    this.#running ??= this.#flush().finally(() => this.#running = undefined);
    return this.#running;
  }

  async #flush(): Promise<boolean> {
    const { log, queues, index, checkpoint } = this.parts;
    try {
      const timestamp = this.parts.dispatchedTimestamp();
      const confirmOffset = this.parts.confirmOffset();
      await log.flush();
      await queues.flush();
      await index.flush();
      checkpoint.logicsMsgTimestamp = timestamp;
      checkpoint.confirmPhyOffset = confirmOffset;
      await checkpoint.flush();
      this.lastTimestamp = timestamp;
    } catch (error) {
      this.#onFailed(error);
      return false;
    }
    this.failure = null;
    return true;
  }

  /** Queues and index can be built again from the log, so the store goes on. */
  #onFailed(error: unknown): void {
    const reason = `Cannot make queues and index durable: ${
      error instanceof Error ? error.message : String(error)
    }`;
    if (this.failure === null) {
      this.parts.logger.error(`${reason}; an unclean stop will rebuild them`);
    }
    this.failure = reason;
  }
}
