/**
 * ResetOffsetBody: the answer to INVOKE_BROKER_TO_RESET_OFFSET (222), and what
 * RESET_CONSUMER_CLIENT_OFFSET (220) tells members (reference 2.5, 2.7).
 */
import type { MessageQueue } from "../../model/message_queue.ts";
import { type FastjsonValue, writeFastjson } from "../fastjson.ts";
import { encodeJsonText } from "./json_fields.ts";
import { messageQueueToJson } from "./message_queue_body.ts";

/** Where a queue is read from now on. */
export interface QueueOffset {
  readonly queue: MessageQueue;
  readonly offset: number;
}

/** The body for all languages but C++. */
export function encodeResetOffsetBody(
  offsets: readonly QueueOffset[],
): Uint8Array {
  const offsetTable = new Map<FastjsonValue, FastjsonValue>(
    offsets.map((it) => [messageQueueToJson(it.queue), it.offset]),
  );
  return encodeJsonText(writeFastjson({ offsetTable }));
}

/** ResetOffsetBodyForC: a list, as C++ clients cannot read objects as keys. */
export function encodeResetOffsetBodyForC(
  offsets: readonly QueueOffset[],
): Uint8Array {
  const offsetTable = offsets.map(({ queue, offset }) => ({
    brokerName: queue.brokerName,
    offset,
    queueId: queue.queueId,
    topic: queue.topic,
  }));
  return encodeJsonText(writeFastjson({ offsetTable }));
}
