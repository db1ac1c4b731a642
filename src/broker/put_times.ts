/**
 * PutTimes: how long puts took, as the runtime info (28) shows it: RocketMQ's 13 classes and two
 * percentiles over the last whole minute, and the longest since the start.
 */

/** Names of the classes, each with the milliseconds that are no longer in it. */
const CLASSES: readonly (readonly [string, number])[] = [
  ["<=0ms", 1],
  ["0~10ms", 10],
  ["10~50ms", 50],
  ["50~100ms", 100],
  ["100~200ms", 200],
  ["200~500ms", 500],
  ["500ms~1s", 1_000],
  ["1~2s", 2_000],
  ["2~3s", 3_000],
  ["3~4s", 4_000],
  ["4~5s", 5_000],
  ["5~10s", 10_000],
  ["10s~", Infinity],
];
/** Steps of the percentiles' buckets: [milliseconds, how many]. */
const STEPS: readonly (readonly [number, number])[] = [
  [1, 20],
  [2, 15],
  [5, 10],
  [10, 10],
  [50, 6],
  [100, 5],
  [1_000, 9],
];
const BOUNDS = bounds();
const MINUTE_MS = 60_000;

/** One minute. */
class Minute {
  readonly classes = new Float64Array(CLASSES.length);
  readonly buckets = new Float64Array(BOUNDS.length);

  add(ms: number, times: number): void {
    this.classes[CLASSES.findIndex(([, end]) => ms < end)]! += times;
    this.buckets[BOUNDS.findIndex((bound) => ms <= bound)]! += times;
  }
}

/** Counts. */
export class PutTimes {
  /** The longest put since the start, milliseconds. */
  maxMs = 0;
  #current = new Minute();
  #last = new Minute();
  /** Puts of this minute that took less than a millisecond: nearly all. */
  #instant = 0;
  #turnedMs: number;

  constructor(monotonicMs: number) {
    this.#turnedMs = monotonicMs;
  }

  /** A put took `elapsedMs`, whole milliseconds; less than 0 when the wall clock was set. */
  add(elapsedMs: number): void {
    if (elapsedMs <= 0) {
      this.#instant++;
      return;
    }
    this.#current.add(elapsedMs, 1);
    if (elapsedMs > this.maxMs) this.maxMs = elapsedMs;
  }

  /** Every 100 ms; begins a new minute in time. */
  tick(monotonicMs: number): void {
    if (monotonicMs - this.#turnedMs < MINUTE_MS) return;
    this.#turnedMs = monotonicMs;
    this.#current.add(0, this.#instant);
    this.#instant = 0;
    this.#last = this.#current;
    this.#current = new Minute();
  }

  /** `[<=0ms]:9 [0~10ms]:1 …` of the last whole minute, with a blank at its end as in Java. */
  distribution(): string {
    return CLASSES.map(([name], at) => `[${name}]:${this.#last.classes[at]} `)
      .join("");
  }

  /** Milliseconds below which the part `ratio` of the last whole minute was. */
  percentile(ratio: number): number {
    const { buckets } = this.#last;
    const total = buckets.reduce((sum, it) => sum + it, 0);
    const index = Math.trunc(total * ratio);
    let passed = 0;
    for (const [at, count] of buckets.entries()) {
      if (index > passed + count) {
        passed += count;
        continue;
      }
      if (count === 0) return BOUNDS[at - 1] ?? 0;
      const from = BOUNDS[at - 1] ?? 0;
      // What has no bound is shown with the last one that there is.
      const to = Number.isFinite(BOUNDS[at]) ? BOUNDS[at]! : from;
      return from + (to - from) * (index - passed) / count;
    }
    return 0;
  }
}

function bounds(): readonly number[] {
  const bounds: number[] = [];
  let bound = 0;
  for (const [step, count] of STEPS) {
    for (let n = 0; n < count; n++) bounds.push(bound += step);
  }
  bounds.push(Infinity);
  return bounds;
}
