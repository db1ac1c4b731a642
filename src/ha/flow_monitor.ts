/**
 * FlowMonitor: how many bytes went out, and how many still may (reference 7.8).
 *
 * A bucket refills with the allowed bytes per second and holds a quarter of a second of them,
 * so a link stays within its cap in every second. All bytes count, not only headers.
 */

/** Part of a second that the bucket holds. */
const BURST_MS = 250;

/** One per link, for what is shown and for the cap. */
export class FlowMonitor {
  #byteInSecondMax: number;
  #tokens: number;
  #refilledMs: number;
  /** Start of the second that is being counted. */
  #secondFromMs: number;
  #countedBytes = 0;
  #lastSecondBytes = 0;

  /** `byteInSecondMax`: Infinity for no cap. */
  constructor(byteInSecondMax: number, nowMs: number) {
    this.#byteInSecondMax = byteInSecondMax;
    this.#tokens = this.#tokensMax;
    this.#refilledMs = nowMs;
    this.#secondFromMs = nowMs;
  }

  get #tokensMax(): number {
    return Math.max(1, this.#byteInSecondMax * BURST_MS / 1000);
  }

  set byteInSecondMax(bytes: number) {
    // What went out without a cap is no debt under the next one.
    const wasCapped = this.#byteInSecondMax !== Infinity;
    this.#byteInSecondMax = bytes;
    this.#tokens = wasCapped
      ? Math.min(this.#tokens, this.#tokensMax)
      : this.#tokensMax;
  }

  /** Bytes that may go out now. */
  canTransferMaxByteNum(nowMs: number): number {
    if (this.#byteInSecondMax === Infinity) return Infinity;
    const elapsedMs = nowMs - this.#refilledMs;
    this.#refilledMs = nowMs;
    this.#tokens = Math.min(
      this.#tokens + elapsedMs * this.#byteInSecondMax / 1000,
      this.#tokensMax,
    );
    return Math.max(0, Math.floor(this.#tokens));
  }

  addByteCountTransferred(bytes: number, nowMs: number): void {
    this.#roll(nowMs);
    this.#countedBytes += bytes;
    this.#tokens -= bytes;
  }

  /** Bytes of the last whole second. */
  transferredByteInSecond(nowMs: number): number {
    this.#roll(nowMs);
    return this.#lastSecondBytes;
  }

  #roll(nowMs: number): void {
    const elapsedMs = nowMs - this.#secondFromMs;
    if (elapsedMs < 1000) return;
    this.#lastSecondBytes = elapsedMs < 2000 ? this.#countedBytes : 0;
    this.#countedBytes = 0;
    this.#secondFromMs = nowMs - elapsedMs % 1000;
  }
}
