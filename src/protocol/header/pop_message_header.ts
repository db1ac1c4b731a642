/** Headers of POP_MESSAGE (200050), PEEK_MESSAGE (200052), NOTIFICATION (200054) and POLLING_INFO (200055) (reference 2.8). */
import type { ExtFields } from "../remoting_command.ts";
import {
  optionalBoolean,
  optionalLong,
  optionalText,
  requireInt,
  requireLong,
  requireText,
} from "./field_reader.ts";

/** A queue that a group asks for; queueId below 0: all of them. */
export interface PopQueueHeader {
  readonly consumerGroup: string;
  readonly topic: string;
  readonly queueId: number;
}

/** What POP and NOTIFICATION say of their waiting. */
export interface PollingHeader extends PopQueueHeader {
  /** Milliseconds that the client waits for a message. */
  readonly pollTime: number;
  /** When the client sent it, wall clock; 0: it does not say. */
  readonly bornTime: number;
  readonly order: boolean;
  /** The same for the repetition of a request. */
  readonly attemptId: string | undefined;
}

/** POP_MESSAGE. */
export interface PopMessageRequestHeader extends PollingHeader {
  readonly maxMsgNums: number;
  /** Milliseconds. */
  readonly invisibleTime: number;
  /** Where a group without position begins; 0: oldest, 1: newest. */
  readonly initMode: number;
  /** TAG or SQL92; undefined means TAG. */
  readonly expType: string | undefined;
  readonly exp: string | undefined;
}

/** PEEK_MESSAGE. */
export interface PeekMessageRequestHeader extends PopQueueHeader {
  readonly maxMsgNums: number;
}

/** The answer to POP and PEEK. */
export interface PopMessageResponseHeader {
  readonly popTime: number;
  readonly invisibleTime: number;
  readonly reviveQid: number;
  readonly restNum: number;
  /** Undefined: peeked. */
  readonly startOffsetInfo: string | undefined;
  readonly msgOffsetInfo: string | undefined;
  /** Undefined unless popped in order. */
  readonly orderCountInfo: string | undefined;
}

/** Reads 200055, and the part that all have. Throws `HeaderError`. */
export function decodePopQueueHeader(
  fields: ExtFields,
  name: string,
): PopQueueHeader {
  return {
    consumerGroup: requireText(fields, "consumerGroup", name),
    topic: requireText(fields, "topic", name),
    queueId: requireInt(fields, "queueId", name),
  };
}

/** Reads 200054. Throws `HeaderError`. */
export function decodePollingHeader(
  fields: ExtFields,
  name = "NotificationRequestHeader",
): PollingHeader {
  return {
    ...decodePopQueueHeader(fields, name),
    pollTime: requireLong(fields, "pollTime", name),
    bornTime: optionalLong(fields, "bornTime", 0),
    order: optionalBoolean(fields, "order", false),
    attemptId: optionalText(fields, "attemptId"),
  };
}

/** Reads 200050. Throws `HeaderError`. */
export function decodePopMessageRequestHeader(
  fields: ExtFields,
): PopMessageRequestHeader {
  const name = "PopMessageRequestHeader";
  return {
    ...decodePollingHeader(fields, name),
    maxMsgNums: requireInt(fields, "maxMsgNums", name),
    invisibleTime: requireLong(fields, "invisibleTime", name),
    initMode: requireInt(fields, "initMode", name),
    expType: optionalText(fields, "expType"),
    exp: optionalText(fields, "exp"),
  };
}

/** Reads 200052. Throws `HeaderError`. */
export function decodePeekMessageRequestHeader(
  fields: ExtFields,
): PeekMessageRequestHeader {
  const name = "PeekMessageRequestHeader";
  return {
    ...decodePopQueueHeader(fields, name),
    maxMsgNums: requireInt(fields, "maxMsgNums", name),
  };
}

/** The fields of an answer. */
export function encodePopMessageResponseHeader(
  header: PopMessageResponseHeader,
): ExtFields {
  const { msgOffsetInfo, orderCountInfo, startOffsetInfo } = header;
  const fields: ExtFields = {
    popTime: String(header.popTime),
    invisibleTime: String(header.invisibleTime),
    reviveQid: String(header.reviveQid),
    restNum: String(header.restNum),
  };
  if (startOffsetInfo !== undefined) {
    fields["startOffsetInfo"] = startOffsetInfo;
  }
  if (msgOffsetInfo !== undefined) fields["msgOffsetInfo"] = msgOffsetInfo;
  if (orderCountInfo !== undefined) fields["orderCountInfo"] = orderCountInfo;
  return fields;
}
