/** QueryConsumeTimeSpanBody: the body of QUERY_CONSUME_TIME_SPAN (303), reference 2.7. */
import type { MessageQueue } from "../../model/message_queue.ts";
import { encodeJson } from "./json_fields.ts";
import { messageQueueToJson } from "./message_queue_body.ts";

/** Store times of one queue, milliseconds; -1 where there is no such message. */
export interface QueueTimeSpan {
  readonly messageQueue: MessageQueue;
  /** Of the first message. */
  readonly minTimeStamp: number;
  /** Of the last message. */
  readonly maxTimeStamp: number;
  /** Of the last consumed message. */
  readonly consumeTimeStamp: number;
  /** Age of the first message that is not consumed; 0: all are. */
  readonly delayTime: number;
}

/** The body. */
export function encodeQueryConsumeTimeSpanBody(
  spans: readonly QueueTimeSpan[],
): Uint8Array {
  return encodeJson({
    consumeTimeSpanSet: spans.map((it) => ({
      consumeTimeStamp: it.consumeTimeStamp,
      delayTime: it.delayTime,
      maxTimeStamp: it.maxTimeStamp,
      messageQueue: messageQueueToJson(it.messageQueue),
      minTimeStamp: it.minTimeStamp,
    })),
  });
}
