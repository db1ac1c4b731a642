/** IndexEntryCursor: reads the entries of one index file in order, and what follows from them. */
import {
  INDEX_ENTRY_SIZE,
  type IndexEntry,
  readIndexEntry,
  timeDiffOf,
} from "./index_entry.ts";
import { INDEX_HEADER_SIZE } from "./index_header.ts";
import type { IndexFileFacts } from "./read_index_files.ts";
import type { ReadOnlyHandles } from "./read_only_files.ts";
import type { StoreFindings } from "./store_finding.ts";

const CHUNK_ENTRIES = 3_276;
/** An index that was cut knows its end to the second only. */
const END_TIMESTAMP_SLACK_MS = 1_000;

/** A record that entries were found for. */
interface KnownRecord {
  readonly number: number;
  readonly phyOffset: number;
  readonly storeTimestamp: number;
}

/** Where the walk stands in one file, and what its slots and header have to be. */
export class IndexEntryCursor {
  readonly #slots: Int32Array;
  readonly #bytes = new Uint8Array(CHUNK_ENTRIES * INDEX_ENTRY_SIZE);
  readonly #view = new DataView(this.#bytes.buffer);
  readonly #endNumber: number;
  #chunkStart = 0;
  #chunkCount = 0;
  #first: KnownRecord | undefined;
  #last: KnownRecord | undefined;
  number = 1;

  constructor(
    readonly facts: IndexFileFacts,
    private readonly handles: ReadOnlyHandles,
    private readonly findings: StoreFindings,
  ) {
    const { header, geometry } = facts;
    this.#endNumber = Math.min(header.indexCount, geometry.maxIndexNum);
    this.#slots = new Int32Array(geometry.maxHashSlotNum);
  }

  /** The entry at the cursor, or so many behind it; undefined behind the last one. */
  peek(ahead = 0): IndexEntry | undefined {
    const number = this.number + ahead;
    if (number >= this.#endNumber) return undefined;
    if (number >= this.#chunkStart + this.#chunkCount) this.#fill();
    const index = number - this.#chunkStart;
    const entry = readIndexEntry(this.#view, index * INDEX_ENTRY_SIZE);
    const isEmpty = entry.keyHash === 0 && entry.phyOffset === 0 &&
      entry.timeDiff === 0 && entry.previousNumber === 0;
    return isEmpty ? undefined : entry;
  }

  /** Goes on; `storeTimestamp` is that of the entry's record, if it has one. */
  next(entry: IndexEntry, storeTimestamp?: number): void {
    const slot = entry.keyHash % this.#slots.length;
    if (entry.keyHash < 0 || entry.phyOffset < 0) {
      this.#tell("It holds no entry");
    } else {
      const previous = this.#slots[slot]!;
      if (entry.previousNumber !== previous) {
        this.#tell(
          `It names ${entry.previousNumber} as the one before it, that is ${previous}`,
        );
      }
      this.#slots[slot] = this.number;
    }
    if (storeTimestamp !== undefined) this.#onRecord(entry, storeTimestamp);
    this.number += 1;
  }

  /** The walk has passed the last entry: slots and header must say what the entries say. */
  finish(lagSeverity: "error" | "warning"): void {
    this.#checkSlots(lagSeverity);
    const faults = this.#headerFaults();
    if (faults.length === 0) return;
    this.findings.add({
      severity: lagSeverity,
      kind: "index-header",
      path: this.facts.path,
      offset: 0,
      message: `The header says ${faults.join(" and ")}`,
    });
  }

  /** Byte of the entry at the cursor, in its file. */
  get position(): number {
    const { maxHashSlotNum } = this.facts.geometry;
    return INDEX_HEADER_SIZE + maxHashSlotNum * 4 +
      this.number * INDEX_ENTRY_SIZE;
  }

  /** The first entry's seconds count from the file before it. */
  #onRecord(entry: IndexEntry, storeTimestamp: number): void {
    const { number } = this;
    const { phyOffset } = entry;
    const record = { number, phyOffset, storeTimestamp };
    this.#first ??= record;
    this.#last = record;
    if (number === 1) return;
    const begin = this.#first.number === 1
      ? this.#first.storeTimestamp
      : this.facts.header.beginTimestamp;
    const expected = timeDiffOf(storeTimestamp, begin);
    if (entry.timeDiff === expected) return;
    this.#tell(
      `It says ${entry.timeDiff} seconds after the first, that is ${expected}`,
    );
  }

  /** The slots on disk must point at the newest entries. */
  #checkSlots(lagSeverity: "error" | "warning"): void {
    const { path, geometry } = this.facts;
    const bytes = new Uint8Array(4096);
    const view = new DataView(bytes.buffer);
    let wrong = 0;
    let first = -1;
    for (let slot = 0; slot < geometry.maxHashSlotNum;) {
      const count = Math.min(1024, geometry.maxHashSlotNum - slot);
      this.handles.get(path).readAt(
        INDEX_HEADER_SIZE + slot * 4,
        bytes.subarray(0, count * 4),
      );
      for (let index = 0; index < count; index++) {
        const expected = this.#slots[slot + index]!;
        const found = view.getInt32(index * 4);
        // A slot may run ahead of a header that was not flushed.
        const isAhead = found >= this.number && lagSeverity === "warning";
        if (found === expected || isAhead) continue;
        wrong += 1;
        if (first < 0) first = slot + index;
      }
      slot += count;
    }
    if (wrong === 0) return;
    this.findings.add({
      severity: lagSeverity,
      kind: "index-slot",
      path,
      offset: INDEX_HEADER_SIZE + first * 4,
      message: `${wrong} slots do not point at their newest entry`,
    });
  }

  /** Slots in use are not compared: 4.x before 4.9 counts every entry. */
  #headerFaults(): string[] {
    const { header } = this.facts;
    const faults: string[] = [];
    const expect = (what: string, found: number, expected: number) => {
      if (found !== expected) {
        faults.push(`${what} ${found}, that is ${expected}`);
      }
    };
    expect("next entry", header.indexCount, this.number);
    const first = this.#first;
    if (first?.number === 1) {
      expect("first offset", header.beginPhyOffset, first.phyOffset);
      expect("first time", header.beginTimestamp, first.storeTimestamp);
    }
    const last = this.#last;
    if (last !== undefined && last.number === this.number - 1) {
      expect("last offset", header.endPhyOffset, last.phyOffset);
      const late = header.endTimestamp - last.storeTimestamp;
      if (late < 0 || late >= END_TIMESTAMP_SLACK_MS) {
        expect("last time", header.endTimestamp, last.storeTimestamp);
      }
    }
    return faults;
  }

  #fill(): void {
    this.#chunkStart = this.number;
    this.#chunkCount = Math.min(CHUNK_ENTRIES, this.#endNumber - this.number);
    this.handles.get(this.facts.path).readAt(
      this.position,
      this.#bytes.subarray(0, this.#chunkCount * INDEX_ENTRY_SIZE),
    );
  }

  #tell(message: string): void {
    this.findings.error(
      "index-entry",
      this.facts.path,
      this.position,
      `Entry ${this.number}: ${message}`,
    );
  }
}
