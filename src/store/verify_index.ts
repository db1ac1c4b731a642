/** Compares index files with the log: both are in the order of the log, so one pass is enough. */
import { findProperty, MessageConst } from "../model/message_properties.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import type { IndexEntry } from "./index_entry.ts";
import { indexKeyHash, indexKeyHashes } from "./index_key.ts";
import type { IndexFileFacts } from "./read_index_files.ts";
import type { ReadOnlyFiles, ReadOnlyHandles } from "./read_only_files.ts";
import type { StoreFindings } from "./store_finding.ts";
import { beginsRecord } from "./verify_place.ts";
import { IndexEntryCursor } from "./verify_index_entries.ts";
import { cureOf } from "./verify_queues.ts";

/** What IndexVerifier needs to know of the store. */
export interface IndexVerifierInput {
  readonly files: readonly IndexFileFacts[];
  readonly handles: ReadOnlyHandles;
  /** What entries point into. */
  readonly log: ReadOnlyFiles;
  readonly findings: StoreFindings;
  /** `warning` for what a store lags behind while it runs. */
  readonly lagSeverity: "error" | "warning";
  /** The folder `index/`. */
  readonly directory: string;
  /** Another process writes into the store. */
  readonly isInUse: boolean;
}

/** Walks the index beside the log. */
export class IndexVerifier {
  readonly #input: IndexVerifierInput;
  readonly #cursors: IndexEntryCursor[];
  readonly #hashes: number[] = [];
  #current = 0;
  entryCount = 0;
  #missingCount = 0;
  #missingFrom = -1;
  /** Missing keys behind the last record that has one. */
  #missingAtEnd = 0;
  /** Keys of the newest records that a running store has not written yet. */
  laggingCount = 0;

  constructor(input: IndexVerifierInput) {
    this.#input = input;
    const { handles, findings } = input;
    this.#cursors = input.files.map((it) =>
      new IndexEntryCursor(it, handles, findings)
    );
  }

  /** To be called for every record, in the order of the log. */
  onRecord(request: DispatchRequest): void {
    this.#skipTo(request.phyOffset);
    const place = this.#cursors[this.#current];
    const at = { path: place?.facts.path, position: place?.position };
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
      cursor.next(entry, request.storeTimestamp);
    }
    const strangers = this.#strangersOf(request, filed);
    if (strangers === 0) return;
    this.#input.findings.error(
      "index-entry",
      at.path ?? this.#input.directory,
      at.position ?? null,
      `${strangers} keys are filed for the record at ${request.phyOffset} ` +
        "that it does not have",
    );
  }

  /** The walk is over. */
  finish(endPhyOffset: number): void {
    this.#skipTo(Number.MAX_SAFE_INTEGER, endPhyOffset);
    const { findings, lagSeverity, directory, isInUse } = this.#input;
    this.laggingCount = isInUse ? this.#missingAtEnd : 0;
    const missingCount = this.#missingCount - this.laggingCount;
    if (missingCount === 0) return;
    findings.add({
      severity: lagSeverity,
      kind: "index-missing",
      path: directory,
      offset: this.#missingFrom,
      message: `${missingCount} keys of records are not in the index` +
        cureOf(lagSeverity),
    });
  }

  /** Notes keys that are not filed; returns how many are filed that the record does not have. */
  #strangersOf(request: DispatchRequest, filed: ReadonlySet<number>): number {
    const count = indexKeyHashes(request, this.#hashes);
    let known = 0;
    if (filed.size > 0) this.#missingAtEnd = 0;
    const keys = new Set(this.#hashes.slice(0, count));
    for (const hash of keys) {
      if (filed.has(hash)) known += 1;
      else {
        this.#missingCount += 1;
        this.#missingAtEnd += 1;
        if (this.#missingFrom < 0) this.#missingFrom = request.phyOffset;
      }
    }
    if (known === filed.size) return 0;
    // The newest 5.x files tags too.
    const tags = findProperty(request.propertiesText, MessageConst.TAGS);
    const tagHash = indexKeyHash(request.topic, `T#${tags}`);
    const isTag = tags !== undefined && !keys.has(tagHash) &&
      filed.has(tagHash);
    return filed.size - known - (isTag ? 1 : 0);
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
      const isAhead = entry.phyOffset >= phyOffset;
      if (isAhead && !this.#isMisplaced(entry, phyOffset)) return;
      this.#tellDangling(cursor, entry, endPhyOffset);
      this.entryCount += 1;
      cursor.next(entry);
    }
  }

  /** True for one that stands before entries of earlier records, of `phyOffset` and behind it. */
  #isMisplaced(entry: IndexEntry, phyOffset: number): boolean {
    const next = this.#cursors[this.#current]!.peek(1) ??
      this.#cursors[this.#current + 1]?.peek();
    if (next === undefined) return false;
    if (next.phyOffset >= entry.phyOffset) return false;
    if (next.phyOffset < phyOffset) return false;
    const { log } = this.#input;
    return !beginsRecord(log, entry.phyOffset) ||
      beginsRecord(log, next.phyOffset);
  }

  #tellDangling(
    cursor: IndexEntryCursor,
    { phyOffset }: IndexEntry,
    endPhyOffset: number | undefined,
  ): void {
    const { log, findings, isInUse } = this.#input;
    // Below it, they speak of deleted files.
    if (phyOffset < log.minOffset) return;
    // It was written behind the end of the walk.
    if (isInUse && phyOffset >= (endPhyOffset ?? Infinity)) return;
    const reason = beginsRecord(log, phyOffset)
      ? "which is not its record"
      : "where no record begins";
    findings.addAbout(phyOffset, {
      severity: "error",
      kind: "index-entry",
      path: cursor.facts.path,
      offset: cursor.position,
      message: `Entry ${cursor.number} points to ${phyOffset}, ${reason}` +
        (endPhyOffset === undefined ? "" : `; the log ends at ${endPhyOffset}`),
    });
  }

  #endFile(cursor: IndexEntryCursor): void {
    cursor.finish(this.#input.lagSeverity);
    this.#current += 1;
  }
}
