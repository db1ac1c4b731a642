/** TopicStatsTable: the body of GET_TOPIC_STATS_INFO (202), reference 2.7. */
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

/** Where one queue begins and ends. */
export interface TopicOffset {
  readonly queue: MessageQueue;
  readonly minOffset: number;
  readonly maxOffset: number;
  /** Store time of the newest message, milliseconds; 0: none. */
  readonly lastUpdateTimestamp: number;
}

/** All queues of a topic on one broker. */
export interface TopicStatsTable {
  readonly offsets: readonly TopicOffset[];
  /** Messages a second. */
  readonly topicPutTps: number;
}

/** The body. */
export function encodeTopicStatsTable(table: TopicStatsTable): Uint8Array {
  const offsetTable = new Map<FastjsonValue, FastjsonValue>(
    table.offsets.map((it) => [
      messageQueueToJson(it.queue),
      {
        lastUpdateTimestamp: it.lastUpdateTimestamp,
        maxOffset: it.maxOffset,
        minOffset: it.minOffset,
      },
    ]),
  );
  return encodeJsonText(
    writeFastjson({ offsetTable, topicPutTps: table.topicPutTps }),
  );
}

/** Reads the body; throws `BodyError`. */
export function decodeTopicStatsTable(bytes: Uint8Array): TopicStatsTable {
  const object = objectOf(
    decodeJson(bytes, "TopicStatsTable"),
    "TopicStatsTable",
  );
  return {
    offsets: messageQueueMapEntries(object.offsetTable).map(
      ([queue, value]) => {
        const entry = objectOf(value, "TopicOffset");
        return {
          queue,
          minOffset: intField(entry, "minOffset", 0),
          maxOffset: intField(entry, "maxOffset", 0),
          lastUpdateTimestamp: intField(entry, "lastUpdateTimestamp", 0),
        };
      },
    ),
    topicPutTps: numberField(object, "topicPutTps", 0),
  };
}
