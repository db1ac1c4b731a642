/**
 * Histogram: how many values fell below which bound, as Prometheus shows them.
 *
 * Invariants
 * - `counts` has one number more than `bounds`: the last one counts what is above all of them.
 * - A value that equals a bound counts below it (Prometheus' `le`).
 */

/** What a scrape reads of a histogram. */
export interface HistogramView {
  /** Upper bounds, ascending. */
  readonly bounds: ArrayLike<number>;
  /** Values between the bound before and this one; not cumulative. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

/** Counts values. */
export class Histogram implements HistogramView {
  readonly counts: Float64Array;
  sum = 0;

  /** `bounds` are shared by many; a typed array, for a frozen one costs ten times as much to read. */
  constructor(readonly bounds: Float64Array) {
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** `times` values of the same size. */
  add(value: number, times = 1): void {
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at++;
    this.counts[at]! += times;
    this.sum += value * times;
  }
}
