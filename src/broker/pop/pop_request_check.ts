/** PopRequestCheck: what every request of POP must fulfil before anything is read (reference 2.8). */
import { shown } from "../../base/shown.ts";
import type { CompileResult } from "../../filter/filter_factory.ts";
import {
  buildSubscriptionData,
  isTagType,
  SubscriptionParseError,
} from "../../model/filter_api.ts";
import type { SubscriptionGroupConfig } from "../../model/subscription_group_config.ts";
import { PermName, type TopicConfig } from "../../model/topic_config.ts";
import type {
  PopMessageRequestHeader,
  PopQueueHeader,
} from "../../protocol/header/pop_message_header.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { MessageFilter } from "../../store/get_message_result.ts";
import { expressionMessageFilter } from "../expression_message_filter.ts";
import { POP_MESSAGES_MAX } from "./pop_names.ts";

/** What is asked. */
export interface PopCheckPorts {
  readonly topics: {
    selectTopicConfig(topic: string): TopicConfig | undefined;
  };
  readonly groups: {
    findSubscriptionGroupConfig(
      group: string,
    ): SubscriptionGroupConfig | undefined;
  };
  readonly filterFactory: {
    compile(type: string, expression: string): CompileResult;
  };
}

/** Keys of broker.conf. */
export interface PopCheckOptions {
  readonly brokerPermission: number;
  readonly brokerIP1: string;
}

/** Why a request is refused. */
export interface PopRefusal {
  readonly code: number;
  readonly remark: string;
}

/** A request later than this after its time-out gets no answer but that. */
const LATE_MAX_MS = 500;
/** As long as Apache's timers reach (timerMaxDelaySec). */
export const INVISIBLE_TIME_MAX_MS = 259_200_000;

/** The sentence that says what is wrong with an invisible time. */
export function invisibleTimeError(invisibleTime: number): string | undefined {
  return invisibleTime >= 1 && invisibleTime <= INVISIBLE_TIME_MAX_MS
    ? undefined
    : `invisibleTime is ${invisibleTime}, and must be 1 to ${INVISIBLE_TIME_MAX_MS} milliseconds`;
}

/** The topic, or why the group may not read it. */
export function checkPopQueue(
  ports: PopCheckPorts,
  { brokerIP1, brokerPermission }: PopCheckOptions,
  { consumerGroup, queueId, topic }: PopQueueHeader,
  verb: string,
): TopicConfig | PopRefusal {
  if ((brokerPermission & PermName.READ) === 0) {
    return noPermission(
      `the broker[${brokerIP1}] ${verb} message is forbidden`,
    );
  }
  const config = ports.topics.selectTopicConfig(topic);
  if (config === undefined) {
    return {
      code: ResponseCode.TOPIC_NOT_EXIST,
      remark: `topic[${shown(topic)}] not exist, apply first please!`,
    };
  }
  if ((config.perm & PermName.READ) === 0) {
    return noPermission(
      `the topic[${shown(topic)}] ${verb} message is forbidden`,
    );
  }
  if (queueId >= config.readQueueNums) {
    return invalid(
      `queueId[${queueId}] is illegal, topic:[${shown(topic)}] ` +
        `topicConfig.readQueueNums:[${config.readQueueNums}]`,
    );
  }
  const group = ports.groups.findSubscriptionGroupConfig(consumerGroup);
  if (group === undefined) {
    return {
      code: ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
      remark: `subscription group [${shown(consumerGroup)}] does not exist`,
    };
  }
  return group.consumeEnable
    ? config
    : noPermission(`subscription group no permission, ${shown(consumerGroup)}`);
}

/** Topic and filter of a POP, or why it is refused. */
export function checkPop(
  ports: PopCheckPorts,
  options: PopCheckOptions,
  header: PopMessageRequestHeader,
  nowMs: number,
):
  | { readonly topicConfig: TopicConfig; readonly filter: MessageFilter | null }
  | PopRefusal {
  const { bornTime, invisibleTime, maxMsgNums, pollTime } = header;
  if (bornTime > 0 && nowMs - bornTime - pollTime > LATE_MAX_MS) {
    return {
      code: ResponseCode.POLLING_TIMEOUT,
      remark:
        `the broker[${options.brokerIP1}] pop message is timeout too much`,
    };
  }
  if (maxMsgNums < 1 || maxMsgNums > POP_MESSAGES_MAX) {
    return invalid(
      `the broker[${options.brokerIP1}] pop message's num is ${maxMsgNums}, and must be 1 to ${POP_MESSAGES_MAX}`,
    );
  }
  const wrongTime = invisibleTimeError(invisibleTime);
  if (wrongTime !== undefined) return invalid(wrongTime);
  const topicConfig = checkPopQueue(ports, options, header, "pop");
  if ("code" in topicConfig) return topicConfig;
  const filter = filterOf(ports, header);
  if (filter !== null && "code" in filter) return filter;
  return { topicConfig, filter };
}

function filterOf(
  { filterFactory }: PopCheckPorts,
  { exp, expType, topic }: PopMessageRequestHeader,
): MessageFilter | null | PopRefusal {
  if (exp === undefined || exp === "") return null;
  const refuse = (reason: string): PopRefusal => ({
    code: ResponseCode.SUBSCRIPTION_PARSE_FAILED,
    remark: `parse the consumer's subscription failed: ${reason}`,
  });
  try {
    const data = buildSubscriptionData(topic, exp, expType, 0);
    if (isTagType(data.expressionType)) {
      return expressionMessageFilter(data, undefined);
    }
    const compiled = filterFactory.compile(data.expressionType, data.subString);
    return "error" in compiled
      ? refuse(compiled.error)
      : expressionMessageFilter(data, compiled);
  } catch (error) {
    if (!(error instanceof SubscriptionParseError)) throw error;
    return refuse(error.message);
  }
}

function noPermission(remark: string): PopRefusal {
  return { code: ResponseCode.NO_PERMISSION, remark };
}

function invalid(remark: string): PopRefusal {
  return { code: ResponseCode.INVALID_PARAMETER, remark };
}
