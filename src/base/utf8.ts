/** UTF-8 into a given array: text on the hot path is mostly short ASCII. */

const encoder = new TextEncoder();
/** From this length on the runtime's encoder beats the loop. */
const LOOP_LENGTH_MAX = 24;

/**
 * Writes `text` at `position` and returns the position behind it. The caller
 * has made room for three bytes per UTF-16 unit.
 */
export function writeUtf8(
  bytes: Uint8Array,
  position: number,
  text: string,
): number {
  const length = text.length;
  if (length > LOOP_LENGTH_MAX) return encodeInto(bytes, position, text);
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return encodeInto(bytes, position, text);
    bytes[position + index] = unit;
  }
  return position + length;
}

function encodeInto(
  bytes: Uint8Array,
  position: number,
  text: string,
): number {
  return position +
    encoder.encodeInto(text, bytes.subarray(position)).written;
}

/** Bytes of `text` in UTF-8 without encoding it; a lone surrogate counts 3. */
export function utf8SizeOf(text: string): number {
  let size = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) size += 1;
    else if (isPair(text, index, unit)) {
      size += 2; // Four bytes for two units.
      index++;
    } else size += 2;
  }
  return size;
}

function isPair(text: string, index: number, unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00 &&
    (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
}
