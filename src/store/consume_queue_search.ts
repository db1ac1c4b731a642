/** Searches among the units of a queue; fillers, whose phyOffset says nothing, are passed over. */
import {
  CONSUME_QUEUE_UNIT_SIZE as UNIT_SIZE,
  isFillerUnit,
  unitPhyOffset,
} from "./consume_queue_unit.ts";

/** What is searched. */
export interface UnitSource {
  readonly maxOffsetInQueue: number;
  /** Copies units from `queueOffset` on; returns how many. */
  readUnits(queueOffset: number, target: Uint8Array): number;
}

const SCAN_UNITS = 1_000;

const scratch = new Uint8Array(UNIT_SIZE);
const scratchView = new DataView(scratch.buffer);
const scan = new Uint8Array(SCAN_UNITS * UNIT_SIZE);
const scanView = new DataView(scan.buffer);

/**
 * The first queue offset from `from` on whose unit is real and `matches` its phyOffset; max
 * when there is none. `matches` must be false, then true, as offsets grow.
 */
export function firstUnitFrom(
  source: UnitSource,
  from: number,
  matches: (phyOffset: number) => boolean,
): number {
  let low = from;
  let high = source.maxOffsetInQueue;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const real = realUnitFrom(source, middle, high);
    if (real === high || matches(unitPhyOffset(scratchView, 0))) {
      high = middle;
    } else low = real + 1;
  }
  return realUnitFrom(source, low, source.maxOffsetInQueue);
}

export function isFillerAt(source: UnitSource, queueOffset: number): boolean {
  source.readUnits(queueOffset, scratch);
  return isFillerUnit(scratchView, 0);
}

/** The first unit in [from, to) that is no filler, left in the scratch; `to` if none. */
function realUnitFrom(source: UnitSource, from: number, to: number): number {
  if (from < to && !isFillerAt(source, from)) return from;
  for (let at = from; at < to;) {
    const count = Math.min(source.readUnits(at, scan), to - at);
    for (let index = 0; index < count; index++) {
      if (isFillerUnit(scanView, index * UNIT_SIZE)) continue;
      source.readUnits(at + index, scratch);
      return at + index;
    }
    at += count;
  }
  return to;
}
