/** Headers of SEARCH_OFFSET_BY_TIMESTAMP (29), GET_MAX_OFFSET (30), GET_MIN_OFFSET (31), GET_EARLIEST_MSG_STORETIME (32). */
import type { ExtFields } from "../remoting_command.ts";
import { requireInt, requireLong, requireText } from "./field_reader.ts";

/** Which queue; the request of 30, 31 and 32. */
export interface QueueRequestHeader {
  readonly topic: string;
  readonly queueId: number;
}

/** Which side of a time; lower: the first record at or after it. */
export type BoundaryType = "lower" | "upper";

/** The request of 29. */
export interface SearchOffsetRequestHeader extends QueueRequestHeader {
  readonly timestamp: number;
  readonly boundaryType: BoundaryType;
}

/** Reads the ext fields of 30, 31 and 32; `name` is the Java class; throws `HeaderError`. */
export function decodeQueueRequestHeader(
  fields: ExtFields,
  name: string,
): QueueRequestHeader {
  return {
    topic: requireText(fields, "topic", name),
    queueId: requireInt(fields, "queueId", name),
  };
}

/** The ext fields of 30, 31 and 32. */
export function encodeQueueRequestHeader(
  header: QueueRequestHeader,
): ExtFields {
  return { topic: header.topic, queueId: String(header.queueId) };
}

/** Reads the ext fields of 29; a 4.9 client sends no boundary. Throws `HeaderError`. */
export function decodeSearchOffsetRequestHeader(
  fields: ExtFields,
): SearchOffsetRequestHeader {
  const name = "SearchOffsetRequestHeader";
  return {
    ...decodeQueueRequestHeader(fields, name),
    timestamp: requireLong(fields, "timestamp", name),
    boundaryType: fields.boundaryType?.toLowerCase() === "upper"
      ? "upper"
      : "lower",
  };
}

/** The ext fields of 29. */
export function encodeSearchOffsetRequestHeader(
  header: SearchOffsetRequestHeader,
): ExtFields {
  return {
    ...encodeQueueRequestHeader(header),
    timestamp: String(header.timestamp),
    boundaryType: header.boundaryType,
  };
}

/** Reads `offset` of the answers to 14, 29, 30 and 31; throws `HeaderError`. */
export function decodeOffsetResponseHeader(fields: ExtFields): number {
  return requireLong(fields, "offset", "OffsetResponseHeader");
}

/** Reads `timestamp` of the answer to 32; throws `HeaderError`. */
export function decodeTimestampResponseHeader(fields: ExtFields): number {
  return requireLong(
    fields,
    "timestamp",
    "GetEarliestMsgStoretimeResponseHeader",
  );
}
