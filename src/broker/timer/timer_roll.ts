/**
 * TimerRoll: puts what waits long at the end of the queue again, before the log files that hold it
 * are deleted.
 */
import type { Clock } from "../../io/clock.ts";
import type { Logger } from "../../io/logger.ts";
import type { TimerMessages, TimerUnit } from "../../store/timer_messages.ts";
import { entryOf } from "./timer_index.ts";
import type { TimerMessagePut } from "./timer_message_put.ts";
import type { TimerMessageStore } from "./timer_message_store.ts";
import type { TimerProgress } from "./timer_progress.ts";
import {
  readTimedUnits,
  readTimerRecords,
  type TimerRecord,
  withinBytes,
} from "./timer_units.ts";

/** What it needs. */
export interface TimerRollPorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly messages: TimerMessages;
  mayRoll(): boolean;
}

/** One part of the queue at a time. */
export class TimerRoll {
  constructor(
    private readonly ports: TimerRollPorts,
    private readonly store: TimerMessageStore,
    private readonly put: TimerMessagePut,
    private readonly loaded: TimerProgress,
  ) {}

  /** True when there may be more to roll. Rejects with `FileError`. */
  async step(): Promise<boolean> {
    const { messages, mayRoll } = this.ports;
    const part = this.store.nextRoll();
    if (part === undefined) return false;
    if (!mayRoll()) {
      this.store.stopRoll();
      return false;
    }
    const units = await readTimedUnits(messages, part, this.loaded, () => {});
    let rest = units.filter((it) => this.store.isPending(it));
    while (rest.length > 0) {
      const now = withinBytes(rest);
      rest = rest.slice(now.length);
      let isDone = false;
      await readTimerRecords(messages, now, (records) => {
        isDone = now.every((unit) => this.#roll(unit, records));
      });
      if (!isDone) return false;
    }
    this.store.onRolled(part.offset + part.count);
    return true;
  }

  /** In one turn: what is delivered meanwhile is not pending any more. */
  #roll(unit: TimerUnit, records: ReadonlyMap<number, TimerRecord>): boolean {
    const { clock, logger, mayRoll } = this.ports;
    const record = records.get(unit.phyOffset);
    const isHere = record !== undefined && typeof record !== "string";
    if (!isHere || !this.store.isPending(unit)) return true;
    const failure = mayRoll()
      ? this.put.roll(entryOf(unit), record, clock.nowMs())
      : "this broker takes no messages now";
    if (failure === null) {
      this.store.onRolled(unit.queueOffset + 1);
      return true;
    }
    logger.warn(
      `Timer messages that wait long are put again later: ${failure}`,
    );
    this.store.stopRoll();
    return false;
  }
}
