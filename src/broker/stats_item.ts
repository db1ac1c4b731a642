/**
 * StatsItem: what one key of RocketMQ's statistics counts, with samples over a minute, an hour
 * and a day.
 *
 * As in Java: the minute is the last 7 samples of 10 s, the hour the last 7 of 10 min, the day the
 * last 25 of 1 h, and a value is the difference of the first and the last of them. The first
 * sample is the item's beginning, when all was 0.
 */

/** A span that statistics are shown over. */
export type StatsSpan = "minute" | "hour" | "day";

/** What is counted. */
export type StatsColumn = "nums" | "size";

/** StatsSnapshot of one span. */
export interface StatsSnapshot {
  /** What was added. */
  readonly sum: number;
  /** A second. */
  readonly tps: number;
  /** What one request brought. */
  readonly avgpt: number;
}

/** Samples kept per span, and milliseconds between two of them. */
export const STATS_SPANS: Readonly<
  Record<StatsSpan, { readonly samples: number; readonly intervalMs: number }>
> = Object.freeze({
  minute: { samples: 7, intervalMs: 10_000 },
  hour: { samples: 7, intervalMs: 600_000 },
  day: { samples: 25, intervalMs: 3_600_000 },
});

/** Time, requests, messages, bytes. */
const COLUMNS = 4;
const NOTHING: StatsSnapshot = Object.freeze({ sum: 0, tps: 0, avgpt: 0 });

/** The last samples of one span; room is taken as they come, for there are many items. */
class Samples {
  readonly #values: number[] = [];
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(timeMs: number, times: number, nums: number, bytes: number): void {
    const values = this.#values;
    const at = (this.#count % this.#max) * COLUMNS;
    values[at] = timeMs;
    values[at + 1] = times;
    values[at + 2] = nums;
    values[at + 3] = bytes;
    this.#count++;
  }

  /** Of the last and the first sample that are kept. */
  difference(column: number): number {
    if (this.#count < 2) return 0;
    const last = (this.#count - 1) % this.#max;
    const first = this.#count <= this.#max ? 0 : this.#count % this.#max;
    return this.#values[last * COLUMNS + column]! -
      this.#values[first * COLUMNS + column]!;
  }

  get isFull(): boolean {
    return this.#count >= this.#max;
  }

  /** Nothing was counted between the first and the last. */
  get isFlat(): boolean {
    return this.difference(1) === 0 && this.difference(2) === 0;
  }
}

/** Counts of one key; they only grow. */
export class StatsItem {
  #times = 0;
  #nums = 0;
  #bytes = 0;
  #samples: Partial<Record<StatsSpan, Samples>> = {};
  /** Where samples begin: time, requests, messages, bytes. */
  #start: readonly [number, number, number, number];
  #sampledMs: number;
  #isAsleep = false;

  /** Begins at `monotonicMs`. */
  constructor(monotonicMs: number) {
    this.#start = [monotonicMs, 0, 0, 0];
    this.#sampledMs = monotonicMs;
  }

  /** Messages so far. */
  get nums(): number {
    return this.#nums;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** One request brought `nums` messages of together `bytes` bytes. */
  add(nums: number, bytes: number): void {
    this.#times++;
    this.#nums += nums;
    this.#bytes += bytes;
  }

  /** As `add`, of a number that RocketMQ keeps without the requests: its avgpt stays 0. */
  addNums(nums: number): void {
    this.#nums += nums;
  }

  /** Takes a sample for `span`; whoever counted nothing for a day needs none until it does again. */
  sample(span: StatsSpan, monotonicMs: number): void {
    if (this.#isAsleep && !this.#wakeup()) return;
    let samples = this.#samples[span];
    if (samples === undefined) {
      samples = this.#samples[span] = new Samples(STATS_SPANS[span].samples);
      // The first item of a broker begins with its first sample.
      if (this.#start[0] < monotonicMs) samples.add(...this.#start);
    }
    samples.add(monotonicMs, this.#times, this.#nums, this.#bytes);
    this.#sampledMs = monotonicMs;
    if (span === "day" && samples.isFull && samples.isFlat) this.#sleep();
  }

  /** True when a whole day brought nothing. */
  get isAsleep(): boolean {
    return this.#isAsleep && !this.#hasCounted();
  }

  #sleep(): void {
    this.#isAsleep = true;
    this.#samples = {};
    this.#start = [this.#sampledMs, this.#times, this.#nums, this.#bytes];
  }

  #hasCounted(): boolean {
    return this.#times !== this.#start[1] || this.#nums !== this.#start[2];
  }

  #wakeup(): boolean {
    this.#isAsleep = !this.#hasCounted();
    return !this.#isAsleep;
  }

  snapshot(span: StatsSpan, column: StatsColumn): StatsSnapshot {
    const samples = this.#samples[span];
    const elapsedMs = samples?.difference(0) ?? 0;
    if (samples === undefined || elapsedMs <= 0) return NOTHING;
    const sum = samples.difference(column === "nums" ? 2 : 3);
    const times = samples.difference(1);
    return {
      sum,
      tps: sum * 1_000 / elapsedMs,
      avgpt: times > 0 ? sum / times : 0,
    };
  }
}
