/**
 * SendMessageBackProcessor: CONSUMER_SEND_MSG_BACK (36), reference 11.6.
 *
 * A message that its consumer could not consume goes to `%RETRY%group` after a
 * delay, by way of SCHEDULE_TOPIC_XXXX; one that has been retried enough, or
 * that its consumer gives up, goes to `%DLQ%group`.
 *
 * Unlike Apache's broker this one waits for disk and slaves before it answers:
 * the consumer's position moves on with the answer. Whatever is in the log then
 * counts as sent back, for a client that hears anything else sends it again.
 */
import { shown } from "../../base/shown.ts";
import type { Random } from "../../io/random.ts";
import { encodeMessageId } from "../../model/message_id.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../model/message_ext.ts";
import {
  decodeProperties,
  encodeProperties,
  findProperty,
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
import { isStored, remarkOfPut, responseCodeOfPut } from "../put_response.ts";
import { toScheduleMessage } from "../schedule_message.ts";
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
  readonly random: Random;
  readonly storeHost: SocketAddress;
  readonly stats: {
    onSendBack(topic: string, group: string): void;
    onDeadLetter(topic: string, group: string): void;
    onSendToDlq(topic: string, group: string): void;
  };
  /** Of messageDelayLevel; levels above count as this one. */
  readonly maxDelayLevel: number;
}

/** The first retry waits for this level, each later one a level longer. */
const FIRST_RETRY_LEVEL = 3;

/** Where a message goes back to; a level of 0 goes there at once. */
interface BackTarget {
  readonly topic: string;
  readonly queueId: number;
  readonly delayLevel: number;
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
    const retryTopic = this.#topics.retryTopic(
      group,
      config.retryQueueNums,
      header.unitMode,
    );
    if ("code" in retryTopic) {
      return createResponse(retryTopic.code, retryTopic.remark);
    }
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
    if (message.reconsumeTimes >= max || header.delayLevel < 0) {
      const { stats } = this.#ports;
      const originTopic = header.originTopic ?? message.topic;
      stats.onSendToDlq(originTopic, group);
      const deadLetters = this.#topics.deadLetterTopic(group);
      if ("code" in deadLetters) {
        return createResponse(deadLetters.code, deadLetters.remark);
      }
      const answer = await this.#put(header, message, {
        topic: deadLetters.topicName,
        queueId: 0,
        delayLevel: 0,
      });
      if (answer.code === ResponseCode.SUCCESS) {
        stats.onDeadLetter(originTopic, group);
      }
      return answer;
    }
    return await this.#put(header, message, {
      topic: retryTopic.topicName,
      queueId: this.#ports.random.nextInt(config.retryQueueNums),
      delayLevel: header.delayLevel === 0
        ? FIRST_RETRY_LEVEL + message.reconsumeTimes
        : header.delayLevel,
    });
  };

  async #put(
    header: ConsumerSendMsgBackRequestHeader,
    message: MessageExt,
    target: BackTarget,
  ): Promise<RemotingCommand> {
    const { maxDelayLevel, stats, store } = this.#ports;
    const back = this.#back(message, target);
    const { delayLevel } = target;
    const result = await store.putMessage(
      delayLevel > 0
        ? toScheduleMessage(back, delayLevel, maxDelayLevel)
        : back,
    );
    if (!isStored(result.status)) {
      return createResponse(
        responseCodeOfPut(result.status),
        remarkOfPut(result.status, result.reason),
      );
    }
    const origin = findProperty(back.propertiesText, MessageConst.RETRY_TOPIC);
    stats.onSendBack(origin ?? message.topic, header.group);
    return createResponse(ResponseCode.SUCCESS);
  }

  #back(
    message: MessageExt,
    { queueId, topic }: BackTarget,
  ): MessageExtBrokerInner {
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
    return {
      topic,
      queueId,
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
    };
  }
}
