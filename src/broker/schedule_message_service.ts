/**
 * ScheduleMessageService: what to deliver next of all delay levels, and when to write
 * delayOffset.json; pure. `ScheduleMessageShell` does it.
 *
 * Invariants
 * - Levels take turns: a long backlog of one does not hold up another.
 * - What is written never counts a delivery that could get lost: a snapshot is written once all
 *   that was stored before it is durable.
 */
import type { DelayedRange, DelayedUnit } from "../store/delayed_messages.ts";
import {
  type DelayLevelEffect,
  DelayLevelTask,
  type Now,
} from "./delay_level_task.ts";

/** Next queue offset to deliver, by delay level. */
export type DelayOffsets = ReadonlyMap<number, number>;

/** What is to be done. */
export type ScheduleEffect =
  | DelayLevelEffect
  /** Write delayOffset.json when the log is durable. → `onPersisted`. */
  | { readonly kind: "persist"; readonly offsets: DelayOffsets };

/** The queues of SCHEDULE_TOPIC_XXXX. */
export interface DelayLevelQueues {
  /** Levels that ever had a message. */
  levels(): readonly number[];
  range(level: number): DelayedRange | undefined;
}

/** An offset of delayOffset.json that was outside of its queue. */
export interface DelayOffsetCorrection {
  readonly level: number;
  readonly from: number;
  readonly to: number;
}

/** Milliseconds until a write that failed is tried again. */
const PERSIST_RETRY_MS = 5_000;

/** The levels of one master. */
export class ScheduleMessageService {
  readonly #queues: DelayLevelQueues;
  readonly #delayMsOf: (level: number) => number | undefined;
  readonly #tasks = new Map<number, DelayLevelTask>();
  /** Offsets of levels without a queue, as they were found. */
  readonly #others = new Map<number, number>();
  #order: DelayLevelTask[] = [];
  #persisted = "";
  #persistMs = 0;
  #isPersisting = false;

  constructor(
    queues: DelayLevelQueues,
    delayMsOf: (level: number) => number | undefined,
    /** flushDelayOffsetInterval, milliseconds. */
    private persistIntervalMs: number,
  ) {
    this.#queues = queues;
    this.#delayMsOf = delayMsOf;
  }

  /**
   * Takes the offsets of delayOffset.json. Those outside of their queues are moved to its nearer
   * end, and written so with the first snapshot, which is due at once then, as it is when the
   * file `isStale` otherwise.
   */
  load(
    loaded: DelayOffsets,
    isStale: boolean,
    { monotonicMs }: Now,
  ): DelayOffsetCorrection[] {
    const corrections: DelayOffsetCorrection[] = [];
    for (const [level, offset] of loaded) this.#others.set(level, offset);
    if (!isStale) this.#persisted = keyOf(this.offsets());
    for (const [level, from] of loaded) {
      const range = this.#queues.range(level);
      if (range === undefined) continue;
      const to = Math.min(Math.max(from, range.min), range.maxInLog);
      if (to !== from) corrections.push({ level, from, to });
      this.#others.set(level, to);
    }
    this.#persistMs = isStale || corrections.length > 0
      ? monotonicMs
      : monotonicMs + this.persistIntervalMs;
    this.#findLevels();
    return corrections;
  }

  reconfigure(persistIntervalMs: number): void {
    this.persistIntervalMs = persistIntervalMs;
  }

  /** What delivery has reached. */
  offsets(): DelayOffsets {
    const offsets = new Map(this.#others);
    for (const task of this.#tasks.values()) {
      offsets.set(task.level, task.offset);
    }
    return new Map([...offsets].sort(([a], [b]) => a - b));
  }

  /** True while something was delivered that the file does not tell. */
  get isChanged(): boolean {
    return keyOf(this.offsets()) !== this.#persisted;
  }

  /** True while a read or a delivery is under way. */
  get isBusy(): boolean {
    return this.#order.some((it) => it.isBusy);
  }

  /** Levels that got their first message since are looked at from now on. Every 100 ms. */
  tick(): void {
    this.#findLevels();
  }

  /** What is to be done now; undefined when nothing is. Ask again until then. */
  next(now: Now): ScheduleEffect | undefined {
    return this.nextPersist(now) ?? this.#nextDelivery(now);
  }

  /** As `next`, but of writes only; `isHurried`: whatever was changed, at once. */
  nextPersist(now: Now, isHurried = false): ScheduleEffect | undefined {
    const isDue = isHurried || now.monotonicMs >= this.#persistMs;
    if (this.#isPersisting || !isDue) return undefined;
    this.#persistMs = now.monotonicMs + this.persistIntervalMs;
    if (!this.isChanged) return undefined;
    this.#isPersisting = true;
    return { kind: "persist", offsets: this.offsets() };
  }

  /** How the write of `offsets` ended. */
  onPersisted(offsets: DelayOffsets, isDurable: boolean, now: Now): void {
    this.#isPersisting = false;
    if (isDurable) this.#persisted = keyOf(offsets);
    else this.#persistMs = now.monotonicMs + PERSIST_RETRY_MS;
  }

  onUnits(
    level: number,
    units: readonly DelayedUnit[],
    now: Now,
  ): ScheduleEffect | undefined {
    return this.#task(level).onUnits(units, now);
  }

  onStored(level: number, queueOffset: number): void {
    this.#task(level).onStored(queueOffset);
  }

  onDelivered(level: number, nextOffset: number): void {
    this.#task(level).onDelivered(nextOffset);
  }

  onFailed(level: number, now: Now): void {
    this.#task(level).onFailed(now);
  }

  #nextDelivery(now: Now): DelayLevelEffect | undefined {
    for (let turn = this.#order.length; turn > 0; turn--) {
      const task = this.#order.shift()!;
      this.#order.push(task);
      const range = this.#queues.range(task.level);
      const effect = range && task.next(range, now);
      if (effect !== undefined) return effect;
    }
    return undefined;
  }

  #findLevels(): void {
    const levels = this.#queues.levels();
    if (levels.length === this.#tasks.size) return;
    for (const level of levels) {
      if (this.#tasks.has(level)) continue;
      const task = new DelayLevelTask(
        level,
        this.#delayMsOf(level),
        this.#others.get(level) ?? this.#queues.range(level)?.min ?? 0,
      );
      this.#tasks.set(level, task);
      this.#order.push(task);
    }
  }

  #task(level: number): DelayLevelTask {
    return this.#tasks.get(level)!;
  }
}

function keyOf(offsets: DelayOffsets): string {
  return JSON.stringify([...offsets]);
}
