/**
 * RecordReader: copies whole records out of the CommitLog.
 *
 * The tail of the log is in the page cache and read at once; older records come off the loop,
 * a few reads at a time (ColdReader). Neighbours are read together (ColdBlocks).
 *
 * Invariant: a returned record is one whose size and magic are those of a record; what was
 * deleted meanwhile is left out.
 */
import {
  MESSAGE_MAGIC_CODE_V1,
  MESSAGE_MAGIC_CODE_V2,
} from "../model/message_record.ts";
import { BodyBuffers } from "./body_buffers.ts";
import { ColdBlocks, type ColdCursor } from "./cold_blocks.ts";
import type { ColdPace } from "./cold_pace.ts";
import type { ColdReader } from "./cold_reader.ts";
import type { CommitLog } from "./commit_log.ts";

/** Unwanted bytes between two cold records that are cheaper to read than to skip. */
const STRETCH_GAP_BYTES = 65_536;
/** A larger record is read by itself: it would push all other blocks out. */
const BLOCK_RECORD_BYTES_MAX = 131_072;

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
  /** Once, by whoever is through with `body`, so that its memory is used again; or never. */
  release(): void;
}

const NOTHING: RecordsRead = {
  body: new Uint8Array(0),
  count: 0,
  release() {},
};

/** Reads records. */
export class RecordReader {
  readonly #coldBlocks: ColdBlocks;
  readonly #bodies = new BodyBuffers();

  constructor(
    private readonly log: CommitLog,
    private readonly coldReader: ColdReader,
    public hotReadBytesMax: number,
    blockPace: ColdPace,
    /** Of what readers are given: their pulls must not all end in one turn of the loop. */
    private readonly pace: ColdPace,
  ) {
    this.#coldBlocks = new ColdBlocks(log, coldReader, blockPace);
  }

  /** True when the record at `phyOffset` is read without leaving the loop. */
  isHot(phyOffset: number): boolean {
    return phyOffset >= this.log.maxOffset - this.hotReadBytesMax;
  }

  /** Reads at once. */
  read(places: RecordPlaces): RecordsRead {
    const { phyOffsets, sizes } = places;
    const body = this.#bodies.take(places.totalBytes);
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
    return this.#recordsIn(body, end, count);
  }

  /** Reads off the loop. */
  async readCold(places: RecordPlaces): Promise<RecordsRead> {
    // The selection is used again for the next pull.
    const copy = {
      phyOffsets: places.phyOffsets.slice(),
      sizes: places.sizes.slice(),
      totalBytes: places.totalBytes,
    };
    const cursor = this.#coldBlocks.cursor();
    try {
      const read = await this.#readBy(cursor, copy);
      await this.pace.next(copy.totalBytes);
      return read;
    } finally {
      cursor.close();
    }
  }

  async #readBy(
    cursor: ColdCursor,
    { phyOffsets, sizes, totalBytes }: RecordPlaces,
  ): Promise<RecordsRead> {
    const body = this.#bodies.take(totalBytes);
    const view = new DataView(body.buffer);
    let end = 0;
    let count = 0;
    for (let index = 0; index < phyOffsets.length;) {
      const next = stretchEnd(phyOffsets, sizes, index, this.log.recordSizeMax);
      const isStretch = next > index + 1;
      for (; index < next; index++) {
        const size = sizes[index]!;
        const target = body.subarray(end, end + size);
        // By blocks, which neighbours share; one by one where records lie far apart.
        const copied = isStretch && size <= BLOCK_RECORD_BYTES_MAX
          ? cursor.copy(phyOffsets[index]!, target)
          : this.#readOne(phyOffsets[index]!, target);
        // Nothing is awaited in vain: most records lie in a block read before.
        const isThere = copied instanceof Promise ? await copied : copied;
        if (!isThere || !isRecord(view, end, size)) continue;
        end += size;
        count++;
      }
    }
    return this.#recordsIn(body, end, count);
  }

  /** The first `size` bytes at `phyOffset`; undefined when they are not (or no longer) there. */
  async readBytes(
    phyOffset: number,
    size: number,
  ): Promise<Uint8Array | undefined> {
    if (!this.log.holds(phyOffset, size)) return undefined;
    const bytes = new Uint8Array(size);
    if (!this.isHot(phyOffset)) {
      return await this.#readOne(phyOffset, bytes) ? bytes : undefined;
    }
    this.log.readAt(phyOffset, bytes);
    return bytes;
  }

  /** Raw bytes, whatever they are, into `target`. False when they are not (or no longer) there. */
  readRaw(
    phyOffset: number,
    target: Uint8Array,
  ): boolean | Promise<boolean> {
    if (!this.isHot(phyOffset)) return this.#readOne(phyOffset, target);
    if (!this.log.holds(phyOffset, target.length)) return false;
    this.log.readAt(phyOffset, target);
    return true;
  }

  #recordsIn(memory: Uint8Array, end: number, count: number): RecordsRead {
    const release = () => this.#bodies.giveBack(memory);
    if (count > 0) return { body: memory.subarray(0, end), count, release };
    release();
    return NOTHING;
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

  async #readOne(phyOffset: number, target: Uint8Array): Promise<boolean> {
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

/** Where the records that lie close to each other, in one file, end. */
function stretchEnd(
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
      offset < end || offset - end > STRETCH_GAP_BYTES || offset >= fileEnd
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
