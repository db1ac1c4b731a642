/** Queue offsets by store time (reference 9.7). */
import type { ConsumeQueue } from "./consume_queue.ts";

/** Which of several answers is meant. */
export type BoundaryType = "lower" | "upper";

/** Store time of the record at `phyOffset`; negative when it cannot be read. */
export type StoreTimestampOf = (
  phyOffset: number,
  size: number,
) => number | Promise<number>;

/**
 * `lower`: the smallest queue offset with store time >= `timestampMs`, max when all are older.
 * `upper`: the largest one with store time <= `timestampMs`, 0 when all are younger.
 * Records that cannot be read count as older.
 */
export async function offsetInQueueByTime(
  queue: ConsumeQueue,
  timestampMs: number,
  boundary: BoundaryType,
  storeTimestampOf: StoreTimestampOf,
): Promise<number> {
  const min = queue.minOffsetInQueue;
  let low = min;
  let high = queue.maxOffsetInQueue;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const unit = queue.unit(middle);
    const time = unit === undefined
      ? -1
      : await storeTimestampOf(unit.phyOffset, unit.size);
    const isLeft = boundary === "lower"
      ? time < timestampMs
      : time <= timestampMs;
    if (isLeft) low = middle + 1;
    else high = middle;
  }
  if (boundary === "lower") return low;
  return low === min ? 0 : low - 1;
}
