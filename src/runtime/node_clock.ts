/** NodeClock: the Clock port over the timers of both runtimes. */
import { performance } from "node:perf_hooks";
import type { Clock, Timer } from "../io/clock.ts";

/** A longer delay would wrap around and fire at once. */
const TIMER_DELAY_MAX_MS = 2 ** 31 - 1;

/** Time of the machine. */
export class NodeClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  every(intervalMs: number, run: () => void): Timer {
    const id = setInterval(run, Math.min(intervalMs, TIMER_DELAY_MAX_MS));
    return { cancel: () => clearInterval(id) };
  }

  after(delayMs: number, run: () => void): Timer {
    let id: ReturnType<typeof setTimeout>;
    const arm = (restMs: number) => {
      const stepMs = Math.min(restMs, TIMER_DELAY_MAX_MS);
      id = setTimeout(
        () => restMs > stepMs ? arm(restMs - stepMs) : run(),
        stepMs,
      );
    };
    arm(delayMs);
    return { cancel: () => clearTimeout(id) };
  }
}
