/** Finds offsets by key in one index file (reference 4.6). */
import type { IndexFile } from "./index_file.ts";

/** Entries of one slot that a query looks at: a chain is as long as there are equal keys. */
const CHAIN_LENGTH_MAX = 1_000_000;
/** An entry knows whole seconds: its record may be that much younger. */
const TIME_PRECISION_MS = 999;

/** What is asked for. */
export interface IndexQuery {
  readonly keyHash: number;
  readonly maxNum: number;
  readonly beginMs: number;
  readonly endMs: number;
}

/** Adds offsets, newest first, until there are `maxNum`. Off the loop. */
export async function selectPhyOffsets(
  file: IndexFile,
  query: IndexQuery,
  found: Set<number>,
): Promise<void> {
  const slot = query.keyHash % file.geometry.maxHashSlotNum;
  let number = await file.newestOf(slot);
  for (let steps = 0; steps < CHAIN_LENGTH_MAX; steps++) {
    if (found.size >= query.maxNum) return;
    if (number <= 0 || number >= file.header.indexCount) return;
    const entry = await file.entryAsync(number);
    if (entry.timeDiff < 0 || entry.phyOffset < 0) return;
    const timeMs = file.header.beginTimestamp + entry.timeDiff * 1000;
    if (timeMs + TIME_PRECISION_MS < query.beginMs) return;
    if (entry.keyHash === query.keyHash && timeMs <= query.endMs) {
      found.add(entry.phyOffset);
    }
    // Older entries have smaller numbers: anything else would never end.
    if (entry.previousNumber >= number) return;
    number = entry.previousNumber;
  }
}
