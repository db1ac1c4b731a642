/** PullCheck: may this group pull from this queue, and through which filter (reference 9.1)? */
import { shown } from "../base/shown.ts";
import type { SubscriptionGroupConfig } from "../model/subscription_group_config.ts";
import { PermName, type TopicConfig } from "../model/topic_config.ts";
import { groupOfRetryTopic, isRetryTopic } from "../model/topic_names.ts";
import type { PullMessageRequestHeader } from "../protocol/header/pull_message_request_header.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { MessageFilter } from "../store/get_message_result.ts";
import {
  expressionForRetryMessageFilter,
  expressionMessageFilter,
} from "./expression_message_filter.ts";
import { forbidden, ForbiddenType, type RefusedPull } from "./pull_refusal.ts";
import {
  pullSubscription,
  type PullSubscriptionPorts,
} from "./pull_subscription.ts";

/** What the checks need of the managers. */
export interface PullCheckPorts extends PullSubscriptionPorts {
  readonly topics: {
    selectTopicConfig(topic: string): TopicConfig | undefined;
  };
  readonly groups: PullSubscriptionPorts["groups"] & {
    findSubscriptionGroupConfig(
      group: string,
    ): SubscriptionGroupConfig | undefined;
  };
}

/** Keys of broker.conf that the checks read. */
export interface PullCheckOptions {
  readonly brokerIP1: string;
  readonly brokerPermission: number;
  readonly litePullMessageEnable: boolean;
  readonly rejectPullConsumerEnable: boolean;
  readonly enablePropertyFilter: boolean;
  readonly filterSupportRetry: boolean;
}

/** A pull that may go on. */
export interface AllowedPull {
  readonly topicConfig: TopicConfig;
  readonly groupConfig: SubscriptionGroupConfig;
  readonly filter: MessageFilter | null;
}

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
  const subscription = pullSubscription(
    ports,
    options.enablePropertyFilter,
    header,
    groupConfig,
  );
  if ("code" in subscription) return subscription;
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
  const { topic } = header;
  const filter = options.filterSupportRetry && isRetryTopic(topic)
    ? expressionForRetryMessageFilter(
      subscription.subscriptionData,
      (realTopic) =>
        ports.filters.get(realTopic, groupOfRetryTopic(topic))?.selector,
    )
    : expressionMessageFilter(
      subscription.subscriptionData,
      subscription.selector,
    );
  return { topicConfig, groupConfig, filter };
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
