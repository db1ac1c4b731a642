/**
 * AckMessageProcessor: ACK_MESSAGE (200051), BATCH_ACK_MESSAGE (200151) and
 * CHANGE_MESSAGE_INVISIBLETIME (200053), reference 2.8.
 *
 * An acknowledgement whose message is not in flight any more is answered with success, as in
 * Apache: it was acknowledged, or is on its way to be consumed again. Its invisible time cannot be
 * changed, for then it would be consumed once more than that.
 */
import { shown } from "../../base/shown.ts";
import type { Clock } from "../../io/clock.ts";
import type { TopicConfig } from "../../model/topic_config.ts";
import {
  type BatchAck,
  decodeBatchAckMessageRequestBody,
} from "../../protocol/body/batch_ack_body.ts";
import {
  type AckMessageRequestHeader,
  type ChangeInvisibleTimeRequestHeader,
  decodeAckMessageRequestHeader,
  decodeChangeInvisibleTimeRequestHeader,
  encodeChangeInvisibleTimeResponseHeader,
} from "../../protocol/header/ack_message_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestContext } from "../../remoting/request_processor.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import { isStored, remarkOfPut, responseCodeOfPut } from "../put_response.ts";
import { type ExtraInfo, parseExtraInfo } from "./extra_info.ts";
import type { AckMsg } from "./pop_check_point.ts";
import { POP_ORDER_REVIVE_QUEUE, realTopicOf } from "./pop_names.ts";
import type { PopOrder } from "./pop_order.ts";
import type { PopReader } from "./pop_records.ts";
import { invisibleTimeError } from "./pop_request_check.ts";
import type { PopReviveLog } from "./pop_revive_log.ts";

/** What the processor needs of the broker. */
export interface AckMessagePorts {
  readonly log: PopReviveLog;
  readonly order: PopOrder;
  readonly reader: Pick<
    PopReader,
    "getMaxOffsetInQueue" | "getMinOffsetInQueue"
  >;
  readonly topics: {
    selectTopicConfig(topic: string): TopicConfig | undefined;
  };
  readonly clock: Clock;
  /** Queues of the revive log. */
  readonly reviveQueueNums: number;
}

/** Answers what consumers say of popped messages. */
export class AckMessageProcessor {
  readonly #ports: AckMessagePorts;
  /** Whatever is popped later than this is in the table. */
  readonly #startedMs: number;

  constructor(ports: AckMessagePorts) {
    this.#ports = ports;
    this.#startedMs = ports.clock.nowMs();
  }

  /** 200051. */
  readonly ack = async (
    _context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const header = decodeAckMessageRequestHeader(request.extFields);
    const handle = this.#check(header);
    if ("extFields" in handle) return handle;
    await this.#ports.log.load();
    if (handle.reviveQueueId === POP_ORDER_REVIVE_QUEUE) {
      return this.#ports.order.ack(header, handle.popTime);
    }
    return answerOf(
      await this.#put({
        ...identityOf(header, handle),
        offsets: [header.offset],
      }, handle),
    );
  };

  /** 200151. */
  readonly batchAck = async (
    _context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const { acks, brokerName } = decodeBatchAckMessageRequestBody(request.body);
    if (acks.length === 0) {
      return createResponse(
        ResponseCode.NO_MESSAGE,
        "acks of BatchAckMessageRequestBody is empty",
      );
    }
    await this.#ports.log.load();
    for (const it of acks) {
      const answer = await this.#ackBatch(it, brokerName);
      if (answer.code !== ResponseCode.SUCCESS) return answer;
    }
    return createResponse(ResponseCode.SUCCESS);
  };

  /** 200053. */
  readonly changeInvisibleTime = async (
    _context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const header = decodeChangeInvisibleTimeRequestHeader(request.extFields);
    const handle = this.#check(header);
    if ("extFields" in handle) return handle;
    const wrongTime = invisibleTimeError(header.invisibleTime);
    if (wrongTime !== undefined) {
      return createResponse(ResponseCode.INVALID_PARAMETER, wrongTime);
    }
    await this.#ports.log.load();
    return handle.reviveQueueId === POP_ORDER_REVIVE_QUEUE
      ? this.#ports.order.changeInvisibleTime(header, handle.popTime)
      : await this.#change(header, handle);
  };

  async #change(
    header: ChangeInvisibleTimeRequestHeader,
    handle: ExtraInfo,
  ): Promise<RemotingCommand> {
    const identity = identityOf(header, handle);
    const { invisibleTime, offset } = header;
    const { clock, log } = this.#ports;
    if (!log.table.isInFlight(identity, offset)) {
      return createResponse(
        ResponseCode.NO_MESSAGE,
        `the message at ${offset} of topic ${
          shown(header.topic)
        } queue ${header.queueId} is not in flight any more: it was acknowledged, or its invisible time is over`,
      );
    }
    // Another time than the old handle's: the two are told apart by it.
    const popTime = Math.max(clock.nowMs(), handle.popTime + 1);
    const put = await log.putCheckPoint(
      {
        ...identity,
        startOffset: offset,
        popTime,
        invisibleTime,
        offsets: [offset],
        bitMap: 0,
        rePutTimes: 0,
      },
      handle.reviveQueueId,
      () => {},
    );
    if (!isStored(put.status)) return answerOf(put);
    const ack = await this.#put({ ...identity, offsets: [offset] }, handle);
    if (ack !== null && !isStored(ack.status)) return answerOf(ack);
    return createResponse(
      ResponseCode.SUCCESS,
      null,
      encodeChangeInvisibleTimeResponseHeader({
        popTime,
        invisibleTime,
        reviveQid: handle.reviveQueueId,
      }),
    );
  }

  async #ackBatch(it: BatchAck, brokerName: string): Promise<RemotingCommand> {
    const { consumerGroup, popTime, queueId, reviveQueueId, startOffset } = it;
    const topic = realTopicOf(it.topic, consumerGroup, it.retry);
    if (topic === undefined) {
      return illegal(`r is ${shown(it.retry, 16)}, and must be 0, 1 or 2`);
    }
    if (!this.#isReviveQueue(reviveQueueId)) {
      return illegal(this.#wrongReviveQueue(reviveQueueId));
    }
    const { reader } = this.#ports;
    const min = reader.getMinOffsetInQueue(topic, queueId);
    const max = reader.getMaxOffsetInQueue(topic, queueId);
    const offsets = it.indexes.map((index) => startOffset + index)
      .filter((offset) => offset >= min && offset < max);
    if (reviveQueueId === POP_ORDER_REVIVE_QUEUE) {
      for (const offset of offsets) {
        this.#ports.order.ack(
          { consumerGroup, topic, queueId, offset },
          popTime,
        );
      }
      return createResponse(ResponseCode.SUCCESS);
    }
    const identity = {
      topic,
      group: consumerGroup,
      queueId,
      startOffset,
      popTime,
      brokerName,
    };
    return answerOf(await this.#put({ ...identity, offsets }, it));
  }

  /** Null when there is nothing to be written down. */
  async #put(
    ack: AckMsg,
    handle: Pick<ExtraInfo, "popTime" | "invisibleTime" | "reviveQueueId">,
  ): Promise<PutMessageResult | null> {
    const offsets = ack.offsets.filter((it) =>
      this.#mayBeInFlight(ack, it, handle)
    );
    if (offsets.length === 0) return null;
    return await this.#ports.log.putAck(
      { ...ack, offsets },
      handle.reviveQueueId,
      handle.popTime + handle.invisibleTime,
    );
  }

  /** A check point of an Apache master may still come out of its timers. */
  #mayBeInFlight(
    identity: Omit<AckMsg, "offsets">,
    offset: number,
    { invisibleTime, popTime }: Pick<ExtraInfo, "popTime" | "invisibleTime">,
  ): boolean {
    const { clock, log } = this.#ports;
    if (log.table.isInFlight(identity, offset)) return true;
    return popTime < this.#startedMs &&
      popTime + invisibleTime > clock.nowMs() &&
      !log.table.hasCheckPoint(identity);
  }

  #check(header: AckMessageRequestHeader): ExtraInfo | RemotingCommand {
    const { offset, queueId, topic } = header;
    const { reader, topics } = this.#ports;
    const config = topics.selectTopicConfig(topic);
    if (config === undefined) {
      return createResponse(
        ResponseCode.TOPIC_NOT_EXIST,
        `topic[${shown(topic)}] not exist, apply first please!`,
      );
    }
    if (queueId < 0 || queueId >= config.readQueueNums) {
      return illegal(
        `queueId[${queueId}] is illegal, topic:[${shown(topic)}] ` +
          `topicConfig.readQueueNums:[${config.readQueueNums}]`,
      );
    }
    const min = reader.getMinOffsetInQueue(topic, queueId);
    const max = reader.getMaxOffsetInQueue(topic, queueId);
    if (offset < min || offset >= max) {
      return createResponse(
        ResponseCode.NO_MESSAGE,
        `offset is illegal, key:${
          shown(topic)
        }@${queueId}, commit:${offset}, store:${min}~${max}`,
      );
    }
    const handle = parseExtraInfo(header.extraInfo);
    if (typeof handle === "string") return illegal(handle);
    return this.#isReviveQueue(handle.reviveQueueId)
      ? handle
      : illegal(this.#wrongReviveQueue(handle.reviveQueueId));
  }

  #isReviveQueue(queueId: number): boolean {
    return queueId === POP_ORDER_REVIVE_QUEUE ||
      (queueId >= 0 && queueId < this.#ports.reviveQueueNums);
  }

  #wrongReviveQueue(queueId: number): string {
    const last = this.#ports.reviveQueueNums - 1;
    return `reviveQid is ${queueId}, and must be 0 to ${last}, or ${POP_ORDER_REVIVE_QUEUE}`;
  }
}

function identityOf(
  { consumerGroup, queueId, topic }: AckMessageRequestHeader,
  { brokerName, popTime, startOffset }: ExtraInfo,
): Omit<AckMsg, "offsets"> {
  return {
    topic,
    group: consumerGroup,
    queueId,
    startOffset,
    popTime,
    brokerName,
  };
}

function illegal(remark: string): RemotingCommand {
  return createResponse(ResponseCode.MESSAGE_ILLEGAL, remark);
}

/** Whatever is in the log counts, also when a flush or a slave was late. */
function answerOf(result: PutMessageResult | null): RemotingCommand {
  if (result === null || isStored(result.status)) {
    return createResponse(ResponseCode.SUCCESS);
  }
  const { reason, status } = result;
  return createResponse(
    responseCodeOfPut(status),
    remarkOfPut(status, reason),
  );
}
