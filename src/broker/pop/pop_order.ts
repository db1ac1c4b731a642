/** PopOrder: what consumers say of messages that were popped in order (reference 2.8). */
import { shown } from "../../base/shown.ts";
import type { Clock } from "../../io/clock.ts";
import type {
  AckMessageRequestHeader,
  ChangeInvisibleTimeRequestHeader,
} from "../../protocol/header/ack_message_header.ts";
import { encodeChangeInvisibleTimeResponseHeader } from "../../protocol/header/ack_message_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { ConsumerOrderInfoManager } from "./consumer_order_info_manager.ts";
import { POP_ORDER_REVIVE_QUEUE } from "./pop_names.ts";
import type { PopPosition } from "./pop_position.ts";
import type { PopOffsets } from "./pop_revive_log.ts";

/** What it needs. */
export interface PopOrderPorts {
  readonly orderInfo: ConsumerOrderInfoManager;
  readonly offsets: PopOffsets;
  readonly position: PopPosition;
  readonly clock: Clock;
  /** The queue may give the next messages. */
  onFreed(topic: string, group: string, queueId: number): void;
}

/** Settles messages of ordered batches. */
export class PopOrder {
  readonly #ports: PopOrderPorts;

  constructor(ports: PopOrderPorts) {
    this.#ports = ports;
  }

  /** One message was consumed; what lies behind the group already counts as that. */
  ack(
    { consumerGroup, offset, queueId, topic }: Omit<
      AckMessageRequestHeader,
      "extraInfo"
    >,
    popTime: number,
  ): RemotingCommand {
    const { offsets, onFreed, orderInfo, position } = this.#ports;
    const done = offsets.queryOffset(consumerGroup, topic, queueId);
    if (offset < done) return createResponse(ResponseCode.SUCCESS);
    const next = orderInfo.commitAndNext(
      topic,
      consumerGroup,
      queueId,
      offset,
      popTime,
    );
    if (next.kind === "unknown") {
      return createResponse(
        ResponseCode.MESSAGE_ILLEGAL,
        `offset is illegal, key:${shown(topic)}@${
          shown(consumerGroup)
        }@${queueId}, old:${done}, commit:${offset}: the batch that was popped last does not have it`,
      );
    }
    if (next.kind === "commit") {
      position.commit(topic, consumerGroup, queueId, next.offset);
      const isBlocked = orderInfo.checkBlock(
        undefined,
        topic,
        consumerGroup,
        queueId,
      );
      if (!isBlocked) onFreed(topic, consumerGroup, queueId);
    }
    return createResponse(ResponseCode.SUCCESS);
  }

  /** One message is visible again then, and until then its queue gives nothing. */
  changeInvisibleTime(
    { consumerGroup, invisibleTime, offset, queueId, topic }:
      ChangeInvisibleTimeRequestHeader,
    popTime: number,
  ): RemotingCommand {
    const { clock, offsets, orderInfo } = this.#ports;
    const visibleMs = clock.nowMs() + invisibleTime;
    const isChanged =
      offset >= offsets.queryOffset(consumerGroup, topic, queueId) &&
      orderInfo.updateNextVisibleTime(
        topic,
        consumerGroup,
        queueId,
        offset,
        popTime,
        visibleMs,
      );
    if (!isChanged) {
      return createResponse(
        ResponseCode.NO_MESSAGE,
        `the message at ${offset} of topic ${
          shown(topic)
        } queue ${queueId} is not in flight any more: it was acknowledged, or popped anew`,
      );
    }
    return createResponse(
      ResponseCode.SUCCESS,
      null,
      encodeChangeInvisibleTimeResponseHeader({
        popTime,
        invisibleTime: visibleMs - popTime,
        reviveQid: POP_ORDER_REVIVE_QUEUE,
      }),
    );
  }
}
