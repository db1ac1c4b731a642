/** ScheduleMessagePut: one due record of SCHEDULE_TOPIC_XXXX goes to its real topic. */
import { assert } from "../base/assert.ts";
import { shown } from "../base/shown.ts";
import type { Logger } from "../io/logger.ts";
import { CorruptRecordError } from "../model/corrupt_record_error.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../model/message_ext.ts";
import { decodeMessageRecord } from "../model/message_record.ts";
import type { PutMessageResult } from "../store/put_message_result.ts";
import { isStored } from "./put_response.ts";
import { messageTimeUp } from "./schedule_message.ts";
import type { SendStats } from "./topic_put_stats.ts";

/** What it needs. */
export interface ScheduleMessagePutPorts {
  readonly logger: Logger;
  readonly store: {
    putMessage(
      message: MessageExtBrokerInner,
    ): PutMessageResult | Promise<PutMessageResult>;
  };
  readonly stats: Pick<SendStats, "onPut">;
  /** False for a topic that was deleted. */
  hasTopic(topic: string): boolean;
}

/** What became of one record. */
export interface ScheduledPut {
  /** Bytes of the record. */
  readonly size: number;
  /** Its place in the level's queue; null when the record does not tell. */
  readonly queueOffset: number | null;
  /** Why it could not be stored now; null when it is, or never can be. */
  readonly failure: string | null;
}

const MISSING_TOPICS_TOLD_MAX = 100;

/** Stores due messages. */
export class ScheduleMessagePut {
  readonly #ports: ScheduleMessagePutPorts;
  readonly #missingTopics = new Set<string>();

  constructor(ports: ScheduleMessagePutPorts) {
    this.#ports = ports;
  }

  /** The record of `level` at `position` of `body`. */
  put(level: number, body: Uint8Array, position: number): ScheduledPut {
    const size = new DataView(body.buffer, body.byteOffset).getInt32(position);
    let record: MessageExt;
    try {
      record = decodeMessageRecord(body.subarray(position, position + size));
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error;
      this.#ports.logger.error(
        `A message of delay level ${level} is not delivered: ${error.message}`,
      );
      return { size, queueOffset: null, failure: null };
    }
    const { queueOffset } = record;
    return { size, queueOffset, failure: this.#deliver(level, record) };
  }

  #deliver(level: number, record: MessageExt): string | null {
    const { hasTopic, logger, stats, store } = this.#ports;
    const message = messageTimeUp(record);
    if (typeof message === "string") {
      logger.error(
        `A message of delay level ${level} at ${record.phyOffset} of the log is not delivered: ${message}`,
      );
      return null;
    }
    const result = store.putMessage(message);
    assert(
      !(result instanceof Promise),
      "a put that waits for nothing is answered at once",
    );
    if (!isStored(result.status)) {
      return `${result.status}: ${result.reason ?? "no reason given"}`;
    }
    const { queueId, topic } = message;
    stats.onPut(topic, queueId, "delay", 1, result.size, 0);
    if (!hasTopic(topic)) this.#tellMissing(topic);
    return null;
  }

  #tellMissing(topic: string): void {
    const told = this.#missingTopics;
    if (told.has(topic) || told.size >= MISSING_TOPICS_TOLD_MAX) return;
    told.add(topic);
    this.#ports.logger.warn(
      `Delayed messages of topic ${
        shown(topic)
      } are stored, but there is no such topic: nobody reads them unless it is made again`,
    );
  }
}
