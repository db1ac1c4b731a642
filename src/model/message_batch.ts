/**
 * Batch body of request 320: entries back to back (reference 3.6).
 *
 * | offset | size | type  | field          | note                       |
 * | -----: | ---: | ----- | -------------- | -------------------------- |
 * |      0 |    4 | i32   | totalSize      | of this entry              |
 * |      4 |    4 | i32   | magic          | 0                          |
 * |      8 |    4 | i32   | bodyCrc        | 0: the broker computes it  |
 * |     12 |    4 | i32   | flag           |                            |
 * |     16 |    4 | i32   | bodySize       | n                          |
 * |     20 |    n | bytes | body           |                            |
 * |   20+n |    2 | i16   | propertiesSize | p                          |
 * |   22+n |    p | bytes | properties     | UTF-8                      |
 *
 * All integers are big-endian.
 */
import { CorruptRecordError } from "./corrupt_record_error.ts";
import { PROPERTIES_SIZE_MAX } from "./message_properties.ts";

const ENTRY_OVERHEAD_SIZE = 22;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** One message of a batch. */
export interface MessageBatchEntry {
  readonly flag: number;
  /** A view of the batch body when decoded. */
  readonly body: Uint8Array;
  readonly propertiesText: string;
}

/** The entries of `body`; throws `CorruptRecordError` when any does not add up. */
export function decodeMessageBatch(body: Uint8Array): MessageBatchEntry[] {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const entries: MessageBatchEntry[] = [];
  let position = 0;
  while (position < body.length) {
    const entry = decodeEntry(body, view, position, entries.length);
    position += view.getInt32(position);
    entries.push(entry);
  }
  return entries;
}

function decodeEntry(
  bytes: Uint8Array,
  view: DataView,
  position: number,
  index: number,
): MessageBatchEntry {
  const left = bytes.length - position;
  if (left < ENTRY_OVERHEAD_SIZE) {
    throw refuse(index, `${left} bytes are left`);
  }
  const totalSize = view.getInt32(position);
  if (totalSize < ENTRY_OVERHEAD_SIZE || totalSize > left) {
    throw refuse(index, `its size is ${totalSize}, ${left} bytes are left`);
  }
  const bodySize = view.getInt32(position + 16);
  if (bodySize < 0 || bodySize > totalSize - ENTRY_OVERHEAD_SIZE) {
    throw refuse(index, `its body size is ${bodySize}`);
  }
  const propertiesAt = position + 20 + bodySize;
  const propertiesSize = view.getInt16(propertiesAt);
  if (propertiesSize !== totalSize - ENTRY_OVERHEAD_SIZE - bodySize) {
    throw refuse(index, `its properties size is ${propertiesSize}`);
  }
  return {
    flag: view.getInt32(position + 12),
    body: bytes.subarray(position + 20, propertiesAt),
    propertiesText: decoder.decode(
      bytes.subarray(propertiesAt + 2, propertiesAt + 2 + propertiesSize),
    ),
  };
}

function refuse(index: number, why: string): CorruptRecordError {
  return new CorruptRecordError(`Cannot decode batch entry ${index}: ${why}`);
}

/** The body of request 320 that holds `entries`; throws `RangeError` on properties too long. */
export function encodeMessageBatch(
  entries: readonly MessageBatchEntry[],
): Uint8Array {
  const properties = entries.map((it) => encoder.encode(it.propertiesText));
  let size = 0;
  for (let index = 0; index < entries.length; index++) {
    const propertiesSize = properties[index]!.length;
    if (propertiesSize > PROPERTIES_SIZE_MAX) {
      throw new RangeError(
        `Cannot encode batch entry ${index}: properties take ${propertiesSize} bytes`,
      );
    }
    size += ENTRY_OVERHEAD_SIZE + entries[index]!.body.length + propertiesSize;
  }
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  let position = 0;
  for (let index = 0; index < entries.length; index++) {
    const { flag, body } = entries[index]!;
    const text = properties[index]!;
    const totalSize = ENTRY_OVERHEAD_SIZE + body.length + text.length;
    view.setInt32(position, totalSize);
    view.setInt32(position + 12, flag);
    view.setInt32(position + 16, body.length);
    bytes.set(body, position + 20);
    view.setInt16(position + 20 + body.length, text.length);
    bytes.set(text, position + 22 + body.length);
    position += totalSize;
  }
  return bytes;
}
