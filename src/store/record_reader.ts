/**
 * RecordReader: copies whole records out of the CommitLog.
 *
 * The tail of the log is in the page cache and read at once; older records come off the loop,
 * a few reads at a time (ColdReader). Neighbours are read together.
 *
 * Invariant: a returned record is one whose size and magic are those of a record; what was
 * deleted meanwhile is left out.
 */
import {
  MESSAGE_MAGIC_CODE_V1,
  MESSAGE_MAGIC_CODE_V2,
} from "../model/message_record.ts";
import type { ColdReader } from "./cold_reader.ts";
import type { CommitLog } from "./commit_log.ts";

/** Unwanted bytes between two cold records that are cheaper to read than to skip. */
const SPAN_GAP_BYTES = 65_536;
/** Bytes of one cold read. */
const SPAN_BYTES = 1_048_576;

/** Places of records, in ascending order. */
export interface RecordPlaces {
  readonly phyOffsets: readonly number[];
  readonly sizes: readonly number[];
  readonly totalBytes: number;
}

/** Records back to back, and how many. */
export interface RecordsRead {
  readonly body: Uint8Array;
  readonly count: number;
}

const NOTHING: RecordsRead = { body: new Uint8Array(0), count: 0 };

/** Reads records. */
export class RecordReader {
  constructor(
    private readonly log: CommitLog,
    private readonly coldReader: ColdReader,
    public hotReadBytesMax: number,
  ) {}

  /** True when the record at `phyOffset` is read without leaving the loop. */
  isHot(phyOffset: number): boolean {
    return phyOffset >= this.log.maxOffset - this.hotReadBytesMax;
  }

  /** Reads at once. */
  read(places: RecordPlaces): RecordsRead {
    const { phyOffsets, sizes } = places;
    const body = new Uint8Array(places.totalBytes);
    const view = new DataView(body.buffer);
    let end = 0;
    let count = 0;
    for (let index = 0; index < phyOffsets.length;) {
      const next = this.#runEnd(places, index);
      const start = end;
      let size = 0;
      for (let at = index; at < next; at++) size += sizes[at]!;
      if (this.log.holds(phyOffsets[index]!, size)) {
        this.log.readAt(phyOffsets[index]!, body.subarray(start, start + size));
        for (let at = index, from = start; at < next; at++) {
          const each = sizes[at]!;
          if (isRecord(view, from, each)) {
            if (from !== end) body.copyWithin(end, from, from + each);
            end += each;
            count++;
          }
          from += each;
        }
      }
      index = next;
    }
    if (count === 0) return NOTHING;
    return { body: end === body.length ? body : body.slice(0, end), count };
  }

  /** Reads off the loop. */
  async readCold(places: RecordPlaces): Promise<RecordsRead> {
    const phyOffsets = places.phyOffsets.slice();
    const sizes = places.sizes.slice();
    const body = new Uint8Array(places.totalBytes);
    let end = 0;
    let count = 0;
    for (let index = 0; index < phyOffsets.length;) {
      const next = spanEnd(phyOffsets, sizes, index, this.log.recordSizeMax);
      const from = phyOffsets[index]!;
      const span = await this.#readSpan(
        from,
        phyOffsets[next - 1]! + sizes[next - 1]! - from,
      );
      for (; span !== undefined && index < next; index++) {
        const at = phyOffsets[index]! - from;
        const size = sizes[index]!;
        if (!isRecord(span.view, at, size)) continue;
        body.set(span.bytes.subarray(at, at + size), end);
        end += size;
        count++;
      }
      index = next;
    }
    if (count === 0) return NOTHING;
    return { body: end === body.length ? body : body.slice(0, end), count };
  }

  /** The first `size` bytes at `phyOffset`; undefined when they are not (or no longer) there. */
  async readBytes(
    phyOffset: number,
    size: number,
  ): Promise<Uint8Array | undefined> {
    if (!this.log.holds(phyOffset, size)) return undefined;
    if (!this.isHot(phyOffset)) {
      return (await this.#readSpan(phyOffset, size))?.bytes;
    }
    const bytes = new Uint8Array(size);
    this.log.readAt(phyOffset, bytes);
    return bytes;
  }

  /** Raw bytes, whatever they are, into `target`. False when they are not (or no longer) there. */
  readRaw(
    phyOffset: number,
    target: Uint8Array,
  ): boolean | Promise<boolean> {
    if (!this.isHot(phyOffset)) return this.#fillCold(phyOffset, target);
    if (!this.log.holds(phyOffset, target.length)) return false;
    this.log.readAt(phyOffset, target);
    return true;
  }

  /** Where the records that follow each other without a gap, in one file, end. */
  #runEnd(places: RecordPlaces, index: number): number {
    const { phyOffsets, sizes } = places;
    const fileEnd = this.log.nextFileOffset(phyOffsets[index]!);
    let at = index + 1;
    while (
      at < phyOffsets.length && phyOffsets[at]! < fileEnd &&
      phyOffsets[at] === phyOffsets[at - 1]! + sizes[at - 1]!
    ) at++;
    return at;
  }

  async #readSpan(
    phyOffset: number,
    size: number,
  ): Promise<{ bytes: Uint8Array; view: DataView } | undefined> {
    const bytes = new Uint8Array(size);
    return await this.#fillCold(phyOffset, bytes)
      ? { bytes, view: new DataView(bytes.buffer) }
      : undefined;
  }

  async #fillCold(phyOffset: number, target: Uint8Array): Promise<boolean> {
    let isThere = false;
    await this.coldReader.read(async () => {
      // Asked now: the file may have been deleted while this read was in line.
      isThere = this.log.mappedFileQueue.fileAt(phyOffset) !== undefined &&
        phyOffset + target.length <= this.log.maxOffset;
      if (isThere) await this.log.readAtAsync(phyOffset, target);
    });
    return isThere;
  }
}

/** Where the records that one cold read brings end. */
function spanEnd(
  phyOffsets: readonly number[],
  sizes: readonly number[],
  index: number,
  recordSizeMax: number,
): number {
  const start = phyOffsets[index]!;
  const fileSize = recordSizeMax + 8;
  const fileEnd = start - start % fileSize + fileSize;
  let end = start + sizes[index]!;
  let at = index + 1;
  for (; at < phyOffsets.length; at++) {
    const offset = phyOffsets[at]!;
    const next = offset + sizes[at]!;
    if (
      offset < end || offset - end > SPAN_GAP_BYTES || offset >= fileEnd ||
      next - start > SPAN_BYTES
    ) break;
    end = next;
  }
  return at;
}

function isRecord(view: DataView, position: number, size: number): boolean {
  if (view.getInt32(position) !== size) return false;
  const magic = view.getInt32(position + 4);
  return magic === MESSAGE_MAGIC_CODE_V1 || magic === MESSAGE_MAGIC_CODE_V2;
}
