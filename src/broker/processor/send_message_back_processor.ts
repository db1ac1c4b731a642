/**
 * SendMessageBackProcessor: CONSUMER_SEND_MSG_BACK (36), reference 11.6.
 *
 * A message that has been retried enough, or that its consumer gives up, goes to
 * `%DLQ%group`. Any other would have to wait for its next delivery, and this
 * version keeps no delayed messages: it is refused. Stock clients then try to
 * send it to `%RETRY%group` with a delay, which is refused as well unless the
 * retries are used up (then `SendMessageProcessor` stores it as a dead letter),
 * and so they keep the message and consume it again after 5 s. Nothing is lost,
 * nothing is dead-lettered early; only the delays are not RocketMQ's.
 */
import { shown } from "../../base/shown.ts";
import type { Clock } from "../../io/clock.ts";
import { encodeMessageId } from "../../model/message_id.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../model/message_ext.ts";
import {
  decodeProperties,
  encodeProperties,
  MessageConst,
} from "../../model/message_properties.ts";
import { decodeMessageRecord } from "../../model/message_record.ts";
import { MessageSysFlag } from "../../model/message_sys_flag.ts";
import type { SocketAddress } from "../../model/socket_address.ts";
import { PermName } from "../../model/topic_config.ts";
import { javaHashCode } from "../../base/java_hash.ts";
import {
  type ConsumerSendMsgBackRequestHeader,
  decodeConsumerSendMsgBackRequestHeader,
} from "../../protocol/header/consumer_send_msg_back_request_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestContext } from "../../remoting/request_processor.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import { remarkOfPut, responseCodeOfPut } from "../put_response.ts";
import {
  MAX_RECONSUME_TIMES_VERSION,
  SendTopics,
  type SendTopicsOptions,
  type SendTopicsPorts,
} from "../send_topics.ts";

/** What the processor needs of the broker. */
export interface SendMessageBackPorts extends SendTopicsPorts {
  readonly store: {
    putMessage(
      message: MessageExtBrokerInner,
    ): PutMessageResult | Promise<PutMessageResult>;
    selectOneMessageByOffset(
      phyOffset: number,
    ): Promise<Uint8Array | undefined>;
  };
  readonly clock: Clock;
  readonly storeHost: SocketAddress;
  readonly stats: {
    onSendBack(topic: string, group: string): void;
    onDeadLetter(topic: string, group: string): void;
    onSendToDlq(topic: string, group: string): void;
  };
}

/** Answers 36. */
export class SendMessageBackProcessor {
  readonly #ports: SendMessageBackPorts;
  readonly #topics: SendTopics;
  #options: SendTopicsOptions;

  constructor(ports: SendMessageBackPorts, options: SendTopicsOptions) {
    this.#ports = ports;
    this.#topics = new SendTopics(ports, options);
    this.#options = options;
  }

  reconfigure(options: SendTopicsOptions): void {
    this.#options = options;
    this.#topics.reconfigure(options);
  }

  readonly process = async (
    _context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const header = decodeConsumerSendMsgBackRequestHeader(request.extFields);
    const { group } = header;
    const config = this.#ports.groups.findSubscriptionGroupConfig(group);
    if (config === undefined) {
      return createResponse(
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        `subscription group not exist, ${shown(group)}`,
      );
    }
    if ((this.#options.brokerPermission & PermName.WRITE) === 0) {
      return createResponse(
        ResponseCode.NO_PERMISSION,
        `the broker[${this.#options.brokerIP1}] sending message is forbidden`,
      );
    }
    if (config.retryQueueNums <= 0) return createResponse(ResponseCode.SUCCESS);
    const record = await this.#ports.store.selectOneMessageByOffset(
      header.offset,
    );
    if (record === undefined) {
      return createResponse(
        ResponseCode.SYSTEM_ERROR,
        `look message by offset failed, ${header.offset}`,
      );
    }
    const message = decodeMessageRecord(record);
    const own = request.version >= MAX_RECONSUME_TIMES_VERSION
      ? header.maxReconsumeTimes
      : undefined;
    const max = own ?? config.retryMaxTimes;
    if (message.reconsumeTimes < max && header.delayLevel >= 0) {
      return createResponse(
        ResponseCode.MESSAGE_ILLEGAL,
        "this version does not support delayed messages: the client keeps the " +
          "message and consumes it again itself",
      );
    }
    return await this.#bury(header, message);
  };

  async #bury(
    header: ConsumerSendMsgBackRequestHeader,
    message: MessageExt,
  ): Promise<RemotingCommand> {
    const { stats } = this.#ports;
    const originTopic = header.originTopic ?? message.topic;
    stats.onSendToDlq(originTopic, header.group);
    const topicConfig = this.#topics.deadLetterTopic(header.group);
    if ("code" in topicConfig) {
      return createResponse(topicConfig.code, topicConfig.remark);
    }
    const { storeHost } = this.#ports;
    const properties = decodeProperties(message.propertiesText);
    if (!properties.has(MessageConst.RETRY_TOPIC)) {
      properties.set(MessageConst.RETRY_TOPIC, message.topic);
    }
    if (!properties.has(MessageConst.ORIGIN_MESSAGE_ID)) {
      properties.set(
        MessageConst.ORIGIN_MESSAGE_ID,
        encodeMessageId(message.storeHost, message.phyOffset),
      );
    }
    properties.delete(MessageConst.DELAY);
    const tags = properties.get(MessageConst.TAGS);
    const kept = message.sysFlag & ~MessageSysFlag.STOREHOSTADDRESS_V6;
    const result = await this.#ports.store.putMessage({
      topic: topicConfig.topicName,
      queueId: 0,
      flag: message.flag,
      sysFlag: storeHost.address.length === 4
        ? kept
        : kept | MessageSysFlag.STOREHOSTADDRESS_V6,
      body: message.body,
      bornTimestamp: message.bornTimestamp,
      bornHost: message.bornHost,
      storeHost,
      reconsumeTimes: message.reconsumeTimes + 1,
      preparedTransactionOffset: 0,
      propertiesText: encodeProperties(properties),
      tagsCode: tags === undefined ? 0 : javaHashCode(tags),
      waitStoreMsgOk: true,
    });
    if (result.status !== "PUT_OK") {
      return createResponse(
        responseCodeOfPut(result.status),
        remarkOfPut(result.status, result.reason),
      );
    }
    const origin = properties.get(MessageConst.RETRY_TOPIC) ?? message.topic;
    stats.onSendBack(origin, header.group);
    stats.onDeadLetter(originTopic, header.group);
    return createResponse(ResponseCode.SUCCESS);
  }
}
