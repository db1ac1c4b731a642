/** The request header of RECALL_MESSAGE (370, 5.x). */
import type { ExtFields } from "../remoting_command.ts";
import { optionalText, requireText } from "./field_reader.ts";

/** Which message is to be taken back. */
export interface RecallMessageRequestHeader {
  readonly producerGroup: string | undefined;
  readonly topic: string;
  /** As the answer of its send had it. */
  readonly recallHandle: string;
}

const NAME = "RecallMessageRequestHeader";

/** Reads the ext fields; throws `HeaderError`. */
export function decodeRecallMessageRequestHeader(
  fields: ExtFields,
): RecallMessageRequestHeader {
  return {
    producerGroup: optionalText(fields, "producerGroup"),
    topic: requireText(fields, "topic", NAME),
    recallHandle: requireText(fields, "recallHandle", NAME),
  };
}
