/** PullSubscription: what a pull subscribes, from its header or from heartbeats, and its selector (reference 9.1, rows 7 and 8). */
import { shown } from "../base/shown.ts";
import type { CompiledSelector } from "../filter/compiled_selector.ts";
import type { CompileResult } from "../filter/filter_factory.ts";
import {
  buildSubscriptionData,
  isTagType,
  SubscriptionParseError,
} from "../model/filter_api.ts";
import type { ConsumeType, MessageModel } from "../model/heartbeat_data.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import type { SubscriptionGroupConfig } from "../model/subscription_group_config.ts";
import { PermName } from "../model/topic_config.ts";
import type { PullMessageRequestHeader } from "../protocol/header/pull_message_request_header.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { ConsumerFilterData } from "./consumer_filter_data.ts";
import { forbidden, ForbiddenType, type RefusedPull } from "./pull_refusal.ts";

/** Bits of a pull's sysFlag (reference 3.3). */
export const PullSysFlag = {
  COMMIT_OFFSET: 0x1,
  SUSPEND: 0x2,
  SUBSCRIPTION: 0x4,
  CLASS_FILTER: 0x8,
  LITE_PULL_MESSAGE: 0x10,
} as const;

/** What is asked about subscriptions. */
export interface PullSubscriptionPorts {
  readonly groups: {
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
  /** Selectors of groups that sent heartbeats. */
  readonly filters: {
    get(topic: string, group: string): ConsumerFilterData | undefined;
  };
  readonly filterFactory: {
    compile(type: string, expression: string): CompileResult;
  };
}

/** What is subscribed; the selector unless it is by tags. */
export interface PullSubscription {
  readonly subscriptionData: SubscriptionData;
  readonly selector: CompiledSelector | undefined;
}

/** The subscription of a pull, or why there is none. */
export function pullSubscription(
  ports: PullSubscriptionPorts,
  isPropertyFilterEnabled: boolean,
  header: PullMessageRequestHeader,
  groupConfig: SubscriptionGroupConfig,
): PullSubscription | RefusedPull {
  const subscriptionData = hasSubscription(header)
    ? parseSubscription(header)
    : knownSubscription(ports, header, groupConfig);
  if ("code" in subscriptionData) return subscriptionData;
  if (isTagType(subscriptionData.expressionType)) {
    return { subscriptionData, selector: undefined };
  }
  const selector = selectorOf(
    ports,
    isPropertyFilterEnabled,
    header,
    subscriptionData,
  );
  return "code" in selector ? selector : { subscriptionData, selector };
}

function hasSubscription({ sysFlag }: PullMessageRequestHeader): boolean {
  return (sysFlag & PullSysFlag.SUBSCRIPTION) !== 0;
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

/** The selector of a subscription that is not by tags. */
function selectorOf(
  ports: PullSubscriptionPorts,
  isPropertyFilterEnabled: boolean,
  header: PullMessageRequestHeader,
  { expressionType, subString }: SubscriptionData,
): CompiledSelector | RefusedPull {
  const unsupported: RefusedPull = {
    code: ResponseCode.SYSTEM_ERROR,
    remark: "The broker does not support consumer to filter message by " +
      shown(expressionType),
  };
  if (!hasSubscription(header)) {
    const known = knownSelector(ports, header);
    return "code" in known || isPropertyFilterEnabled ? known : unsupported;
  }
  if (!isPropertyFilterEnabled) return unsupported;
  const compiled = ports.filterFactory.compile(expressionType, subString);
  return "error" in compiled
    ? {
      code: ResponseCode.SUBSCRIPTION_PARSE_FAILED,
      remark: `parse the consumer's subscription failed: ${compiled.error}`,
    }
    : compiled;
}

function knownSelector(
  { filters }: PullSubscriptionPorts,
  { consumerGroup, subVersion, topic }: PullMessageRequestHeader,
): CompiledSelector | RefusedPull {
  const known = filters.get(topic, consumerGroup);
  if (known === undefined) {
    return {
      code: ResponseCode.FILTER_DATA_NOT_EXIST,
      remark: "The broker's consumer filter data is not exist! " +
        `Your expression may be wrong! group ${shown(consumerGroup)} topic ${
          shown(topic)
        }`,
    };
  }
  return known.clientVersion >= subVersion ? known.selector : {
    code: ResponseCode.FILTER_DATA_NOT_LATEST,
    remark: "the consumer's consumer filter data not latest: " +
      `${known.clientVersion} is known, ${subVersion} was asked for`,
  };
}

function knownSubscription(
  ports: PullSubscriptionPorts,
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
  if ((bits & PermName.READ) !== 0) {
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
