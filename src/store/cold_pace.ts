/**
 * ColdPace: reads of old data give way while messages arrive.
 *
 * A reader of a backlog takes what the loop and the collector have to give; a put that comes
 * meanwhile would wait for it. So reads of old data are spaced while the log grows, and run at
 * full speed as soon as it has been quiet for a second. A reader is always allowed twice what
 * arrives: else it would fall behind for as long as the messages come.
 */
import type { Clock } from "../io/clock.ts";

/** How long after the log's last growth messages count as arriving. */
const QUIET_MS = 1_000;
/** How much faster than the log grows its old data may be read. */
const GROWTH_FACTOR = 2;

/** Spaces the reads of one store. */
export class ColdPace {
  #seenEnd = -1;
  #grewMs = -Infinity;
  #nextMs = -Infinity;
  #growthPerSecond = 0;
  #measuredEnd = 0;
  #measuredMs = -Infinity;

  /** `logEnd` tells how far the log reaches; `bytesPerSecondMax` 0: no limit. */
  constructor(
    private readonly clock: Clock,
    private readonly logEnd: () => number,
    private readonly bytesPerSecondMax: number,
  ) {}

  /** Resolves when `size` more bytes may be read; undefined: at once. */
  next(size: number): Promise<void> | undefined {
    if (this.bytesPerSecondMax === 0) return undefined;
    const nowMs = this.clock.monotonicMs();
    const end = this.logEnd();
    if (end !== this.#seenEnd) {
      // What grew while nobody read is no traffic.
      if (this.#seenEnd >= 0) this.#grewMs = nowMs;
      this.#seenEnd = end;
    }
    this.#measure(nowMs, end);
    if (nowMs - this.#grewMs >= QUIET_MS) {
      this.#nextMs = nowMs;
      return undefined;
    }
    const turnMs = Math.max(nowMs, this.#nextMs);
    const rate = Math.max(
      this.bytesPerSecondMax,
      this.#growthPerSecond * GROWTH_FACTOR,
    );
    this.#nextMs = turnMs + size / rate * 1_000;
    if (turnMs <= nowMs) return undefined;
    return new Promise((resolve) => this.clock.after(turnMs - nowMs, resolve));
  }

  #measure(nowMs: number, end: number): void {
    const elapsedMs = nowMs - this.#measuredMs;
    if (elapsedMs < QUIET_MS) return;
    this.#growthPerSecond = Math.max(0, end - this.#measuredEnd) /
      elapsedMs * 1_000;
    this.#measuredMs = nowMs;
    this.#measuredEnd = end;
  }
}
