/**
 * DelayLevelTask: delivers one delay level; pure (reference 4.9, Apache's
 * DeliverDelayedMessageTimerTask).
 *
 * Units are delivered in the order of their queue: the first one that is not due, or cannot be
 * stored, holds up those behind it.
 *
 * Invariants
 * - `offset` grows only: by a record that was stored, or whose record is gone.
 * - At most one read or delivery is under way.
 * - Due is told by the wall clock, back-off by the monotonic one.
 */
import type { DelayedRange, DelayedUnit } from "../store/delayed_messages.ts";

/** Something to be done for a level; its end is told to the task. */
export type DelayLevelEffect =
  /** Read units from `offset` on. → `onUnits`, or `onFailed`. */
  | { readonly kind: "read"; readonly level: number; readonly offset: number }
  /**
   * Store the records of `units`, which are at `offset` to `nextOffset`; the units that are not
   * among them are gone. → `onStored` for each, then `onDelivered`; or `onFailed`.
   */
  | {
    readonly kind: "deliver";
    readonly level: number;
    readonly units: readonly DelayedUnit[];
    readonly offset: number;
    readonly nextOffset: number;
  }
  /** Messages were deleted with their log files before they were due. */
  | { readonly kind: "lost"; readonly level: number; readonly count: number };

/** Both clocks, milliseconds. */
export interface Now {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** Bytes of records that one delivery stores, unless the first alone has more. */
const DELIVERY_BYTES_MAX = 1_048_576;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;

/** One level. */
export class DelayLevelTask {
  /** Delivery time of the unit at `offset`; undefined while it was not looked at. */
  #headDueMs: number | undefined;
  #isBusy = false;
  #retryDelayMs = 0;
  /** Monotonic. */
  #retryMs = 0;
  #end = 0;
  /** Units below `untilOffset` whose time is out of reach are due at `atMs` (monotonic). */
  #release: { readonly untilOffset: number; readonly atMs: number } | null =
    null;

  /**
   * `delayMs` is undefined for a level that messageDelayLevel does not know any more: the times in
   * its units are taken as they are.
   */
  constructor(
    readonly level: number,
    private readonly delayMs: number | undefined,
    /** Queue offset of the next unit to deliver. */
    public offset: number,
  ) {}

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** What is to be done now; undefined when nothing is. */
  next(range: DelayedRange, now: Now): DelayLevelEffect | undefined {
    if (this.#isBusy || now.monotonicMs < this.#retryMs) return undefined;
    if (this.offset < range.min) {
      const count = range.min - this.offset;
      this.#moveTo(range.min);
      return { kind: "lost", level: this.level, count };
    }
    this.#end = range.max;
    if (this.offset >= range.max) return undefined;
    if (this.#headDueMs !== undefined && !this.#isDue(this.#headDueMs, now)) {
      return undefined;
    }
    this.#isBusy = true;
    return { kind: "read", level: this.level, offset: this.offset };
  }

  /** The units from `offset` on. */
  onUnits(
    units: readonly DelayedUnit[],
    now: Now,
  ): DelayLevelEffect | undefined {
    this.#isBusy = false;
    if (units.length === 0) {
      this.#retryLater(now);
      return undefined;
    }
    const due: DelayedUnit[] = [];
    let bytes = 0;
    let next = this.offset;
    this.#headDueMs = undefined;
    for (const unit of units) {
      if (!unit.isGone) {
        if (!this.#isDue(unit.deliverTimestamp, now, next)) {
          if (next === this.offset) this.#headDueMs = unit.deliverTimestamp;
          break;
        }
        bytes += unit.size;
        if (bytes > DELIVERY_BYTES_MAX && due.length > 0) break;
        due.push(unit);
      }
      next++;
    }
    if (next === this.offset) return undefined;
    this.#isBusy = true;
    const { level, offset } = this;
    return { kind: "deliver", level, units: due, offset, nextOffset: next };
  }

  /** The record at `queueOffset` is stored, or was found to be none that ever can be. */
  onStored(queueOffset: number): void {
    this.#moveTo(queueOffset + 1);
    this.#retryDelayMs = 0;
  }

  /** All of a delivery that was not told by `onStored` is gone. */
  onDelivered(nextOffset: number): void {
    this.#moveTo(nextOffset);
    this.#isBusy = false;
  }

  /** What was under way has failed, or was given up: again from `offset` on, a little later. */
  onFailed(now: Now): void {
    this.#isBusy = false;
    this.#headDueMs = undefined;
    this.#retryLater(now);
  }

  #moveTo(offset: number): void {
    this.offset = offset;
    this.#headDueMs = undefined;
  }

  #retryLater({ monotonicMs }: Now): void {
    this.#retryDelayMs = Math.min(
      RETRY_MAX_MS,
      Math.max(RETRY_MIN_MS, this.#retryDelayMs * 2),
    );
    this.#retryMs = monotonicMs + this.#retryDelayMs;
  }

  /**
   * A time further away than the level's delay means that the clock was set back, or that the
   * level was longer: what is in the queue now waits one delay from now, and no longer.
   */
  #isDue(dueMs: number, now: Now, offset = this.offset): boolean {
    const { delayMs } = this;
    const restMs = dueMs - now.nowMs;
    if (restMs <= 0) return true;
    if (delayMs === undefined || restMs <= delayMs) return false;
    if (this.#release === null || offset >= this.#release.untilOffset) {
      this.#release = {
        untilOffset: this.#end,
        atMs: now.monotonicMs + delayMs,
      };
    }
    return now.monotonicMs >= this.#release.atMs;
  }
}
