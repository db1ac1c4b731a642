/** BrokerMetricsSource: what a scrape reads; nothing of it costs anything between scrapes. */
import type { Clock } from "../io/clock.ts";
import type { ScrapePace } from "./scrape_pace.ts";
import type { HistogramView } from "../base/histogram.ts";
import type { ExporterSnapshot } from "./exporter_snapshot.ts";

/** Messages of one type that were sent to one topic; retries and dead letters apart. */
export interface TopicTrafficMetrics {
  readonly topic: string;
  readonly messageType: string;
  readonly isSystem: boolean;
  readonly nums: number;
  readonly bytes: number;
  /** Bytes of one record. */
  readonly sizes: HistogramView;
}

/** One topic of the store, on masters and slaves alike. */
export interface StoredTopicMetrics {
  readonly topic: string;
  readonly isSystem: boolean;
  /** Messages stored in its queues since they exist. */
  readonly messages: number;
}

/** Messages of one topic that one group was given; retries and dead letters apart. */
export interface GroupTrafficMetrics {
  readonly topic: string;
  readonly group: string;
  readonly isSystem: boolean;
  readonly nums: number;
  readonly bytes: number;
}

/** Messages that one group turned into dead letters. */
export interface DeadLetterMetrics {
  readonly topic: string;
  readonly group: string;
  readonly isSystem: boolean;
  readonly nums: number;
}

/** How the transactions of one topic ended. */
export interface TransactionMetrics {
  readonly topic: string;
  readonly committed: number;
  readonly rolledBack: number;
  /** Seconds, as in RocketMQ, whatever its unit says. */
  readonly latencyS: HistogramView;
}

/** One consumer group on one topic. */
export interface GroupLagMetrics {
  readonly group: string;
  readonly topic: string;
  readonly isRetry: boolean;
  readonly isSystem: boolean;
  /** Messages between the group's offsets and the queues' ends. */
  readonly lagMessages: number;
  /** Milliseconds since the oldest of them was stored; 0 without any. */
  readonly lagLatencyMs: number;
  /** Messages handed out that are not confirmed. */
  readonly inflightMessages: number;
  /** Milliseconds since the oldest message that was not handed out was stored; 0 without any. */
  readonly queueingLatencyMs: number;
  /** Messages that were not handed out. */
  readonly readyMessages: number;
}

/** Producers of one kind. */
export interface ProducerConnectionMetrics {
  readonly language: string;
  readonly version: string;
  readonly count: number;
}

/** Consumers of one kind in one group. */
export interface ConsumerConnectionMetrics extends ProducerConnectionMetrics {
  readonly group: string;
  /** `push`, `pull` or `pop`. */
  readonly consumeMode: string;
  readonly isSystem: boolean;
}

/** Requests of one code that were answered in one way. */
export interface RpcMetrics {
  /** As RocketMQ spells it: the name in lower case. */
  readonly requestCode: string;
  readonly responseCode: string;
  readonly isLongPolling: boolean;
  readonly result: string;
  readonly latencyMs: HistogramView;
}

/** How long it took to make topics or groups. */
export interface ExecutionTimeMetrics {
  /** `success` or `failure`. */
  readonly invocationStatus: string;
  /** Undefined for groups. */
  readonly isSystem?: boolean;
  readonly timeMs: HistogramView;
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

/** What was counted of POP for one group and topic. */
export interface PopCountMetrics {
  readonly group: string;
  readonly topic: string;
  /** CK or ACK. */
  readonly type: string | undefined;
  /** PutMessageStatus. */
  readonly status: string | undefined;
  /** Of the revive log. */
  readonly queueId: number | undefined;
  readonly count: number;
}

/** One queue of the revive log. */
export interface ReviveQueueMetrics {
  readonly queueId: number;
  /** Check points that are due. */
  readonly dueCount: number;
  /** Milliseconds since the first of them was due. */
  readonly lateMs: number;
}

/** POP consumption. */
export interface PopMetrics {
  readonly checkPointCount: number;
  readonly inflightMessages: number;
  readonly heldRequests: number;
  /** None on a slave. */
  readonly queues: readonly ReviveQueueMetrics[];
  readonly puts: readonly PopCountMetrics[];
  readonly gets: readonly PopCountMetrics[];
  readonly retries: readonly PopCountMetrics[];
}

/** Timer messages that a master delivers. */
export interface TimerDeliveryMetrics {
  /** Messages of the queue that it has not read yet. */
  readonly unreadCount: number;
  /** Milliseconds since the first of them was stored; 0 without any, null when unknown. */
  readonly unreadMs: number | null;
  readonly pendingCount: number;
  /** Since the next message was due; 0: none is overdue. */
  readonly overdueSeconds: number;
  /** How many are due within so many seconds, and not within the bound before. */
  readonly dueWithin: readonly {
    readonly boundSeconds: number;
    readonly count: number;
  }[];
}

/** Timer messages; by topic. */
export interface TimerMessageMetrics {
  /** Null on a slave, and with `timerWheelEnable=false`. */
  readonly delivery: TimerDeliveryMetrics | null;
  readonly timing: ReadonlyMap<string, number>;
  readonly enqueued: ReadonlyMap<string, number>;
  readonly dequeued: ReadonlyMap<string, number>;
  readonly waitsS: ReadonlyMap<string, HistogramView>;
}

/** The broker. */
export interface BrokerMetricsSnapshot {
  readonly timers: TimerMessageMetrics;
  readonly pop: PopMetrics;
  readonly ha: HAMetrics;
  readonly role: string;
  readonly brokerPermission: number;
  readonly topicCount: number;
  readonly groupCount: number;
  readonly producerConnections: readonly ProducerConnectionMetrics[];
  readonly consumerConnections: readonly ConsumerConnectionMetrics[];
  readonly connections: number;
  readonly heldPulls: number;
  readonly junkCloses: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** By request code. */
  readonly requests: ReadonlyMap<number, number>;
  readonly rpc: readonly RpcMetrics[];
  /** Requests in progress by the name of Apache's processor. */
  readonly watermarks: ReadonlyMap<string, number>;
  readonly topicCreations: readonly ExecutionTimeMetrics[];
  readonly groupCreations: readonly ExecutionTimeMetrics[];
  readonly putCount: number;
  readonly putFailedCount: number;
  readonly isWritable: boolean;
  readonly commitLogMinOffset: number;
  readonly commitLogMaxOffset: number;
  readonly flushedOffset: number;
  readonly dispatchBehindBytes: number;
  /** Milliseconds since the oldest message; null when there is none. */
  readonly messageReserveTimeMs: number | null;
  /** Bytes in use on the disk of the store, whoever uses them; null when unknown. */
  readonly diskUsedBytes: number | null;
  /** Percent; null when unknown. */
  readonly diskUsedPercent: number | null;
  /** Messages that wait, by delay level. */
  readonly delayed: ReadonlyMap<number, number>;
  readonly topics: readonly TopicTrafficMetrics[];
  readonly storedTopics: readonly StoredTopicMetrics[];
  readonly groups: readonly GroupTrafficMetrics[];
  readonly deadLetters: readonly DeadLetterMetrics[];
  readonly transactions: readonly TransactionMetrics[];
  readonly lags: readonly GroupLagMetrics[];
  /** The 4.x exporter's; null unless they are wanted. */
  readonly exporter: ExporterSnapshot | null;
}

/** The process. */
export interface ProcessMetricsSnapshot {
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  /** Wall clock, milliseconds. */
  readonly startedMs: number;
  readonly uptimeSeconds: number;
}

/** Labels that RocketMQ 5 puts on every metric, and those of metricsLabel. */
export type BrokerLabels = Readonly<Record<string, string>>;

/** Who knows the numbers. */
export interface BrokerMetricsSource {
  readonly labels: BrokerLabels;
  /** Samples of one metric; what is beyond is summed up, or left out of gauges. */
  cardinalityLimit(): number;
  /** Times the turns of a scrape. */
  readonly clock: Clock;
  /** Rests where there are many rows. */
  broker(pace: ScrapePace): Promise<BrokerMetricsSnapshot>;
  process(): ProcessMetricsSnapshot;
}
