/** TopicPutStats: everything that is counted of the sends to one topic. */
import { Histogram } from "../base/histogram.ts";
import { StatsItem } from "./stats_item.ts";

/** What a message is for, in the words of the label `message_type`. */
export const MESSAGE_TYPES = [
  "normal",
  "fifo",
  "delay",
  "transaction",
] as const;

/** One of them. */
export type MessageType = typeof MESSAGE_TYPES[number];

/** Who counts sends. */
export interface SendStats {
  onPut(
    topic: string,
    queueId: number,
    type: MessageType,
    nums: number,
    bytes: number,
    elapsedMs: number,
  ): void;
  onSendToDlq(topic: string, group: string): void;
}

/** Bytes of a record; those of RocketMQ's rocketmq_message_size. */
const SIZE_BOUNDS = Float64Array.of(
  1024,
  4 * 1024,
  512 * 1024,
  1024 * 1024,
  2 * 1024 * 1024,
  4 * 1024 * 1024,
);

/** Messages of one type. */
export class MessageTraffic {
  nums = 0;
  bytes = 0;
  /** Bytes of one record, once a send. */
  readonly sizes = new Histogram(SIZE_BOUNDS);
}

/** One topic. */
export class TopicPutStats {
  readonly item: StatsItem;
  /** Milliseconds that puts took, by queue. */
  readonly latencies: StatsItem[] = [];
  readonly #traffic: Partial<Record<MessageType, MessageTraffic>> = {};

  constructor(
    readonly topic: string,
    readonly isSystem: boolean,
    monotonicMs: number,
  ) {
    this.item = new StatsItem(monotonicMs);
  }

  /** Of the types that were sent. */
  get traffic(): Readonly<Partial<Record<MessageType, MessageTraffic>>> {
    return this.#traffic;
  }

  /** A send stored `nums` messages of one type. */
  add(type: MessageType, nums: number, bytes: number): void {
    this.item.add(nums, bytes);
    const traffic = this.#traffic[type] ??= new MessageTraffic();
    traffic.nums += nums;
    traffic.bytes += bytes;
    traffic.sizes.add(nums === 1 ? bytes : Math.floor(bytes / nums));
  }
}
