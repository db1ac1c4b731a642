/** TimerRate: how fast a count grows. */

const PERIOD_MS = 5_000;

/** One count. */
export class TimerRate {
  /** A second, with two decimals. */
  tps = 0;
  #count = 0;
  #sinceMs: number | null = null;

  /** Often; `count` is the whole one. */
  tick(count: number, monotonicMs: number): void {
    if (this.#sinceMs === null) {
      this.#count = count;
      this.#sinceMs = monotonicMs;
    }
    const elapsedMs = monotonicMs - this.#sinceMs;
    if (elapsedMs < PERIOD_MS) return;
    const perSecond = (count - this.#count) * 1_000 / elapsedMs;
    this.tps = Math.round(perSecond * 100) / 100;
    this.#count = count;
    this.#sinceMs = monotonicMs;
  }
}
