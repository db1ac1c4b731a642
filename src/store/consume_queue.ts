/**
 * ConsumeQueue: where the records of one (topic, queueId) lie in the CommitLog.
 *
 * Unit index = queue offset; position in the log of units = queue offset * 20.
 *
 * Invariants
 * - phyOffset grows with the queue offset (fillers, phyOffset 0, apart).
 * - `minOffsetInQueue` <= `maxOffsetInQueue`; both count units.
 * - Units of the running dispatch batch are in `#batch` and count; all others are in the file.
 */
import { assert } from "../base/assert.ts";
import {
  CONSUME_QUEUE_UNIT_SIZE as UNIT_SIZE,
  type ConsumeQueueUnit,
  fillerUnits,
  isFillerUnit,
  readConsumeQueueUnit,
  unitPhyOffset,
} from "./consume_queue_unit.ts";
import {
  findQueueEnd,
  RECOVER_FILES,
  zeroStaleBefore,
  zeroStaleUnits,
} from "./consume_queue_recovery.ts";
import { firstUnitFrom, isFillerAt } from "./consume_queue_search.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import {
  MappedFileQueue,
  type MappedFileQueueOptions,
} from "./mapped_file_queue.ts";
import type { UnitBatch, UnitBatchPool } from "./unit_batch.ts";

/** What became of one unit. */
export type PutPosition = "put" | "skipped" | "gap" | "restarted";

/** A gap of more files than this is not filled: the queue begins anew behind it. */
const GAP_FILES_MAX = 4;
const FILLER_WRITE_UNITS = 3_000;

/** What all queues of one store have in common. */
export interface ConsumeQueueShared {
  readonly pool: UnitBatchPool;
  /** Where the CommitLog begins. */
  minPhyOffset: number;
}

const scratch = new Uint8Array(UNIT_SIZE);
const scratchView = new DataView(scratch.buffer);

/** The units of one queue. */
export class ConsumeQueue {
  readonly #queue: MappedFileQueue;
  readonly #shared: ConsumeQueueShared;
  #batch: UnitBatch | undefined;
  #minOffset = 0;
  /** The log's min offset that `#minOffset` was corrected for; -1 when never. */
  #checkedMinPhyOffset = -1;
  #maxPhyOffset = -1;

  constructor(
    readonly topic: string,
    readonly queueId: number,
    options: MappedFileQueueOptions,
    shared: ConsumeQueueShared,
  ) {
    this.#queue = new MappedFileQueue(options);
    this.#shared = shared;
  }

  /** Looks at units when the log has lost files since the last call. */
  get minOffsetInQueue(): number {
    const minPhyOffset = this.#shared.minPhyOffset;
    if (minPhyOffset !== this.#checkedMinPhyOffset) {
      this.#correctMinOffset(minPhyOffset);
      this.#checkedMinPhyOffset = minPhyOffset;
    }
    return this.#minOffset;
  }

  get maxOffsetInQueue(): number {
    return this.#endPosition / UNIT_SIZE;
  }

  /** End (phyOffset + size) of the newest record here; -1 when there is none. */
  get maxPhyOffset(): number {
    return this.#maxPhyOffset;
  }

  get fileCount(): number {
    return this.#queue.files.length;
  }

  get isBatchOpen(): boolean {
    return this.#batch !== undefined;
  }

  /** Queue offset at which its first file begins. */
  get startOffset(): number {
    return this.#queue.minOffset / UNIT_SIZE;
  }

  load(lastExitOk = true): void {
    this.#queue.load(lastExitOk);
  }

  /** When the last file was modified, as `load` found it. */
  get lastModifiedMs(): number {
    return this.#queue.lastModifiedMs;
  }

  /**
   * Finds the end of the units (reference 5.2). When all of them are known to be durable by
   * halving; else by reading the last three files, and what lies behind the end is zeroed.
   */
  recover(isDurable: boolean): void {
    if (!isDurable) this.#queue.markTailUnsynced(RECOVER_FILES, 0);
    const end = findQueueEnd(this.#queue, isDurable);
    this.#queue.truncateNow(end, true);
    if (!isDurable) zeroStaleUnits(this.#queue);
    this.#minOffset = this.#queue.minOffset / UNIT_SIZE;
    this.#checkedMinPhyOffset = -1;
    this.#readMaxPhyOffset();
  }

  /**
   * Takes one unit; idempotent. `gap`: taken, but units between it and the one before are
   * missing (fillers stand there). `restarted`: a younger record has an older queue offset, so
   * the topic was deleted and made again: what the queue held before is gone. Throws
   * `FileError` and then has not taken it.
   */
  putMessagePosition(request: DispatchRequest): PutPosition {
    const { phyOffset, size } = request;
    if (phyOffset + size <= this.#maxPhyOffset) return "skipped";
    const position = request.queueOffset * UNIT_SIZE;
    let result: PutPosition = "put";
    if (position < this.#endPosition) {
      // An older record was skipped above: this one is younger, and the log's order is the truth.
      if (phyOffset < this.#maxPhyOffset) return "skipped";
      this.#restart();
      result = "restarted";
    }
    if (position > this.#endPosition) {
      if (this.#maxPhyOffset >= 0) result = "gap";
      this.#fillTo(position);
    }
    let batch = this.#batch;
    if (batch === undefined) batch = this.#batch = this.#shared.pool.take();
    else if (batch.isFull) this.#writeOut(batch);
    this.#shared.pool.add(batch, phyOffset, size, request.tagsCode);
    this.#maxPhyOffset = phyOffset + size;
    return result;
  }

  /** Hands the batch to the file system; throws `FileError` and keeps what was not written. */
  endBatch(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#writeOut(batch);
    this.#batch = undefined;
    this.#shared.pool.giveBack(batch);
  }

  /** The unit at `queueOffset`; undefined outside of [min of the files, max). */
  unit(queueOffset: number): ConsumeQueueUnit | undefined {
    if (this.readUnits(queueOffset, scratch) === 0) return undefined;
    return readConsumeQueueUnit(scratchView, 0);
  }

  /**
   * Copies units from `queueOffset` on into `target`; returns how many. May hold fillers
   * (`isFillerUnit`), which stand for records that this store does not have.
   */
  readUnits(queueOffset: number, target: Uint8Array): number {
    const { count, fromFile } = this.#countUnits(queueOffset, target.length);
    if (fromFile > 0) {
      this.#queue.readAt(
        queueOffset * UNIT_SIZE,
        target.subarray(0, fromFile * UNIT_SIZE),
      );
    }
    this.#copyBatch(queueOffset, count, fromFile, target);
    return count;
  }

  /** As `readUnits`, off the loop: for units that may have to come from the device. */
  async readUnitsAsync(
    queueOffset: number,
    target: Uint8Array,
  ): Promise<number> {
    const { count, fromFile } = this.#countUnits(queueOffset, target.length);
    // Before the await: the batch may be gone afterwards.
    this.#copyBatch(queueOffset, count, fromFile, target);
    if (fromFile > 0) {
      await this.#queue.readAtAsync(
        queueOffset * UNIT_SIZE,
        target.subarray(0, fromFile * UNIT_SIZE),
      );
    }
    return count;
  }

  /**
   * Moves the min offset to the first unit whose record is still there; when all are below
   * `minPhyOffset`, min = max (5.x).
   */
  #correctMinOffset(minPhyOffset: number): void {
    const fileMin = this.#queue.minOffset / UNIT_SIZE;
    if (this.#minOffset < fileMin) {
      this.#minOffset = fileMin;
    }
    if (this.#maxPhyOffset <= minPhyOffset) {
      this.#minOffset = this.maxOffsetInQueue;
      return;
    }
    const first = this.unit(this.#minOffset);
    const isThere = first !== undefined && !isFillerUnit(scratchView, 0) &&
      first.phyOffset >= minPhyOffset;
    if (isThere) return;
    this.#minOffset = firstUnitFrom(
      this,
      this.#minOffset,
      (phyOffset) => phyOffset >= minPhyOffset,
    );
  }

  /**
   * Cuts units of records at or beyond `phyOffset` (reference 5.6); `flush` has to follow.
   * Returns how many.
   */
  truncateDirty(phyOffset: number): number {
    if (this.#maxPhyOffset <= phyOffset) return 0;
    this.endBatch();
    const first = this.#queue.minOffset / UNIT_SIZE;
    const cut = firstUnitFrom(this, first, (it) => it >= phyOffset);
    const count = this.maxOffsetInQueue - cut;
    if (count === 0) return 0;
    // What is left is fillers: the queue may begin elsewhere next time.
    const isAllFiller = cut > first && isFillerAt(this, cut - 1) &&
      firstUnitFrom(this, first, () => true) >= cut;
    this.#queue.truncateAppended(isAllFiller ? -1 : cut * UNIT_SIZE);
    this.#minOffset = Math.min(this.#minOffset, this.maxOffsetInQueue);
    this.#checkedMinPhyOffset = -1;
    this.#readMaxPhyOffset();
    return count;
  }

  /** Removes the files whose records are all below `minPhyOffset`, never the last one. */
  async deleteExpiredFiles(minPhyOffset: number): Promise<number> {
    const files = this.#queue.files;
    let count = 0;
    while (count < files.length - 1) {
      files[count]!.readAt(this.#queue.mappedFileSize - UNIT_SIZE, scratch);
      if (unitPhyOffset(scratchView, 0) >= minPhyOffset) break;
      count += 1;
    }
    return count === 0 ? 0 : await this.#queue.deleteFirstFiles(count);
  }

  /** True when a file begins or ends with the unit of a record below `phyOffset`. */
  holdsUnitsBelow(phyOffset: number): boolean {
    return this.#queue.files.some((file) => {
      const first = file.fileFromOffset / UNIT_SIZE;
      const last = first + file.wrotePosition / UNIT_SIZE - 1;
      return [first, last].some((it) =>
        this.unit(it) !== undefined && !isFillerUnit(scratchView, 0) &&
        unitPhyOffset(scratchView, 0) < phyOffset
      );
    });
  }

  /** Its files: for whoever makes them durable. */
  get mappedFileQueue(): MappedFileQueue {
    return this.#queue;
  }

  /** Removes the queue from the disk; the flush of its files has to follow. */
  destroyNow(): void {
    this.#restart();
    this.#queue.destroyNow();
  }

  close(): void {
    this.#queue.close();
  }

  get #endPosition(): number {
    return this.#queue.maxOffset + (this.#batch?.size ?? 0);
  }

  #countUnits(
    queueOffset: number,
    targetSize: number,
  ): { count: number; fromFile: number } {
    const room = Math.floor(targetSize / UNIT_SIZE);
    const first = this.#queue.minOffset / UNIT_SIZE;
    const max = this.maxOffsetInQueue;
    if (queueOffset < first || queueOffset >= max) {
      return { count: 0, fromFile: 0 };
    }
    const count = Math.min(room, max - queueOffset);
    const inFile = this.#queue.maxOffset / UNIT_SIZE - queueOffset;
    return { count, fromFile: Math.max(0, Math.min(count, inFile)) };
  }

  #copyBatch(
    queueOffset: number,
    count: number,
    fromFile: number,
    target: Uint8Array,
  ): void {
    if (count === fromFile) return;
    const start = queueOffset + fromFile - this.#queue.maxOffset / UNIT_SIZE;
    target.set(
      this.#batch!.bytes.subarray(
        start * UNIT_SIZE,
        (start + count - fromFile) * UNIT_SIZE,
      ),
      fromFile * UNIT_SIZE,
    );
  }

  /** Writes the batch into the file, over file ends; what is written leaves the batch. */
  #writeOut(batch: UnitBatch): void {
    while (batch.size > 0) {
      const file = this.#queue.fileForAppend();
      const room = file.fileSize - file.wrotePosition;
      const size = Math.min(room, batch.size);
      zeroStaleBefore(file, file.wrotePosition + size);
      // A file that may hold stale units behind the end gets a zero unit as a fence.
      const needsFence = file.writtenEnd > file.wrotePosition + size &&
        room > size;
      file.append(
        needsFence && size === batch.size
          ? batch.withFence()
          : batch.bytes.subarray(0, size),
        size,
      );
      batch.removeFirst(size);
    }
  }

  /** Makes `position` the end of the queue; fillers stand for what is missing. */
  #fillTo(position: number): void {
    this.endBatch();
    const gap = position - this.#queue.maxOffset;
    const fileSize = this.#queue.mappedFileSize;
    if (this.#queue.files.length > 0 && gap > GAP_FILES_MAX * fileSize) {
      this.#queue.truncateNow(-1);
      this.#maxPhyOffset = -1;
    }
    const isFirst = this.#maxPhyOffset < 0;
    let file = this.#queue.fileForAppend(position);
    for (;;) {
      const start = file.fileFromOffset + file.wrotePosition;
      const size = Math.min(
        position - start,
        fileSize - file.wrotePosition,
        FILLER_WRITE_UNITS * UNIT_SIZE,
      );
      zeroStaleBefore(file, file.wrotePosition + size);
      if (size > 0) file.append(fillerUnits(size / UNIT_SIZE));
      if (start + size === position) break;
      file = this.#queue.fileForAppend();
    }
    if (isFirst) this.#minOffset = position / UNIT_SIZE;
  }

  #readMaxPhyOffset(): void {
    this.#maxPhyOffset = -1;
    const first = this.#queue.minOffset / UNIT_SIZE;
    for (let at = this.maxOffsetInQueue - 1; at >= first; at--) {
      const unit = this.unit(at);
      assert(unit !== undefined, "a unit inside the queue cannot be read");
      if (isFillerUnit(scratchView, 0)) continue;
      this.#maxPhyOffset = unit.phyOffset + unit.size;
      return;
    }
  }

  #restart(): void {
    this.#dropBatch();
    this.#queue.truncateNow(-1);
    this.#maxPhyOffset = -1;
    this.#minOffset = 0;
    this.#checkedMinPhyOffset = -1;
  }

  #dropBatch(): void {
    if (this.#batch === undefined) return;
    this.#batch.clear();
    this.#shared.pool.giveBack(this.#batch);
    this.#batch = undefined;
  }
}
