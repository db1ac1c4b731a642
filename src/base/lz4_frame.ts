/**
 * LZ4 frames, as Java's LZ4FrameOutputStream writes them; reading only. Numbers are little-endian.
 *
 * | bytes | field                                                                          |
 * | ----- | ------------------------------------------------------------------------------ |
 * | 4     | magic 0x184d2204                                                               |
 * | 1     | FLG: bits 7-6 version 1, 4 block checksums, 3 content size, 2 content checksum, 0 dictionary |
 * | 1     | BD: bits 6-4 largest block, 4: 64 KiB, 5: 256 KiB, 6: 1 MiB, 7: 4 MiB           |
 * | 0, 8  | content size (not believed)                                                    |
 * | 1     | header checksum (not checked: the record around it has one)                    |
 * | 4     | size of a block, bit 31: stored as it is; 0 ends the frame                      |
 * | n     | block, then 4 bytes where FLG has block checksums                              |
 *
 * A block is a row of sequences: token (literals in the high half, match length less 4 in the
 * low one, 15 goes on in bytes up to one that is not 255), literals, 2 bytes of distance, match.
 *
 * Written here as the libraries there are trust what they read: sizes, distances and ends.
 */
import { CompressionError } from "./compression_error.ts";

const MAGIC = 0x184d2204;
const VERSION = 1;
const STORED = 0x8000_0000;
const MATCH_MIN = 4;
const LONG = 15;
const FIRST_SIZE = 64 * 1024;
const BLOCK_SIZES: Readonly<Record<number, number>> = {
  4: 64 * 1024,
  5: 256 * 1024,
  6: 1024 * 1024,
  7: 4 * 1024 * 1024,
};

/** The content of one frame. Throws `CompressionError` when it is broken, or above `sizeMax` bytes. */
export function decompressLz4Frame(
  bytes: Uint8Array,
  sizeMax: number,
): Uint8Array {
  return new FrameReader(bytes, sizeMax).read();
}

class FrameReader {
  readonly #view: DataView;
  readonly #sizeMax: number;
  #at = 0;
  #out: Uint8Array;
  #size = 0;

  constructor(private readonly bytes: Uint8Array, sizeMax: number) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#sizeMax = sizeMax;
    this.#out = new Uint8Array(Math.min(sizeMax, FIRST_SIZE));
  }

  read(): Uint8Array {
    const { blockSizeMax, hasChecksums } = this.#header();
    for (;;) {
      const size = this.#uint32();
      if (size === 0) return this.#out.slice(0, this.#size);
      const length = size % STORED;
      if (length > blockSizeMax || length > this.bytes.length - this.#at) {
        throw this.#broken(`a block of ${length} bytes`);
      }
      const end = this.#at + length;
      if (size >= STORED) this.#copy(length);
      else this.#block(end, this.#size + blockSizeMax);
      if (hasChecksums) this.#uint32();
    }
  }

  #header(): { blockSizeMax: number; hasChecksums: boolean } {
    if (this.#uint32() !== MAGIC) throw this.#broken("no magic number");
    const flags = this.#byte();
    const blockSizeMax = BLOCK_SIZES[this.#byte() >> 4 & 7];
    if (flags >> 6 !== VERSION || blockSizeMax === undefined) {
      throw this.#broken("an unknown version or block size");
    }
    if ((flags & 1) !== 0) throw this.#broken("a dictionary");
    this.#at += (flags & 8) === 0 ? 1 : 9;
    return { blockSizeMax, hasChecksums: (flags & 16) !== 0 };
  }

  #block(end: number, sizeMax: number): void {
    while (this.#at < end) {
      const token = this.#byte();
      const literals = this.#length(token >> 4);
      if (literals > end - this.#at) {
        throw this.#broken(`${literals} literals`);
      }
      this.#copy(literals);
      if (this.#at === end) return;
      const distance = this.#byte() | this.#byte() << 8;
      this.#match(distance, this.#length(token & LONG) + MATCH_MIN);
      if (this.#at > end || this.#size > sizeMax) {
        throw this.#broken("a block longer than it may be");
      }
    }
  }

  #length(first: number): number {
    let length = first;
    if (first < LONG) return length;
    for (let next = 255; next === 255;) {
      next = this.#byte();
      length += next;
    }
    return length;
  }

  #copy(length: number): void {
    this.#reserve(length);
    const end = this.#at + length;
    this.#out.set(this.bytes.subarray(this.#at, end), this.#size);
    this.#at = end;
    this.#size += length;
  }

  /** A match may reach into itself, and so repeat what it has just written. */
  #match(distance: number, length: number): void {
    if (distance === 0 || distance > this.#size) {
      throw this.#broken(`a distance of ${distance}`);
    }
    this.#reserve(length);
    const from = this.#size - distance;
    for (let done = 0; done < length;) {
      const part = Math.min(length - done, distance + done);
      this.#out.copyWithin(this.#size + done, from, from + part);
      done += part;
    }
    this.#size += length;
  }

  #reserve(length: number): void {
    const size = this.#size + length;
    if (size > this.#sizeMax) {
      throw new CompressionError(
        `The LZ4 frame of ${this.bytes.length} bytes takes more than ${this.#sizeMax}`,
      );
    }
    if (size <= this.#out.length) return;
    const larger = new Uint8Array(
      Math.min(this.#sizeMax, Math.max(size, this.#out.length * 2)),
    );
    larger.set(this.#out.subarray(0, this.#size));
    this.#out = larger;
  }

  #byte(): number {
    const byte = this.bytes[this.#at++];
    if (byte === undefined) throw this.#broken("its end");
    return byte;
  }

  #uint32(): number {
    if (this.#at + 4 > this.bytes.length) throw this.#broken("its end");
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  #broken(what: string): CompressionError {
    return new CompressionError(
      `The LZ4 frame is broken: ${what} at byte ${this.#at} of ${this.bytes.length}`,
    );
  }
}
