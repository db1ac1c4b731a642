/**
 * TimerPersistence: writes what is done of timer messages, for the next start, for slaves, and for
 * an Apache broker that gets the store.
 *
 * Invariant: what is written as done is durable in the log before.
 */
import type { Clock } from "../../io/clock.ts";
import { FileError } from "../../io/file_system.ts";
import type { Logger } from "../../io/logger.ts";
import type { TimerMessages } from "../../store/timer_messages.ts";
import type { DelayOffsetFile } from "../delay_offset_file.ts";
import {
  checkpointOf,
  isOurs,
  progressOf,
  type TimerCheckpoint,
} from "./timer_checkpoint.ts";
import type { TimerCheckpointFile } from "./timer_checkpoint_file.ts";
import { exportTimerLog } from "./timer_export.ts";
import type { TimerMessageStore } from "./timer_message_store.ts";
import type { TimerMetrics } from "./timer_metrics.ts";
import {
  isSameProgress,
  NO_PROGRESS,
  type TimerProgress,
} from "./timer_progress.ts";

/** What it needs. */
export interface TimerPersistencePorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly messages: TimerMessages;
  readonly file: DelayOffsetFile;
  readonly checkpointFile: TimerCheckpointFile;
  readonly metrics: TimerMetrics;
}

/** What is done is written at least as often, as exactly as can be. */
const EXACT_INTERVAL_MS = 10_000;

/** Of one run of a broker. */
export class TimerPersistence {
  #store: TimerMessageStore | null = null;
  #persisted: TimerProgress = NO_PROGRESS;
  #nextMs = 0;
  #exactMs = 0;
  #writing: Promise<void> | null = null;
  #isUnwritable = false;

  constructor(
    private readonly ports: TimerPersistencePorts,
    /** timerFlushIntervalMs. */
    private intervalMs: number,
  ) {}

  reconfigure(intervalMs: number): void {
    this.intervalMs = intervalMs;
  }

  /** What an earlier life has done. */
  load(): TimerProgress {
    const { checkpointFile, file, logger, messages } = this.ports;
    const checkpoint = checkpointFile.read();
    // An Apache broker had the store after us: what it says is newer.
    const isForeign = checkpoint !== undefined && !isOurs(checkpoint);
    const known = isForeign ? undefined : file.timers;
    if (known !== undefined) this.#persisted = known;
    const progress = known ??
      (checkpoint === undefined ? NO_PROGRESS : progressOf(checkpoint));
    if (progress === NO_PROGRESS && messages.range() !== undefined) {
      logger.warn(
        "Neither delayOffset.json nor timercheck tells which timer messages are done: all in the queue are delivered",
      );
    }
    return progress;
  }

  /** Writes from now on what `store` has done. */
  start(store: TimerMessageStore): void {
    this.#store = store;
    const nowMs = this.ports.clock.monotonicMs();
    this.#nextMs = nowMs + this.intervalMs;
    this.#exactMs = nowMs + EXACT_INTERVAL_MS;
  }

  /** What slaves are told (60): what is done durably. */
  checkpoint(): TimerCheckpoint {
    const { timers = NO_PROGRESS, dataVersion } = this.ports.file;
    return checkpointOf(timers, this.#store?.nextAtMs, dataVersion);
  }

  /** True while what is written does not tell all that was delivered. */
  get isChanged(): boolean {
    const { doneUntil } = this.#persisted;
    const now = this.#store?.doneUntil ?? doneUntil;
    return now.atMs !== doneUntil.atMs ||
      now.queueOffset !== doneUntil.queueOffset;
  }

  /** Every 100 ms. */
  tick(): void {
    const nowMs = this.ports.clock.monotonicMs();
    const isExact = nowMs >= this.#exactMs;
    if (isExact || (nowMs >= this.#nextMs && this.isChanged)) {
      this.write(isExact);
    }
  }

  /** Begins a write, unless one is under way. */
  write(isExact: boolean): void {
    if (this.#writing !== null || this.#store === null) return;
    const nowMs = this.ports.clock.monotonicMs();
    this.#nextMs = nowMs + this.intervalMs;
    if (isExact) this.#exactMs = nowMs + EXACT_INTERVAL_MS;
    this.#writing = this.#write(this.#store, isExact).finally(() => {
      this.#writing = null;
    });
  }

  /** At a clean stop, while the store is open: all, also for an Apache broker. */
  async finish(): Promise<void> {
    await this.#writing;
    const store = this.#store;
    if (store === null) return;
    await this.#write(store, true);
    const { clock, logger } = this.ports;
    try {
      await exportTimerLog(this.ports, store, clock.nowMs());
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      logger.warn("Cannot write timerlog for an Apache broker", {
        error: error.message,
      });
    }
  }

  async #write(store: TimerMessageStore, isExact: boolean): Promise<void> {
    const { clock, messages, metrics } = this.ports;
    const progress = store.progress(isExact);
    try {
      if (!isSameProgress(progress, this.#persisted)) {
        const deliveredUntil = messages.maxPhyOffset;
        const nextDueMs = store.nextAtMs;
        if (!await messages.flush()) return;
        await this.#writeProgress(progress, deliveredUntil, nextDueMs);
        this.#persisted = progress;
      }
      if (store.isCaughtUp && store.pendingCount === 0) {
        metrics.clear(clock.nowMs());
      }
      await metrics.persist();
      this.#isUnwritable = false;
    } catch (error) {
      this.#tellUnwritable(error);
    }
  }

  async #writeProgress(
    progress: TimerProgress,
    deliveredUntil: number,
    nextDueMs: number | undefined,
  ): Promise<void> {
    const { checkpointFile, file } = this.ports;
    await file.writeTimers(progress, deliveredUntil);
    if (progress.isApaches) return;
    await checkpointFile.write(
      checkpointOf(progress, nextDueMs, file.dataVersion),
    );
    checkpointFile.removeDerived();
  }

  #tellUnwritable(error: unknown): void {
    if (!this.#isUnwritable) {
      this.ports.logger.error(
        "What is done of timer messages could not be written",
        { error: String(error) },
      );
    }
    this.#isUnwritable = true;
  }
}
