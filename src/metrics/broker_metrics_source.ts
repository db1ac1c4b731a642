/** BrokerMetricsSource: what a scrape reads; nothing of it costs anything between scrapes. */

/** One topic. */
export interface TopicMetrics {
  readonly topic: string;
  readonly isSystem: boolean;
  /** Messages stored in its queues since they exist. */
  readonly messagesIn: number;
}

/** One consumer group on one topic. */
export interface GroupLagMetrics {
  readonly group: string;
  readonly topic: string;
  /** Messages between the group's offsets and the queues' ends. */
  readonly lagMessages: number;
}

/** The broker. */
export interface BrokerMetricsSnapshot {
  readonly role: string;
  readonly brokerPermission: number;
  readonly topicCount: number;
  readonly groupCount: number;
  readonly producerConnections: number;
  readonly consumerConnections: number;
  readonly connections: number;
  readonly heldPulls: number;
  readonly junkCloses: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** By request code. */
  readonly requests: ReadonlyMap<number, number>;
  readonly putCount: number;
  readonly putBytes: number;
  readonly putFailedCount: number;
  readonly getCount: number;
  readonly getBytes: number;
  readonly isWritable: boolean;
  readonly commitLogMinOffset: number;
  readonly commitLogMaxOffset: number;
  readonly flushedOffset: number;
  readonly dispatchBehindBytes: number;
  /** Milliseconds since the oldest message; null when there is none. */
  readonly messageReserveTimeMs: number | null;
  /** Percent; null when unknown. */
  readonly diskUsedPercent: number | null;
  readonly topics: readonly TopicMetrics[];
  readonly lags: readonly GroupLagMetrics[];
}

/** The process. */
export interface ProcessMetricsSnapshot {
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  /** Wall clock, milliseconds. */
  readonly startedMs: number;
  readonly uptimeSeconds: number;
}

/** Labels that RocketMQ 5 puts on every metric. */
export interface BrokerLabels {
  readonly cluster: string;
  readonly node_type: "broker";
  readonly node_id: string;
}

/** Who knows the numbers. */
export interface BrokerMetricsSource {
  readonly labels: BrokerLabels;
  broker(): Promise<BrokerMetricsSnapshot>;
  process(): ProcessMetricsSnapshot;
}
