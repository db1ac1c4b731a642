/**
 * WallClockTrust: may the wall clock decide that a file is old?
 *
 * A clock that was set, or a machine that slept, says nothing about how long files have lain
 * there. So the wall clock counts only while it has run along with the monotonic one for an
 * hour; at the start of a process there is nothing to compare it with, and it counts.
 */

/** Difference within an hour above which the wall clock was set; slewing stays far below. */
const JUMP_MS = 5 * 60_000;
/** Milliseconds for which both clocks must agree. */
const TRUST_AFTER_MS = 3_600_000;

/** Compares both clocks; call `observe` with every tick. */
export class WallClockTrust {
  /** Wall clock minus monotonic clock, as it was at `#takenMs`. */
  #differenceMs: number | undefined;
  #takenMs = 0;
  #jumpedMs: number | undefined;

  /** False from a jump on until both clocks have agreed for an hour. */
  get isTrusted(): boolean {
    return this.#jumpedMs === undefined;
  }

  /** The milliseconds by which the wall clock has jumped since; 0 when it did not. */
  observe(nowMs: number, monotonicMs: number): number {
    const differenceMs = nowMs - monotonicMs;
    const jumpMs = differenceMs - (this.#differenceMs ?? differenceMs);
    const isJump = Math.abs(jumpMs) > JUMP_MS;
    if (isJump) this.#jumpedMs = monotonicMs;
    else if (monotonicMs - (this.#jumpedMs ?? Infinity) >= TRUST_AFTER_MS) {
      this.#jumpedMs = undefined;
    }
    const isOld = monotonicMs - this.#takenMs >= TRUST_AFTER_MS;
    if (isJump || isOld || this.#differenceMs === undefined) {
      this.#differenceMs = differenceMs;
      this.#takenMs = monotonicMs;
    }
    return isJump ? jumpMs : 0;
  }
}
