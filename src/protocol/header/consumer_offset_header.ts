/** Request headers of QUERY_CONSUMER_OFFSET (14) and UPDATE_CONSUMER_OFFSET (15), reference 2.3. */
import type { ExtFields } from "../remoting_command.ts";
import {
  optionalBoolean,
  requireInt,
  requireLong,
  requireText,
} from "./field_reader.ts";

/** The request of 14. */
export interface QueryConsumerOffsetRequestHeader {
  readonly consumerGroup: string;
  readonly topic: string;
  readonly queueId: number;
  /** False: no offset is no offset, even for a new queue. */
  readonly setZeroIfNotFound: boolean;
}

/** The request of 15. */
export interface UpdateConsumerOffsetRequestHeader {
  readonly consumerGroup: string;
  readonly topic: string;
  readonly queueId: number;
  readonly commitOffset: number;
}

/** Reads the ext fields of 14; throws `HeaderError`. */
export function decodeQueryConsumerOffsetRequestHeader(
  fields: ExtFields,
): QueryConsumerOffsetRequestHeader {
  const name = "QueryConsumerOffsetRequestHeader";
  return {
    consumerGroup: requireText(fields, "consumerGroup", name),
    topic: requireText(fields, "topic", name),
    queueId: requireInt(fields, "queueId", name),
    setZeroIfNotFound: optionalBoolean(fields, "setZeroIfNotFound", true),
  };
}

/** The ext fields of 14. */
export function encodeQueryConsumerOffsetRequestHeader(
  header: QueryConsumerOffsetRequestHeader,
): ExtFields {
  return {
    consumerGroup: header.consumerGroup,
    topic: header.topic,
    queueId: String(header.queueId),
    ...(header.setZeroIfNotFound ? {} : { setZeroIfNotFound: "false" }),
  };
}

/** Reads the ext fields of 15; throws `HeaderError`. */
export function decodeUpdateConsumerOffsetRequestHeader(
  fields: ExtFields,
): UpdateConsumerOffsetRequestHeader {
  const name = "UpdateConsumerOffsetRequestHeader";
  return {
    consumerGroup: requireText(fields, "consumerGroup", name),
    topic: requireText(fields, "topic", name),
    queueId: requireInt(fields, "queueId", name),
    commitOffset: requireLong(fields, "commitOffset", name),
  };
}

/** The ext fields of 15. */
export function encodeUpdateConsumerOffsetRequestHeader(
  header: UpdateConsumerOffsetRequestHeader,
): ExtFields {
  return {
    consumerGroup: header.consumerGroup,
    topic: header.topic,
    queueId: String(header.queueId),
    commitOffset: String(header.commitOffset),
  };
}
