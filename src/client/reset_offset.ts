/** ResetOffsetBody: `{"offsetTable":{MessageQueue:offset}}`, the body of 220 and of the answer to 222. */
import type { MessageQueue } from "../model/message_queue.ts";
import {
  decodeJson,
  integerOf,
  objectOf,
} from "../protocol/body/json_fields.ts";
import { messageQueueMapEntries } from "../protocol/body/message_queue_body.ts";

/** Reads the body; throws `BodyError`. */
export function decodeResetOffsetTable(
  body: Uint8Array,
): [MessageQueue, number][] {
  const name = "ResetOffsetBody";
  const object = objectOf(decodeJson(body, name), name);
  return messageQueueMapEntries(object.offsetTable).map(
    ([queue, offset]) => [queue, integerOf(offset, "an offset")],
  );
}
