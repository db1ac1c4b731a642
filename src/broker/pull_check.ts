/** PullCheck: may this group pull from this queue, and through which filter (reference 9.1)? */
import { shown } from "../base/shown.ts";
import type { ConsumeType, MessageModel } from "../model/heartbeat_data.ts";
import {
  buildSubscriptionData,
  isTagType,
  SubscriptionParseError,
} from "../model/filter_api.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import type { SubscriptionGroupConfig } from "../model/subscription_group_config.ts";
import { PermName, type TopicConfig } from "../model/topic_config.ts";
import type { PullMessageRequestHeader } from "../protocol/header/pull_message_request_header.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { MessageFilter } from "../store/get_message_result.ts";
import { subscriptionFilter } from "./subscription_filter.ts";

/** Bits of a pull's sysFlag (reference 3.3). */
export const PullSysFlag = {
  COMMIT_OFFSET: 0x1,
  SUSPEND: 0x2,
  SUBSCRIPTION: 0x4,
  CLASS_FILTER: 0x8,
  LITE_PULL_MESSAGE: 0x10,
} as const;

/** Why a group may not pull; an ext field of 5.x answers. */
const ForbiddenType = {
  BROKER_FORBIDDEN: 1,
  GROUP_FORBIDDEN: 2,
  TOPIC_FORBIDDEN: 3,
  BROADCASTING_DISABLE_FORBIDDEN: 4,
  SUBSCRIPTION_FORBIDDEN: 5,
} as const;

/** What the checks need of the managers. */
export interface PullCheckPorts {
  readonly topics: {
    selectTopicConfig(topic: string): TopicConfig | undefined;
  };
  readonly groups: {
    findSubscriptionGroupConfig(
      group: string,
    ): SubscriptionGroupConfig | undefined;
    /** Bits of what a group may not do with a topic; 0: everything is allowed. */
    getForbidden(group: string, topic: string): number;
  };
  readonly consumers: {
    getConsumerGroupInfo(group: string):
      | {
        readonly consumeType: ConsumeType;
        readonly messageModel: MessageModel;
      }
      | undefined;
    findSubscriptionData(
      group: string,
      topic: string,
    ): SubscriptionData | undefined;
  };
}

/** Keys of broker.conf that the checks read. */
export interface PullCheckOptions {
  readonly brokerIP1: string;
  readonly brokerPermission: number;
  readonly litePullMessageEnable: boolean;
  readonly rejectPullConsumerEnable: boolean;
}

/** A pull that may go on. */
export interface AllowedPull {
  readonly topicConfig: TopicConfig;
  readonly groupConfig: SubscriptionGroupConfig;
  readonly filter: MessageFilter | null;
}

/** Why it may not. */
export interface RefusedPull {
  readonly code: number;
  readonly remark: string;
  readonly forbiddenType?: number;
}

const PERMISSION_PULL_BIT = 0;

/** All checks of 9.1 behind the role's. */
export function checkPull(
  ports: PullCheckPorts,
  options: PullCheckOptions,
  header: PullMessageRequestHeader,
  isLite: boolean,
): AllowedPull | RefusedPull {
  const groupConfig = checkBrokerAndGroup(ports, options, header, isLite);
  if ("code" in groupConfig) return groupConfig;
  const topicConfig = checkTopic(ports, header);
  if ("code" in topicConfig) return topicConfig;
  const subscription = (header.sysFlag & PullSysFlag.SUBSCRIPTION) !== 0
    ? parseSubscription(header)
    : knownSubscription(ports, header, groupConfig);
  if ("code" in subscription) return subscription;
  if (!isTagType(subscription.expressionType)) {
    return {
      code: ResponseCode.SYSTEM_ERROR,
      remark: "The broker does not support consumer to filter message by " +
        shown(subscription.expressionType),
    };
  }
  if (options.rejectPullConsumerEnable) {
    const info = ports.consumers.getConsumerGroupInfo(header.consumerGroup);
    if (info === undefined || info.consumeType === "CONSUME_ACTIVELY") {
      return forbidden(
        ForbiddenType.GROUP_FORBIDDEN,
        `the consumer group[${shown(header.consumerGroup)}] may not pull: ` +
          "rejectPullConsumerEnable is true",
      );
    }
  }
  return { topicConfig, groupConfig, filter: subscriptionFilter(subscription) };
}

function checkBrokerAndGroup(
  ports: PullCheckPorts,
  options: PullCheckOptions,
  header: PullMessageRequestHeader,
  isLite: boolean,
): SubscriptionGroupConfig | RefusedPull {
  if ((options.brokerPermission & PermName.READ) === 0) {
    return forbidden(
      ForbiddenType.BROKER_FORBIDDEN,
      `the broker[${options.brokerIP1}] pulling message is forbidden`,
    );
  }
  if (isLite && !options.litePullMessageEnable) {
    return forbidden(
      ForbiddenType.BROKER_FORBIDDEN,
      `the broker[${options.brokerIP1}] for lite pull consumer is forbidden`,
    );
  }
  const { consumerGroup } = header;
  const groupConfig = ports.groups.findSubscriptionGroupConfig(consumerGroup);
  if (groupConfig === undefined) {
    return {
      code: ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
      remark: `subscription group [${shown(consumerGroup)}] does not exist`,
    };
  }
  return groupConfig.consumeEnable ? groupConfig : forbidden(
    ForbiddenType.GROUP_FORBIDDEN,
    `subscription group no permission, ${shown(consumerGroup)}`,
  );
}

function checkTopic(
  ports: PullCheckPorts,
  header: PullMessageRequestHeader,
): TopicConfig | RefusedPull {
  const { topic, queueId } = header;
  const topicConfig = ports.topics.selectTopicConfig(topic);
  if (topicConfig === undefined) {
    return {
      code: ResponseCode.TOPIC_NOT_EXIST,
      remark: `topic[${shown(topic)}] not exist, apply first please!`,
    };
  }
  if ((topicConfig.perm & PermName.READ) === 0) {
    return forbidden(
      ForbiddenType.TOPIC_FORBIDDEN,
      `the topic[${shown(topic)}] pulling message is forbidden`,
    );
  }
  if (queueId < 0 || queueId >= topicConfig.readQueueNums) {
    return {
      code: ResponseCode.INVALID_PARAMETER,
      remark: `queueId[${queueId}] is illegal, topic:[${shown(topic)}] ` +
        `topicConfig.readQueueNums:[${topicConfig.readQueueNums}]`,
    };
  }
  return topicConfig;
}

function parseSubscription(
  header: PullMessageRequestHeader,
): SubscriptionData | RefusedPull {
  try {
    return buildSubscriptionData(
      header.topic,
      header.subscription,
      header.expressionType,
      header.subVersion,
    );
  } catch (error) {
    if (!(error instanceof SubscriptionParseError)) throw error;
    return {
      code: ResponseCode.SUBSCRIPTION_PARSE_FAILED,
      remark: `parse the consumer's subscription failed: ${error.message}`,
    };
  }
}

function knownSubscription(
  ports: PullCheckPorts,
  header: PullMessageRequestHeader,
  groupConfig: SubscriptionGroupConfig,
): SubscriptionData | RefusedPull {
  const { consumerGroup, topic } = header;
  const info = ports.consumers.getConsumerGroupInfo(consumerGroup);
  if (info === undefined) {
    return {
      code: ResponseCode.SUBSCRIPTION_NOT_EXIST,
      remark:
        `the consumer's group info not exist, group ${shown(consumerGroup)} ` +
        "has sent no heartbeat",
    };
  }
  if (
    !groupConfig.consumeBroadcastEnable && info.messageModel === "BROADCASTING"
  ) {
    return forbidden(
      ForbiddenType.BROADCASTING_DISABLE_FORBIDDEN,
      `the consumer group[${
        shown(consumerGroup)
      }] can not consume by broadcast way`,
    );
  }
  const bits = ports.groups.getForbidden(consumerGroup, topic);
  if (((bits >> PERMISSION_PULL_BIT) & 1) !== 0) {
    return forbidden(
      ForbiddenType.SUBSCRIPTION_FORBIDDEN,
      `the consumer group[${shown(consumerGroup)}] is forbidden for topic[${
        shown(topic)
      }]`,
    );
  }
  const known = ports.consumers.findSubscriptionData(consumerGroup, topic);
  if (known === undefined) {
    return {
      code: ResponseCode.SUBSCRIPTION_NOT_EXIST,
      remark:
        `the consumer's subscription not exist, group ${
          shown(consumerGroup)
        } ` +
        `topic ${shown(topic)}`,
    };
  }
  return known.subVersion >= header.subVersion ? known : {
    code: ResponseCode.SUBSCRIPTION_NOT_LATEST,
    remark: `the consumer's subscription not latest: ${known.subVersion} is ` +
      `known, ${header.subVersion} was asked for`,
  };
}

function forbidden(forbiddenType: number, remark: string): RefusedPull {
  return { code: ResponseCode.NO_PERMISSION, remark, forbiddenType };
}
