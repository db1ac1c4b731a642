/** Compares index files with the log: both are in the order of the log, so one pass is enough. */
import { UnsafeIntegerError } from "../base/int64.ts";
import type { FileSystem } from "../io/file_system.ts";
import { parentDirectory } from "./directories.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import {
  INDEX_ENTRY_SIZE,
  type IndexEntry,
  readIndexEntry,
} from "./index_entry.ts";
import { indexFileSize, type IndexGeometry } from "./index_file.ts";
import { indexGeometryOf } from "./index_files.ts";
import {
  decodeIndexHeader,
  INDEX_HEADER_SIZE,
  type IndexHeader,
} from "./index_header.ts";
import { indexKeyHashes } from "./index_key.ts";
import type { ReadOnlyHandles } from "./read_only_files.ts";
import { readStoreCheckpoint } from "./store_checkpoint.ts";
import type { StoreFindings } from "./store_finding.ts";
import { cureOf } from "./verify_queues.ts";

const CHUNK_ENTRIES = 3_276;

/** One index file as it lies there. */
export interface IndexFileFacts {
  readonly name: string;
  readonly path: string;
  readonly geometry: IndexGeometry;
  readonly header: IndexHeader;
}

/**
 * The index files of a folder, oldest first; what is none is told of. How they are divided is
 * what `configured` or else the checkpoint says, where it makes their size; else the usual
 * proportion decides.
 */
export function readIndexFiles(
  handles: ReadOnlyHandles,
  directory: string,
  findings: StoreFindings,
  configured: IndexGeometry | undefined,
): IndexFileFacts[] {
  const found: IndexFileFacts[] = [];
  const known = configured ?? recordedGeometry(handles.fileSystem, directory);
  for (const { name, isDirectory } of handles.fileSystem.list(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory || !/^\d{17}$/.test(name)) {
      findings.warning("foreign-file", path, null, "It is not of the store");
      continue;
    }
    const size = handles.fileSystem.stat(path)?.size ?? 0;
    const geometry = known !== undefined && indexFileSize(known) === size
      ? known
      : indexGeometryOf(size);
    if (geometry === undefined) {
      findings.error(
        "wrong-size",
        path,
        null,
        `It has ${size} bytes: no numbers of slots and entries are known for that`,
      );
      continue;
    }
    const header = headerOf(handles, path, findings);
    if (header !== undefined) found.push({ name, path, geometry, header });
  }
  return found.sort((a, b) =>
    a.header.beginPhyOffset - b.header.beginPhyOffset ||
    (a.name < b.name ? -1 : 1)
  );
}

/** What the store noted of itself; undefined for a store of Apache. */
function recordedGeometry(
  fileSystem: FileSystem,
  directory: string,
): IndexGeometry | undefined {
  const checkpoint = readStoreCheckpoint(
    fileSystem,
    `${parentDirectory(directory)}/checkpoint`,
  );
  if (checkpoint === null || checkpoint.maxHashSlotNum === 0) return undefined;
  const { maxHashSlotNum, maxIndexNum } = checkpoint;
  return { maxHashSlotNum, maxIndexNum };
}

function headerOf(
  handles: ReadOnlyHandles,
  path: string,
  findings: StoreFindings,
): IndexHeader | undefined {
  const bytes = new Uint8Array(INDEX_HEADER_SIZE);
  handles.get(path).readAt(0, bytes);
  try {
    return decodeIndexHeader(bytes);
  } catch (error) {
    if (!(error instanceof UnsafeIntegerError)) throw error;
    findings.error("index-header", path, 0, error.message);
    return undefined;
  }
}

/** Reads the entries of one file in order and follows what its slots should be. */
class EntryCursor {
  readonly #slots: Int32Array;
  readonly #bytes = new Uint8Array(CHUNK_ENTRIES * INDEX_ENTRY_SIZE);
  readonly #view = new DataView(this.#bytes.buffer);
  #chunkStart = 0;
  #chunkCount = 0;
  number = 1;

  constructor(
    readonly facts: IndexFileFacts,
    private readonly handles: ReadOnlyHandles,
    private readonly findings: StoreFindings,
  ) {
    this.#slots = new Int32Array(facts.geometry.maxHashSlotNum);
  }

  /** The entry at the cursor; undefined behind the last one. */
  peek(): IndexEntry | undefined {
    const { number } = this;
    const { header, geometry } = this.facts;
    if (number >= Math.min(header.indexCount, geometry.maxIndexNum)) {
      return undefined;
    }
    if (number >= this.#chunkStart + this.#chunkCount) this.#fill();
    const index = number - this.#chunkStart;
    return readIndexEntry(this.#view, index * INDEX_ENTRY_SIZE);
  }

  next(entry: IndexEntry): void {
    const slotCount = this.#slots.length;
    const slot = entry.keyHash % slotCount;
    if (entry.keyHash < 0 || entry.phyOffset < 0) {
      this.#tell("index-entry", "It holds no entry");
    } else {
      const previous = this.#slots[slot]!;
      if (entry.previousNumber !== previous) {
        this.#tell(
          "index-entry",
          `It names ${entry.previousNumber} as the one before it, that is ${previous}`,
        );
      }
      this.#slots[slot] = this.number;
    }
    this.number += 1;
  }

  /** The slots on disk must point at the newest entries. */
  checkSlots(lagSeverity: "error" | "warning"): void {
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

  positionOf(number: number): number {
    const { maxHashSlotNum } = this.facts.geometry;
    return INDEX_HEADER_SIZE + maxHashSlotNum * 4 + number * INDEX_ENTRY_SIZE;
  }

  #fill(): void {
    const { header, geometry, path } = this.facts;
    const end = Math.min(header.indexCount, geometry.maxIndexNum);
    this.#chunkStart = this.number;
    this.#chunkCount = Math.min(CHUNK_ENTRIES, end - this.number);
    this.handles.get(path).readAt(
      this.positionOf(this.number),
      this.#bytes.subarray(0, this.#chunkCount * INDEX_ENTRY_SIZE),
    );
  }

  #tell(kind: "index-entry", message: string): void {
    const position = this.positionOf(this.number);
    this.findings.error(
      kind,
      this.facts.path,
      position,
      `Entry ${this.number}: ${message}`,
    );
  }
}

/** Walks the index beside the log. */
export class IndexVerifier {
  readonly #cursors: EntryCursor[];
  readonly #hashes: number[] = [];
  #current = 0;
  entryCount = 0;
  #missingCount = 0;
  #missingFrom = -1;
  /** Missing keys behind the last record that has one. */
  #missingAtEnd = 0;
  /** Keys of the newest records that a running store has not written yet. */
  laggingCount = 0;

  constructor(
    files: readonly IndexFileFacts[],
    handles: ReadOnlyHandles,
    private readonly findings: StoreFindings,
    private readonly lagSeverity: "error" | "warning",
    private readonly directory: string,
    /** Start of the log: entries below it speak of deleted files. */
    private readonly minPhyOffset: number,
    /** Another process writes into the store. */
    private readonly isInUse: boolean,
  ) {
    this.#cursors = files.map((it) => new EntryCursor(it, handles, findings));
  }

  /** To be called for every record, in the order of the log. */
  onRecord(request: DispatchRequest): void {
    this.#skipTo(request.phyOffset);
    const filed = new Set<number>();
    for (;;) {
      const cursor = this.#cursors[this.#current];
      const entry = cursor?.peek();
      if (cursor === undefined) break;
      if (entry === undefined) {
        this.#endFile(cursor);
        continue;
      }
      if (entry.phyOffset !== request.phyOffset) break;
      filed.add(entry.keyHash);
      this.entryCount += 1;
      cursor.next(entry);
    }
    this.#compare(request, filed);
  }

  /** The walk is over. */
  finish(endPhyOffset: number): void {
    this.#skipTo(Number.MAX_SAFE_INTEGER, endPhyOffset);
    this.laggingCount = this.isInUse ? this.#missingAtEnd : 0;
    const missingCount = this.#missingCount - this.laggingCount;
    if (missingCount === 0) return;
    this.findings.add({
      severity: this.lagSeverity,
      kind: "index-missing",
      path: this.directory,
      offset: this.#missingFrom,
      message: `${missingCount} keys of records are not in the index` +
        cureOf(this.lagSeverity),
    });
  }

  #compare(request: DispatchRequest, filed: ReadonlySet<number>): void {
    const count = indexKeyHashes(request, this.#hashes);
    let known = 0;
    if (filed.size > 0) this.#missingAtEnd = 0;
    for (const hash of new Set(this.#hashes.slice(0, count))) {
      if (filed.has(hash)) known += 1;
      else {
        this.#missingCount += 1;
        this.#missingAtEnd += 1;
        if (this.#missingFrom < 0) this.#missingFrom = request.phyOffset;
      }
    }
    if (known === filed.size) return;
    this.findings.error(
      "index-entry",
      this.#cursors[this.#current]?.facts.path ?? this.directory,
      request.phyOffset,
      `${
        filed.size - known
      } keys are filed for the record at ${request.phyOffset} ` +
        "that it does not have",
    );
  }

  /** Passes entries of records that the log does not have (any more, or at all). */
  #skipTo(phyOffset: number, endPhyOffset?: number): void {
    for (;;) {
      const cursor = this.#cursors[this.#current];
      if (cursor === undefined) return;
      const entry = cursor.peek();
      if (entry === undefined) {
        this.#endFile(cursor);
        continue;
      }
      if (entry.phyOffset >= phyOffset) return;
      if (entry.phyOffset >= this.minPhyOffset) {
        this.findings.addAbout(entry.phyOffset, {
          severity: "error",
          kind: "index-entry",
          path: cursor.facts.path,
          offset: cursor.positionOf(cursor.number),
          message:
            `Entry ${cursor.number} points to ${entry.phyOffset}, where no record begins` +
            (endPhyOffset === undefined
              ? ""
              : `; the log ends at ${endPhyOffset}`),
        });
      }
      this.entryCount += 1;
      cursor.next(entry);
    }
  }

  #endFile(cursor: EntryCursor): void {
    cursor.checkSlots(this.lagSeverity);
    this.#current += 1;
  }
}
