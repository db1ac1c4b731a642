/** HAFenceSchedule: when a master looks whether another one was promoted; monotonic milliseconds. */

const INTERVAL_MS = 5_000;
/** After a slave has left: it may be promoted in a moment. */
const BRISK_INTERVAL_MS = 1_000;
const BRISK_MS = 30_000;
/** Between two looks that others ask for. */
const HINT_INTERVAL_MS = 1_000;
/** Apache's name servers take the question for a sign of life of the broker asked about. */
const VERSION_INTERVAL_MS = 60_000;

/** Of one fence. */
export class HAFenceSchedule {
  #nextMs = -Infinity;
  #lookMs = -Infinity;
  #briskUntilMs = -Infinity;
  #hintMs = -Infinity;
  #slaveCount = 0;
  /** Masters out of reach by address: when name servers were asked for their versions. */
  readonly #versions = new Map<
    string,
    { readonly askedMs: number; isUnknown: boolean }
  >();

  isDue(nowMs: number): boolean {
    return nowMs >= this.#nextMs;
  }

  /** The next look is due. */
  hurry(): void {
    this.#nextMs = -Infinity;
  }

  /** A look begins. */
  onLook(nowMs: number): void {
    const isBrisk = nowMs < this.#briskUntilMs;
    this.#lookMs = nowMs;
    this.#nextMs = nowMs + (isBrisk ? BRISK_INTERVAL_MS : INTERVAL_MS);
  }

  /** So many slaves are connected now. */
  onSlaves(slaveCount: number, nowMs: number): void {
    if (slaveCount < this.#slaveCount) {
      this.#briskUntilMs = nowMs + BRISK_MS;
      this.hurry();
    }
    this.#slaveCount = slaveCount;
  }

  /** A slave came: a look at once, but for a second after the last one. */
  onSlave(): void {
    this.#nextMs = Math.min(this.#nextMs, this.#lookMs + HINT_INTERVAL_MS);
  }

  /** Somebody claims to know more. */
  onHint(nowMs: number): void {
    if (nowMs - this.#hintMs < HINT_INTERVAL_MS) return;
    this.#hintMs = nowMs;
    this.hurry();
  }

  /**
   * What is known of the version of a master that does not answer; `ask`: nothing, and name
   * servers may be asked now. `isUrgent`: whatever they were asked before.
   */
  versionOf(
    address: string,
    nowMs: number,
    isUrgent: boolean,
  ): "ask" | "known" | "unknown" {
    const last = this.#versions.get(address);
    const isFresh = last !== undefined &&
      nowMs - last.askedMs < VERSION_INTERVAL_MS;
    if (isFresh && !isUrgent) return last.isUnknown ? "unknown" : "known";
    this.#versions.set(address, { askedMs: nowMs, isUnknown: false });
    return "ask";
  }

  /** A name server knows no version of it. */
  onUnknown(address: string): void {
    const version = this.#versions.get(address);
    if (version !== undefined) version.isUnknown = true;
  }
}
