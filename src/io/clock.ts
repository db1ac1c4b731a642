/** Clock: time and timers. Only controllers create timers; machines get `tick(nowMs)`. */

/** A running timer. */
export interface Timer {
  cancel(): void;
}

/** The time of one process or of one simulation. */
export interface Clock {
  /** Wall clock, milliseconds since epoch. */
  nowMs(): number;
  /** Never goes back; milliseconds with fraction, from an arbitrary start. */
  monotonicMs(): number;
  every(intervalMs: number, run: () => void): Timer;
  after(delayMs: number, run: () => void): Timer;
}
