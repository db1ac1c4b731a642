/** ExporterSnapshot: what the metrics of RocketMQ's 4.x exporter need beside those of 5.x. */

/** A topic with queues here. */
export interface ExporterTopic {
  readonly topic: string;
  /** Ends of its queues, summed up. */
  readonly maxOffset: number;
}

/** A topic that was sent to within a day. */
export interface ExporterTopicRates {
  readonly topic: string;
  /** Messages and bytes a second over the last minute. */
  readonly tps: number;
  readonly bytesPerSecond: number;
}

/** A group that was given messages of a topic. */
export interface ExporterGroupRates extends ExporterTopicRates {
  readonly group: string;
  /** Messages of the last minute that were given up. */
  readonly sendBacks: number;
}

/** Where a group stands on a topic. */
export interface ExporterGroupOffsets {
  readonly topic: string;
  readonly group: string;
  /** Its offsets, summed up over the queues. */
  readonly consumerOffset: number;
  readonly lagMessages: number;
  /** Milliseconds since the next message to consume was stored. */
  readonly latencyMs: number;
}

/** The consumers of a group. */
export interface ExporterGroup {
  readonly group: string;
  readonly addresses: readonly string[];
  readonly clientIds: readonly string[];
  readonly isBroadcasting: boolean;
}

/** What one consumer says of one topic (307); times in milliseconds, rates a second. */
export interface ExporterClient {
  readonly address: string;
  readonly clientId: string;
  readonly group: string;
  readonly topic: string;
  readonly pullRT: number;
  readonly pullTPS: number;
  readonly consumeRT: number;
  readonly consumeOKTPS: number;
  readonly consumeFailedTPS: number;
  /** Of the last hour. */
  readonly consumeFailedMsgs: number;
}

/** The broker as the exporter sees it. */
export interface ExporterSnapshot {
  readonly clusterName: string;
  readonly brokerName: string;
  /** host:port that clients are told. */
  readonly brokerAddr: string;
  /** The runtime info (28). */
  readonly runtime: ReadonlyMap<string, string>;
  /** Messages a second over the last minute; null before the first message. */
  readonly putTps: number | null;
  readonly getTps: number | null;
  readonly topics: readonly ExporterTopic[];
  readonly topicRates: readonly ExporterTopicRates[];
  readonly groupRates: readonly ExporterGroupRates[];
  readonly groupOffsets: readonly ExporterGroupOffsets[];
  /** Online or not. */
  readonly groups: readonly ExporterGroup[];
  /** Consumers that answered. */
  readonly clients: readonly ExporterClient[];
  /** By producer group. */
  readonly producers: ReadonlyMap<string, number>;
}
