/**
 * Request headers of codes that look at consumers, their positions and queues
 * (reference 2.3, 2.5, 2.6, 2.7).
 */
import type { ExtFields } from "../remoting_command.ts";
import {
  optionalBoolean,
  optionalText,
  requireInt,
  requireLong,
  requireText,
} from "./field_reader.ts";

/** Who is asked by GET_CONSUMER_RUNNING_INFO (307) and CONSUME_MESSAGE_DIRECTLY (309). */
export interface ConsumerClient {
  readonly consumerGroup: string;
  readonly clientId: string;
}

/** Reads the ext fields of 307; throws `HeaderError`. */
export function decodeGetConsumerRunningInfoRequestHeader(
  fields: ExtFields,
): ConsumerClient {
  const name = "GetConsumerRunningInfoRequestHeader";
  return {
    consumerGroup: requireText(fields, "consumerGroup", name),
    clientId: requireText(fields, "clientId", name),
  };
}

/** The request of CONSUME_MESSAGE_DIRECTLY (309). */
export interface ConsumeMessageDirectlyRequestHeader extends ConsumerClient {
  /** Offset message id (reference 3.7). */
  readonly msgId: string;
  readonly topic: string | undefined;
}

/** Reads the ext fields of 309; throws `HeaderError`. */
export function decodeConsumeMessageDirectlyRequestHeader(
  fields: ExtFields,
): ConsumeMessageDirectlyRequestHeader {
  const name = "ConsumeMessageDirectlyResultRequestHeader";
  return {
    consumerGroup: requireText(fields, "consumerGroup", name),
    clientId: requireText(fields, "clientId", name),
    msgId: requireText(fields, "msgId", name),
    topic: optionalText(fields, "topic") || undefined,
  };
}

/** The request of INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223). */
export interface GetConsumerStatusRequestHeader {
  readonly topic: string;
  readonly group: string;
  /** A client id, whatever the field is called; undefined: all members. */
  readonly clientAddr: string | undefined;
}

/** Reads the ext fields of 223; throws `HeaderError`. */
export function decodeGetConsumerStatusRequestHeader(
  fields: ExtFields,
): GetConsumerStatusRequestHeader {
  const name = "GetConsumerStatusRequestHeader";
  return {
    topic: requireText(fields, "topic", name),
    group: requireText(fields, "group", name),
    clientAddr: optionalText(fields, "clientAddr")?.trim() || undefined,
  };
}

/** A group and a topic. */
export interface GroupTopic {
  readonly group: string;
  readonly topic: string;
}

/** Reads `group` and `topic` of 303 and 345; `name` is the Java class; throws `HeaderError`. */
export function decodeGroupTopicHeader(
  fields: ExtFields,
  name: string,
): GroupTopic {
  return {
    group: requireText(fields, "group", name),
    topic: requireText(fields, "topic", name),
  };
}

/** Reads `group` of QUERY_TOPICS_BY_CONSUMER (343); throws `HeaderError`. */
export function decodeQueryTopicsByConsumerRequestHeader(
  fields: ExtFields,
): string {
  return requireText(fields, "group", "QueryTopicsByConsumerRequestHeader");
}

/** The request of QUERY_CORRECTION_OFFSET (308). */
export interface QueryCorrectionOffsetHeader {
  readonly topic: string;
  readonly compareGroup: string;
  /** Groups that do not count. */
  readonly filterGroups: readonly string[];
}

/** Reads the ext fields of 308; throws `HeaderError`. */
export function decodeQueryCorrectionOffsetHeader(
  fields: ExtFields,
): QueryCorrectionOffsetHeader {
  const name = "QueryCorrectionOffsetHeader";
  return {
    topic: requireText(fields, "topic", name),
    compareGroup: requireText(fields, "compareGroup", name),
    filterGroups: (fields.filterGroups ?? "").split(",")
      .filter((it) => it !== ""),
  };
}

/** The request of CLONE_GROUP_OFFSET (314). */
export interface CloneGroupOffsetRequestHeader {
  readonly srcGroup: string;
  readonly destGroup: string;
  /** Undefined: all topics of the source. */
  readonly topic: string | undefined;
  /** True: also topics that living members of the source no longer subscribe. */
  readonly offline: boolean;
}

/** Reads the ext fields of 314; throws `HeaderError`. */
export function decodeCloneGroupOffsetRequestHeader(
  fields: ExtFields,
): CloneGroupOffsetRequestHeader {
  const name = "CloneGroupOffsetRequestHeader";
  return {
    srcGroup: requireText(fields, "srcGroup", name),
    destGroup: requireText(fields, "destGroup", name),
    topic: optionalText(fields, "topic")?.trim() || undefined,
    offline: optionalBoolean(fields, "offline", false),
  };
}

/** The request of UPDATE_AND_GET_GROUP_FORBIDDEN (353). */
export interface UpdateGroupForbiddenRequestHeader extends GroupTopic {
  /** Undefined: only asked. */
  readonly readable: boolean | undefined;
}

/** Reads the ext fields of 353; throws `HeaderError`. */
export function decodeUpdateGroupForbiddenRequestHeader(
  fields: ExtFields,
): UpdateGroupForbiddenRequestHeader {
  return {
    ...decodeGroupTopicHeader(fields, "UpdateGroupForbiddenRequestHeader"),
    readable: fields.readable === undefined
      ? undefined
      : optionalBoolean(fields, "readable", false),
  };
}

/** The request of QUERY_CONSUME_QUEUE (321). */
export interface QueryConsumeQueueRequestHeader {
  readonly topic: string;
  readonly queueId: number;
  /** Queue offset of the first unit. */
  readonly index: number;
  readonly count: number;
  readonly consumerGroup: string | undefined;
}

/** Reads the ext fields of 321; throws `HeaderError`. */
export function decodeQueryConsumeQueueRequestHeader(
  fields: ExtFields,
): QueryConsumeQueueRequestHeader {
  const name = "QueryConsumeQueueRequestHeader";
  return {
    topic: requireText(fields, "topic", name),
    queueId: requireInt(fields, "queueId", name),
    index: requireLong(fields, "index", name),
    count: requireInt(fields, "count", name),
    consumerGroup: optionalText(fields, "consumerGroup") || undefined,
  };
}
