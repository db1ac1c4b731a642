/** ConsumerOptions: what a consumer of a group is told; names of DefaultMQPushConsumer. */
import type { ConsumeFromWhere } from "../model/heartbeat_data.ts";
import type { MessageQueue } from "../model/message_queue.ts";
import type { ConsumedMessage } from "./consumed_message.ts";

/** What a consumer wants of one topic. */
export interface Subscription {
  readonly topic: string;
  /** `*`, `TagA || TagB`, or SQL. */
  readonly expression: string;
  readonly expressionType: "TAG" | "SQL92";
}

/** Times in milliseconds. */
export interface ConsumerOptions {
  readonly consumerGroup: string;
  readonly subscriptions: readonly Subscription[];
  /** For queues of which the group has no offset yet. */
  readonly consumeFromWhere: ConsumeFromWhere;
  /** With CONSUME_FROM_TIMESTAMP. */
  readonly consumeTimestampMs: number;
  /** Most messages of one pull; brokers have their own limit besides. */
  readonly pullBatchSize: number;
  /** How long a broker holds a pull that finds nothing. */
  readonly brokerSuspendMaxTimeMillis: number;
  readonly consumerTimeoutMillisWhenSuspend: number;
  readonly rebalanceInterval: number;
  /** The pause after a pull that failed or a listener that threw. */
  readonly pullTimeDelayMillsWhenException: number;
}

/** As DefaultMQPushConsumer, with shorter pauses after failures. */
export const DEFAULT_CONSUMER_OPTIONS: ConsumerOptions = Object.freeze({
  consumerGroup: "",
  subscriptions: [],
  consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
  consumeTimestampMs: 0,
  pullBatchSize: 32,
  brokerSuspendMaxTimeMillis: 15_000,
  consumerTimeoutMillisWhenSuspend: 30_000,
  rebalanceInterval: 20_000,
  pullTimeDelayMillsWhenException: 1_000,
});

/**
 * Takes the messages of one queue in order, one call at a time for each queue.
 * Returns how many of them, from the first, are done; nothing means all. A
 * throw means none: they come again after a pause.
 */
export type MessageListener = (
  messages: readonly ConsumedMessage[],
  queue: MessageQueue,
) => number | void | Promise<number | void>;
