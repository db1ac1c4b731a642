/**
 * RecoveryPace: lets the loop serve others while recovery reads a long log, and tells how far it
 * is. Whoever watches a start must be able to tell work from a hang.
 */
import type { Clock } from "../io/clock.ts";

/** So long recovery keeps the loop to itself. */
const TURN_MS = 50;
/** Records between two looks at the clock. */
const LOOK_INTERVAL = 64;

/** How far the scan of the log is, in offsets of it. */
export interface RecoveryProgress {
  readonly startOffset: number;
  readonly offset: number;
  readonly endOffset: number;
}

/** One recovery's. */
export class RecoveryPace {
  readonly #clock: Clock;
  #progress: RecoveryProgress | null = null;
  #offset = 0;
  #turnMs: number;
  #records = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#turnMs = clock.monotonicMs();
  }

  /** Null before the first scan. */
  get progress(): RecoveryProgress | null {
    return this.#progress && { ...this.#progress, offset: this.#offset };
  }

  /** A scan begins; it may be the second one. */
  begin(startOffset: number, endOffset: number): void {
    this.#progress = { startOffset, offset: startOffset, endOffset };
    this.#offset = startOffset;
  }

  /** Called with every record; a promise when it is time to let others run. */
  pause(offset: number): Promise<void> | undefined {
    this.#offset = offset;
    if (++this.#records % LOOK_INTERVAL !== 0) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#turnMs < TURN_MS) return undefined;
    return new Promise((resolve) =>
      this.#clock.after(0, () => {
        this.#turnMs = this.#clock.monotonicMs();
        resolve();
      })
    );
  }
}
