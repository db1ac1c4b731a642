/** MurmurHash3, the 128-bit variant for x64 with seed 0: its first 8 bytes, as Guava's murmur3_128().asLong(). */
const MASK = 0xffff_ffff_ffff_ffffn;
const C1 = 0x87c3_7b91_1142_53d5n;
const C2 = 0x4cf5_ad43_2745_937fn;
const BLOCK = 16;

/** Unsigned 64 bits. */
export function murmur3x64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let h1 = 0n;
  let h2 = 0n;
  const blocksEnd = bytes.length - bytes.length % BLOCK;
  for (let position = 0; position < blocksEnd; position += BLOCK) {
    h1 ^= mixed1(view.getBigUint64(position, true));
    h1 = rotated(h1, 27n) + h2 & MASK;
    h1 = h1 * 5n + 0x52dc_e729n & MASK;
    h2 ^= mixed2(view.getBigUint64(position + 8, true));
    h2 = rotated(h2, 31n) + h1 & MASK;
    h2 = h2 * 5n + 0x3849_5ab5n & MASK;
  }
  const tail = new DataView(new ArrayBuffer(BLOCK));
  bytes.subarray(blocksEnd).forEach((byte, at) => tail.setUint8(at, byte));
  h1 ^= mixed1(tail.getBigUint64(0, true));
  h2 ^= mixed2(tail.getBigUint64(8, true));
  const length = BigInt(bytes.length);
  h1 = (h1 ^ length) + (h2 ^ length) & MASK;
  h2 = (h2 ^ length) + h1 & MASK;
  return finished(h1) + finished(h2) & MASK;
}

function mixed1(k: bigint): bigint {
  return rotated(k * C1 & MASK, 31n) * C2 & MASK;
}

function mixed2(k: bigint): bigint {
  return rotated(k * C2 & MASK, 33n) * C1 & MASK;
}

function rotated(value: bigint, bits: bigint): bigint {
  return (value << bits | value >> 64n - bits) & MASK;
}

function finished(value: bigint): bigint {
  let k = value;
  k = (k ^ k >> 33n) * 0xff51_afd7_ed55_8ccdn & MASK;
  k = (k ^ k >> 33n) * 0xc4ce_b9fe_1a85_ec53n & MASK;
  return k ^ k >> 33n;
}
