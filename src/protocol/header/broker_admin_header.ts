/**
 * Request headers of the broker's administration codes that carry one name
 * or two (reference 2.4, 2.6, 2.7).
 */
import type { ExtFields } from "../remoting_command.ts";
import { optionalBoolean, optionalText, requireText } from "./field_reader.ts";

/** Reads `topic` of 202, 215, 300 and 351; `name` is the Java class; throws `HeaderError`. */
export function decodeTopicHeader(fields: ExtFields, name: string): string {
  return requireText(fields, "topic", name);
}

/** Reads `consumerGroup` of 38 and 203; `name` is the Java class; throws `HeaderError`. */
export function decodeConsumerGroupHeader(
  fields: ExtFields,
  name: string,
): string {
  return requireText(fields, "consumerGroup", name);
}

/** Reads `producerGroup` of 204; throws `HeaderError`. */
export function decodeProducerGroupHeader(fields: ExtFields): string {
  return requireText(
    fields,
    "producerGroup",
    "GetProducerConnectionListRequestHeader",
  );
}

/** Reads `group` of 352; throws `HeaderError`. */
export function decodeSubscriptionGroupHeader(fields: ExtFields): string {
  return requireText(
    fields,
    "group",
    "GetSubscriptionGroupConfigRequestHeader",
  );
}

/** The request of DELETE_SUBSCRIPTIONGROUP (207). */
export interface DeleteSubscriptionGroupRequestHeader {
  readonly groupName: string;
  /** `cleanOffset`, or 4.9's `removeOffset`. */
  readonly cleanOffset: boolean;
}

/** Reads the ext fields of 207; throws `HeaderError`. */
export function decodeDeleteSubscriptionGroupRequestHeader(
  fields: ExtFields,
): DeleteSubscriptionGroupRequestHeader {
  return {
    groupName: requireText(
      fields,
      "groupName",
      "DeleteSubscriptionGroupRequestHeader",
    ),
    cleanOffset: optionalBoolean(fields, "cleanOffset", false) ||
      optionalBoolean(fields, "removeOffset", false),
  };
}

/** The ext fields of 207, for brokers of either version. */
export function encodeDeleteSubscriptionGroupRequestHeader(
  header: DeleteSubscriptionGroupRequestHeader,
): ExtFields {
  const flag = String(header.cleanOffset);
  return {
    groupName: header.groupName,
    cleanOffset: flag,
    removeOffset: flag,
  };
}

/** The request of UNREGISTER_CLIENT (35). */
export interface UnregisterClientRequestHeader {
  readonly clientID: string;
  readonly producerGroup: string | undefined;
  readonly consumerGroup: string | undefined;
}

/** Reads the ext fields of 35; throws `HeaderError`. */
export function decodeUnregisterClientRequestHeader(
  fields: ExtFields,
): UnregisterClientRequestHeader {
  return {
    clientID: requireText(fields, "clientID", "UnregisterClientRequestHeader"),
    producerGroup: optionalText(fields, "producerGroup") || undefined,
    consumerGroup: optionalText(fields, "consumerGroup") || undefined,
  };
}

/** The ext fields of 35. */
export function encodeUnregisterClientRequestHeader(
  header: UnregisterClientRequestHeader,
): ExtFields {
  const fields: ExtFields = { clientID: header.clientID };
  if (header.producerGroup !== undefined) {
    fields.producerGroup = header.producerGroup;
  }
  if (header.consumerGroup !== undefined) {
    fields.consumerGroup = header.consumerGroup;
  }
  return fields;
}

/** The request of GET_CONSUME_STATS (208). */
export interface GetConsumeStatsRequestHeader {
  readonly consumerGroup: string;
  readonly topic: string | undefined;
  /** Wins over `topic`, and subscriptions are not looked at. */
  readonly topicList: readonly string[];
}

/** Reads the ext fields of 208; throws `HeaderError`. */
export function decodeGetConsumeStatsRequestHeader(
  fields: ExtFields,
): GetConsumeStatsRequestHeader {
  return {
    consumerGroup: requireText(
      fields,
      "consumerGroup",
      "GetConsumeStatsRequestHeader",
    ),
    topic: optionalText(fields, "topic")?.trim() || undefined,
    topicList: (fields.topicList ?? "").split(";").map((it) => it.trim())
      .filter((it) => it !== ""),
  };
}

/** The request of VIEW_BROKER_STATS_DATA (315). */
export interface ViewBrokerStatsDataRequestHeader {
  readonly statsName: string;
  readonly statsKey: string;
}

/** Reads the ext fields of 315; throws `HeaderError`. */
export function decodeViewBrokerStatsDataRequestHeader(
  fields: ExtFields,
): ViewBrokerStatsDataRequestHeader {
  const name = "ViewBrokerStatsDataRequestHeader";
  return {
    statsName: requireText(fields, "statsName", name),
    statsKey: requireText(fields, "statsKey", name),
  };
}

/** Reads the ext fields of GET_BROKER_CONSUME_STATS (317); throws `HeaderError`. */
export function decodeGetConsumeStatsInBrokerHeader(
  fields: ExtFields,
): { readonly isOrder: boolean } {
  return { isOrder: optionalBoolean(fields, "isOrder", false) };
}
