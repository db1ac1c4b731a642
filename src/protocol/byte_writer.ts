/** ByteWriter: a growing buffer that answers are written into, one after the other. */

const SIZE_MIN = 1024;
const ENCODER = new TextEncoder();
const ASCII_LOOP_MAX = 128;
const DIGIT_0 = 48;
/** Up to this value the digits are found with 32-bit arithmetic. */
const SMALL_MAX = 999_999_999;

/** Appends integers, bytes and text; big-endian. */
export class ByteWriter {
  #bytes = new Uint8Array(SIZE_MIN);
  #length = 0;

  /** Bytes written since `clear`. */
  get length(): number {
    return this.#length;
  }

  /** What was written: a view that the next write or `clear` invalidates. */
  view(from = 0): Uint8Array {
    return this.#bytes.subarray(from, this.#length);
  }

  /** Forgets everything, and the buffer too when it is above `sizeKept`. */
  clear(sizeKept: number): void {
    this.#length = 0;
    if (this.#bytes.length > sizeKept) this.#bytes = new Uint8Array(SIZE_MIN);
  }

  /** Forgets what was written after `length`. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  u8(value: number): void {
    this.reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u16(value: number): void {
    this.reserve(2);
    this.#bytes[this.#length++] = value >>> 8;
    this.#bytes[this.#length++] = value;
  }

  u32(value: number): void {
    this.reserve(4);
    this.#length += 4;
    this.u32At(this.#length - 4, value);
  }

  /** Overwrites two bytes written before. */
  u16At(position: number, value: number): void {
    this.#bytes[position] = value >>> 8;
    this.#bytes[position + 1] = value;
  }

  /** Overwrites four bytes written before. */
  u32At(position: number, value: number): void {
    const bytes = this.#bytes;
    bytes[position] = value >>> 24;
    bytes[position + 1] = value >>> 16;
    bytes[position + 2] = value >>> 8;
    bytes[position + 3] = value;
  }

  bytes(source: Uint8Array): void {
    this.reserve(source.length);
    this.#bytes.set(source, this.#length);
    this.#length += source.length;
  }

  /** Writes UTF-8; returns its size in bytes. */
  utf8(text: string): number {
    const units = text.length;
    this.reserve(units * 3);
    const start = this.#length;
    let index = 0;
    // Short ASCII text is the rule; a call costs more than this loop.
    if (units <= ASCII_LOOP_MAX) {
      const bytes = this.#bytes;
      for (; index < units; index++) {
        const unit = text.charCodeAt(index);
        if (unit > 127) break;
        bytes[start + index] = unit;
      }
      if (index === units) {
        this.#length = start + units;
        return units;
      }
    }
    const { written } = ENCODER.encodeInto(
      text,
      this.#bytes.subarray(this.#length),
    );
    this.#length += written;
    return written;
  }

  /** Writes a decimal integer. */
  decimal(value: number): void {
    if (!(value >= 0 && value <= SMALL_MAX)) return this.#ascii(String(value));
    this.reserve(10);
    let digits = 1;
    for (let rest = value; rest >= 10; rest = (rest / 10) | 0) digits++;
    let position = this.#length + digits;
    this.#length = position;
    let rest = value;
    do {
      const tens = (rest / 10) | 0;
      this.#bytes[--position] = DIGIT_0 + rest - tens * 10;
      rest = tens;
    } while (rest > 0);
  }

  /** Writes `text` as a JSON string with its quotes. */
  jsonString(text: string): void {
    const units = text.length;
    this.reserve(units + 2);
    const bytes = this.#bytes;
    let position = this.#length;
    bytes[position++] = 34;
    for (let index = 0; index < units; index++) {
      const unit = text.charCodeAt(index);
      if (unit < 32 || unit > 126 || unit === 34 || unit === 92) {
        this.utf8(JSON.stringify(text));
        return;
      }
      bytes[position++] = unit;
    }
    bytes[position++] = 34;
    this.#length = position;
  }

  #ascii(text: string): void {
    this.reserve(text.length);
    for (let index = 0; index < text.length; index++) {
      this.#bytes[this.#length++] = text.charCodeAt(index);
    }
  }
}
