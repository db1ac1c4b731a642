/**
 * BrokerStats: messages in and out, as RocketMQ's tools show them: totals of
 * today and yesterday, and rates over 10, 60 and 600 s (reference 2.10).
 */
import { javaDouble } from "../base/java_double.ts";
import type { Clock } from "../io/clock.ts";
import { PutTimes } from "./put_times.ts";

/** What the store counts; values only grow. */
export interface PutCounters {
  readonly putCount: number;
  readonly putBytes: number;
  readonly putFailedCount: number;
}

/** Messages sent and handed out; RocketMQ's own topics do not count. */
export interface DayCounters {
  readonly put: number;
  readonly get: number;
}

/** What pulls count; the pull processor adds to it. */
export interface PullCounters {
  /** Pulls that found messages. */
  foundTimes: number;
  /** Pulls that found none. */
  missTimes: number;
  /** Messages handed out. */
  transferredCount: number;
  /** Bytes of their records. */
  transferredBytes: number;
  /** Milliseconds that the longest pull took to read. */
  timeMaxMs: number;
}

/** What a rate may be asked of. */
export type StatsItem = "put" | "getFound" | "getMiss" | "getTransferred";

const SAMPLE_INTERVAL_MS = 1_000;
const ITEMS: readonly StatsItem[] = [
  "put",
  "getFound",
  "getMiss",
  "getTransferred",
];
const RATE_WINDOWS_S = [10, 60, 600] as const;
/** One sample a second for the longest window, and the one before it. */
const SAMPLES_MAX = 601;

/** Counts and samples. */
export class BrokerStats {
  readonly bootMs: number;
  /** As `bootMs`, monotonic. */
  readonly startedMs: number;
  readonly pull: PullCounters = {
    foundTimes: 0,
    missTimes: 0,
    transferredCount: 0,
    transferredBytes: 0,
    timeMaxMs: 0,
  };
  readonly putTimes: PutTimes;
  readonly #putCounters: () => PutCounters;
  readonly #dayCounters: () => DayCounters;
  /** Ring of samples: time, then one number per item. */
  readonly #samples = new Float64Array(SAMPLES_MAX * (ITEMS.length + 1));
  #sampleCount = 0;
  #sampledMs = -Infinity;
  #day: string;
  #putToday = 0;
  #putYesterday = 0;
  #getToday = 0;
  #getYesterday = 0;

  constructor(
    clock: Clock,
    putCounters: () => PutCounters,
    dayCounters: () => DayCounters,
  ) {
    this.bootMs = clock.nowMs();
    this.startedMs = clock.monotonicMs();
    this.putTimes = new PutTimes(this.startedMs);
    this.#putCounters = putCounters;
    this.#dayCounters = dayCounters;
    this.#day = dayOf(this.bootMs);
  }

  /** Messages sent since the start, at this moment and at the last two mornings. */
  get putTotals(): { now: number; today: number; yesterday: number } {
    return {
      now: this.#dayCounters().put,
      today: this.#putToday,
      yesterday: this.#putYesterday,
    };
  }

  /** Messages handed out since the start, at this moment and at the last two mornings. */
  get getTotals(): { now: number; today: number; yesterday: number } {
    return {
      now: this.#dayCounters().get,
      today: this.#getToday,
      yesterday: this.#getYesterday,
    };
  }

  /** Takes a sample once a second of `monotonicMs`; turns the day at local midnight. */
  tick(nowMs: number, monotonicMs: number): void {
    const day = dayOf(nowMs);
    if (day !== this.#day) {
      this.#day = day;
      this.#putYesterday = this.#putToday;
      this.#getYesterday = this.#getToday;
      const { put, get } = this.#dayCounters();
      this.#putToday = put;
      this.#getToday = get;
    }
    this.putTimes.tick(monotonicMs);
    if (monotonicMs - this.#sampledMs < SAMPLE_INTERVAL_MS) return;
    this.#sampledMs = monotonicMs;
    const at = this.#positionOf(this.#sampleCount);
    this.#samples[at] = monotonicMs;
    ITEMS.forEach((item, index) =>
      this.#samples[at + 1 + index] = this.#countOf(item)
    );
    this.#sampleCount++;
  }

  /** Rates a second over 10, 60 and 600 s, joined by blanks; shorter while the broker is young. */
  tps(...items: readonly StatsItem[]): string {
    return RATE_WINDOWS_S.map((seconds) =>
      javaDouble(
        items.reduce((sum, item) => sum + this.#rateOf(item, seconds), 0),
      )
    ).join(" ");
  }

  #rateOf(item: StatsItem, seconds: number): number {
    const available = Math.min(this.#sampleCount, SAMPLES_MAX) - 1;
    const back = Math.min(seconds, available);
    if (back <= 0) return 0;
    const last = this.#positionOf(this.#sampleCount - 1);
    const first = this.#positionOf(this.#sampleCount - 1 - back);
    const column = 1 + ITEMS.indexOf(item);
    const elapsedMs = this.#samples[last]! - this.#samples[first]!;
    const count = this.#samples[last + column]! -
      this.#samples[first + column]!;
    return elapsedMs > 0 ? count * 1000 / elapsedMs : 0;
  }

  #countOf(item: StatsItem): number {
    switch (item) {
      case "put":
        return this.#putCounters().putCount;
      case "getFound":
        return this.pull.foundTimes;
      case "getMiss":
        return this.pull.missTimes;
      case "getTransferred":
        return this.pull.transferredCount;
    }
  }

  #positionOf(sample: number): number {
    return (sample % SAMPLES_MAX) * (ITEMS.length + 1);
  }
}

function dayOf(nowMs: number): string {
  return new Date(nowMs).toDateString();
}
