/** HALifeClock: timers that end with a process. */
import type { Clock, Timer } from "../../src/io/clock.ts";

export class HALifeClock implements Clock {
  readonly #timers = new Set<Timer>();
  #isOver = false;

  constructor(private readonly clock: Clock) {}

  nowMs(): number {
    return this.clock.nowMs();
  }

  monotonicMs(): number {
    return this.clock.monotonicMs();
  }

  every(intervalMs: number, run: () => void): Timer {
    return this.#keep(this.clock.every(intervalMs, run));
  }

  after(delayMs: number, run: () => void): Timer {
    const timer = this.#keep(this.clock.after(delayMs, () => {
      this.#timers.delete(timer);
      run();
    }));
    return timer;
  }

  /** What a dead process still sets never fires. */
  end(): void {
    this.#isOver = true;
    for (const it of this.#timers) it.cancel();
    this.#timers.clear();
  }

  #keep(inner: Timer): Timer {
    const timer = {
      cancel: () => {
        inner.cancel();
        this.#timers.delete(timer);
      },
    };
    if (this.#isOver) inner.cancel();
    else this.#timers.add(timer);
    return timer;
  }
}
