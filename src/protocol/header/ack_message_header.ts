/** Headers of ACK_MESSAGE (200051) and CHANGE_MESSAGE_INVISIBLETIME (200053) (reference 2.8). */
import type { ExtFields } from "../remoting_command.ts";
import { requireInt, requireLong, requireText } from "./field_reader.ts";

/** One popped message. */
export interface AckMessageRequestHeader {
  readonly consumerGroup: string;
  /** The retry topic, for a message of one. */
  readonly topic: string;
  readonly queueId: number;
  /** The message's handle. */
  readonly extraInfo: string;
  /** Its queue offset. */
  readonly offset: number;
}

/** One whose invisible time is another one now. */
export interface ChangeInvisibleTimeRequestHeader
  extends AckMessageRequestHeader {
  /** Milliseconds from now on. */
  readonly invisibleTime: number;
}

/** What its new handle is made of. */
export interface ChangeInvisibleTimeResponseHeader {
  readonly popTime: number;
  readonly invisibleTime: number;
  readonly reviveQid: number;
}

/** Reads 200051. Throws `HeaderError`. */
export function decodeAckMessageRequestHeader(
  fields: ExtFields,
  name = "AckMessageRequestHeader",
): AckMessageRequestHeader {
  return {
    consumerGroup: requireText(fields, "consumerGroup", name),
    topic: requireText(fields, "topic", name),
    queueId: requireInt(fields, "queueId", name),
    extraInfo: requireText(fields, "extraInfo", name),
    offset: requireLong(fields, "offset", name),
  };
}

/** Reads 200053. Throws `HeaderError`. */
export function decodeChangeInvisibleTimeRequestHeader(
  fields: ExtFields,
): ChangeInvisibleTimeRequestHeader {
  const name = "ChangeInvisibleTimeRequestHeader";
  return {
    ...decodeAckMessageRequestHeader(fields, name),
    invisibleTime: requireLong(fields, "invisibleTime", name),
  };
}

/** The fields of the answer to 200053. */
export function encodeChangeInvisibleTimeResponseHeader(
  header: ChangeInvisibleTimeResponseHeader,
): ExtFields {
  return {
    popTime: String(header.popTime),
    invisibleTime: String(header.invisibleTime),
    reviveQid: String(header.reviveQid),
  };
}
