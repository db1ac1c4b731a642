/**
 * IndexSlots: the slot table of one index file, in memory by pages of 4 KiB.
 *
 * A page is read when one of its slots is first used and kept until `dropPages`; changed pages
 * reach the file in `writePages`. All of it: 20 MB for Apache's 5,000,000 slots.
 */
import { INDEX_HEADER_SIZE } from "./index_header.ts";
import type { MappedFile } from "./mapped_file.ts";

const PAGE_SLOTS = 1024;
const PAGE_SIZE = PAGE_SLOTS * 4;
const RUN_PAGES_MAX = 32;

/** Slot number → number of its newest entry. */
export class IndexSlots {
  readonly #file: MappedFile;
  readonly #slotCount: number;
  #pages: (Int32Array | undefined)[] = [];
  #dirty = new Set<number>();

  constructor(file: MappedFile, slotCount: number) {
    this.#file = file;
    this.#slotCount = slotCount;
  }

  get pageCount(): number {
    return Math.ceil(this.#slotCount / PAGE_SLOTS);
  }

  get(slot: number): number {
    const number = slot >>> 10;
    const page = this.#pages[number] ?? this.#load(number);
    return page[slot & (PAGE_SLOTS - 1)]!;
  }

  /** Only what is in memory; undefined when the file has to be asked. */
  peek(slot: number): number | undefined {
    return this.#pages[slot >>> 10]?.[slot & (PAGE_SLOTS - 1)];
  }

  set(slot: number, entryNumber: number): void {
    const number = slot >>> 10;
    const page = this.#pages[number] ?? this.#load(number);
    page[slot & (PAGE_SLOTS - 1)] = entryNumber;
    this.#dirty.add(number);
  }

  get isDirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** Numbers of the changed pages, ascending. */
  dirtyPages(): number[] {
    return [...this.#dirty].sort((a, b) => a - b);
  }

  /**
   * Writes `numbers` from `index` on, neighbours together, until at least `budgetBytes` are
   * written; returns the index behind the last one written. `durable` gives what may be
   * written for a value; a page where it differs stays changed. Throws `FileError`.
   */
  writePages(
    numbers: readonly number[],
    index: number,
    budgetBytes: number,
    durable: (entryNumber: number) => number,
  ): number {
    let at = index;
    for (let written = 0; at < numbers.length && written < budgetBytes;) {
      const first = numbers[at]!;
      let end = at + 1;
      while (
        end < numbers.length && end - at < RUN_PAGES_MAX &&
        numbers[end] === first + (end - at)
      ) end += 1;
      const newer = this.#writeRun(first, end - at, durable);
      written += (end - at) * PAGE_SIZE;
      for (; at < end; at++) {
        if (!newer.has(numbers[at]!)) this.#dirty.delete(numbers[at]!);
      }
    }
    return at;
  }

  /** Gives the memory back; changed pages stay. */
  dropPages(): void {
    const kept: (Int32Array | undefined)[] = [];
    for (const number of this.#dirty) kept[number] = this.#pages[number];
    this.#pages = kept;
  }

  /** Calls `visit` for every slot in use, page by page; what it returns replaces the value. */
  rewrite(visit: (slot: number, entryNumber: number) => number): void {
    for (let number = 0; number < this.pageCount; number++) {
      const wasLoaded = this.#pages[number] !== undefined;
      const page = this.#pages[number] ?? this.#load(number);
      for (let index = 0; index < page.length; index++) {
        const value = page[index]!;
        if (value === 0) continue;
        const next = visit(number * PAGE_SLOTS + index, value);
        if (next === value) continue;
        page[index] = next;
        this.#dirty.add(number);
      }
      if (!wasLoaded && !this.#dirty.has(number)) {
        this.#pages[number] = undefined;
      }
    }
  }

  /** Sets every slot to 0. */
  clear(): void {
    this.rewrite(() => 0);
  }

  #load(number: number): Int32Array {
    const count = Math.min(PAGE_SLOTS, this.#slotCount - number * PAGE_SLOTS);
    const bytes = new Uint8Array(count * 4);
    this.#file.readAt(INDEX_HEADER_SIZE + number * PAGE_SIZE, bytes);
    const view = new DataView(bytes.buffer);
    const page = new Int32Array(bytes.buffer);
    for (let index = 0; index < count; index++) {
      page[index] = view.getInt32(index * 4);
    }
    this.#pages[number] = page;
    return page;
  }

  /** Returns the pages that hold more than was written. */
  #writeRun(
    first: number,
    count: number,
    durable: (entryNumber: number) => number,
  ): Set<number> {
    const bytes = new Uint8Array(count * PAGE_SIZE);
    const view = new DataView(bytes.buffer);
    const newer = new Set<number>();
    let size = 0;
    for (let number = first; number < first + count; number++) {
      for (const value of this.#pages[number]!) {
        const written = durable(value);
        if (written !== value) newer.add(number);
        view.setInt32(size, written);
        size += 4;
      }
    }
    this.#file.writeAt(
      INDEX_HEADER_SIZE + first * PAGE_SIZE,
      bytes.subarray(0, size),
    );
    return newer;
  }
}
