/** VirtualClock: time that passes when a test says so. */
import type { Clock, Timer } from "../../src/io/clock.ts";

interface Entry extends Timer {
  dueMs: number;
  readonly intervalMs: number;
  readonly run: () => void;
}

/** Starts at an arbitrary time; `advance` runs the timers that fall due. */
export class VirtualClock implements Clock {
  #nowMs = 1_700_000_000_000;
  readonly #timers = new Set<Entry>();

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs - 1_600_000_000_000;
  }

  every(intervalMs: number, run: () => void): Timer {
    return this.#add(intervalMs, intervalMs, run);
  }

  after(delayMs: number, run: () => void): Timer {
    return this.#add(delayMs, Infinity, run);
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const timer of [...this.#timers]) {
      if (timer.dueMs > this.#nowMs) continue;
      timer.dueMs += timer.intervalMs;
      if (timer.intervalMs === Infinity) timer.cancel();
      timer.run();
    }
  }

  #add(delayMs: number, intervalMs: number, run: () => void): Timer {
    const entry: Entry = {
      dueMs: this.#nowMs + delayMs,
      intervalMs,
      run,
      cancel: () => this.#timers.delete(entry),
    };
    this.#timers.add(entry);
    return entry;
  }
}
