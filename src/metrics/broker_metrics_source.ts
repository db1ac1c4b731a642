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

/** One slave. */
export interface SlaveMetrics {
  readonly slave: string;
  /** Bytes that it has not acknowledged; null when unknown. */
  readonly lagBytes: number | null;
  readonly lagMs: number | null;
  readonly bytesInSecond: number;
}

/** Replication. */
export interface HAMetrics {
  /** The word of `/admin/ha`. */
  readonly state: string;
  /** Links of the replication port, strangers included. */
  readonly connectionCount: number;
  readonly slaves: readonly SlaveMetrics[];
  readonly inSyncSlaveNums: number;
  readonly pendingSyncRequests: number;
  /** What slaves alive now have acknowledged; null without any. */
  readonly replicatedOffset: number | null;
  readonly acceptedCount: number;
  readonly refusedCount: number;
  readonly protocolErrorCount: number;
  /** Of a slave: bytes and milliseconds behind its master; null when unknown. */
  readonly masterLagBytes: number | null;
  readonly masterLagMs: number | null;
  readonly reconnectCount: number;
}

/** The broker. */
export interface BrokerMetricsSnapshot {
  readonly ha: HAMetrics;
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
