/**
 * HAMasterWatch: remembers role and epoch of the master that this slave follows, for the time
 * when it cannot be asked any more, and its other slaves. Every 5 s while the link works.
 *
 * Whoever stood still (a stopped process, a paused machine) knows nothing of what was confirmed
 * meanwhile until its master has answered again, and it has what that one has.
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
  /** End of the own log. */
  maxOffset(): number;
}

const INTERVAL_MS = 5_000;
/** While it is open what was missed. */
const BRISK_INTERVAL_MS = 500;
/** Between two ticks, 100 ms apart: the process stood still. */
const STANDSTILL_MS = 3_000;
/** What is under way between any pair. */
const UNDER_WAY_BYTES = 65_536;

/** One per run of a broker. */
export class HAMasterWatch {
  readonly #ports: HAMasterWatchPorts;
  #last: HAPeerAnswer | null = null;
  #nextMs = -Infinity;
  #isAsking = false;
  /** By the wall clock, which runs also while a machine sleeps. */
  #tickedWallMs = Infinity;
  #standstills = 0;
  #settled = 0;

  constructor(ports: HAMasterWatchPorts) {
    this.#ports = ports;
  }

  /** What the master said last; null when none was followed. */
  get last(): HAPeerAnswer | null {
    return this.#last;
  }

  /** True when this process stood still, and has not caught up with its master since. */
  get hasStoodStill(): boolean {
    this.#noteStandstill();
    return this.#settled !== this.#standstills;
  }

  /** Every 100 ms. */
  tick(): void {
    this.#noteStandstill();
    const nowMs = this.#ports.clock.monotonicMs();
    if (this.#isAsking || nowMs < this.#nextMs) return;
    const address = this.#ports.followedMaster();
    if (address === null) return;
    this.#isAsking = true;
    const standstills = this.#standstills;
    const isBrisk = this.#settled !== standstills;
    this.#nextMs = nowMs + (isBrisk ? BRISK_INTERVAL_MS : INTERVAL_MS);
    void this.#ports.askOne(address).then((answer) => {
      this.#isAsking = false;
      if (answer === null) return;
      this.#last = answer;
      const behind = (answer.maxOffset ?? 0) - this.#ports.maxOffset();
      if (behind <= UNDER_WAY_BYTES) this.#settled = standstills;
      this.#ports.onAnswer(answer);
    });
  }

  #noteStandstill(): void {
    const wallMs = this.#ports.clock.nowMs();
    if (wallMs - this.#tickedWallMs > STANDSTILL_MS) {
      this.#standstills++;
      this.#nextMs = -Infinity;
    }
    this.#tickedWallMs = wallMs;
  }
}
