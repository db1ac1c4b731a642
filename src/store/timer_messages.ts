/**
 * TimerMessages: rmq_sys_wheel_timer as whoever delivers its messages reads it (reference 4.10).
 */
import type { ColdReader } from "./cold_reader.ts";
import type { CommitLog } from "./commit_log.ts";
import type { ConsumeQueue } from "./consume_queue.ts";
import type { ConsumeQueueStore } from "./consume_queue_store.ts";
import {
  CONSUME_QUEUE_UNIT_SIZE,
  isFillerUnit,
  unitPhyOffset,
} from "./consume_queue_unit.ts";
import type { RecordsRead } from "./record_reader.ts";
import { TIMER_QUEUE_ID, TIMER_TOPIC, type TimerTime } from "./timer_time.ts";

/** One unit of the topic's queue. */
export interface TimerUnit {
  readonly queueOffset: number;
  readonly phyOffset: number;
  /** Bytes of the record. */
  readonly size: number;
  /** Undefined until the record was read. */
  readonly time: TimerTime | undefined;
  /** The record was deleted with its file, or never came here. */
  readonly isGone: boolean;
}

/** Units so close to the end of the queue are taken to be in the page cache. */
const HOT_UNITS_MAX = 16_384;

/** The parts of the store that it reads. */
export interface TimerMessagesParts {
  readonly files: {
    readonly log: CommitLog;
    readonly queues: ConsumeQueueStore;
  };
  readonly reading: {
    readonly coldReader: ColdReader;
    readonly queryService: {
      getOffsetInQueueByTime(
        topic: string,
        queueId: number,
        timestampMs: number,
        boundary: "lower",
      ): Promise<number>;
    };
  };
  getMaxOffsetInQueue(
    topic: string,
    queueId: number,
    committed: boolean,
  ): number;
}

/** Which messages the queue holds: queue offsets, `max` is behind the last one to be seen. */
export interface TimerRange {
  readonly min: number;
  readonly max: number;
  /** End of what is in the log. */
  readonly maxInLog: number;
}

/** A record's place. */
export interface TimerPlace {
  readonly phyOffset: number;
  readonly size: number;
}

/** What it shares with the reader of delay levels. */
export interface TimerRecords {
  readonly fileReservedMs: number;
  readonly maxPhyOffset: number;
  readRecords(
    places: readonly TimerPlace[],
  ): RecordsRead | Promise<RecordsRead>;
  flush(): Promise<boolean>;
}

/** Reads timer messages. */
export class TimerMessages {
  constructor(
    private readonly parts: TimerMessagesParts,
    private readonly delayed: TimerRecords,
  ) {}

  /** Milliseconds that log files are kept, whatever they hold. */
  get fileReservedMs(): number {
    return this.delayed.fileReservedMs;
  }

  /** End of the log. */
  get maxPhyOffset(): number {
    return this.delayed.maxPhyOffset;
  }

  /** Queue offsets; undefined while there never was a message. */
  range(): TimerRange | undefined {
    const queue = this.#queue();
    return queue && {
      min: queue.minOffsetInQueue,
      max: queue.maxOffsetInQueue,
      maxInLog: this.parts.getMaxOffsetInQueue(
        TIMER_TOPIC,
        TIMER_QUEUE_ID,
        false,
      ),
    };
  }

  /**
   * At most `count` units from `queueOffset` on. Synchronous when they may be assumed to be in
   * the page cache. Throws, or rejects with, `FileError`.
   */
  readUnits(
    queueOffset: number,
    count: number,
  ): TimerUnit[] | Promise<TimerUnit[]> {
    const queue = this.#queue();
    if (queue === undefined) return [];
    const bytes = new Uint8Array(count * CONSUME_QUEUE_UNIT_SIZE);
    if (queue.maxOffsetInQueue - queueOffset <= HOT_UNITS_MAX) {
      return this.#decode(
        bytes,
        queueOffset,
        queue.readUnits(queueOffset, bytes),
      );
    }
    return this.#readColdUnits(queue, queueOffset, bytes);
  }

  /** As `DelayedMessages.readRecords`: places ascend. */
  readRecords(
    places: readonly TimerPlace[],
  ): RecordsRead | Promise<RecordsRead> {
    return this.delayed.readRecords(places);
  }

  /** Resolves with true once everything in the log now survives power loss. */
  flush(): Promise<boolean> {
    return this.delayed.flush();
  }

  /** Queue offset of the first message stored at `timestampMs` or later. */
  offsetByTime(timestampMs: number): Promise<number> {
    return this.parts.reading.queryService.getOffsetInQueueByTime(
      TIMER_TOPIC,
      TIMER_QUEUE_ID,
      timestampMs,
      "lower",
    );
  }

  async #readColdUnits(
    queue: ConsumeQueue,
    queueOffset: number,
    bytes: Uint8Array,
  ): Promise<TimerUnit[]> {
    let count = 0;
    await this.parts.reading.coldReader.read(async () => {
      // Asked now: the file may have been deleted while this read was in line.
      if (queueOffset < queue.minOffsetInQueue) return;
      count = await queue.readUnitsAsync(queueOffset, bytes);
    });
    return this.#decode(bytes, queueOffset, count);
  }

  #decode(bytes: Uint8Array, first: number, count: number): TimerUnit[] {
    const view = new DataView(bytes.buffer);
    const { minOffset } = this.parts.files.log;
    return Array.from({ length: count }, (_, index) => {
      const position = index * CONSUME_QUEUE_UNIT_SIZE;
      const phyOffset = unitPhyOffset(view, position);
      return {
        queueOffset: first + index,
        phyOffset,
        size: view.getInt32(position + 8),
        time: undefined,
        isGone: phyOffset < minOffset || isFillerUnit(view, position),
      };
    });
  }

  #queue(): ConsumeQueue | undefined {
    return this.parts.files.queues.get(TIMER_TOPIC, TIMER_QUEUE_ID);
  }
}
