/**
 * HAMasterWatch: remembers role and epoch of the master that this slave follows, for the time
 * when it cannot be asked any more. Every 5 s while the link works.
 */
import type { Clock } from "../io/clock.ts";
import type { HAPeerAnswer } from "./ha_peer_inquiry.ts";

/** What it needs. */
export interface HAMasterWatchPorts {
  readonly clock: Clock;
  /** Remoting address of the master whose link works; null without one. */
  followedMaster(): string | null;
  askOne(address: string): Promise<HAPeerAnswer | null>;
  onAnswer(answer: HAPeerAnswer): void;
}

const INTERVAL_MS = 5_000;

/** One per run of a broker. */
export class HAMasterWatch {
  readonly #ports: HAMasterWatchPorts;
  #last: HAPeerAnswer | null = null;
  #nextMs = -Infinity;
  #isAsking = false;

  constructor(ports: HAMasterWatchPorts) {
    this.#ports = ports;
  }

  /** What the master said last; null when none was followed. */
  get last(): HAPeerAnswer | null {
    return this.#last;
  }

  /** Every 100 ms. */
  tick(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    if (this.#isAsking || nowMs < this.#nextMs) return;
    const address = this.#ports.followedMaster();
    if (address === null) return;
    this.#isAsking = true;
    this.#nextMs = nowMs + INTERVAL_MS;
    void this.#ports.askOne(address).then((answer) => {
      this.#isAsking = false;
      if (answer === null) return;
      this.#last = answer;
      this.#ports.onAnswer(answer);
    });
  }
}
