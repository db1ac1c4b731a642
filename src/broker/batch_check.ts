/**
 * BatchCheck: is the body of a batch send well formed, and nothing in it delayed or transactional?
 *
 * Walks the entries of reference 3.6 by their bytes: nothing is decoded, as the
 * store does that anyway.
 */
import { shown } from "../base/shown.ts";
const ENTRY_OVERHEAD_SIZE = 22;
const NAME_VALUE_SEPARATOR = 1;
const PROPERTY_SEPARATOR = 2;
const encoder = new TextEncoder();

/** Names that no entry may carry, unless with the value that means nothing. */
const REFUSED = [
  "DELAY",
  "TRAN_MSG",
  "TIMER_DELAY_MS",
  "TIMER_DELAY_SEC",
  "TIMER_DELIVER_MS",
].map((name) => ({
  name,
  bytes: encoder.encode(name),
  harmless: encoder.encode(name === "DELAY" ? "0" : "false"),
}));

/** One sentence that says which entry is wrong and how; undefined for a good body. */
export function batchError(body: Uint8Array): string | undefined {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  let position = 0;
  let index = 0;
  while (position < body.length) {
    const left = body.length - position;
    const size = left < ENTRY_OVERHEAD_SIZE ? 0 : view.getInt32(position);
    if (size < ENTRY_OVERHEAD_SIZE || size > left) {
      return `batch entry ${index} is malformed: its size is ${size}, ` +
        `${left} bytes are left`;
    }
    const room = size - ENTRY_OVERHEAD_SIZE;
    const bodySize = view.getInt32(position + 16);
    if (bodySize < 0 || bodySize > room) {
      return `batch entry ${index} is malformed: its body size is ${bodySize}`;
    }
    const propertiesAt = position + 20 + bodySize;
    const propertiesSize = view.getInt16(propertiesAt);
    if (propertiesSize !== room - bodySize) {
      return `batch entry ${index} is malformed: its properties size is ` +
        `${propertiesSize}`;
    }
    const name = refusedProperty(body, propertiesAt + 2, position + size);
    if (name !== undefined) {
      return `batch entry ${index} carries property ${
        shown(name)
      }: a batch holds no ` +
        "delayed and no transactional messages";
    }
    position += size;
    index++;
  }
  return index === 0 ? "the batch has no entry" : undefined;
}

function refusedProperty(
  bytes: Uint8Array,
  start: number,
  end: number,
): string | undefined {
  let at = start;
  while (at < end) {
    const first = bytes[at];
    // D or T: nearly all names are passed over by their first letter.
    if (first === 68 || first === 84) {
      for (const it of REFUSED) {
        if (isPair(bytes, at, end, it.bytes, it.harmless)) return it.name;
      }
    }
    const next = bytes.indexOf(PROPERTY_SEPARATOR, at);
    if (next < 0) return undefined;
    at = next + 1;
  }
  return undefined;
}

/** True when a pair of that name, with another value than the harmless one, starts at `at`. */
function isPair(
  bytes: Uint8Array,
  at: number,
  end: number,
  name: Uint8Array,
  harmless: Uint8Array,
): boolean {
  const valueAt = at + name.length + 1;
  if (valueAt > end || bytes[valueAt - 1] !== NAME_VALUE_SEPARATOR) {
    return false;
  }
  if (!startsWith(bytes, at, name)) return false;
  const valueEnd = valueAt + harmless.length;
  const isHarmless = valueEnd <= end && startsWith(bytes, valueAt, harmless) &&
    (valueEnd === end || bytes[valueEnd] === PROPERTY_SEPARATOR);
  return !isHarmless;
}

function startsWith(bytes: Uint8Array, at: number, what: Uint8Array): boolean {
  for (let index = 0; index < what.length; index++) {
    if (bytes[at + index] !== what[index]) return false;
  }
  return true;
}
