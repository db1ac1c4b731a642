/** ReadGate: stops and starts reading one connection, for one or more reasons. */
import type { Connection } from "../io/network.ts";

/** Why reading is paused; bits. */
export const PAUSED_BY_WRITE_QUEUE = 1;
export const PAUSED_BY_IN_FLIGHT = 2;

const SOON = Promise.resolve();

/** Open while no reason is left to pause. */
export class ReadGate {
  readonly #onOpened: () => void;
  #connection: Connection | null = null;
  #reasons = 0;

  /** `onOpened` handles what was received but kept; it may pause again. */
  constructor(onOpened: () => void) {
    this.#onOpened = onOpened;
  }

  get isOpen(): boolean {
    return this.#reasons === 0;
  }

  attach(connection: Connection): void {
    this.#connection = connection;
    if (this.#reasons !== 0) connection.pause();
  }

  pause(reason: number): void {
    if (this.#reasons === 0) this.#connection?.pause();
    this.#reasons |= reason;
  }

  resume(reason: number): void {
    if ((this.#reasons & reason) === 0) return;
    this.#reasons &= ~reason;
    if (this.#reasons !== 0) return;
    // Not at once: the caller may be a processor in the middle of its work.
    void SOON.then(() => {
      if (this.#reasons !== 0) return;
      this.#onOpened();
      if (this.#reasons === 0) this.#connection?.resume();
    });
  }
}
