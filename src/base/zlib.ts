/** Zlib and zstd streams: the only door to `node:zlib`; the same on both runtimes. */
import { deflateSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { CompressionError } from "./compression_error.ts";

/** A stream that is broken or larger than allowed. */
export class ZlibError extends CompressionError {
  override readonly name = "ZlibError";
}

/** A zlib stream of `bytes`; `level` is 0 to 9. */
export function deflate(bytes: Uint8Array, level: number): Uint8Array {
  return new Uint8Array(deflateSync(bytes, { level }));
}

/**
 * The content of a zlib stream. Throws `ZlibError` when it is broken or would
 * take more than `sizeMax` bytes: no announced size is believed.
 */
export function inflate(bytes: Uint8Array, sizeMax: number): Uint8Array {
  try {
    return new Uint8Array(inflateSync(bytes, { maxOutputLength: sizeMax }));
  } catch (cause) {
    throw new ZlibError(
      `Cannot inflate ${bytes.length} bytes into at most ${sizeMax}`,
      { cause },
    );
  }
}

/**
 * The content of a zstd stream. Throws `ZlibError` when it is broken or would take more than
 * `sizeMax` bytes; one that is cut may give what there is.
 */
export function decompressZstd(
  bytes: Uint8Array,
  sizeMax: number,
): Uint8Array {
  try {
    return new Uint8Array(
      zstdDecompressSync(bytes, { maxOutputLength: sizeMax }),
    );
  } catch (cause) {
    throw new ZlibError(
      `Cannot decompress ${bytes.length} bytes of zstd into at most ${sizeMax}`,
      { cause },
    );
  }
}
