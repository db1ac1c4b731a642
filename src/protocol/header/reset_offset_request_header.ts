/** ResetOffsetRequestHeader: INVOKE_BROKER_TO_RESET_OFFSET (222), reference 2.7, 11.8. */
import type { ExtFields } from "../remoting_command.ts";
import {
  optionalBoolean,
  optionalInt,
  optionalLong,
  requireLong,
  requireText,
} from "./field_reader.ts";

/** The request of 222. */
export interface ResetOffsetRequestHeader {
  readonly topic: string;
  readonly group: string;
  /** Milliseconds since the epoch; negative: the end of the queue. */
  readonly timestamp: number;
  /** True: forward too, not only back. Where the broker resets, it always does. */
  readonly isForce: boolean;
  /** -1: every queue. */
  readonly queueId: number;
  /** For one queue: the offset itself; -1: by `timestamp`. */
  readonly offset: number;
}

/** Reads the ext fields; throws `HeaderError`. */
export function decodeResetOffsetRequestHeader(
  fields: ExtFields,
): ResetOffsetRequestHeader {
  const name = "ResetOffsetRequestHeader";
  return {
    topic: requireText(fields, "topic", name),
    group: requireText(fields, "group", name),
    timestamp: requireLong(fields, "timestamp", name),
    isForce: optionalBoolean(fields, "isForce", false),
    queueId: optionalInt(fields, "queueId", -1),
    offset: optionalLong(fields, "offset", -1),
  };
}
