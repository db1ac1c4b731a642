/**
 * The request header of SEND_MESSAGE (10), and with one-letter names of
 * SEND_MESSAGE_V2 (310), SEND_BATCH_MESSAGE (320) and 324/325 (reference 3.1).
 *
 * | 310 | 10                    | type | mandatory |
 * | --- | --------------------- | ---- | --------- |
 * | a   | producerGroup         | S    | yes       |
 * | b   | topic                 | S    | yes       |
 * | c   | defaultTopic          | S    | yes       |
 * | d   | defaultTopicQueueNums | I    | yes       |
 * | e   | queueId               | I    | yes       |
 * | f   | sysFlag               | I    | yes       |
 * | g   | bornTimestamp         | L    | yes       |
 * | h   | flag                  | I    | yes       |
 * | i   | properties            | S    | no        |
 * | j   | reconsumeTimes        | I    | no        |
 * | k   | unitMode              | B    | no        |
 * | l   | maxReconsumeTimes     | I    | no        |
 * | m   | batch                 | B    | no        |
 * | n   | bname                 | S    | no        |
 */
import type { ExtFields } from "../remoting_command.ts";
import {
  HeaderError,
  optionalBoolean,
  parseInt32,
  requireInt,
  requireLong,
  requireText,
} from "./field_reader.ts";

/** What a send says beside the body. */
export interface SendMessageRequestHeader {
  producerGroup: string;
  topic: string;
  /** The template topic for auto-creation. */
  defaultTopic: string;
  defaultTopicQueueNums: number;
  /** Negative: the broker picks a queue. */
  queueId: number;
  sysFlag: number;
  bornTimestamp: number;
  flag: number;
  /** Empty when absent. */
  properties: string;
  /** 0 when absent. */
  reconsumeTimes: number;
  unitMode: boolean;
  /** The consumer's retry limit; undefined when absent. */
  maxReconsumeTimes: number | undefined;
  batch: boolean;
}

const V1 = "SEND_MESSAGE";
const V2 = "SEND_MESSAGE_V2";

/** Reads the long names of code 10. Throws `HeaderError`. */
export function decodeSendMessageRequestHeader(
  fields: ExtFields,
): SendMessageRequestHeader {
  return {
    producerGroup: requireText(fields, "producerGroup", V1),
    topic: requireText(fields, "topic", V1),
    defaultTopic: requireText(fields, "defaultTopic", V1),
    defaultTopicQueueNums: requireInt(fields, "defaultTopicQueueNums", V1),
    queueId: requireInt(fields, "queueId", V1),
    sysFlag: requireInt(fields, "sysFlag", V1),
    bornTimestamp: requireLong(fields, "bornTimestamp", V1),
    flag: requireInt(fields, "flag", V1),
    properties: fields["properties"] ?? "",
    reconsumeTimes: strictInt(fields, "reconsumeTimes", V1) ?? 0,
    unitMode: optionalBoolean(fields, "unitMode", false),
    maxReconsumeTimes: strictInt(fields, "maxReconsumeTimes", V1),
    batch: optionalBoolean(fields, "batch", false),
  };
}

/** Reads the one-letter names of codes 310 and 320. Throws `HeaderError`. */
export function decodeSendMessageRequestHeaderV2(
  fields: ExtFields,
): SendMessageRequestHeader {
  return {
    producerGroup: requireText(fields, "a", V2),
    topic: requireText(fields, "b", V2),
    defaultTopic: requireText(fields, "c", V2),
    defaultTopicQueueNums: requireInt(fields, "d", V2),
    queueId: requireInt(fields, "e", V2),
    sysFlag: requireInt(fields, "f", V2),
    bornTimestamp: requireLong(fields, "g", V2),
    flag: requireInt(fields, "h", V2),
    properties: fields["i"] ?? "",
    reconsumeTimes: strictInt(fields, "j", V2) ?? 0,
    unitMode: optionalBoolean(fields, "k", false),
    maxReconsumeTimes: strictInt(fields, "l", V2),
    batch: optionalBoolean(fields, "m", false),
  };
}

/** Java's hand-written decoder refuses an unreadable optional number too. */
function strictInt(
  fields: ExtFields,
  name: string,
  header: string,
): number | undefined {
  const text = fields[name];
  if (text === undefined) return undefined;
  const value = parseInt32(text);
  if (!Number.isNaN(value)) return value;
  throw new HeaderError(`the field ${name} of ${header} is not an int32`);
}

/** The long names of code 10. */
export function encodeSendMessageRequestHeader(
  header: SendMessageRequestHeader,
): ExtFields {
  const fields: ExtFields = {
    producerGroup: header.producerGroup,
    topic: header.topic,
    defaultTopic: header.defaultTopic,
    defaultTopicQueueNums: String(header.defaultTopicQueueNums),
    queueId: String(header.queueId),
    sysFlag: String(header.sysFlag),
    bornTimestamp: String(header.bornTimestamp),
    flag: String(header.flag),
    properties: header.properties,
    reconsumeTimes: String(header.reconsumeTimes),
    unitMode: String(header.unitMode),
    batch: String(header.batch),
  };
  if (header.maxReconsumeTimes !== undefined) {
    fields["maxReconsumeTimes"] = String(header.maxReconsumeTimes);
  }
  return fields;
}

/** The one-letter names of codes 310 and 320. */
export function encodeSendMessageRequestHeaderV2(
  header: SendMessageRequestHeader,
): ExtFields {
  const fields: ExtFields = {
    a: header.producerGroup,
    b: header.topic,
    c: header.defaultTopic,
    d: String(header.defaultTopicQueueNums),
    e: String(header.queueId),
    f: String(header.sysFlag),
    g: String(header.bornTimestamp),
    h: String(header.flag),
    i: header.properties,
    j: String(header.reconsumeTimes),
    k: String(header.unitMode),
    m: String(header.batch),
  };
  if (header.maxReconsumeTimes !== undefined) {
    fields["l"] = String(header.maxReconsumeTimes);
  }
  return fields;
}
