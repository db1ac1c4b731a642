/** FlushRealTimeService: ASYNC_FLUSH, at intervals and off the loop (reference 6.3). */
import type { MessageStoreOptions } from "./store_options.ts";

const OS_PAGE_SIZE = 4096;

/** What the service needs of the log. */
export interface FlushableLog {
  readonly maxOffset: number;
  readonly flushedOffset: number;
  flush(): Promise<void>;
}

/** Decides when the log is synced; a `tick`, not a thread. */
export class FlushRealTimeService {
  #isFlushing = false;
  #lastLookMs = 0;
  #lastThoroughMs = 0;

  constructor(
    private readonly log: FlushableLog,
    private options: MessageStoreOptions,
    /** Called after every sync that succeeded. */
    private readonly onFlushed: () => void,
    private readonly onFailed: (error: unknown) => void,
  ) {}

  reconfigure(options: MessageStoreOptions): void {
    this.options = options;
  }

  tick(nowMs: number): void {
    const { options } = this;
    // A clock that went back must not stop the flushing.
    if (nowMs < this.#lastLookMs) this.#lastLookMs = this.#lastThoroughMs = 0;
    if (nowMs - this.#lastLookMs < options.flushIntervalCommitLog) return;
    this.#lastLookMs = nowMs;
    if (this.#isFlushing) return;
    const dirtyPages = Math.floor(this.log.maxOffset / OS_PAGE_SIZE) -
      Math.floor(this.log.flushedOffset / OS_PAGE_SIZE);
    const isThorough =
      nowMs - this.#lastThoroughMs >= options.flushCommitLogThoroughInterval;
    if (!isThorough && dirtyPages < options.flushCommitLogLeastPages) return;
    this.#lastThoroughMs = nowMs;
    if (this.log.maxOffset > this.log.flushedOffset) void this.#flush();
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    try {
      await this.log.flush();
      this.onFlushed();
    } catch (error) {
      this.onFailed(error);
    }
    this.#isFlushing = false;
  }
}
