/** What an index file needs after an unclean stop, or when the log was cut. */
import { INDEX_ENTRY_SIZE, readIndexEntry } from "./index_entry.ts";
import type { IndexFile } from "./index_file.ts";

const CHUNK_ENTRIES = 3_276;

/** False when a crash left half of a header: it must agree with its first and last entry. */
export function isHeaderSound(file: IndexFile): boolean {
  const { indexCount, beginPhyOffset, endPhyOffset } = file.header;
  if (indexCount <= 1) return beginPhyOffset === endPhyOffset;
  return file.entry(1).phyOffset === beginPhyOffset &&
    file.entry(indexCount - 1).phyOffset === endPhyOffset;
}

/**
 * After an unclean stop: all slots must point at entries that count. A stop between the writes
 * of slots and header leaves some that do not; the entries behind them are not to be trusted,
 * so the slots are computed anew from those that count. Reads the whole file then.
 */
export function repairSlots(file: IndexFile): void {
  const { indexCount } = file.header;
  let isSound = true;
  file.slots.rewrite((_slot, entryNumber) => {
    if (entryNumber < 0 || entryNumber >= indexCount) isSound = false;
    return entryNumber;
  });
  if (isSound) return;
  file.setCount(indexCount, { hashSlotCount: rebuildSlots(file) });
}

/**
 * Forgets the entries of records at or beyond `phyOffset`; false when none is left. Entries
 * must not be buffered.
 */
export function cutIndexFile(file: IndexFile, phyOffset: number): boolean {
  let low = 1;
  let high = file.header.indexCount;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (file.entry(middle).phyOffset >= phyOffset) high = middle;
    else low = middle + 1;
  }
  if (low === 1) return false;
  const last = file.entry(low - 1);
  const { beginTimestamp, endTimestamp } = file.header;
  file.setCount(low, {
    endPhyOffset: last.phyOffset,
    // Entries know whole seconds only.
    endTimestamp: Math.min(
      endTimestamp,
      beginTimestamp + last.timeDiff * 1000 + 999,
    ),
  });
  let used = 0;
  file.slots.rewrite((_slot, entryNumber) => {
    const older = file.olderEntry(entryNumber, low);
    if (older > 0) used += 1;
    return older;
  });
  file.setCount(low, { hashSlotCount: used });
  return true;
}

/** Sets all slots by the entries that count; returns how many slots are in use. */
function rebuildSlots(file: IndexFile): number {
  file.slots.clear();
  const { maxHashSlotNum } = file.geometry;
  const { indexCount } = file.header;
  const bytes = new Uint8Array(CHUNK_ENTRIES * INDEX_ENTRY_SIZE);
  const view = new DataView(bytes.buffer);
  let used = 0;
  for (let number = 1; number < indexCount;) {
    const count = Math.min(CHUNK_ENTRIES, indexCount - number);
    file.readEntries(number, bytes.subarray(0, count * INDEX_ENTRY_SIZE));
    for (let index = 0; index < count; index++) {
      const entry = readIndexEntry(view, index * INDEX_ENTRY_SIZE);
      const slot = Math.abs(entry.keyHash) % maxHashSlotNum;
      if (file.slots.get(slot) === 0) used += 1;
      file.slots.set(slot, number + index);
    }
    number += count;
  }
  return used;
}
