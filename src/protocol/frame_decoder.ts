/**
 * FrameDecoder: cuts a byte stream into frames, whatever the chunking.
 *
 * | offset | size | type  | field         | note                           |
 * | -----: | ---: | ----- | ------------- | ------------------------------ |
 * |      0 |    4 | i32   | totalLength   | bytes that follow              |
 * |      4 |    1 | u8    | serializeType | 0 JSON, 1 ROCKETMQ             |
 * |      5 |    3 | u24   | headerLength  | at most totalLength - 4        |
 * |      8 |    n | bytes | header        |                                |
 * |  8 + n |    m | bytes | body          | m = totalLength - 4 - n        |
 */
import { FrameError } from "./frame_error.ts";

/** The largest frame, its first four bytes included: 16 MiB as in Java. */
export const FRAME_LENGTH_MAX = 16 * 1024 * 1024;

/** Bytes before the header. */
export const FRAME_PREFIX_SIZE = 8;

const LENGTH_SIZE = 4;
const SERIALIZE_TYPE_MAX = 1;
const PENDING_SIZE_MIN = 4096;
/** A larger buffer is given back once its frame has been handled. */
const PENDING_SIZE_KEPT = 8 * 1024;
const NOTHING = new Uint8Array(0);

/**
 * Takes one whole frame, prefix included, at [start, end) of `bytes`, which
 * belong to it only until it returns. False stops the decoder after this frame.
 */
export type OnFrame = (
  bytes: Uint8Array,
  start: number,
  end: number,
) => boolean;

/**
 * The receive side of one connection. Frames that lie within a chunk are
 * handed out in place; only a frame that spans chunks is gathered, in a buffer
 * that grows with the bytes received, never by the length announced.
 */
export class FrameDecoder {
  readonly #frameLengthMax: number;
  #pending = NOTHING;
  #start = 0;
  #end = 0;

  constructor(frameLengthMax = FRAME_LENGTH_MAX) {
    this.#frameLengthMax = frameLengthMax;
  }

  /** Bytes kept of an incomplete frame, and of what follows a stop. */
  get pendingBytes(): number {
    return this.#end - this.#start;
  }

  /** Forgets what is kept. */
  clear(): void {
    this.#pending = NOTHING;
    this.#start = 0;
    this.#end = 0;
  }

  /** The first bytes kept, at most `sizeMax`: for naming a foreign protocol. */
  peek(sizeMax: number): Uint8Array {
    return this.#pending.slice(
      this.#start,
      Math.min(this.#end, this.#start + sizeMax),
    );
  }

  /**
   * Hands out every frame that is complete. After a stop the rest is kept;
   * `push` with no bytes goes on. Throws `FrameError` at an impossible length;
   * then the offending bytes are what `peek` shows.
   */
  push(bytes: Uint8Array, onFrame: OnFrame): void {
    let position = 0;
    while (this.#end > this.#start) {
      position = this.#complete(bytes, position);
      const size = this.#frameSize(
        this.#pending,
        this.#start,
        this.#end - this.#start,
      );
      if (size === 0 || this.#end - this.#start < size) return;
      const start = this.#start;
      this.#start += size;
      const goOn = onFrame(this.#pending, start, start + size);
      this.#release();
      if (!goOn) return this.#keep(bytes, position);
    }
    while (position < bytes.length) {
      const available = bytes.length - position;
      let size: number;
      try {
        size = this.#frameSize(bytes, position, available);
      } catch (error) {
        this.#keep(bytes, position);
        throw error;
      }
      if (size === 0 || size > available) break;
      const start = position;
      position += size;
      if (!onFrame(bytes, start, position)) break;
    }
    this.#keep(bytes, position);
  }

  /** Takes from `bytes` what the first pending frame lacks; returns the new position. */
  #complete(bytes: Uint8Array, position: number): number {
    const kept = this.#end - this.#start;
    let wanted = FRAME_PREFIX_SIZE;
    if (kept < FRAME_PREFIX_SIZE) {
      const taken = Math.min(wanted - kept, bytes.length - position);
      this.#append(bytes, position, position + taken);
      position += taken;
    }
    const have = this.#end - this.#start;
    wanted = this.#frameSize(this.#pending, this.#start, have);
    if (wanted > have) {
      const taken = Math.min(wanted - have, bytes.length - position);
      this.#append(bytes, position, position + taken, wanted);
      position += taken;
    }
    return position;
  }

  /** The whole size of the frame at `offset`, or 0 while its prefix is incomplete. */
  #frameSize(bytes: Uint8Array, offset: number, available: number): number {
    if (available < LENGTH_SIZE) return 0;
    const totalLength = (bytes[offset]! << 24) | (bytes[offset + 1]! << 16) |
      (bytes[offset + 2]! << 8) | bytes[offset + 3]!;
    if (
      totalLength < LENGTH_SIZE ||
      totalLength > this.#frameLengthMax - LENGTH_SIZE
    ) {
      throw new FrameError(
        `the frame length ${totalLength} is not between 4 and ${
          this.#frameLengthMax - LENGTH_SIZE
        }`,
      );
    }
    if (available < FRAME_PREFIX_SIZE) return 0;
    const type = bytes[offset + 4]!;
    if (type > SERIALIZE_TYPE_MAX) {
      throw new FrameError(`the serialize type ${type} is neither 0 nor 1`);
    }
    const headerLength = (bytes[offset + 5]! << 16) |
      (bytes[offset + 6]! << 8) | bytes[offset + 7]!;
    if (headerLength > totalLength - LENGTH_SIZE) {
      throw new FrameError(
        `the header length ${headerLength} exceeds the frame length ${totalLength}`,
      );
    }
    return LENGTH_SIZE + totalLength;
  }

  #keep(bytes: Uint8Array, position: number): void {
    if (position < bytes.length) this.#append(bytes, position, bytes.length);
  }

  /** Appends [from, to); the buffer doubles, but not beyond `sizeMax`. */
  #append(
    bytes: Uint8Array,
    from: number,
    to: number,
    sizeMax = Infinity,
  ): void {
    const kept = this.#end - this.#start;
    const needed = kept + to - from;
    if (this.#end + to - from > this.#pending.length) {
      const size = Math.max(PENDING_SIZE_MIN, kept * 2);
      const grown = new Uint8Array(Math.max(needed, Math.min(size, sizeMax)));
      grown.set(this.#pending.subarray(this.#start, this.#end));
      this.#pending = grown;
      this.#start = 0;
      this.#end = kept;
    }
    this.#pending.set(
      from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to),
      this.#end,
    );
    this.#end += to - from;
  }

  #release(): void {
    if (this.#start < this.#end) return;
    this.#start = 0;
    this.#end = 0;
    if (this.#pending.length > PENDING_SIZE_KEPT) this.#pending = NOTHING;
  }
}
