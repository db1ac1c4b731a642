/**
 * UnitSelection: which units of a queue one pull returns (reference 9.2, batch limits).
 *
 * Pure: units in, positions out. The first record is taken whatever its size.
 */
import {
  CONSUME_QUEUE_UNIT_SIZE,
  isFillerUnit,
  unitPhyOffset,
} from "./consume_queue_unit.ts";
import type { MessageFilter } from "./get_message_result.ts";
import type { MessageStoreOptions } from "./store_options.ts";

/** What bounds one pull. */
export interface SelectionLimits {
  readonly maxMsgNums: number;
  readonly maxMsgBytes: number;
  /** Records at or beyond it count as "in memory". */
  readonly inMemoryFrom: number;
  /** Start of the log: records below it are gone. */
  readonly minPhyOffset: number;
  readonly options: MessageStoreOptions;
}

/** The records chosen, in order. Reused from pull to pull: never kept. */
export class UnitSelection {
  readonly phyOffsets: number[] = [];
  readonly sizes: number[] = [];
  totalBytes = 0;
  /** Units looked at. */
  examinedCount = 0;
  /** Offset of the last record looked at; 0 when none. */
  lastPhyOffset = 0;
  /** Records that passed the filter and are gone. */
  removedCount = 0;

  get count(): number {
    return this.phyOffsets.length;
  }

  /** Chooses among the `unitCount` units in `view`. */
  select(
    view: DataView,
    unitCount: number,
    filter: MessageFilter | null,
    limits: SelectionLimits,
  ): void {
    this.phyOffsets.length = 0;
    this.sizes.length = 0;
    this.totalBytes = 0;
    this.lastPhyOffset = 0;
    this.removedCount = 0;
    let index = 0;
    for (; index < unitCount; index++) {
      const position = index * CONSUME_QUEUE_UNIT_SIZE;
      const phyOffset = unitPhyOffset(view, position);
      if (phyOffset < limits.minPhyOffset || isFillerUnit(view, position)) {
        this.removedCount++;
        continue;
      }
      const size = view.getInt32(position + 8);
      this.lastPhyOffset = phyOffset;
      if (this.#isFull(phyOffset, size, limits)) break;
      const tagsCodeLow = view.getInt32(position + 16);
      if (filter !== null && !filter.isMatchedByConsumeQueue(tagsCodeLow)) {
        continue;
      }
      this.phyOffsets.push(phyOffset);
      this.sizes.push(size);
      this.totalBytes += size;
    }
    this.examinedCount = index;
  }

  #isFull(phyOffset: number, size: number, limits: SelectionLimits): boolean {
    const { count, totalBytes } = this;
    if (count === 0) return false;
    if (count >= limits.maxMsgNums) return true;
    const total = totalBytes + size;
    if (total > limits.maxMsgBytes) return true;
    const { options } = limits;
    return phyOffset >= limits.inMemoryFrom
      ? total > options.maxTransferBytesOnMessageInMemory ||
        count >= options.maxTransferCountOnMessageInMemory
      : total > options.maxTransferBytesOnMessageInDisk ||
        count >= options.maxTransferCountOnMessageInDisk;
  }
}
