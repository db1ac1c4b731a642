/**
 * The response header of PULL_MESSAGE (11) and LITE_PULL_MESSAGE (361)
 * (reference 2.3). The four offsets must be there whatever the code: without
 * them a Java client makes no progress.
 */
import type { ExtFields } from "../remoting_command.ts";
import { optionalInt, requireLong } from "./field_reader.ts";

/** Where a pull stands. */
export interface PullMessageResponseHeader {
  suggestWhichBrokerId: number;
  nextBeginOffset: number;
  minOffset: number;
  maxOffset: number;
  /** [5.x] TopicConfig.topicSysFlag, 0 when absent. */
  topicSysFlag: number;
  /** [5.x] SubscriptionGroupConfig.groupSysFlag, 0 when absent. */
  groupSysFlag: number;
}

const NAME = "the PULL_MESSAGE response";

/** The fields of an answer. */
export function encodePullMessageResponseHeader(
  header: PullMessageResponseHeader,
): ExtFields {
  return {
    suggestWhichBrokerId: String(header.suggestWhichBrokerId),
    nextBeginOffset: String(header.nextBeginOffset),
    minOffset: String(header.minOffset),
    maxOffset: String(header.maxOffset),
    topicSysFlag: String(header.topicSysFlag),
    groupSysFlag: String(header.groupSysFlag),
  };
}

/** Reads the fields of an answer. Throws `HeaderError`. */
export function decodePullMessageResponseHeader(
  fields: ExtFields,
): PullMessageResponseHeader {
  return {
    suggestWhichBrokerId: requireLong(fields, "suggestWhichBrokerId", NAME),
    nextBeginOffset: requireLong(fields, "nextBeginOffset", NAME),
    minOffset: requireLong(fields, "minOffset", NAME),
    maxOffset: requireLong(fields, "maxOffset", NAME),
    topicSysFlag: optionalInt(fields, "topicSysFlag", 0),
    groupSysFlag: optionalInt(fields, "groupSysFlag", 0),
  };
}
