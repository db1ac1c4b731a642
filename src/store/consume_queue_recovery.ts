/** Where the units of a ConsumeQueue end after a start (reference 5.2). */
import {
  CONSUME_QUEUE_UNIT_SIZE as UNIT_SIZE,
  isFillerUnit,
  isValidUnit,
  unitPhyOffset,
} from "./consume_queue_unit.ts";
import type { MappedFile } from "./mapped_file.ts";
import type { MappedFileQueue } from "./mapped_file_queue.ts";

/** Files that may hold what no sync has covered. */
export const RECOVER_FILES = 3;
const CHUNK_UNITS = 3_276;
const CLEAN_BYTES = 65_536;
/** Units of a file that every start reads one by one; only behind them is it halved. */
const FIRST_UNITS = 200;
const FIRST_BYTES = FIRST_UNITS * UNIT_SIZE;

const chunk = new Uint8Array(CHUNK_UNITS * UNIT_SIZE);
const chunkView = new DataView(chunk.buffer);

/**
 * The end of the last valid unit, in bytes of the queue's log. After an unclean stop a unit
 * that points before the end of its predecessor's record is the end too: it is a stale one.
 */
export function findQueueEnd(
  queue: MappedFileQueue,
  isDurable: boolean,
): number {
  return isDurable ? endByHalving(queue) : endByReading(queue);
}

/**
 * Zeroes what lies behind the end: units whose pages reached the disk while earlier ones did
 * not. Stops after 64 KiB of zeros; the fence of every later append covers the rest. Most queues
 * of a store with many are short: of those only what every start reads is looked at, and the rest
 * before they grow beyond it.
 */
export function zeroStaleUnits(queue: MappedFileQueue): void {
  const last = queue.lastFile;
  if (last === undefined || last.isFull) return;
  const position = last.wrotePosition;
  last.isTailKnown = position >= FIRST_BYTES || last.fileSize <= FIRST_BYTES;
  const cleanBytes = last.isTailKnown ? CLEAN_BYTES : FIRST_BYTES - position;
  last.zeroStale(position, cleanBytes);
}

/** To be called before units up to `end` are written into `file`. */
export function zeroStaleBefore(file: MappedFile, end: number): void {
  if (file.isTailKnown || end <= FIRST_BYTES) return;
  file.zeroStale(file.wrotePosition, CLEAN_BYTES);
  file.isTailKnown = true;
}

function endByHalving(queue: MappedFileQueue): number {
  for (let index = queue.files.length - 1; index >= 0; index--) {
    const file = queue.files[index]!;
    // Most queues of a store with many are short: one read finds the end.
    const known = countValid(file, FIRST_UNITS);
    if (known === 0) continue;
    if (known < FIRST_UNITS) return file.fileFromOffset + known * UNIT_SIZE;
    let low = Math.min(known, file.fileSize / UNIT_SIZE);
    let high = file.fileSize / UNIT_SIZE;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (isValidAt(file, middle)) low = middle + 1;
      else high = middle;
    }
    return file.fileFromOffset + low * UNIT_SIZE;
  }
  return queue.minOffset;
}

/** How many of the first `unitsMax` units are valid. */
function countValid(file: MappedFile, unitsMax: number): number {
  const size = Math.min(unitsMax * UNIT_SIZE, file.fileSize);
  file.readAt(0, chunk.subarray(0, size));
  let at = 0;
  while (at < size && isValidUnit(chunkView, at)) at += UNIT_SIZE;
  return at === size ? unitsMax : at / UNIT_SIZE;
}

function isValidAt(file: MappedFile, index: number): boolean {
  file.readAt(index * UNIT_SIZE, chunk.subarray(0, UNIT_SIZE));
  return isValidUnit(chunkView, 0);
}

function endByReading(queue: MappedFileQueue): number {
  const files = queue.files.slice(-RECOVER_FILES);
  let previousEnd = 0;
  for (const file of files) {
    for (let position = 0; position < file.fileSize;) {
      const size = position === 0 ? FIRST_BYTES : chunk.length;
      const part = chunk.subarray(0, Math.min(size, file.fileSize - position));
      file.readAt(position, part);
      for (let at = 0; at < part.length; at += UNIT_SIZE) {
        if (!isValidUnit(chunkView, at)) {
          return file.fileFromOffset + position + at;
        }
        if (isFillerUnit(chunkView, at)) continue;
        const phyOffset = unitPhyOffset(chunkView, at);
        if (phyOffset < previousEnd) {
          return file.fileFromOffset + position + at;
        }
        previousEnd = phyOffset + chunkView.getInt32(at + 8);
      }
      position += part.length;
    }
  }
  return queue.maxOffset;
}
