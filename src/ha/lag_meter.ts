/**
 * LagMeter: how long ago the log ended where a slave is now.
 *
 * Keeps where the log ended, and when. When the list is full, the sample goes that is closest
 * to its neighbours for its age: a long lag is known more roughly than a short one, in
 * proportion, however long the process lives.
 */

const SAMPLES_MAX = 128;

interface Sample {
  readonly offset: number;
  readonly atMs: number;
}

/** One per log. */
export class LagMeter {
  readonly #samples: Sample[] = [];

  /** The log ends at `offset` now; to be called every 100 ms or so. */
  note(offset: number, nowMs: number): void {
    const samples = this.#samples;
    if (samples.at(-1)?.offset === offset) return;
    samples.push({ offset, atMs: nowMs });
    if (samples.length > SAMPLES_MAX) samples.splice(this.#closest(nowMs), 1);
  }

  /** Milliseconds since the log grew beyond `ackOffset`; 0 when it has not. */
  lagMs(ackOffset: number, nowMs: number): number {
    const beyond = this.#samples.find((it) => it.offset > ackOffset);
    return beyond === undefined ? 0 : Math.max(0, nowMs - beyond.atMs);
  }

  /** Index of the sample that is missed least; neither the first nor the last. */
  #closest(nowMs: number): number {
    const samples = this.#samples;
    let best = 1;
    let least = Infinity;
    for (let index = 1; index < samples.length - 1; index++) {
      const before = samples[index - 1]!.atMs;
      const after = samples[index + 1]!.atMs;
      const missed = (after - before) / (nowMs - before);
      if (missed >= least) continue;
      least = missed;
      best = index;
    }
    return best;
  }
}
