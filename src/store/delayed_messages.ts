/**
 * DelayedMessages: SCHEDULE_TOPIC_XXXX as whoever delivers its messages reads it (reference 4.9).
 *
 * Level n is queue n-1. The tags code of a unit is the wall-clock millisecond from which its
 * record is due.
 */
import type { Clock } from "../io/clock.ts";
import type { ColdReader } from "./cold_reader.ts";
import type { CommitLog } from "./commit_log.ts";
import type { ConsumeQueue } from "./consume_queue.ts";
import type { ConsumeQueueStore } from "./consume_queue_store.ts";
import {
  CONSUME_QUEUE_UNIT_SIZE,
  isFillerUnit,
  unitPhyOffset,
} from "./consume_queue_unit.ts";
import { type DelayLevelTable, SCHEDULE_TOPIC } from "./delay_level_table.ts";
import type { GroupCommitService } from "./group_commit_service.ts";
import type { RecordReader, RecordsRead } from "./record_reader.ts";
import {
  TimerMessages,
  type TimerMessagesParts,
  type TimerPlace,
} from "./timer_messages.ts";

/** One unit of a level's queue. */
export interface DelayedUnit {
  readonly phyOffset: number;
  /** Bytes of the record. */
  readonly size: number;
  /** Wall clock, milliseconds; 0 when the unit holds no time. */
  readonly deliverTimestamp: number;
  /** The record was deleted with its file, or never came here. */
  readonly isGone: boolean;
}

/** Which messages a queue holds: queue offsets, `max` is behind the last one. */
export interface DelayedRange {
  readonly min: number;
  /** End of what may be delivered. */
  readonly max: number;
  /** End of what is in the log: from `max` on it is not visible yet. */
  readonly maxInLog: number;
}

/** Units whose records end so close to the end of the log are taken to be in the page cache. */
const HOT_UNITS_MAX = 16_384;
/** The parts of the store that it reads. */
export interface DelayedMessagesParts {
  readonly options: {
    readonly fileReservedTime: number;
    readonly syncFlushTimeout: number;
  };
  readonly delayLevels: DelayLevelTable;
  readonly files: {
    readonly log: CommitLog;
    readonly queues: ConsumeQueueStore;
  };
  readonly reading: TimerMessagesParts["reading"] & {
    readonly reader: RecordReader;
    readonly coldReader: ColdReader;
  };
  readonly flushing: { readonly groupCommit: GroupCommitService };
  getMaxOffsetInQueue(
    topic: string,
    queueId: number,
    committed: boolean,
  ): number;
}

/** Reads what is delayed. */
export class DelayedMessages {
  /** Those of timers. */
  readonly timers: TimerMessages;

  constructor(
    private readonly parts: DelayedMessagesParts,
    private readonly clock: Clock,
  ) {
    this.timers = new TimerMessages(parts, this);
  }

  /** messageDelayLevel. */
  get delayLevels(): DelayLevelTable {
    return this.parts.delayLevels;
  }

  /** Milliseconds that log files are kept, whatever they hold. */
  get fileReservedMs(): number {
    return this.parts.options.fileReservedTime * 3_600_000;
  }

  /** The levels that ever had a message, also those that messageDelayLevel does not know now. */
  levels(): number[] {
    return this.parts.files.queues.queueIds(SCHEDULE_TOPIC).map((it) => it + 1);
  }

  /** Undefined while the level never had a message. */
  range(level: number): DelayedRange | undefined {
    const queue = this.#queue(level);
    return queue === undefined ? undefined : {
      min: queue.minOffsetInQueue,
      max: queue.maxOffsetInQueue,
      maxInLog: this.parts.getMaxOffsetInQueue(
        SCHEDULE_TOPIC,
        level - 1,
        false,
      ),
    };
  }

  /**
   * At most `count` units from `queueOffset` on; empty when there are none. Synchronous when they
   * may be assumed to be in the page cache. Throws, or rejects with, `FileError`.
   */
  readUnits(
    level: number,
    queueOffset: number,
    count: number,
  ): DelayedUnit[] | Promise<DelayedUnit[]> {
    const queue = this.#queue(level);
    if (queue === undefined) return [];
    const bytes = new Uint8Array(count * CONSUME_QUEUE_UNIT_SIZE);
    if (queue.maxOffsetInQueue - queueOffset <= HOT_UNITS_MAX) {
      return this.#decode(bytes, queue.readUnits(queueOffset, bytes));
    }
    return this.#readColdUnits(queue, queueOffset, bytes);
  }

  /**
   * The records of `units`, back to back; those that are gone are left out. Synchronous when all
   * are hot. Throws, or rejects with, `FileError`.
   */
  readRecords(
    units: readonly TimerPlace[],
  ): RecordsRead | Promise<RecordsRead> {
    const { reader } = this.parts.reading;
    const places = {
      phyOffsets: units.map((it) => it.phyOffset),
      sizes: units.map((it) => it.size),
      totalBytes: units.reduce((sum, it) => sum + it.size, 0),
    };
    return units.length === 0 || reader.isHot(units[0]!.phyOffset)
      ? reader.read(places)
      : reader.readCold(places);
  }

  /** End of the log. */
  get maxPhyOffset(): number {
    return this.parts.files.log.maxOffset;
  }

  /** Resolves with true once everything in the log now survives power loss; false: it may not. */
  async flush(): Promise<boolean> {
    const { files: { log }, flushing, options } = this.parts;
    const { maxOffset } = log;
    if (log.flushedOffset >= maxOffset) return true;
    const status = await flushing.groupCommit.request(
      maxOffset,
      this.clock.monotonicMs() + options.syncFlushTimeout,
    );
    return status === "PUT_OK";
  }

  async #readColdUnits(
    queue: ConsumeQueue,
    queueOffset: number,
    bytes: Uint8Array,
  ): Promise<DelayedUnit[]> {
    let count = 0;
    await this.parts.reading.coldReader.read(async () => {
      // Asked now: the file may have been deleted while this read was in line.
      if (queueOffset < queue.minOffsetInQueue) return;
      count = await queue.readUnitsAsync(queueOffset, bytes);
    });
    return this.#decode(bytes, count);
  }

  #decode(bytes: Uint8Array, count: number): DelayedUnit[] {
    const view = new DataView(bytes.buffer);
    const { minOffset } = this.parts.files.log;
    return Array.from({ length: count }, (_, index) => {
      const position = index * CONSUME_QUEUE_UNIT_SIZE;
      const phyOffset = unitPhyOffset(view, position);
      return {
        phyOffset,
        size: view.getInt32(position + 8),
        // As offsets are: whatever is not safe is garbage.
        deliverTimestamp: Math.max(0, unitPhyOffset(view, position + 12)),
        isGone: phyOffset < minOffset || isFillerUnit(view, position),
      };
    });
  }

  #queue(level: number): ConsumeQueue | undefined {
    return this.parts.files.queues.get(SCHEDULE_TOPIC, level - 1);
  }
}
