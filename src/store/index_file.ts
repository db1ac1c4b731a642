/**
 * IndexFile: up to `maxIndexNum` entries, found through hash slots (reference 4.6).
 *
 * | offset                 | size           | field                                |
 * | ---------------------: | -------------: | ------------------------------------ |
 * |                      0 |             40 | IndexHeader                          |
 * |                     40 | 4 * slotCount  | number of the newest entry per slot  |
 * |     40 + 4 * slotCount | 20 * maxIndex  | entries; entry 0 is unused           |
 *
 * Invariants
 * - Entries reach the page cache in `writeEntries`, slots and header in `flush` only, in the
 *   order entries, slots, header, each synced before the next: so the header on disk never
 *   counts an entry that is not durable and reachable.
 * - A slot on disk never points at an entry that is not durable; it may point beyond the
 *   header's count when a crash came between their writes (`repairSlots`).
 */
import { assert } from "../base/assert.ts";
import {
  INDEX_ENTRY_SIZE,
  type IndexEntry,
  readIndexEntry,
  timeDiffOf,
  writeIndexEntry,
} from "./index_entry.ts";
import {
  decodeIndexHeader,
  emptyIndexHeader,
  encodeIndexHeader,
  INDEX_HEADER_SIZE,
  type IndexHeader,
} from "./index_header.ts";
import { IndexSlots } from "./index_slots.ts";
import type { MappedFile } from "./mapped_file.ts";

/** How an index file is divided; must match existing files. */
export interface IndexGeometry {
  readonly maxHashSlotNum: number;
  readonly maxIndexNum: number;
}

/** Bytes of a whole index file. */
export function indexFileSize(geometry: IndexGeometry): number {
  return INDEX_HEADER_SIZE + geometry.maxHashSlotNum * 4 +
    geometry.maxIndexNum * INDEX_ENTRY_SIZE;
}

const BUFFER_ENTRIES = 3_276;
const SLOT_WRITE_BUDGET = 524_288;

const scratch = new Uint8Array(INDEX_ENTRY_SIZE);
const scratchView = new DataView(scratch.buffer);

/** One index file. */
export class IndexFile {
  header: IndexHeader = emptyIndexHeader();
  readonly slots: IndexSlots;
  readonly #entriesAt: number;
  /** Entries not yet in the file; the first has number `#bufferStart`. */
  #buffer: Uint8Array | undefined;
  #bufferView: DataView | undefined;
  #bufferStart = 1;
  #isHeaderDirty = false;

  constructor(readonly file: MappedFile, readonly geometry: IndexGeometry) {
    this.slots = new IndexSlots(file, geometry.maxHashSlotNum);
    this.#entriesAt = INDEX_HEADER_SIZE + geometry.maxHashSlotNum * 4;
  }

  get isFull(): boolean {
    return this.header.indexCount >= this.geometry.maxIndexNum;
  }

  get isDirty(): boolean {
    return this.#isHeaderDirty || this.slots.isDirty || this.file.isDirty;
  }

  /** Reads the header. */
  load(): void {
    const bytes = new Uint8Array(INDEX_HEADER_SIZE);
    this.file.readAt(0, bytes);
    this.header = decodeIndexHeader(bytes);
    this.header.indexCount = Math.min(
      this.header.indexCount,
      this.geometry.maxIndexNum,
    );
    this.#bufferStart = this.header.indexCount;
  }

  /** A new file takes over the ends of the one before it. */
  inherit(endPhyOffset: number, endTimestamp: number): void {
    this.header.beginPhyOffset = endPhyOffset;
    this.header.endPhyOffset = endPhyOffset;
    this.header.beginTimestamp = endTimestamp;
    this.header.endTimestamp = endTimestamp;
    this.file.writeAt(0, encodeIndexHeader(this.header));
  }

  /** Files one key; the file must not be full. Throws `FileError` and then has filed nothing. */
  putKey(keyHash: number, phyOffset: number, storeTimestamp: number): void {
    const header = this.header;
    const number = header.indexCount;
    if (number - this.#bufferStart === BUFFER_ENTRIES) this.writeEntries();
    const slot = keyHash % this.geometry.maxHashSlotNum;
    let previous = this.slots.get(slot);
    if (previous < 0 || previous > number) previous = 0;
    writeIndexEntry(
      this.#entryView(),
      (number - this.#bufferStart) * INDEX_ENTRY_SIZE,
      keyHash,
      phyOffset,
      timeDiffOf(storeTimestamp, header.beginTimestamp),
      previous,
    );
    this.slots.set(slot, number);
    if (number <= 1) {
      header.beginPhyOffset = phyOffset;
      header.beginTimestamp = storeTimestamp;
    }
    if (previous === 0) header.hashSlotCount += 1;
    header.indexCount = number + 1;
    header.endPhyOffset = phyOffset;
    header.endTimestamp = storeTimestamp;
    this.#isHeaderDirty = true;
  }

  /** Hands buffered entries to the page cache. Throws `FileError` and keeps them. */
  writeEntries(): void {
    const count = this.header.indexCount - this.#bufferStart;
    if (count === 0) return;
    this.file.writeAt(
      this.#positionOf(this.#bufferStart),
      this.#buffer!.subarray(0, count * INDEX_ENTRY_SIZE),
    );
    this.#bufferStart += count;
  }

  /**
   * Makes all entries of this moment durable. `beforeHeader` runs when entries and slots are:
   * it has to make the new end timestamp known to the checkpoint, or a later unclean start
   * takes the file for unfinished and deletes it.
   */
  async flush(beforeHeader: (header: IndexHeader) => Promise<void>) {
    if (!this.isDirty) return;
    this.writeEntries();
    const header = { ...this.header };
    this.#isHeaderDirty = false;
    try {
      await this.file.sync();
      const pages = this.slots.dirtyPages();
      // In portions with a sync between: 20 MB at once would hold up the loop.
      for (let at = 0; at < pages.length;) {
        at = this.slots.writePages(
          pages,
          at,
          SLOT_WRITE_BUDGET,
          (it) => this.olderEntry(it, header.indexCount),
        );
        await this.file.sync();
      }
      await beforeHeader(header);
      this.file.writeAt(0, encodeIndexHeader(header));
      await this.file.sync();
    } catch (error) {
      this.#isHeaderDirty = true;
      throw error;
    }
  }

  /** The memory that only writing needs. */
  dropBuffers(): void {
    this.slots.dropPages();
    if (this.header.indexCount > this.#bufferStart) return;
    this.#buffer = undefined;
    this.#bufferView = undefined;
  }

  /** True when the file may hold records of [beginMs, endMs]. */
  isTimeMatched(beginMs: number, endMs: number): boolean {
    const { beginTimestamp, endTimestamp } = this.header;
    return beginMs <= endTimestamp && endMs >= beginTimestamp;
  }

  /** The newest entry of a slot, read off the loop unless it is in memory; 0 without. */
  async newestOf(slot: number): Promise<number> {
    const known = this.slots.peek(slot);
    if (known !== undefined) return known;
    const bytes = new Uint8Array(4);
    await this.file.readAtAsync(INDEX_HEADER_SIZE + slot * 4, bytes);
    return new DataView(bytes.buffer).getInt32(0);
  }

  /** One entry, at once. */
  entry(number: number): IndexEntry {
    if (this.#isBuffered(number)) return this.#bufferedEntry(number);
    this.file.readAt(this.#positionOf(number), scratch);
    return readIndexEntry(scratchView, 0);
  }

  /** One entry, read off the loop unless it is buffered. */
  async entryAsync(number: number): Promise<IndexEntry> {
    if (this.#isBuffered(number)) return this.#bufferedEntry(number);
    const bytes = new Uint8Array(INDEX_ENTRY_SIZE);
    await this.file.readAtAsync(this.#positionOf(number), bytes);
    return readIndexEntry(new DataView(bytes.buffer), 0);
  }

  /** The entry, or the newest older one of its slot, with a number below `count`; 0 without. */
  olderEntry(number: number, count: number): number {
    let older = number;
    while (older >= count) {
      const { previousNumber } = this.entry(older);
      // Older entries have smaller numbers: anything else would never end.
      older = previousNumber < older ? previousNumber : 0;
    }
    return Math.max(0, older);
  }

  /** Reads entries [from, from + count) of the file; none may be buffered. */
  readEntries(from: number, target: Uint8Array): void {
    this.file.readAt(this.#positionOf(from), target);
  }

  /** Forgets entries from `indexCount` on; the caller corrects the slots. */
  setCount(indexCount: number, header: Partial<IndexHeader>): void {
    assert(this.header.indexCount === this.#bufferStart, "entries buffered");
    this.header = { ...this.header, ...header, indexCount };
    this.#bufferStart = indexCount;
    this.#isHeaderDirty = true;
  }

  #isBuffered(number: number): boolean {
    return number >= this.#bufferStart && number < this.header.indexCount;
  }

  #bufferedEntry(number: number): IndexEntry {
    const position = (number - this.#bufferStart) * INDEX_ENTRY_SIZE;
    return readIndexEntry(this.#bufferView!, position);
  }

  #positionOf(number: number): number {
    return this.#entriesAt + number * INDEX_ENTRY_SIZE;
  }

  #entryView(): DataView {
    if (this.#bufferView === undefined) {
      this.#buffer = new Uint8Array(BUFFER_ENTRIES * INDEX_ENTRY_SIZE);
      this.#bufferView = new DataView(this.#buffer.buffer);
    }
    return this.#bufferView;
  }
}
