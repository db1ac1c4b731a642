/**
 * TimerIndex: pending timer messages in the order in which they are due; a binary heap over
 * typed arrays, 28 bytes a message.
 *
 * A key is the time at which something is done, and behind it the queue offset. What takes
 * another message back is looked at `RECALL_LEAD_MS` before that one is due.
 *
 * Invariant: never more than `entriesMax` messages; `evict` drops the later half, which is found
 * again in the ConsumeQueue.
 */
import type { TimerUnit } from "../../store/timer_messages.ts";

/** Apache's brokers floor a due time by so much: a recall and its message may differ by it. */
export const RECALL_LEAD_MS = 1_000;

/** One pending message. */
export interface TimerEntry extends TimerKey {
  /** Wall clock, milliseconds. */
  readonly dueMs: number;
  readonly isRecall: boolean;
  readonly queueOffset: number;
  readonly phyOffset: number;
  readonly size: number;
}

/** Its place in the order of delivery. */
export interface TimerKey {
  /** When something is done, wall clock. */
  readonly atMs: number;
  readonly queueOffset: number;
}

/** Before all others. */
export const FIRST_KEY: TimerKey = Object.freeze({
  atMs: -1,
  queueOffset: -1,
});
/** Behind all others. */
export const LAST_KEY: TimerKey = Object.freeze({
  atMs: Infinity,
  queueOffset: Infinity,
});

/** The order of keys. */
export function compareKeys(a: TimerKey, b: TimerKey): number {
  return a.atMs === b.atMs
    ? a.queueOffset - b.queueOffset
    : a.atMs < b.atMs
    ? -1
    : 1;
}

/** The entry of a unit that tells its time. */
export function entryOf(unit: TimerUnit): TimerEntry {
  const { queueOffset, phyOffset, size } = unit;
  const { dueMs, isRecall } = unit.time!;
  const atMs = isRecall ? dueMs - RECALL_LEAD_MS : dueMs;
  return { atMs, dueMs, isRecall, queueOffset, phyOffset, size };
}

const CAPACITY_MIN = 1_024;

/** The heap. */
export class TimerIndex {
  readonly #entriesMax: number;
  #size = 0;
  #atMs = new Float64Array(CAPACITY_MIN);
  /** Twice the queue offset, and one for a recall. */
  #codes = new Float64Array(CAPACITY_MIN);
  #phyOffsets = new Float64Array(CAPACITY_MIN);
  #sizes = new Int32Array(CAPACITY_MIN);

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size >= this.#entriesMax;
  }

  /** The key of the first one; undefined while empty. */
  firstKey(): TimerKey | undefined {
    return this.#size === 0 ? undefined : {
      atMs: this.#atMs[0]!,
      queueOffset: Math.floor(this.#codes[0]! / 2),
    };
  }

  /** Must not be full. */
  push(entry: TimerEntry): void {
    if (this.#size === this.#atMs.length) this.#grow();
    const at = this.#size++;
    this.#atMs[at] = entry.atMs;
    this.#codes[at] = entry.queueOffset * 2 + (entry.isRecall ? 1 : 0);
    this.#phyOffsets[at] = entry.phyOffset;
    this.#sizes[at] = entry.size;
    this.#up(at);
  }

  /** Removes the first one, which must exist. */
  pop(): TimerEntry {
    const entry = this.#entryAt(0);
    const last = --this.#size;
    this.#swap(0, last);
    this.#down(0);
    if (last === 0) this.#shrink();
    return entry;
  }

  /** Drops the later half; returns the last key that is left, and what of the others is first in the queue. */
  evict(): { last: TimerKey; minQueueOffset: number; count: number } {
    const kept = this.#size >> 1;
    this.#select(kept);
    let minCode = Infinity;
    for (let at = kept; at < this.#size; at++) {
      minCode = Math.min(minCode, this.#codes[at]!);
    }
    let last = 0;
    for (let at = 1; at < kept; at++) if (this.#isLess(last, at)) last = at;
    const count = this.#size - kept;
    const { atMs, queueOffset } = this.#entryAt(last);
    this.#size = kept;
    for (let at = (kept >> 1) - 1; at >= 0; at--) this.#down(at);
    return {
      last: { atMs, queueOffset },
      minQueueOffset: Math.floor(minCode / 2),
      count,
    };
  }

  /** The lowest queue offset; Infinity while empty. */
  minQueueOffset(): number {
    let min = Infinity;
    for (let at = 0; at < this.#size; at++) {
      if (this.#codes[at]! < min) min = this.#codes[at]!;
    }
    return Math.floor(min / 2);
  }

  /** How many are due up to each of `boundsMs`, which ascend. */
  countsUntil(boundsMs: readonly number[]): number[] {
    const counts = boundsMs.map(() => 0);
    for (let at = 0; at < this.#size; at++) {
      const atMs = this.#atMs[at]!;
      let index = 0;
      while (index < boundsMs.length && atMs > boundsMs[index]!) index++;
      if (index < boundsMs.length) counts[index]!++;
    }
    return counts;
  }

  #entryAt(at: number): TimerEntry {
    const atMs = this.#atMs[at]!;
    const code = this.#codes[at]!;
    const isRecall = code % 2 === 1;
    return {
      atMs,
      dueMs: isRecall ? atMs + RECALL_LEAD_MS : atMs,
      isRecall,
      queueOffset: Math.floor(code / 2),
      phyOffset: this.#phyOffsets[at]!,
      size: this.#sizes[at]!,
    };
  }

  #isLess(a: number, b: number): boolean {
    const [left, right] = [this.#atMs[a]!, this.#atMs[b]!];
    return left === right ? this.#codes[a]! < this.#codes[b]! : left < right;
  }

  #swap(a: number, b: number): void {
    swap(this.#atMs, a, b);
    swap(this.#codes, a, b);
    swap(this.#phyOffsets, a, b);
    swap(this.#sizes, a, b);
  }

  #up(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#isLess(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(from: number): void {
    for (let at = from;;) {
      let least = at;
      const left = 2 * at + 1;
      for (const child of [left, left + 1]) {
        if (child < this.#size && this.#isLess(child, least)) least = child;
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  /** Moves the `kept` least ones to the front. */
  #select(kept: number): void {
    let [low, high] = [0, this.#size - 1];
    while (low < high) {
      // The middle, as pivot at the end: sorted input is the usual one.
      this.#swap((low + high) >> 1, high);
      let boundary = low;
      for (let at = low; at < high; at++) {
        if (this.#isLess(at, high)) this.#swap(at, boundary++);
      }
      this.#swap(boundary, high);
      if (boundary === kept) return;
      if (boundary < kept) low = boundary + 1;
      else high = boundary - 1;
    }
  }

  #grow(): void {
    this.#resize(Math.min(this.#entriesMax, this.#atMs.length * 2));
  }

  #shrink(): void {
    if (this.#atMs.length > CAPACITY_MIN) this.#resize(CAPACITY_MIN);
  }

  #resize(capacity: number): void {
    const copy = <T extends Float64Array | Int32Array>(from: T, to: T): T => {
      to.set(from.subarray(0, this.#size));
      return to;
    };
    this.#atMs = copy(this.#atMs, new Float64Array(capacity));
    this.#codes = copy(this.#codes, new Float64Array(capacity));
    this.#phyOffsets = copy(this.#phyOffsets, new Float64Array(capacity));
    this.#sizes = copy(this.#sizes, new Int32Array(capacity));
  }
}

function swap(array: Float64Array | Int32Array, a: number, b: number): void {
  const it = array[a]!;
  array[a] = array[b]!;
  array[b] = it;
}
