/** The request header of PULL_MESSAGE (11) and LITE_PULL_MESSAGE (361) (reference 2.3). */
import type { ExtFields } from "../remoting_command.ts";
import {
  optionalInt,
  optionalLong,
  requireInt,
  requireLong,
  requireText,
} from "./field_reader.ts";

/** What a consumer asks for. */
export interface PullMessageRequestHeader {
  consumerGroup: string;
  topic: string;
  queueId: number;
  queueOffset: number;
  maxMsgNums: number;
  sysFlag: number;
  commitOffset: number;
  suspendTimeoutMillis: number;
  /** The filter expression; undefined when the heartbeat's counts. */
  subscription: string | undefined;
  subVersion: number;
  /** TAG or SQL92; undefined means TAG. */
  expressionType: string | undefined;
  /** [5.x] Limit of the answer's bytes; undefined when absent. */
  maxMsgBytes: number | undefined;
  /** [5.x] Who asks, -1 when absent. */
  requestSource: number;
}

const NAME = "PULL_MESSAGE";

/** Reads the fields of a pull. Throws `HeaderError`. */
export function decodePullMessageRequestHeader(
  fields: ExtFields,
): PullMessageRequestHeader {
  const maxMsgBytes = optionalInt(fields, "maxMsgBytes", 0);
  return {
    consumerGroup: requireText(fields, "consumerGroup", NAME),
    topic: requireText(fields, "topic", NAME),
    queueId: requireInt(fields, "queueId", NAME),
    queueOffset: requireLong(fields, "queueOffset", NAME),
    maxMsgNums: requireInt(fields, "maxMsgNums", NAME),
    sysFlag: requireInt(fields, "sysFlag", NAME),
    commitOffset: requireLong(fields, "commitOffset", NAME),
    suspendTimeoutMillis: requireLong(fields, "suspendTimeoutMillis", NAME),
    subscription: fields["subscription"],
    // Mandatory in Java; lenient, since old clients of other languages omit it.
    subVersion: optionalLong(fields, "subVersion", 0),
    expressionType: fields["expressionType"],
    maxMsgBytes: maxMsgBytes > 0 ? maxMsgBytes : undefined,
    requestSource: optionalInt(fields, "requestSource", -1),
  };
}

/** The fields of a pull. */
export function encodePullMessageRequestHeader(
  header: PullMessageRequestHeader,
): ExtFields {
  const fields: ExtFields = {
    consumerGroup: header.consumerGroup,
    topic: header.topic,
    queueId: String(header.queueId),
    queueOffset: String(header.queueOffset),
    maxMsgNums: String(header.maxMsgNums),
    sysFlag: String(header.sysFlag),
    commitOffset: String(header.commitOffset),
    suspendTimeoutMillis: String(header.suspendTimeoutMillis),
    subVersion: String(header.subVersion),
  };
  if (header.subscription !== undefined) {
    fields["subscription"] = header.subscription;
  }
  if (header.expressionType !== undefined) {
    fields["expressionType"] = header.expressionType;
  }
  if (header.maxMsgBytes !== undefined) {
    fields["maxMsgBytes"] = String(header.maxMsgBytes);
  }
  if (header.requestSource >= 0) {
    fields["requestSource"] = String(header.requestSource);
  }
  return fields;
}
