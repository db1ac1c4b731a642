/**
 * The unit of a ConsumeQueue file (reference 4.5). All integers are big-endian.
 *
 * | offset | size | type  | field     | note                                         |
 * | -----: | ---: | ----- | --------- | -------------------------------------------- |
 * |      0 |    8 | int64 | phyOffset | of the record in the CommitLog               |
 * |      8 |    4 | int32 | size      | of the record; a unit with size <= 0 is none |
 * |     12 |    8 | int64 | tagsCode  | hash of the tag, or a delivery timestamp     |
 */
import { readInt64, writeInt64 } from "../base/int64.ts";

export const CONSUME_QUEUE_UNIT_SIZE = 20;
/** Size field of the units before the first real one of a queue. */
const FILLER_SIZE = 0x7fff_ffff;

/** One decoded unit. */
export interface ConsumeQueueUnit {
  readonly phyOffset: number;
  readonly size: number;
  readonly tagsCodeHigh: number;
  readonly tagsCodeLow: number;
}

/** Writes one unit at `position`. */
export function writeConsumeQueueUnit(
  view: DataView,
  position: number,
  phyOffset: number,
  size: number,
  tagsCode: number,
): void {
  writeInt64(view, position, phyOffset);
  view.setInt32(position + 8, size);
  writeInt64(view, position + 12, tagsCode);
}

/** Reads the unit at `position`. */
export function readConsumeQueueUnit(
  view: DataView,
  position: number,
): ConsumeQueueUnit {
  return {
    phyOffset: unitPhyOffset(view, position),
    size: view.getInt32(position + 8),
    tagsCodeHigh: view.getInt32(position + 12),
    tagsCodeLow: view.getInt32(position + 16),
  };
}

/** -1 for whatever is not a safe offset: garbage is not a unit. */
export function unitPhyOffset(view: DataView, position: number): number {
  const high = view.getInt32(position);
  if (high < 0 || high > 0x1f_ffff) return -1;
  return readInt64(view, position);
}

/** Fillers are valid; the zeros of a sparse file are not. */
export function isValidUnit(view: DataView, position: number): boolean {
  return view.getInt32(position + 8) > 0 && unitPhyOffset(view, position) >= 0;
}

/** True for the units that stand for records which this store never had. */
export function isFillerUnit(view: DataView, position: number): boolean {
  return view.getInt32(position + 8) === FILLER_SIZE &&
    view.getInt32(position) === 0 && view.getInt32(position + 4) === 0;
}

/** `count` filler units. */
export function fillerUnits(count: number): Uint8Array {
  const bytes = new Uint8Array(count * CONSUME_QUEUE_UNIT_SIZE);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += CONSUME_QUEUE_UNIT_SIZE) {
    view.setInt32(at + 8, FILLER_SIZE);
  }
  return bytes;
}

/** `size` in bytes, in whole units. */
export function roundUpToUnits(size: number): number {
  const units = Math.ceil(size / CONSUME_QUEUE_UNIT_SIZE);
  return Math.max(1, units) * CONSUME_QUEUE_UNIT_SIZE;
}
