/**
 * SendTopics: may this topic take this message, and which topic takes it really?
 *
 * Checks 2 to 7 of reference 3.2; shared by sends and CONSUMER_SEND_MSG_BACK.
 */
import { shown } from "../base/shown.ts";
import type { SubscriptionGroupConfig } from "../model/subscription_group_config.ts";
import { PermName, type TopicConfig } from "../model/topic_config.ts";
import {
  dlqTopicOf,
  isRetryTopic,
  RETRY_GROUP_TOPIC_PREFIX,
  retryTopicOf,
} from "../model/topic_names.ts";
import { isForbiddenSendTopic, topicError } from "../model/validators.ts";
import type { SendMessageRequestHeader } from "../protocol/header/send_message_request_header.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { RequestContext } from "../remoting/request_processor.ts";

/** A code and a sentence; never together with a topic. */
export interface Refusal {
  readonly code: number;
  readonly remark: string;
}

/** What the checks need of the managers. */
export interface SendTopicsPorts {
  readonly topics: {
    selectTopicConfig(topic: string): TopicConfig | undefined;
    createTopicInSendMessageMethod(
      topic: string,
      defaultTopic: string,
      remoteAddress: string,
      defaultTopicQueueNums: number,
      topicSysFlag: number,
    ): TopicConfig | undefined;
    createTopicInSendMessageBackMethod(
      topic: string,
      queueNums: number,
      perm: number,
      topicSysFlag: number,
    ): TopicConfig | undefined;
    /** Resolves when every topic so far is durable. */
    persist(): Promise<void>;
  };
  readonly groups: {
    findSubscriptionGroupConfig(
      group: string,
    ): SubscriptionGroupConfig | undefined;
  };
  readonly rebalanceLocks: { isLockAllExpired(group: string): boolean };
}

/** Keys of broker.conf that the checks read. */
export interface SendTopicsOptions {
  readonly brokerIP1: string;
  readonly brokerPermission: number;
}

/** From 3.4.9 on a request may carry its own maxReconsumeTimes. */
export const MAX_RECONSUME_TIMES_VERSION = 121;
const READ_WRITE = PermName.READ | PermName.WRITE;
/** An inner batch takes several queue offsets, which this broker does not count: a put would use them again. */
const BATCH_QUEUE = "BatchCQ";
const TOPIC_SYS_FLAG_UNIT = 1;
const TOPIC_SYS_FLAG_UNIT_SUB = 2;

/** Checks topics of sends. */
export class SendTopics {
  readonly #ports: SendTopicsPorts;
  /** Topics that sends have made, until they are in their file. */
  readonly #storing = new Map<string, Promise<void>>();
  #options: SendTopicsOptions;

  constructor(ports: SendTopicsPorts, options: SendTopicsOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  reconfigure(options: SendTopicsOptions): void {
    this.#options = options;
  }

  /** Checks 2 to 6: the topic, created when it may be. */
  check(
    context: RequestContext,
    header: SendMessageRequestHeader,
  ): TopicConfig | Refusal {
    const { topic } = header;
    let topicConfig = this.#ports.topics.selectTopicConfig(topic);
    if (
      (this.#options.brokerPermission & PermName.WRITE) === 0 &&
      topicConfig?.order === true
    ) {
      return {
        code: ResponseCode.NO_PERMISSION,
        remark: `the broker[${this.#options.brokerIP1}] sending message is ` +
          "forbidden (brokerPermission)",
      };
    }
    if (topicConfig === undefined) {
      // A topic in the table has a good name: only strangers are spelled out.
      const wrong = topicError(topic);
      if (wrong !== undefined) {
        return { code: ResponseCode.INVALID_PARAMETER, remark: wrong };
      }
    }
    if (isForbiddenSendTopic(topic)) {
      return {
        code: ResponseCode.NO_PERMISSION,
        remark: `Sending message to topic[${shown(topic)}] is forbidden.`,
      };
    }
    if (topicConfig === undefined) {
      topicConfig = this.#create(context, header);
      if (topicConfig !== undefined) this.#store(topic);
    }
    if (topicConfig === undefined) {
      return {
        code: ResponseCode.TOPIC_NOT_EXIST,
        remark: `topic[${shown(topic)}] not exist, apply first please!` +
          (header.defaultTopicQueueNums < 1
            ? ` None is made with defaultTopicQueueNums=${header.defaultTopicQueueNums}.`
            : ""),
      };
    }
    if (topicConfig.attributes["queue.type"] === BATCH_QUEUE) {
      return {
        code: ResponseCode.MESSAGE_ILLEGAL,
        remark:
          `topic[${
            shown(topic)
          }] has queue.type=${BATCH_QUEUE}, from an Apache master: this broker ` +
          "serves what it holds of it, and takes nothing new; use a topic of SimpleCQ",
      };
    }
    return queueError(header.queueId, topicConfig) ?? topicConfig;
  }

  /**
   * Resolves once a topic that a send has made is in its file, or cannot be written now;
   * undefined when it is. Data alone would bring it back with the queues that have some.
   */
  whenStored(topic: string): Promise<void> | undefined {
    return this.#storing.size === 0 ? undefined : this.#storing.get(topic);
  }

  /** Check 7: the dead-letter topic when a message has been retried enough; else undefined. */
  redirect(
    request: RemotingCommand,
    header: SendMessageRequestHeader,
  ): TopicConfig | Refusal | undefined {
    const group = header.topic.slice(RETRY_GROUP_TOPIC_PREFIX.length);
    const config = this.#ports.groups.findSubscriptionGroupConfig(group);
    if (config === undefined) {
      return {
        code: ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        remark: `subscription group not exist, ${shown(group)}`,
      };
    }
    const own = header.maxReconsumeTimes;
    const max = own !== undefined &&
        request.version >= MAX_RECONSUME_TIMES_VERSION
      ? own
      : config.retryMaxTimes;
    // Locks that live belong to an orderly consumer, which sends back only what it gave up.
    const isDead = header.reconsumeTimes > max ||
      !this.#ports.rebalanceLocks.isLockAllExpired(group);
    return isDead ? this.deadLetterTopic(group) : undefined;
  }

  /** `%RETRY%group`, created on first need. */
  retryTopic(
    group: string,
    queueNums: number,
    unitMode: boolean,
  ): TopicConfig | Refusal {
    const config = this.#ofGroup(
      retryTopicOf(group),
      queueNums,
      unitMode ? TOPIC_SYS_FLAG_UNIT_SUB : 0,
    );
    return "code" in config || (config.perm & PermName.WRITE) !== 0 ? config : {
      code: ResponseCode.NO_PERMISSION,
      remark: `the topic[${config.topicName}] sending message is forbidden`,
    };
  }

  /** `%DLQ%group`, created on first need. */
  deadLetterTopic(group: string): TopicConfig | Refusal {
    return this.#ofGroup(dlqTopicOf(group), 1, 0);
  }

  #ofGroup(
    topic: string,
    queueNums: number,
    sysFlag: number,
  ): TopicConfig | Refusal {
    return this.#ports.topics.createTopicInSendMessageBackMethod(
      topic,
      queueNums,
      READ_WRITE,
      sysFlag,
    ) ?? {
      code: ResponseCode.SYSTEM_ERROR,
      remark: `topic[${shown(topic)}] not exist and cannot be created`,
    };
  }

  #store(topic: string): void {
    const stored = this.#ports.topics.persist().catch(() => {
      // Logged where it happened, and tried again.
    }).finally(() => {
      if (this.#storing.get(topic) === stored) this.#storing.delete(topic);
    });
    this.#storing.set(topic, stored);
  }

  #create(
    context: RequestContext,
    header: SendMessageRequestHeader,
  ): TopicConfig | undefined {
    const { topic, unitMode } = header;
    if (isRetryTopic(topic)) {
      return this.#ports.topics.createTopicInSendMessageBackMethod(
        topic,
        1,
        READ_WRITE,
        unitMode ? TOPIC_SYS_FLAG_UNIT_SUB : 0,
      );
    }
    return this.#ports.topics.createTopicInSendMessageMethod(
      topic,
      header.defaultTopic,
      context.connection.remoteAddress,
      header.defaultTopicQueueNums,
      unitMode ? TOPIC_SYS_FLAG_UNIT : 0,
    );
  }
}

function queueError(
  queueId: number,
  topicConfig: TopicConfig,
): Refusal | undefined {
  const { topicName, readQueueNums, writeQueueNums } = topicConfig;
  const queueNums = Math.max(writeQueueNums, readQueueNums);
  if (queueId >= queueNums) {
    return {
      code: ResponseCode.INVALID_PARAMETER,
      remark: `request queueId[${queueId}] is illegal, topic[${topicName}] ` +
        `has readQueueNums ${readQueueNums} and writeQueueNums ${writeQueueNums}`,
    };
  }
  if (queueId < 0 && writeQueueNums === 0) {
    return {
      code: ResponseCode.NO_PERMISSION,
      remark: `topic[${topicName}] has no queue to write: writeQueueNums is 0`,
    };
  }
  return undefined;
}
