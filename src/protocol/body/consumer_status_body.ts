/** GetConsumerStatusBody: what members answer to 221, and the broker to 223 (reference 2.5, 2.7). */
import { type FastjsonValue, writeFastjson } from "../fastjson.ts";
import { decodeJson, integerOf, objectOf } from "./json_fields.ts";
import {
  messageQueueMapEntries,
  messageQueueToJson,
} from "./message_queue_body.ts";
import type { QueueOffset } from "./reset_offset_body.ts";

/** Reads `messageQueueTable` of a member's answer; throws `BodyError`. */
export function decodeConsumerStatus(bytes: Uint8Array): QueueOffset[] {
  const name = "GetConsumerStatusBody";
  const { messageQueueTable } = objectOf(decodeJson(bytes, name), name);
  return messageQueueMapEntries(messageQueueTable).map(([queue, offset]) => ({
    queue,
    offset: integerOf(offset, "messageQueueTable"),
  }));
}

/** The broker's answer: offsets by client id. */
export function encodeConsumerStatus(
  clients: ReadonlyMap<string, readonly QueueOffset[]>,
): Uint8Array {
  const consumerTable = new Map<FastjsonValue, FastjsonValue>();
  for (const [clientId, offsets] of clients) {
    consumerTable.set(
      clientId,
      new Map<FastjsonValue, FastjsonValue>(
        offsets.map((it) => [messageQueueToJson(it.queue), it.offset]),
      ),
    );
  }
  return new TextEncoder().encode(
    writeFastjson({ consumerTable, messageQueueTable: {} }),
  );
}
