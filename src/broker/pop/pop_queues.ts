/**
 * PopQueues: takes messages of one queue for a group, and writes down that it has them.
 *
 * Invariants
 * - At most one request takes from a queue for a group at a time.
 * - The group's position moves on in the turn in which the check point is in the log; nothing is
 *   given without one, but in order, where the position stays until messages are acknowledged.
 */
import type { Clock } from "../../io/clock.ts";
import type {
  GetMessageResult,
  MessageFilter,
} from "../../store/get_message_result.ts";
import type { PopMessageRequestHeader } from "../../protocol/header/pop_message_header.ts";
import { isStored, remarkOfPut, responseCodeOfPut } from "../put_response.ts";
import type { ConsumerOrderInfoManager } from "./consumer_order_info_manager.ts";
import { orderCountInfo } from "./extra_info.ts";
import type { PopOptions } from "./pop_options.ts";
import type { PopPosition } from "./pop_position.ts";
import { type PopReader, positionsOf } from "./pop_records.ts";
import type { PopRefusal } from "./pop_request_check.ts";
import type { PopReviveLog } from "./pop_revive_log.ts";

/** What one queue gave. */
export interface PopTake {
  readonly topic: string;
  readonly queueId: number;
  readonly startOffset: number;
  readonly offsets: readonly number[];
  /** Whole records back to back, owned. */
  readonly body: Uint8Array;
  /** Popped in order. */
  readonly orderCounts: string | undefined;
}

/** One request, while it goes from queue to queue. */
export interface PopWork {
  readonly header: PopMessageRequestHeader;
  readonly filter: MessageFilter | null;
  readonly popTime: number;
  readonly reviveQueueId: number;
  readonly takes: PopTake[];
  /** Messages that may still be taken. */
  left: number;
  /** Messages that the group could have beside these. */
  restNum: number;
  /** Why a queue gave nothing. */
  failure: PopRefusal | null;
}

/** What it needs. */
export interface PopQueuesPorts {
  readonly reader: PopReader;
  readonly log: PopReviveLog;
  readonly position: PopPosition;
  readonly orderInfo: ConsumerOrderInfoManager;
  readonly clock: Clock;
  readonly brokerName: string;
  readonly stats: {
    onGet(
      topic: string,
      group: string,
      queueId: number,
      nums: number,
      bytes: number,
      elapsedMs: number,
    ): void;
  };
  /** A queue that turned requests away is free again. */
  onFreed(topic: string, group: string, queueId: number): void;
}

/** Takes from queues. */
export class PopQueues {
  readonly #ports: PopQueuesPorts;
  readonly #options: () => PopOptions;
  /** Queues being read; true: somebody was turned away. */
  readonly #locks = new Map<string, boolean>();

  constructor(ports: PopQueuesPorts, options: () => PopOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** True while a request takes from that queue. */
  isLocked(topic: string, group: string, queueId: number): boolean {
    return this.#locks.has(keyOf(topic, group, queueId));
  }

  /** False while the group must not have more of that queue. */
  isOpen(
    topic: string,
    { attemptId, consumerGroup, order }: {
      readonly consumerGroup: string;
      readonly order: boolean;
      readonly attemptId: string | undefined;
    },
    queueId: number,
  ): boolean {
    if (order) {
      return !this.#ports.orderInfo.checkBlock(
        attemptId,
        topic,
        consumerGroup,
        queueId,
      );
    }
    const { enablePopMessageThreshold, popInflightMessageThreshold } = this
      .#options();
    return !enablePopMessageThreshold ||
      this.#ports.log.table.inFlight(topic, consumerGroup, queueId) <
        popInflightMessageThreshold;
  }

  /** Rejects with `FileError`. */
  async pop(work: PopWork, topic: string, queueId: number): Promise<void> {
    const { consumerGroup, initMode, order } = work.header;
    const { position } = this.#ports;
    const key = keyOf(topic, consumerGroup, queueId);
    if (this.#locks.has(key)) {
      this.#locks.set(key, true);
      return;
    }
    const isOpen = this.isOpen(topic, work.header, queueId);
    if (!isOpen && order) return;
    const offset = position.take(topic, consumerGroup, queueId, initMode);
    if (!isOpen || work.left <= 0) {
      if (isOpen) work.restNum += position.rest(topic, queueId, offset);
      return;
    }
    this.#locks.set(key, false);
    try {
      await this.#popLocked(work, topic, queueId, offset);
    } finally {
      const isWanted = this.#locks.get(key);
      this.#locks.delete(key);
      if (isWanted) this.#ports.onFreed(topic, consumerGroup, queueId);
    }
  }

  async #popLocked(
    work: PopWork,
    topic: string,
    queueId: number,
    from: number,
  ): Promise<void> {
    const { consumerGroup } = work.header;
    const { position, reader } = this.#ports;
    const read = (offset: number) =>
      reader.getMessage({
        topic,
        queueId,
        offset,
        maxMsgNums: work.left,
        filter: work.filter,
      });
    let startOffset = from;
    let result = await read(startOffset);
    if (isMisplaced(result)) {
      startOffset = result.nextBeginOffset;
      position.commit(topic, consumerGroup, queueId, startOffset);
      result = await read(startOffset);
    }
    if (result.status === "FOUND") {
      await this.#found(work, topic, queueId, startOffset, result);
    } else if (result.nextBeginOffset > startOffset && isPassedOver(result)) {
      position.commit(topic, consumerGroup, queueId, result.nextBeginOffset);
    }
    work.restNum += Math.max(0, result.maxOffset - result.nextBeginOffset);
  }

  async #found(
    work: PopWork,
    topic: string,
    queueId: number,
    startOffset: number,
    result: GetMessageResult,
  ): Promise<void> {
    const { consumerGroup, order } = work.header;
    const startedMs = this.#ports.clock.monotonicMs();
    const body = result.body.slice();
    result.release();
    const offsets = [...positionsOf(body)].map(([, , offset]) => offset);
    let orderCounts: string | undefined;
    if (order) {
      orderCounts = this.#takeInOrder(work, topic, queueId, offsets);
      this.#ports.position.commit(topic, consumerGroup, queueId, startOffset);
    } else if (
      !await this.#checkPoint(
        work,
        topic,
        queueId,
        startOffset,
        offsets,
        result.nextBeginOffset,
      )
    ) return;
    work.left -= offsets.length;
    work.takes.push({
      topic,
      queueId,
      startOffset,
      offsets,
      body,
      orderCounts,
    });
    const { clock, stats } = this.#ports;
    const elapsedMs = Math.floor(clock.monotonicMs() - startedMs);
    stats.onGet(
      topic,
      consumerGroup,
      queueId,
      offsets.length,
      body.length,
      elapsedMs,
    );
  }

  #takeInOrder(
    { header, popTime }: PopWork,
    topic: string,
    queueId: number,
    offsets: readonly number[],
  ): string {
    const { attemptId, consumerGroup, invisibleTime } = header;
    const { consumedCounts } = this.#ports.orderInfo.update(
      topic,
      consumerGroup,
      queueId,
      { attemptId, popTime, invisibleTime, offsets },
    );
    const least = consumedCounts.size < offsets.length
      ? 0
      : Math.min(...consumedCounts.values());
    return orderCountInfo(topic, queueId, consumedCounts, least);
  }

  /** False when it could not be stored. */
  async #checkPoint(
    work: PopWork,
    topic: string,
    queueId: number,
    startOffset: number,
    offsets: readonly number[],
    nextOffset: number,
  ): Promise<boolean> {
    const { brokerName, log, position } = this.#ports;
    const { consumerGroup: group, invisibleTime } = work.header;
    const { status, reason } = await log.putCheckPoint(
      {
        topic,
        group,
        queueId,
        startOffset,
        popTime: work.popTime,
        invisibleTime,
        brokerName,
        offsets,
        bitMap: 0,
        rePutTimes: 0,
      },
      work.reviveQueueId,
      () => position.commit(topic, group, queueId, nextOffset),
    );
    if (isStored(status)) return true;
    work.failure ??= {
      code: responseCodeOfPut(status),
      remark: `Nothing is popped while it cannot be written down: ${
        remarkOfPut(status, reason)
      }`,
    };
    return false;
  }
}

function keyOf(topic: string, group: string, queueId: number): string {
  return `${topic}@${group}@${queueId}`;
}

/** The position lies outside of the queue, or where its records are gone. */
function isMisplaced({ status }: GetMessageResult): boolean {
  return status === "OFFSET_TOO_SMALL" || status === "OFFSET_OVERFLOW_BADLY" ||
    status === "OFFSET_FOUND_NULL";
}

/** Nothing there was for the group. */
function isPassedOver({ status }: GetMessageResult): boolean {
  return status === "NO_MATCHED_MESSAGE" || status === "OFFSET_FOUND_NULL" ||
    status === "MESSAGE_WAS_REMOVING";
}
