/** ConsumeStats: the body of GET_CONSUME_STATS (208), reference 2.7. */
import type { MessageQueue } from "../../model/message_queue.ts";
import { type FastjsonValue, writeFastjson } from "../fastjson.ts";
import {
  decodeJson,
  encodeJsonText,
  intField,
  numberField,
  objectOf,
} from "./json_fields.ts";
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
  return encodeJsonText(writeFastjson(consumeStatsToJson(stats)));
}

/** All groups of a broker: the body of GET_BROKER_CONSUME_STATS (317). */
export interface ConsumeStatsList {
  readonly brokerAddr: string;
  /** By group: one entry per topic. */
  readonly groups: ReadonlyMap<string, readonly ConsumeStats[]>;
}

/** The body of 317; lags are summed here. */
export function encodeConsumeStatsList(list: ConsumeStatsList): Uint8Array {
  const all = [...list.groups.values()].flat().flatMap((it) => it.offsets);
  const totalOf = (lag: (it: OffsetWrapper) => number) =>
    all.reduce((sum, it) => sum + lag(it), 0);
  return encodeJsonText(writeFastjson({
    brokerAddr: list.brokerAddr,
    consumeStatsList: [...list.groups].map(([group, topics]) => ({
      [group]: topics.map(consumeStatsToJson),
    })),
    totalDiff: totalOf((it) => it.brokerOffset - it.consumerOffset),
    totalInflightDiff: totalOf((it) => it.pullOffset - it.consumerOffset),
  }));
}

function consumeStatsToJson(stats: ConsumeStats): FastjsonValue {
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
  return { consumeTps: stats.consumeTps, offsetTable };
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
