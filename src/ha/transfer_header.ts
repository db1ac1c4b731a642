/**
 * TransferHeader: master to slave, precedes every batch of CommitLog bytes (reference 7.3).
 *
 * | offset | size | type | field     | note                               |
 * | -----: | ---: | ---- | --------- | ---------------------------------- |
 * |      0 |    8 | i64  | phyOffset | CommitLog offset of the first byte |
 * |      8 |    4 | i32  | bodySize  | bytes that follow; 0 is a heartbeat |
 * |     12 |    n |      | body      | raw CommitLog bytes                |
 *
 * All integers are big-endian.
 */
import { readInt64, writeInt64 } from "../base/int64.ts";
import { HAFrameError } from "./ha_frame_error.ts";

export const TRANSFER_HEADER_SIZE = 12;

/** Bytes of one body; no master sends more, so more is not a master. */
export const TRANSFER_BODY_SIZE_MAX = 16 * 1024 * 1024;

/** What stands before a body. */
export interface TransferHeader {
  readonly phyOffset: number;
  readonly bodySize: number;
}

/** Writes the header to the first 12 bytes of `target`. */
export function writeTransferHeader(
  target: Uint8Array,
  phyOffset: number,
  bodySize: number,
): void {
  const view = new DataView(target.buffer, target.byteOffset, target.length);
  writeInt64(view, 0, phyOffset);
  view.setInt32(8, bodySize);
}

export function encodeTransferHeader(header: TransferHeader): Uint8Array {
  const bytes = new Uint8Array(TRANSFER_HEADER_SIZE);
  writeTransferHeader(bytes, header.phyOffset, header.bodySize);
  return bytes;
}

/**
 * Undefined while `bytes` is shorter than a header. Throws `HAFrameError` for an offset that
 * is negative or beyond 2^53-1, and for a size below 0 or above `TRANSFER_BODY_SIZE_MAX`.
 */
export function decodeTransferHeader(
  bytes: Uint8Array,
): TransferHeader | undefined {
  if (bytes.length < TRANSFER_HEADER_SIZE) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const phyOffset = decodeOffset(view, "TransferHeader: phyOffset");
  const bodySize = view.getInt32(8);
  if (bodySize < 0 || bodySize > TRANSFER_BODY_SIZE_MAX) {
    throw new HAFrameError(
      `Cannot decode TransferHeader: bodySize is ${bodySize}`,
    );
  }
  return { phyOffset, bodySize };
}

/** An offset at the begin of `view`. Throws `HAFrameError`. */
export function decodeOffset(view: DataView, field: string): number {
  let offset: number;
  try {
    offset = readInt64(view, 0);
  } catch (cause) {
    throw new HAFrameError(
      `Cannot decode ${field} is ${view.getBigInt64(0)}`,
      { cause },
    );
  }
  if (offset < 0) throw new HAFrameError(`Cannot decode ${field} is ${offset}`);
  return offset;
}

/** What `TransferDecoder` finds, in order. `body` is a part of the chunk, never empty. */
export interface TransferSink {
  onHeader(phyOffset: number, bodySize: number): void;
  onBody(body: Uint8Array): void;
}

/** Finds headers and bodies in a stream that is cut anywhere; keeps no body byte. */
export class TransferDecoder {
  readonly #header = new Uint8Array(TRANSFER_HEADER_SIZE);
  #headerSize = 0;
  #bodyLeft = 0;

  /** True between the first and the last byte of a body. */
  get isInBody(): boolean {
    return this.#bodyLeft > 0;
  }

  /** Throws `HAFrameError`, and whatever the sink throws; the stream is then useless. */
  push(bytes: Uint8Array, sink: TransferSink): void {
    for (let from = 0; from < bytes.length;) {
      if (this.#bodyLeft > 0) {
        const body = bytes.subarray(from, from + this.#bodyLeft);
        from += body.length;
        this.#bodyLeft -= body.length;
        sink.onBody(body);
        continue;
      }
      const missing = TRANSFER_HEADER_SIZE - this.#headerSize;
      const part = bytes.subarray(from, from + missing);
      this.#header.set(part, this.#headerSize);
      this.#headerSize += part.length;
      from += part.length;
      if (this.#headerSize < TRANSFER_HEADER_SIZE) return;
      this.#headerSize = 0;
      const { phyOffset, bodySize } = decodeTransferHeader(this.#header)!;
      sink.onHeader(phyOffset, bodySize);
      this.#bodyLeft = bodySize;
    }
  }
}
