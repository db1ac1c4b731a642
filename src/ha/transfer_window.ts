/**
 * TransferWindow: how many bytes may be under way to one slave (DESIGN, decision 6).
 *
 * Kernel buffers hide megabytes, so only acks tell what a link carries. The window is one
 * second of the measured ack rate, between `SIZE_MIN` and `inFlightBytesMax`, from
 * `SIZE_START` on. It at most doubles with each measurement, so that a burst of acks that were
 * held up somewhere does not flood a thin link.
 *
 * Invariants
 * - Only time with bytes in flight is measured.
 * - Only a measurement in which the window was full lowers it: an idle producer is no slow link.
 */

/** Bytes at which a window begins. */
const SIZE_START = 64 * 1024;
/** Bytes below which no window falls: a slow link must go on. */
const SIZE_MIN = 4096;
/** Bytes of one batch at most, for every peer. */
const BATCH_SIZE_MAX = 1024 * 1024;
/** A batch is this part of the window: slaves of Java ack whole bodies only. */
const BATCHES_IN_WINDOW = 4;
/** Busy milliseconds that make a measurement. */
const MEASURE_MIN_MS = 10;
/** Busy milliseconds after which even a few acked bytes make one. */
const MEASURE_MAX_MS = 200;

/** Bytes in flight and their bound, for one link. */
export class TransferWindow {
  #inFlightBytesMax: number;
  #batchSizeMax: number;
  #size: number;
  #inFlightBytes = 0;
  #hasBeenFull = false;
  #ackedBytes = 0;
  #busyMs = 0;
  #lastEventMs: number;
  #ackedByteInSecond: number | null = null;

  constructor(inFlightBytesMax: number, batchSizeMax: number, nowMs: number) {
    this.#inFlightBytesMax = inFlightBytesMax;
    this.#batchSizeMax = batchSizeMax;
    this.#size = Math.min(SIZE_START, inFlightBytesMax);
    this.#lastEventMs = nowMs;
  }

  reconfigure(inFlightBytesMax: number, batchSizeMax: number): void {
    this.#inFlightBytesMax = inFlightBytesMax;
    this.#batchSizeMax = batchSizeMax;
    this.#size = Math.min(this.#size, inFlightBytesMax);
  }

  /** Sent and not acked. */
  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  /** Bytes that may be in flight now. */
  get size(): number {
    return this.#size;
  }

  /** Null before the first measurement. */
  get ackedByteInSecond(): number | null {
    return this.#ackedByteInSecond;
  }

  /** Bytes of the next batch at most. */
  get batchSize(): number {
    const part = Math.floor(this.#size / BATCHES_IN_WINDOW);
    return Math.max(1, Math.min(part, BATCH_SIZE_MAX, this.#batchSizeMax));
  }

  /** Whether `bytes` more may go out; a no is remembered: the window was full. */
  hasRoomFor(bytes: number): boolean {
    if (this.#inFlightBytes + bytes <= this.#size) return true;
    if (this.#inFlightBytes === 0) return true; // One batch always goes.
    this.#hasBeenFull = true;
    return false;
  }

  onSent(bytes: number, nowMs: number): void {
    this.#measureUntil(nowMs);
    this.#inFlightBytes += bytes;
  }

  onAcked(bytes: number, nowMs: number): void {
    this.#measureUntil(nowMs);
    this.#inFlightBytes -= bytes;
    this.#ackedBytes += bytes;
    const isEnough = this.#ackedBytes * 2 >= this.#size
      ? this.#busyMs >= MEASURE_MIN_MS
      : this.#busyMs >= MEASURE_MAX_MS;
    if (isEnough) this.#endMeasurement();
  }

  #measureUntil(nowMs: number): void {
    if (this.#inFlightBytes > 0) this.#busyMs += nowMs - this.#lastEventMs;
    this.#lastEventMs = nowMs;
  }

  #endMeasurement(): void {
    const measured = this.#ackedBytes * 1000 / this.#busyMs;
    const before = this.#ackedByteInSecond ?? 0;
    const rate = this.#hasBeenFull ? measured : Math.max(before, measured);
    this.#ackedByteInSecond = rate;
    const isMeasure = this.#hasBeenFull || rate > this.#size;
    if (isMeasure) {
      const size = Math.floor(Math.min(rate, this.#size * 2));
      const bound = Math.min(size, this.#inFlightBytesMax);
      this.#size = Math.max(bound, Math.min(SIZE_MIN, this.#inFlightBytesMax));
    }
    this.#hasBeenFull = false;
    this.#ackedBytes = 0;
    this.#busyMs = 0;
  }
}
