/**
 * DivergedSlaves: slaves that were longer than this log, so that it does not feed them once it
 * has grown past their end.
 *
 * A slave of Apache compares nothing before it reports. If it holds bytes that this master lost
 * with its power, its end lies beyond ours only until new puts have passed it; from then on
 * nothing in the protocol tells that both logs differ. Its end stays where it is meanwhile,
 * since it gets nothing: host and end are what it is known by. A slave that was made anew asks
 * from elsewhere.
 *
 * Eight bytes of a stranger may read as such an end. A slave says the same again and again, some
 * seconds apart; a scanner says it once, or all the time.
 */

/** Slaves remembered; above it the oldest is forgotten. */
const SLAVES_MAX = 64;
/** Between two reports of a slave that was sent away: Apache's waits 5 s, ours longer and longer. */
const PAUSE_MS_MIN = 2_000;
const PAUSE_MS_MAX = 120_000;

/** Of one process: who lost bytes has started since. */
export class DivergedSlaves {
  /** When `host offset` was reported last; monotonic, milliseconds. */
  readonly #ends = new Map<string, number>();

  /**
   * Somebody at `host` has reported `offset`, which is beyond the end of this log. True when it
   * comes back as a slave does.
   */
  add(host: string, offset: number, nowMs: number): boolean {
    const key = `${host} ${offset}`;
    const pauseMs = nowMs - (this.#ends.get(key) ?? -Infinity);
    this.#ends.delete(key);
    this.#ends.set(key, nowMs);
    if (this.#ends.size > SLAVES_MAX) {
      const [oldest] = this.#ends.keys();
      this.#ends.delete(oldest!);
    }
    return pauseMs >= PAUSE_MS_MIN && pauseMs <= PAUSE_MS_MAX;
  }

  has(host: string, offset: number): boolean {
    return this.#ends.has(`${host} ${offset}`);
  }
}
