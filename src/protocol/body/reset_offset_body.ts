/** ResetOffsetBody: the body of INVOKE_BROKER_TO_RESET_OFFSET (222), reference 2.7. */
import type { MessageQueue } from "../../model/message_queue.ts";
import { type FastjsonValue, writeFastjson } from "../fastjson.ts";
import { encodeJsonText } from "./json_fields.ts";
import { messageQueueToJson } from "./message_queue_body.ts";

/** Where a queue is read from now on. */
export interface QueueOffset {
  readonly queue: MessageQueue;
  readonly offset: number;
}

/** The body. */
export function encodeResetOffsetBody(
  offsets: readonly QueueOffset[],
): Uint8Array {
  const offsetTable = new Map<FastjsonValue, FastjsonValue>(
    offsets.map((it) => [messageQueueToJson(it.queue), it.offset]),
  );
  return encodeJsonText(writeFastjson({ offsetTable }));
}
