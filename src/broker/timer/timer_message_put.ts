/** TimerMessagePut: what becomes of one due record of rmq_sys_wheel_timer. */
import { assert } from "../../base/assert.ts";
import { shown } from "../../base/shown.ts";
import type { Logger } from "../../io/logger.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../model/message_ext.ts";
import { findProperty, MessageConst } from "../../model/message_properties.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import { isStored } from "../put_response.ts";
import type { SendStats } from "../topic_put_stats.ts";
import type { TimerEntry } from "./timer_index.ts";
import {
  ownRecallKey,
  rolledTimerMessage,
  timerTimeUp,
} from "./timer_message.ts";
import type { TimerMetrics } from "./timer_metrics.ts";
import type { TimerRecalls } from "./timer_recalls.ts";

/** What it needs. */
export interface TimerMessagePutPorts {
  readonly logger: Logger;
  readonly store: {
    putMessage(
      message: MessageExtBrokerInner,
    ): PutMessageResult | Promise<PutMessageResult>;
  };
  readonly stats: Pick<SendStats, "onPut">;
  readonly metrics: TimerMetrics;
  /** False for a topic that was deleted. */
  hasTopic(topic: string): boolean;
}

const MISSING_TOPICS_TOLD_MAX = 100;

/** Stores due messages; each function answers why it could not be stored now, or null. */
export class TimerMessagePut {
  readonly #ports: TimerMessagePutPorts;
  readonly #missingTopics = new Set<string>();

  constructor(ports: TimerMessagePutPorts) {
    this.#ports = ports;
  }

  /** Delivers it, or remembers the recall that it is. */
  deliver(
    entry: TimerEntry,
    record: MessageExt,
    recalls: TimerRecalls,
    nowMs: number,
  ): string | null {
    const { metrics, stats } = this.#ports;
    const { propertiesText } = record;
    const topic = findProperty(propertiesText, MessageConst.REAL_TOPIC) ?? "";
    if (entry.isRecall) {
      const key = findProperty(propertiesText, MessageConst.TIMER_DEL_UNIQKEY);
      recalls.add(key ?? "", entry.dueMs, entry.queueOffset);
      return null;
    }
    const ownKey = ownRecallKey(record);
    if (ownKey !== undefined && recalls.has(ownKey)) {
      metrics.add(topic, -1, nowMs);
      return null;
    }
    const message = timerTimeUp(record, entry.dueMs, nowMs);
    if (typeof message === "string") return this.#junk(entry, message);
    const { result, failure } = this.#put(message);
    if (result === null) {
      return failure === null
        ? null
        : this.#isHopeless(failure)
        ? this.#junk(entry, failure)
        : failure;
    }
    metrics.onDelivered(topic, entry.dueMs, nowMs);
    stats.onPut(topic, message.queueId, "delay", 1, result.size, 0);
    if (!this.#ports.hasTopic(topic)) this.#tellMissing(topic);
    return null;
  }

  /** Puts a copy at the end of the queue. */
  roll(entry: TimerEntry, record: MessageExt, nowMs: number): string | null {
    const message = rolledTimerMessage(record, entry.dueMs, nowMs);
    const { failure } = this.#put(message);
    return failure !== null && this.#isHopeless(failure)
      ? this.#junk(entry, failure)
      : failure;
  }

  #put(message: MessageExtBrokerInner): {
    result: PutMessageResult | null;
    failure: string | null;
  } {
    const result = this.#ports.store.putMessage(message);
    assert(
      !(result instanceof Promise),
      "a put that waits for nothing is answered at once",
    );
    const { reason, status } = result;
    return isStored(status)
      ? { result, failure: null }
      : { result: null, failure: `${status}: ${reason ?? "no reason given"}` };
  }

  /** It would be refused for ever, and must not hold up the others. */
  #isHopeless(failure: string): boolean {
    return /^(MESSAGE_ILLEGAL|PROPERTIES_SIZE_EXCEEDED):/.test(failure);
  }

  #junk({ phyOffset }: TimerEntry, reason: string): null {
    this.#ports.logger.error(
      `A timer message at ${phyOffset} of the log is not delivered: ${reason}`,
    );
    return null;
  }

  #tellMissing(topic: string): void {
    const told = this.#missingTopics;
    if (told.has(topic) || told.size >= MISSING_TOPICS_TOLD_MAX) return;
    told.add(topic);
    this.#ports.logger.warn(
      `Timer messages of topic ${
        shown(topic)
      } are stored, but there is no such topic: nobody reads them unless it is made again`,
    );
  }
}
