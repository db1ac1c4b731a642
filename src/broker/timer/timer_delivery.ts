/** TimerDelivery: reads the records of due messages and stores them where they belong. */
import type { Clock } from "../../io/clock.ts";
import { FileError } from "../../io/file_system.ts";
import type { Logger } from "../../io/logger.ts";
import type { TimerMessages } from "../../store/timer_messages.ts";
import type { TimerEntry } from "./timer_index.ts";
import type { TimerMessagePut } from "./timer_message_put.ts";
import type { TimerMessageStore } from "./timer_message_store.ts";
import {
  readTimerRecords,
  type TimerRecord,
  withinBytes,
} from "./timer_units.ts";

/** What it needs. */
export interface TimerDeliveryPorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly messages: Pick<TimerMessages, "readRecords">;
  mayDeliver(): boolean;
}

/** Messages that are read at once. */
const ENTRIES_MAX = 128;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;

/** One delivery at a time. */
export class TimerDelivery {
  #retryMs = 0;
  #retryDelayMs = 0;
  #isFailing = false;

  constructor(
    private readonly ports: TimerDeliveryPorts,
    private readonly store: TimerMessageStore,
    private readonly put: TimerMessagePut,
  ) {}

  /** True when something was delivered. Rejects with `FileError`. */
  async step(): Promise<boolean> {
    const { clock, messages, mayDeliver } = this.ports;
    if (!mayDeliver() || clock.monotonicMs() < this.#retryMs) return false;
    const due = this.store.takeDue(clock.nowMs(), ENTRIES_MAX);
    if (due.length === 0) return false;
    let isDone = false;
    try {
      const now = withinBytes(due);
      await readTimerRecords(messages, now, (records) => {
        isDone = this.#deliverAll(now, records);
      });
    } catch (error) {
      if (error instanceof FileError) this.#onFailed(error.message);
      throw error;
    } finally {
      this.store.giveBack();
    }
    return isDone;
  }

  /** In this turn; false when it has to be tried again. */
  #deliverAll(
    entries: readonly TimerEntry[],
    records: ReadonlyMap<number, TimerRecord>,
  ): boolean {
    for (const entry of entries) {
      // Asked again: while the records were read the role may have become another one.
      if (!this.ports.mayDeliver()) return false;
      const failure = this.#deliver(entry, records.get(entry.phyOffset));
      if (failure !== null) {
        this.#onFailed(failure);
        return false;
      }
    }
    this.#retryDelayMs = 0;
    if (this.#isFailing) {
      this.#isFailing = false;
      this.ports.logger.info("Due timer messages are delivered again");
    }
    return true;
  }

  #deliver(entry: TimerEntry, record: TimerRecord | undefined): string | null {
    const { clock, logger } = this.ports;
    if (this.store.isRolled(entry)) {
      this.store.onDone(entry);
      return null;
    }
    if (record === undefined) {
      this.store.onDone(entry, true);
      return null;
    }
    if (typeof record === "string") {
      logger.error(`A timer message is not delivered: ${record}`);
      this.store.onDone(entry);
      return null;
    }
    const { recalls } = this.store;
    const failure = this.put.deliver(entry, record, recalls, clock.nowMs());
    if (failure === null) this.store.onDone(entry);
    return failure;
  }

  #onFailed(reason: string): void {
    this.#retryDelayMs = Math.min(
      RETRY_MAX_MS,
      Math.max(RETRY_MIN_MS, this.#retryDelayMs * 2),
    );
    this.#retryMs = this.ports.clock.monotonicMs() + this.#retryDelayMs;
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.ports.logger.warn(
      `Due timer messages wait, and are tried again: ${reason}`,
    );
  }
}
