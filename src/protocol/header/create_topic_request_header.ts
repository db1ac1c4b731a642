/** The request header of UPDATE_AND_CREATE_TOPIC (17), reference 2.6. */
import type { ExtFields } from "../remoting_command.ts";
import {
  optionalInt,
  optionalText,
  requireBoolean,
  requireInt,
  requireText,
} from "./field_reader.ts";

/** A topic as tools send it. */
export interface CreateTopicRequestHeader {
  readonly topic: string;
  /** Unused by brokers, mandatory on the wire. */
  readonly defaultTopic: string;
  readonly readQueueNums: number;
  readonly writeQueueNums: number;
  readonly perm: number;
  /** The name as it came; the broker refuses unknown ones. */
  readonly topicFilterType: string;
  readonly topicSysFlag: number;
  readonly order: boolean;
  /** `+key=value,-key`; undefined leaves attributes as they are. */
  readonly attributes: string | undefined;
}

const NAME = "CreateTopicRequestHeader";

/** Reads the ext fields; throws `HeaderError`. */
export function decodeCreateTopicRequestHeader(
  fields: ExtFields,
): CreateTopicRequestHeader {
  return {
    topic: requireText(fields, "topic", NAME),
    defaultTopic: requireText(fields, "defaultTopic", NAME),
    readQueueNums: requireInt(fields, "readQueueNums", NAME),
    writeQueueNums: requireInt(fields, "writeQueueNums", NAME),
    perm: requireInt(fields, "perm", NAME),
    topicFilterType: requireText(fields, "topicFilterType", NAME),
    topicSysFlag: optionalInt(fields, "topicSysFlag", 0),
    order: requireBoolean(fields, "order", NAME),
    attributes: optionalText(fields, "attributes") || undefined,
  };
}

/** The ext fields. */
export function encodeCreateTopicRequestHeader(
  header: CreateTopicRequestHeader,
): ExtFields {
  return {
    topic: header.topic,
    defaultTopic: header.defaultTopic,
    readQueueNums: String(header.readQueueNums),
    writeQueueNums: String(header.writeQueueNums),
    perm: String(header.perm),
    topicFilterType: header.topicFilterType,
    topicSysFlag: String(header.topicSysFlag),
    order: String(header.order),
    ...(header.attributes === undefined
      ? {}
      : { attributes: header.attributes }),
  };
}
