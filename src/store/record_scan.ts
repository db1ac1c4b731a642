/**
 * RecordScan: walks the records of the CommitLog from a given offset.
 *
 * Bytes come in chunks through the page cache; a record larger than the chunk gets one of its
 * own. The scan judges; what a broken record means is the caller's decision.
 */
import {
  BLANK_MARKER_SIZE,
  checkMessageRecord,
  type RecordCheckOptions,
} from "../model/message_record.ts";
import type { CommitLog } from "./commit_log.ts";

const CHUNK_SIZE = 262_144;
/** A larger array, made for one large record, is given back. */
const SPARE_SIZE_MAX = 4 * CHUNK_SIZE;
/** A size field above this is garbage, whatever the file size. */
const RECORD_SIZE_MAX = 268_435_456;

/** What lies at `offset`. */
export type ScanStep =
  | {
    readonly kind: "record";
    readonly position: number;
    readonly size: number;
  }
  | { readonly kind: "blank" }
  /** The record is cut off by the end: more bytes may come, or it is a torn tail. */
  | { readonly kind: "incomplete" }
  | { readonly kind: "corrupt"; readonly reason: string }
  | { readonly kind: "end" };

/** A position in the log, and the bytes around it. */
export class RecordScan {
  offset: number;
  bytes: Uint8Array = new Uint8Array(0);
  view: DataView = new DataView(this.bytes.buffer);
  /** Log offset of `bytes[0]`, and how many bytes are filled. */
  #chunkOffset = 0;
  #chunkSize = 0;

  constructor(private readonly log: CommitLog, offset: number) {
    this.offset = offset;
  }

  /** Judges what is at `offset`, looking no further than `endOffset`. `offset` does not move. */
  step(endOffset: number, checkCrc: boolean): ScanStep {
    const { offset } = this;
    if (offset >= endOffset) return { kind: "end" };
    const fileEnd = this.log.nextFileOffset(offset);
    const available = Math.min(endOffset, fileEnd) - offset;
    if (available < BLANK_MARKER_SIZE) return this.#cutOff(endOffset, fileEnd);
    this.#fill(Math.min(available, CHUNK_SIZE), available);
    const options: RecordCheckOptions = { checkCrc, phyOffset: offset };
    let check = this.#check(options);
    if (check.kind === "incomplete") {
      const size = this.view.getInt32(offset - this.#chunkOffset);
      if (size > available || size > RECORD_SIZE_MAX) {
        return this.#cutOff(endOffset, fileEnd);
      }
      this.#fill(size, available);
      check = this.#check(options);
    }
    switch (check.kind) {
      case "record":
        return {
          kind: "record",
          position: offset - this.#chunkOffset,
          size: check.size,
        };
      case "blank":
        return { kind: "blank" };
      case "corrupt":
        return check;
      case "incomplete":
        return this.#cutOff(endOffset, fileEnd);
    }
  }

  /** Forgets what was read: the log has changed below. */
  reset(offset: number): void {
    this.offset = offset;
    this.#chunkSize = 0;
  }

  #cutOff(endOffset: number, fileEnd: number): ScanStep {
    return endOffset < fileEnd
      ? { kind: "incomplete" }
      : { kind: "corrupt", reason: "it is longer than the rest of its file" };
  }

  #check(options: RecordCheckOptions) {
    return checkMessageRecord(
      this.bytes,
      this.view,
      this.offset - this.#chunkOffset,
      this.#chunkSize,
      options,
    );
  }

  /** Makes at least `size` bytes from `offset` on present. */
  #fill(size: number, available: number): void {
    const have = this.#chunkOffset + this.#chunkSize - this.offset;
    if (this.offset >= this.#chunkOffset && have > 0) {
      if (have >= size || this.#holdsRecord(have)) return;
    }
    const wanted = Math.min(available, Math.max(size, CHUNK_SIZE));
    if (this.bytes.length < wanted || this.bytes.length > SPARE_SIZE_MAX) {
      this.bytes = new Uint8Array(wanted);
      this.view = new DataView(this.bytes.buffer);
    }
    this.log.readAt(this.offset, this.bytes.subarray(0, wanted));
    this.#chunkOffset = this.offset;
    this.#chunkSize = wanted;
  }

  /** True when the record at `offset` lies whole in the chunk: no need to read again. */
  #holdsRecord(have: number): boolean {
    if (have < BLANK_MARKER_SIZE) return false;
    const size = this.view.getInt32(this.offset - this.#chunkOffset);
    return size >= BLANK_MARKER_SIZE && size <= have;
  }
}
