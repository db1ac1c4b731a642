/** Latencies: keeps every sample of a run and gives its percentiles, in milliseconds. */
export class Latencies {
  #samples = new Float64Array(1 << 16);
  #count = 0;

  add(ms: number): void {
    if (this.#count === this.#samples.length) {
      const more = new Float64Array(this.#samples.length * 2);
      more.set(this.#samples);
      this.#samples = more;
    }
    this.#samples[this.#count++] = ms;
  }

  get count(): number {
    return this.#count;
  }

  /** p50, p99 and p99.9. */
  percentiles(): { p50: number; p99: number; p999: number } {
    const sorted = this.#samples.slice(0, this.#count).sort();
    const at = (share: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ??
        0;
    return { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
  }
}
