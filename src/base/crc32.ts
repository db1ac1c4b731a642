/** CRC-32 as RocketMQ stores it: IEEE polynomial, masked to 31 bits. */
import { crc32 as zlibCrc32 } from "node:zlib";

/** The masked CRC-32 of `bytes`. */
export function crc32(bytes: Uint8Array): number {
  return zlibCrc32(bytes) & 0x7fff_ffff;
}
