/** SimClock: time that moves only when a test says so. */
import { setImmediate } from "node:timers";
import type { Clock, Timer } from "../../src/io/clock.ts";

interface SimTimer {
  dueMs: number;
  readonly order: number;
  readonly intervalMs: number | undefined;
  readonly run: () => void;
}

const START_MS = 1_790_000_000_000;

/** How long `complete` goes on before it calls a promise stuck. */
const COMPLETE_MAX_MS = 3_600_000;

/** Virtual time. Timers due at the same moment fire in the order of their making. */
export class SimClock implements Clock {
  readonly #startMs: number;
  #elapsedMs = 0;
  #timers: SimTimer[] = [];
  #lastOrder = 0;

  constructor(startMs = START_MS) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return Math.floor(this.#startMs + this.#elapsedMs);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  every(intervalMs: number, run: () => void): Timer {
    return this.#add(intervalMs, run, Math.max(intervalMs, 1));
  }

  after(delayMs: number, run: () => void): Timer {
    return this.#add(delayMs, run, undefined);
  }

  /** Timers that have not been cancelled: what a stopped owner must not leave. */
  get timerCount(): number {
    return this.#timers.length;
  }

  /** Moves on, firing what is due; promises run only once the caller awaits. */
  advance(ms: number): void {
    const targetMs = this.#elapsedMs + ms;
    while (this.#fireNext(targetMs));
    this.#elapsedMs = targetMs;
  }

  /** Moves on; everything that promises bring about happens in its moment. */
  async run(ms: number): Promise<void> {
    const targetMs = this.#elapsedMs + ms;
    do await settle(); while (this.#fireNext(targetMs));
    this.#elapsedMs = targetMs;
  }

  /** Moves on until no one-shot timer is left. */
  async runUntilIdle(): Promise<void> {
    await settle();
    while (this.#timers.some((it) => it.intervalMs === undefined)) {
      this.#fireNext(Infinity);
      await settle();
    }
  }

  /** Moves on until `promise` has settled. */
  async complete<T>(promise: T | PromiseLike<T>): Promise<Awaited<T>> {
    let isDone = false;
    const done = () => void (isDone = true);
    Promise.resolve(promise).then(done, done);
    const targetMs = this.#elapsedMs + COMPLETE_MAX_MS;
    await settle();
    while (!isDone) {
      if (!this.#fireNext(targetMs)) throw new Error("The promise is stuck");
      await settle();
    }
    return await promise;
  }

  /** Moves on, at most `maxMs`, until `condition` holds. */
  async until(condition: () => boolean, maxMs: number): Promise<void> {
    const targetMs = this.#elapsedMs + maxMs;
    await settle();
    while (!condition()) {
      if (!this.#fireNext(targetMs)) {
        throw new Error(`Not true within ${maxMs} ms: ${condition}`);
      }
      await settle();
    }
  }

  /** Forgets every timer: the process that set them is dead. */
  cancelAll(): void {
    this.#timers = [];
  }

  #add(
    delayMs: number,
    run: () => void,
    intervalMs: number | undefined,
  ): Timer {
    const dueMs = this.#elapsedMs + Math.max(delayMs, 0);
    const timer = { dueMs, order: ++this.#lastOrder, intervalMs, run };
    this.#timers.push(timer);
    return { cancel: () => this.#cancel(timer) };
  }

  #cancel(timer: SimTimer): void {
    this.#timers = this.#timers.filter((it) => it !== timer);
  }

  /** Fires the earliest timer due by `targetMs`; false when there is none. */
  #fireNext(targetMs: number): boolean {
    let next: SimTimer | undefined;
    for (const it of this.#timers) {
      const isEarlier = next === undefined || it.dueMs < next.dueMs ||
        (it.dueMs === next.dueMs && it.order < next.order);
      if (isEarlier) next = it;
    }
    if (next === undefined || next.dueMs > targetMs) return false;
    this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
    if (next.intervalMs === undefined) this.#cancel(next);
    else next.dueMs += next.intervalMs;
    next.run();
    return true;
  }
}

/** Resolves when every promise that can go on has gone on. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
