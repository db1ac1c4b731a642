/**
 * MessageBody: the body of a message as it was sent (reference 1.6, 3.3). Clients compress and
 * decompress; the broker keeps the bytes as they come.
 *
 * | bits 8 to 10 | compression, where bit 0 is set |
 * | ------------ | ------------------------------- |
 * | 0, 3         | zlib                            |
 * | 1            | LZ4 frame                       |
 * | 2            | zstd                            |
 */
import { CompressionError } from "../base/compression_error.ts";
import { decompressLz4Frame } from "../base/lz4_frame.ts";
import { decompressZstd, inflate } from "../base/zlib.ts";
import { MessageSysFlag } from "./message_sys_flag.ts";

/** A body, and what it still is packed with. */
export interface PlainBody {
  readonly body: Uint8Array;
  /** Null when it is as it was sent: else ZLIB, LZ4, ZSTD or the number of a type that nobody knows. */
  readonly compression: string | null;
}

type Decompress = (bytes: Uint8Array, sizeMax: number) => Uint8Array;
const TYPES: Readonly<
  Record<number, { name: string; decompress: Decompress }>
> = {
  0: { name: "ZLIB", decompress: inflate },
  1: { name: "LZ4", decompress: decompressLz4Frame },
  2: { name: "ZSTD", decompress: decompressZstd },
  3: { name: "ZLIB", decompress: inflate },
};
const TYPE_SHIFT = 8;

/** One that is broken, or would take more than `sizeMax` bytes, stays as it is. */
export function plainBodyOf(
  { body, sysFlag }: { readonly body: Uint8Array; readonly sysFlag: number },
  sizeMax: number,
): PlainBody {
  if ((sysFlag & MessageSysFlag.COMPRESSED) === 0) {
    return { body, compression: null };
  }
  const number = (sysFlag & MessageSysFlag.COMPRESSION_TYPE_MASK) >> TYPE_SHIFT;
  const type = TYPES[number];
  if (type === undefined) return { body, compression: String(number) };
  try {
    return { body: type.decompress(body, sizeMax), compression: null };
  } catch (error) {
    if (!(error instanceof CompressionError)) throw error;
    return { body, compression: type.name };
  }
}
