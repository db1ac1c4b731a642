/** SimLink: how bytes travel from one simulated host to another, in one direction. */
import type { Clock } from "../../src/io/clock.ts";

/** Change the fields at any time; what is already under way keeps its moment. */
export class SimLink {
  delayMs = 1;
  bytesPerSecond = Infinity;
  #isBlackhole = false;
  #held: (() => void)[] = [];
  /** When the last byte sent so far arrives: nothing may overtake it. */
  #busyUntilMs = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True while what is sent neither arrives nor fails. */
  get isBlackhole(): boolean {
    return this.#isBlackhole;
  }

  /** Everything sent from now on is held, silently, until `heal`. */
  blackhole(): void {
    this.#isBlackhole = true;
  }

  /** Held bytes arrive, as TCP sends them again. */
  heal(): void {
    this.#isBlackhole = false;
    const held = this.#held;
    this.#held = [];
    for (const arrive of held) this.send(0, arrive);
  }

  /** Calls `arrive` when `size` bytes sent now have got there. */
  send(size: number, arrive: () => void): void {
    const nowMs = this.#clock.monotonicMs();
    const startMs = Math.max(nowMs, this.#busyUntilMs - this.delayMs);
    const sentMs = startMs + size / this.bytesPerSecond * 1000;
    this.#busyUntilMs = Math.max(sentMs + this.delayMs, this.#busyUntilMs);
    this.#clock.after(this.#busyUntilMs - nowMs, () => {
      if (this.#isBlackhole) this.#held.push(arrive);
      else arrive();
    });
  }
}
