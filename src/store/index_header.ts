/**
 * IndexHeader: the first 40 bytes of an index file (reference 4.6), big-endian.
 *
 * | offset | size | type  | field          | note                                    |
 * | -----: | ---: | ----- | -------------- | --------------------------------------- |
 * |      0 |    8 | int64 | beginTimestamp | store time of the first record, ms      |
 * |      8 |    8 | int64 | endTimestamp   | store time of the last one              |
 * |     16 |    8 | int64 | beginPhyOffset | of the first record                     |
 * |     24 |    8 | int64 | endPhyOffset   | of the last one; below it all is done   |
 * |     32 |    4 | int32 | hashSlotCount  | slots in use                            |
 * |     36 |    4 | int32 | indexCount     | number of the next entry, starts at 1   |
 */
import { readInt64, writeInt64 } from "../base/int64.ts";

export const INDEX_HEADER_SIZE = 40;

/** The values of a header. */
export interface IndexHeader {
  beginTimestamp: number;
  endTimestamp: number;
  beginPhyOffset: number;
  endPhyOffset: number;
  hashSlotCount: number;
  indexCount: number;
}

/** The header of a file without entries. */
export function emptyIndexHeader(): IndexHeader {
  return {
    beginTimestamp: 0,
    endTimestamp: 0,
    beginPhyOffset: 0,
    endPhyOffset: 0,
    hashSlotCount: 0,
    indexCount: 1,
  };
}

export function encodeIndexHeader(header: IndexHeader): Uint8Array {
  const bytes = new Uint8Array(INDEX_HEADER_SIZE);
  const view = new DataView(bytes.buffer);
  writeInt64(view, 0, header.beginTimestamp);
  writeInt64(view, 8, header.endTimestamp);
  writeInt64(view, 16, header.beginPhyOffset);
  writeInt64(view, 24, header.endPhyOffset);
  view.setInt32(32, header.hashSlotCount);
  view.setInt32(36, header.indexCount);
  return bytes;
}

/** Throws `UnsafeIntegerError` when a field is no number of ours. */
export function decodeIndexHeader(bytes: Uint8Array): IndexHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    beginTimestamp: readInt64(view, 0),
    endTimestamp: readInt64(view, 8),
    beginPhyOffset: readInt64(view, 16),
    endPhyOffset: readInt64(view, 24),
    hashSlotCount: view.getInt32(32),
    // A file that was made but never written to has 0.
    indexCount: Math.max(1, view.getInt32(36)),
  };
}
