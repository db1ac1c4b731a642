/** The request header of CONSUMER_SEND_MSG_BACK (36), reference 2.2. */
import type { ExtFields } from "../remoting_command.ts";
import {
  optionalBoolean,
  optionalInt,
  optionalText,
  requireInt,
  requireLong,
  requireText,
} from "./field_reader.ts";

/** Which message a consumer could not consume. */
export interface ConsumerSendMsgBackRequestHeader {
  /** CommitLog offset of the record. */
  readonly offset: number;
  readonly group: string;
  /** -1: dead letters at once; 0: the broker chooses; else a level. */
  readonly delayLevel: number;
  readonly originMsgId: string | undefined;
  readonly originTopic: string | undefined;
  /** Undefined: the group's retryMaxTimes counts. */
  readonly maxReconsumeTimes: number | undefined;
  readonly unitMode: boolean;
}

const NAME = "ConsumerSendMsgBackRequestHeader";
const ABSENT = -0x8000_0000;

/** Reads the ext fields; throws `HeaderError`. */
export function decodeConsumerSendMsgBackRequestHeader(
  fields: ExtFields,
): ConsumerSendMsgBackRequestHeader {
  const maxReconsumeTimes = optionalInt(fields, "maxReconsumeTimes", ABSENT);
  return {
    offset: requireLong(fields, "offset", NAME),
    group: requireText(fields, "group", NAME),
    delayLevel: requireInt(fields, "delayLevel", NAME),
    originMsgId: optionalText(fields, "originMsgId"),
    originTopic: optionalText(fields, "originTopic"),
    maxReconsumeTimes: maxReconsumeTimes === ABSENT
      ? undefined
      : maxReconsumeTimes,
    unitMode: optionalBoolean(fields, "unitMode", false),
  };
}

/** The ext fields. */
export function encodeConsumerSendMsgBackRequestHeader(
  header: ConsumerSendMsgBackRequestHeader,
): ExtFields {
  const fields: ExtFields = {
    offset: String(header.offset),
    group: header.group,
    delayLevel: String(header.delayLevel),
    unitMode: String(header.unitMode),
  };
  if (header.originMsgId !== undefined) {
    fields.originMsgId = header.originMsgId;
  }
  if (header.originTopic !== undefined) {
    fields.originTopic = header.originTopic;
  }
  if (header.maxReconsumeTimes !== undefined) {
    fields.maxReconsumeTimes = String(header.maxReconsumeTimes);
  }
  return fields;
}
