/**
 * LagMeter: how long ago the log ended where a slave is now.
 *
 * Keeps where the log ended at each tick; when the list is full every second entry goes, so
 * a long lag is known more roughly than a short one.
 */

const SAMPLES_MAX = 128;

interface Sample {
  readonly offset: number;
  readonly atMs: number;
}

/** One per log. */
export class LagMeter {
  #samples: Sample[] = [];

  /** The log ends at `offset` now. */
  note(offset: number, nowMs: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && last.offset === offset) return;
    this.#samples.push({ offset, atMs: nowMs });
    if (this.#samples.length > SAMPLES_MAX) {
      this.#samples = this.#samples.filter((_, index) => index % 2 === 0);
    }
  }

  /** Milliseconds since the log grew beyond `ackOffset`; 0 when it has not. */
  lagMs(ackOffset: number, nowMs: number): number {
    const beyond = this.#samples.find((it) => it.offset > ackOffset);
    return beyond === undefined ? 0 : Math.max(0, nowMs - beyond.atMs);
  }
}
