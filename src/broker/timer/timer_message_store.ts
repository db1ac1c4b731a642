/**
 * TimerMessageStore: which timer messages are pending, and what is delivered next; pure.
 * `TimerMessageShell` does it.
 *
 * All of it follows from the ConsumeQueue of rmq_sys_wheel_timer and a `TimerProgress`: messages
 * are delivered in the order of their keys, so that one key tells what is done.
 *
 * Invariants
 * - What is pending with a key up to `#horizon` is in the index, the rest is `#far` and read from
 *   the queue again once the index has room: memory is bounded.
 * - `#doneUntil` grows only. What came behind it, because a clock was set back or the queue was
 *   read late, is in `#late` until it is done.
 * - A copy of what lies below `#rolledBelow` is at the end of the queue.
 */
import type { TimerRange, TimerUnit } from "../../store/timer_messages.ts";
import {
  compareKeys,
  entryOf,
  LAST_KEY,
  type TimerEntry,
  TimerIndex,
  type TimerKey,
} from "./timer_index.ts";
import type { TimerProgress } from "./timer_progress.ts";
import { RECALL_KEEP_MS, TimerRecalls } from "./timer_recalls.ts";

/** Part of the queue that is to be read. */
export interface TimerQueuePart {
  readonly offset: number;
  readonly count: number;
}

/** Messages that are told one by one in what is written. */
const LATE_MAX = 4_096;

/** How much is kept in memory, and read at once. */
export interface TimerLimits {
  /** Messages of which the index knows. */
  readonly entriesMax: number;
  /** Units of one part of the queue. */
  readonly partUnits: number;
}

/** 56 MiB of index. */
export const TIMER_LIMITS: TimerLimits = Object.freeze({
  entriesMax: 2_097_152,
  partUnits: 1_024,
});

/** The timers of one master. */
export class TimerMessageStore {
  readonly recalls = new TimerRecalls();
  /** Messages whose records were deleted before they were due. */
  lostCount = 0;
  readonly #index: TimerIndex;
  /** What is below it in the queue, and up to `#doneUntil`, was done in an earlier life. */
  readonly #knownBelow: number;
  readonly #knownLate: ReadonlySet<number>;
  readonly #loaded: TimerProgress;
  /** Where the queue was at start: nothing is delivered before all of it was read. */
  readonly #startMax: number;
  #tail: number;
  #doneUntil: TimerKey;
  #horizon: TimerKey = LAST_KEY;
  readonly #late = new Set<number>();
  #far = { count: 0, minQueueOffset: Infinity };
  #rescan: {
    next: number;
    readonly end: number;
    readonly above: TimerKey;
    /** Messages that are still to be found. */
    left: number;
  } | null = null;
  #roll: { next: number; end: number } | null = null;
  #rolledBelow = 0;
  #inFlight: TimerEntry[] = [];
  #minQueueOffset: number;

  constructor(
    progress: TimerProgress,
    range: TimerRange | undefined,
    private readonly limits = TIMER_LIMITS,
  ) {
    const { min, max, maxInLog } = range ?? { min: 0, max: 0, maxInLog: 0 };
    this.#loaded = progress;
    this.#index = new TimerIndex(limits.entriesMax);
    this.#knownLate = new Set(progress.late);
    this.#knownBelow = Math.min(progress.queueOffset, maxInLog);
    this.#tail = Math.min(Math.max(progress.minQueueOffset, min), maxInLog);
    this.#minQueueOffset = this.#tail;
    this.#startMax = max;
    this.#doneUntil = progress.doneUntil;
  }

  /** True once what was in the queue at start has been read. */
  get isCaughtUp(): boolean {
    return this.#tail >= this.#startMax;
  }

  /** Messages that wait, recalls among them. */
  get pendingCount(): number {
    return this.#index.size + this.#inFlight.length + this.#far.count +
      (this.#rescan?.left ?? 0);
  }

  /** Queue offset of the next unit to be read. */
  get tail(): number {
    return this.#tail;
  }

  get doneUntil(): TimerKey {
    return this.#doneUntil;
  }

  /** When the next one is due; undefined while nothing is pending. */
  get nextAtMs(): number | undefined {
    return this.#index.firstKey()?.atMs;
  }

  /**
   * How many are due up to each of `boundsMs`, and after the one before; `boundsMs` ascend. Those
   * up to which the index does not know all are left out.
   */
  countsUntil(boundsMs: readonly number[]): number[] {
    const knownMs = Math.min(
      this.#horizon.atMs,
      this.#rescan?.above.atMs ?? Infinity,
    );
    return this.#index.countsUntil(boundsMs.filter((it) => it < knownMs));
  }

  /** The new part of the queue; undefined when there is none. */
  nextScan(range: TimerRange): TimerQueuePart | undefined {
    if (this.#tail < range.min) {
      this.lostCount += range.min - this.#tail;
      this.#tail = range.min;
    }
    const count = Math.min(this.limits.partUnits, range.max - this.#tail);
    return count <= 0 ? undefined : { offset: this.#tail, count };
  }

  /** The units of that part. */
  onScanned(units: readonly TimerUnit[]): void {
    for (const unit of units) {
      this.#tail = unit.queueOffset + 1;
      if (unit.time === undefined) continue;
      const entry = entryOf(unit);
      const { queueOffset } = entry;
      const isKnown = queueOffset < this.#knownBelow &&
        !this.#knownLate.has(queueOffset);
      if (isKnown && this.#wasDone(entry)) continue;
      if (unit.isGone) this.lostCount++;
      else {
        if (!isKnown && !entry.isRecall && this.#isBehind(entry)) {
          this.#late.add(queueOffset);
        }
        this.#add(entry);
      }
    }
  }

  /** A part of the queue that was read before, when there is room again for what it holds. */
  nextRescan(): TimerQueuePart | undefined {
    if (
      this.#rescan === null && this.#far.count > 0 && this.isCaughtUp &&
      this.#index.size < this.limits.entriesMax / 4
    ) {
      this.#rescan = {
        next: Math.max(this.#far.minQueueOffset, this.#rolledBelow),
        end: this.#tail,
        above: this.#horizon,
        left: this.#far.count,
      };
      this.#horizon = LAST_KEY;
      this.#far = { count: 0, minQueueOffset: Infinity };
    }
    if (this.#rescan === null) return undefined;
    const { end, next } = this.#rescan;
    if (next < end) {
      return {
        offset: next,
        count: Math.min(this.limits.partUnits, end - next),
      };
    }
    this.#rescan = null;
    return undefined;
  }

  /** The units of that part; of one that is gone as a whole there are none. */
  onRescanned(units: readonly TimerUnit[], part: TimerQueuePart): void {
    const rescan = this.#rescan!;
    const { above } = rescan;
    for (const unit of units) {
      if (unit.time === undefined || unit.queueOffset < this.#rolledBelow) {
        continue;
      }
      const entry = entryOf(unit);
      if (compareKeys(entry, above) <= 0 || !this.#isPending(entry)) continue;
      rescan.left = Math.max(0, rescan.left - 1);
      if (unit.isGone) this.#lose(entry);
      else this.#add(entry);
    }
    rescan.next = part.offset + part.count;
  }

  /** At most `max` messages that are due, in the order of delivery; the former ones are done. */
  takeDue(nowMs: number, max: number): readonly TimerEntry[] {
    if (!this.isCaughtUp || this.#inFlight.length > 0) return [];
    const limit = this.#rescan?.above ?? LAST_KEY;
    while (this.#inFlight.length < max) {
      const key = this.#index.firstKey();
      if (key === undefined || key.atMs > nowMs) break;
      if (compareKeys(key, limit) > 0) break;
      const entry = this.#index.pop();
      if (this.isRolled(entry)) this.#late.delete(entry.queueOffset);
      else this.#inFlight.push(entry);
    }
    this.#purgeRecalls(nowMs);
    return this.#inFlight.slice();
  }

  /** The first of those is delivered, or never will be. */
  onDone(entry: TimerEntry, isLost = false): void {
    this.#inFlight.shift();
    if (isLost) this.lostCount++;
    this.#late.delete(entry.queueOffset);
    if (compareKeys(entry, this.#doneUntil) > 0) {
      this.#doneUntil = { atMs: entry.atMs, queueOffset: entry.queueOffset };
    }
  }

  /** Those that are not done wait again. */
  giveBack(): void {
    const entries = this.#inFlight;
    this.#inFlight = [];
    for (const entry of entries) this.#add(entry);
  }

  /** True when a copy of it was put behind it. */
  isRolled({ queueOffset }: { readonly queueOffset: number }): boolean {
    return queueOffset < this.#rolledBelow;
  }

  /** What is below `queueOffset` in the queue is to be rolled. */
  startRoll(queueOffset: number): void {
    if (this.#roll !== null || !this.isCaughtUp) return;
    const next = Math.max(this.#rolledBelow, this.#minimum());
    const end = Math.min(queueOffset, this.#tail);
    if (next < end) this.#roll = { next, end };
  }

  /** The part to be rolled now. */
  nextRoll(): TimerQueuePart | undefined {
    if (this.#roll === null) return undefined;
    const { end, next } = this.#roll;
    return { offset: next, count: Math.min(this.limits.partUnits, end - next) };
  }

  /** There are copies of all that is pending below `queueOffset`. */
  onRolled(queueOffset: number): void {
    this.#rolledBelow = Math.max(this.#rolledBelow, queueOffset);
    if (this.#roll === null) return;
    this.#roll.next = queueOffset;
    if (queueOffset >= this.#roll.end) this.#roll = null;
  }

  /** The roll is given up until it is started again. */
  stopRoll(): void {
    this.#roll = null;
  }

  /** What is done; `isExact` costs a look at the whole index, else an older minimum does. */
  progress(isExact: boolean): TimerProgress {
    // Until then nothing was delivered, and what is pending is not known.
    if (!this.isCaughtUp) return this.#loaded;
    if (isExact) this.#minQueueOffset = this.#minimum();
    const late: number[] = [];
    let queueOffset = this.#tail;
    for (const it of this.#late) {
      if (late.length === LATE_MAX) {
        queueOffset = it;
        break;
      }
      late.push(it);
    }
    return {
      doneUntil: this.#doneUntil,
      queueOffset,
      late,
      minQueueOffset: Math.max(this.#minQueueOffset, this.#rolledBelow),
    };
  }

  /** True for what is not done, whether or not the index knows it. */
  isPending(unit: TimerUnit): boolean {
    return unit.time !== undefined && !unit.isGone && !this.isRolled(unit) &&
      this.#isPending(entryOf(unit));
  }

  #minimum(): number {
    return Math.min(
      this.#tail,
      this.#index.minQueueOffset(),
      this.#far.minQueueOffset,
      this.#rescan?.next ?? Infinity,
      this.recalls.minQueueOffset(),
      ...this.#inFlight.map((it) => it.queueOffset),
    );
  }

  #isBehind(key: TimerKey): boolean {
    return compareKeys(key, this.#doneUntil) <= 0;
  }

  /** Of what was in the queue in an earlier life. */
  #wasDone(entry: TimerEntry): boolean {
    return entry.isRecall
      ? entry.dueMs + RECALL_KEEP_MS < this.#doneUntil.atMs
      : this.#isBehind(entry);
  }

  #isPending(entry: TimerEntry): boolean {
    return !this.#wasDone(entry) || this.#late.has(entry.queueOffset);
  }

  #add(entry: TimerEntry): void {
    if (this.#index.isFull) {
      const { count, last, minQueueOffset } = this.#index.evict();
      if (compareKeys(last, this.#horizon) < 0) this.#horizon = last;
      this.#addFar(count, minQueueOffset);
    }
    if (compareKeys(entry, this.#horizon) > 0) {
      this.#addFar(1, entry.queueOffset);
    } else this.#index.push(entry);
  }

  #addFar(count: number, queueOffset: number): void {
    const { count: before, minQueueOffset } = this.#far;
    this.#far = {
      count: before + count,
      minQueueOffset: Math.min(minQueueOffset, queueOffset),
    };
  }

  #lose({ queueOffset }: TimerEntry): void {
    this.lostCount++;
    this.#late.delete(queueOffset);
  }

  /** While the message of a recall is pending, or may be, it is kept. */
  #purgeRecalls(nowMs: number): void {
    if (this.recalls.size === 0) return;
    const pendingMs = this.#inFlight[0]?.atMs ?? this.nextAtMs ?? Infinity;
    this.recalls.purge(Math.min(nowMs, pendingMs));
  }
}
