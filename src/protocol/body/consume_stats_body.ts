/** ConsumeStats: the body of GET_CONSUME_STATS (208), reference 2.7. */
import type { MessageQueue } from "../../model/message_queue.ts";
import { type FastjsonValue, writeFastjson } from "../fastjson.ts";
import { decodeJson, intField, numberField, objectOf } from "./json_fields.ts";
import {
  messageQueueMapEntries,
  messageQueueToJson,
} from "./message_queue_body.ts";

/** Where a group stands in one queue. */
export interface OffsetWrapper {
  readonly queue: MessageQueue;
  readonly brokerOffset: number;
  readonly consumerOffset: number;
  readonly pullOffset: number;
  /** Store time of the last consumed message, milliseconds; 0: unknown. */
  readonly lastTimestamp: number;
}

/** Where a group stands in all queues of its topics. */
export interface ConsumeStats {
  readonly offsets: readonly OffsetWrapper[];
  /** Messages a second. */
  readonly consumeTps: number;
}

/** The body. */
export function encodeConsumeStats(stats: ConsumeStats): Uint8Array {
  const offsetTable = new Map<FastjsonValue, FastjsonValue>(
    stats.offsets.map((it) => [
      messageQueueToJson(it.queue),
      {
        brokerOffset: it.brokerOffset,
        consumerOffset: it.consumerOffset,
        lastTimestamp: it.lastTimestamp,
        pullOffset: it.pullOffset,
      },
    ]),
  );
  return new TextEncoder().encode(
    writeFastjson({ consumeTps: stats.consumeTps, offsetTable }),
  );
}

/** Reads the body; throws `BodyError`. */
export function decodeConsumeStats(bytes: Uint8Array): ConsumeStats {
  const object = objectOf(decodeJson(bytes, "ConsumeStats"), "ConsumeStats");
  return {
    offsets: messageQueueMapEntries(object.offsetTable).map(
      ([queue, value]) => {
        const entry = objectOf(value, "OffsetWrapper");
        return {
          queue,
          brokerOffset: intField(entry, "brokerOffset", 0),
          consumerOffset: intField(entry, "consumerOffset", 0),
          pullOffset: intField(entry, "pullOffset", 0),
          lastTimestamp: intField(entry, "lastTimestamp", 0),
        };
      },
    ),
    consumeTps: numberField(object, "consumeTps", 0),
  };
}
