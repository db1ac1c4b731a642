/** PopPosition: where a group stands in a queue that it pops, and whether there is more. */
import { isRetryTopic } from "../../model/topic_names.ts";
import type { ResetOffsets } from "../reset_offsets.ts";
import type { ConsumerOrderInfoManager } from "./consumer_order_info_manager.ts";
import type { PopOptions } from "./pop_options.ts";
import type { PopReader } from "./pop_records.ts";
import type { PopOffsets } from "./pop_revive_log.ts";

/** What it needs. */
export interface PopPositionPorts {
  readonly reader: Pick<
    PopReader,
    "getMaxOffsetInQueue" | "getMinOffsetInQueue"
  >;
  /** True when the record at that place is in memory. */
  isInMemory(topic: string, queueId: number, queueOffset: number): boolean;
  readonly offsets: PopOffsets;
  readonly resetOffsets: ResetOffsets;
  readonly orderInfo: ConsumerOrderInfoManager;
}

/** Begin at the oldest message. */
const INIT_MODE_MIN = 0;
const HOST = "127.0.0.1";

/** Positions of one broker. */
export class PopPosition {
  readonly #ports: PopPositionPorts;
  readonly #options: () => PopOptions;

  constructor(ports: PopPositionPorts, options: () => PopOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** The next queue offset of the group, which has a position from now on. */
  take(
    topic: string,
    group: string,
    queueId: number,
    initMode: number,
  ): number {
    const { offsets, orderInfo, resetOffsets } = this.#ports;
    const reset = resetOffsets.take(group, topic, queueId);
    if (reset !== undefined) {
      orderInfo.clearBlock(topic, group, queueId);
      this.commit(topic, group, queueId, reset.offset);
      return reset.offset;
    }
    const stored = offsets.queryOffset(group, topic, queueId);
    if (stored >= 0) return stored;
    const first = this.#first(topic, queueId, initMode);
    this.commit(topic, group, queueId, first);
    return first;
  }

  /** Stores a position, unless an administrator has set another one meanwhile. */
  commit(topic: string, group: string, queueId: number, offset: number): void {
    const { offsets, resetOffsets } = this.#ports;
    if (resetOffsets.has(group, topic, queueId)) return;
    offsets.commitOffset(HOST, group, topic, queueId, offset);
  }

  /** Messages behind `offset`. */
  rest(topic: string, queueId: number, offset: number): number {
    const { reader } = this.#ports;
    return Math.max(0, reader.getMaxOffsetInQueue(topic, queueId) - offset);
  }

  /** True when a queue has messages that the group has not popped. */
  hasMore(topic: string, group: string, queueId: number): boolean {
    const { offsets, reader, resetOffsets } = this.#ports;
    if (resetOffsets.has(group, topic, queueId)) return true;
    const stored = offsets.queryOffset(group, topic, queueId);
    const next = stored >= 0
      ? stored
      : reader.getMinOffsetInQueue(topic, queueId);
    return reader.getMaxOffsetInQueue(topic, queueId) > next;
  }

  #first(topic: string, queueId: number, initMode: number): number {
    const { isInMemory, reader } = this.#ports;
    const min = reader.getMinOffsetInQueue(topic, queueId);
    if (initMode === INIT_MODE_MIN || isRetryTopic(topic)) return min;
    const isWhole = min <= 0 && this.#options().initPopOffsetByCheckMsgInMem &&
      isInMemory(topic, queueId, 0);
    // Apache begins with the newest message, not behind it.
    return isWhole
      ? 0
      : Math.max(0, reader.getMaxOffsetInQueue(topic, queueId) - 1);
  }
}
