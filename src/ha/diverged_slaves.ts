/**
 * DivergedSlaves: slaves that were longer than this log, so that it does not feed them once it
 * has grown past their end.
 *
 * A slave of Apache compares nothing before it reports. If it holds bytes that this master lost
 * with its power, its end lies beyond ours only until new puts have passed it; from then on
 * nothing in the protocol tells that both logs differ. Its end stays where it is meanwhile,
 * since it gets nothing: host and end are what it is known by. A slave that was made anew asks
 * from elsewhere.
 */

/** Slaves remembered; above it the oldest is forgotten. */
const SLAVES_MAX = 64;

/** Of one process: who lost bytes has started since. */
export class DivergedSlaves {
  readonly #ends = new Set<string>();

  /** A slave at `host` has reported `offset`, which is beyond the end of this log. */
  add(host: string, offset: number): void {
    const key = `${host} ${offset}`;
    this.#ends.delete(key);
    this.#ends.add(key);
    if (this.#ends.size <= SLAVES_MAX) return;
    for (const oldest of this.#ends) {
      this.#ends.delete(oldest);
      return;
    }
  }

  has(host: string, offset: number): boolean {
    return this.#ends.has(`${host} ${offset}`);
  }
}
