/**
 * 64-bit integers as JavaScript numbers, big-endian.
 *
 * Offsets, sizes and times are `number`; whatever does not fit 53 bits is refused here, once.
 */

/** Thrown when an i64 lies outside the safe integers. */
export class UnsafeIntegerError extends RangeError {
  override readonly name = "UnsafeIntegerError";
}

const TWO_32 = 4_294_967_296;
const SAFE_HIGH = 0x1f_ffff;

/** Reads an i64 at `offset`; throws `UnsafeIntegerError` beyond 2^53-1. */
export function readInt64(view: DataView, offset: number): number {
  const high = view.getInt32(offset);
  if (high > SAFE_HIGH || high < -SAFE_HIGH - 1) {
    throw new UnsafeIntegerError(
      `Cannot read an int64 as number: ${view.getBigInt64(offset)}`,
    );
  }
  return high * TWO_32 + view.getUint32(offset + 4);
}

/** Writes a safe integer as i64 at `offset`. */
export function writeInt64(
  view: DataView,
  offset: number,
  value: number,
): void {
  const high = Math.floor(value / TWO_32);
  view.setInt32(offset, high);
  view.setUint32(offset + 4, value - high * TWO_32);
}
