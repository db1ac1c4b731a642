/**
 * The entry of an index file (reference 4.6), big-endian. Entry 0 is unused.
 *
 * | offset | size | type  | field          | note                                  |
 * | -----: | ---: | ----- | -------------- | ------------------------------------- |
 * |      0 |    4 | int32 | keyHash        | of `topic#key`, never negative        |
 * |      4 |    8 | int64 | phyOffset      | of the record                         |
 * |     12 |    4 | int32 | timeDiff       | whole seconds since beginTimestamp    |
 * |     16 |    4 | int32 | previousNumber | older entry of the same slot, 0: none |
 */
import { writeInt64 } from "../base/int64.ts";
import { unitPhyOffset } from "./consume_queue_unit.ts";

export const INDEX_ENTRY_SIZE = 20;
const TIME_DIFF_MAX = 0x7fff_ffff;

/** One decoded entry. */
export interface IndexEntry {
  readonly keyHash: number;
  /** -1 for garbage. */
  readonly phyOffset: number;
  readonly timeDiff: number;
  readonly previousNumber: number;
}

export function writeIndexEntry(
  view: DataView,
  position: number,
  keyHash: number,
  phyOffset: number,
  timeDiff: number,
  previousNumber: number,
): void {
  view.setInt32(position, keyHash);
  writeInt64(view, position + 4, phyOffset);
  view.setInt32(position + 12, timeDiff);
  view.setInt32(position + 16, previousNumber);
}

export function readIndexEntry(view: DataView, position: number): IndexEntry {
  return {
    keyHash: view.getInt32(position),
    phyOffset: unitPhyOffset(view, position + 4),
    timeDiff: view.getInt32(position + 12),
    previousNumber: view.getInt32(position + 16),
  };
}

/** Seconds of `storeTimestamp` after `beginTimestamp`, clamped to what an int32 holds. */
export function timeDiffOf(
  storeTimestamp: number,
  beginTimestamp: number,
): number {
  if (beginTimestamp <= 0) return 0;
  const seconds = Math.trunc((storeTimestamp - beginTimestamp) / 1000);
  return Math.min(TIME_DIFF_MAX, Math.max(0, seconds));
}
