/**
 * BodyBuffers: memory for the records of pulls, used again and again.
 *
 * A body of its own for each pull is 30 KiB of garbage: with a reader of a backlog the collector
 * would stop the broker several times a second for milliseconds, and sends would wait for it.
 */

const SIZE_MIN = 4_096;
/** The bodies of larger pulls are not kept. */
const SIZE_MAX = 262_144;
/** What lies unused, at most. */
const FREE_BYTES_MAX = 1_048_576;

/** Lends memory; what is never given back is left to the collector. */
export class BodyBuffers {
  /** By size, a power of two. */
  readonly #free = new Map<number, ArrayBuffer[]>();
  #freeBytes = 0;

  /** `size` bytes with anything in them. */
  take(size: number): Uint8Array {
    if (size > SIZE_MAX) return new Uint8Array(size);
    let whole = SIZE_MIN;
    while (whole < size) whole *= 2;
    const buffer = this.#free.get(whole)?.pop();
    if (buffer === undefined) {
      return new Uint8Array(new ArrayBuffer(whole), 0, size);
    }
    this.#freeBytes -= whole;
    return new Uint8Array(buffer, 0, size);
  }

  /** `bytes`, or a part from its begin, came from `take` and nobody looks at it any more. */
  giveBack(bytes: Uint8Array): void {
    const buffer = bytes.buffer as ArrayBuffer;
    const whole = buffer.byteLength;
    if (whole > SIZE_MAX || this.#freeBytes + whole > FREE_BYTES_MAX) return;
    const free = this.#free.get(whole);
    if (free === undefined) this.#free.set(whole, [buffer]);
    else free.push(buffer);
    this.#freeBytes += whole;
  }
}
