/**
 * The metrics of RocketMQ 5's broker: its names with the unit that its exporter appends, its
 * types, labels and buckets, so that its dashboards work. Those of features that are not here
 * (tiered storage, RocksDB, proxy, controller) are missing, and the number of half
 * messages, which Apache keeps per topic in a file of its own.
 */
import type {
  ExecutionTimeMetrics,
  GroupLagMetrics,
} from "./broker_metrics_source.ts";
import {
  gauge,
  histogram,
  type Labels,
  type MetricSpec,
  rows,
} from "./metric_spec.ts";

const REMOTING: Labels = Object.freeze({ protocol_type: "remoting" });
const DISK: Labels = Object.freeze({
  storage_type: "local",
  storage_medium: "disk",
});

const BROKER: readonly MetricSpec[] = [
  rows(
    "gauge",
    "rocketmq_processor_watermark",
    "Requests in progress; pulls that wait for messages do not count",
    (it) => it.watermarks,
    ([processor, value]) => ({ labels: { processor }, value }),
  ),
  gauge(
    "rocketmq_broker_permission",
    "Permission bits: 4 read, 2 write",
    (it) => it.brokerPermission,
  ),
  gauge("rocketmq_topic_number", "Topics", (it) => it.topicCount),
  gauge(
    "rocketmq_consumer_group_number",
    "Consumer groups",
    (it) => it.groupCount,
  ),
];

interface TopicOfType {
  readonly topic: string;
  readonly messageType: string;
  readonly isSystem: boolean;
}

const topicLabels = (it: TopicOfType): Labels => ({
  topic: it.topic,
  message_type: it.messageType,
  is_system: it.isSystem,
});

interface TopicOfGroup {
  readonly topic: string;
  readonly group: string;
  readonly isSystem: boolean;
}

const groupLabels = (it: TopicOfGroup): Labels => ({
  consumer_group: it.group,
  topic: it.topic,
  is_system: it.isSystem,
});

const TRAFFIC: readonly MetricSpec[] = [
  rows(
    "counter",
    "rocketmq_messages_in_total",
    "Messages sent since the start, without retries and dead letters",
    (it) => it.topics,
    (it) => ({ labels: topicLabels(it), value: it.nums }),
  ),
  rows(
    "counter",
    "rocketmq_messages_out_total",
    "Messages given to consumers since the start, without retries and dead letters",
    (it) => it.groups,
    (it) => ({ labels: groupLabels(it), value: it.nums }),
  ),
  rows(
    "counter",
    "rocketmq_throughput_in_total",
    "Bytes of the records of messages sent",
    (it) => it.topics,
    (it) => ({ labels: topicLabels(it), value: it.bytes }),
  ),
  rows(
    "counter",
    "rocketmq_throughput_out_total",
    "Bytes of the records given to consumers",
    (it) => it.groups,
    (it) => ({ labels: groupLabels(it), value: it.bytes }),
  ),
  histogram(
    "rocketmq_message_size",
    "Bytes of the records of messages sent",
    (it) => it.topics,
    (it) => ({ labels: topicLabels(it), histogram: it.sizes }),
  ),
  rows(
    "counter",
    "rocketmq_send_to_dlq_messages_total",
    "Messages that became dead letters",
    (it) => it.deadLetters,
    (it) => ({ labels: groupLabels(it), value: it.nums }),
  ),
];

const TRANSACTIONS: readonly MetricSpec[] = [
  rows(
    "counter",
    "rocketmq_commit_messages_total",
    "Transactions that were committed",
    (it) => it.transactions.filter(({ committed }) => committed > 0),
    ({ topic, committed }) => ({ labels: { topic }, value: committed }),
  ),
  rows(
    "counter",
    "rocketmq_rollback_messages_total",
    "Transactions that were rolled back",
    (it) => it.transactions.filter(({ rolledBack }) => rolledBack > 0),
    ({ topic, rolledBack }) => ({ labels: { topic }, value: rolledBack }),
  ),
  histogram(
    "rocketmq_finish_message_latency_milliseconds",
    "Seconds (RocketMQ says milliseconds, and counts these) until a transaction was committed",
    (it) => it.transactions.filter(({ committed }) => committed > 0),
    ({ topic, latencyS }) => ({ labels: { topic }, histogram: latencyS }),
  ),
];

const executionLabels = (it: ExecutionTimeMetrics): Labels => ({
  invocation_status: it.invocationStatus,
  ...(it.isSystem === undefined ? {} : { is_system: it.isSystem }),
});

const REQUESTS: readonly MetricSpec[] = [
  histogram(
    "rocketmq_rpc_latency_milliseconds",
    "Time from a request to its answer",
    (it) => it.rpc,
    (it) => ({
      labels: {
        ...REMOTING,
        request_code: it.requestCode,
        response_code: it.responseCode,
        is_long_polling: it.isLongPolling,
        result: it.result,
      },
      histogram: it.latencyMs,
    }),
  ),
  histogram(
    "rocketmq_topic_create_execution_time_milliseconds",
    "Time that it took to create or change topics",
    (it) => it.topicCreations,
    (it) => ({ labels: executionLabels(it), histogram: it.timeMs }),
  ),
  histogram(
    "rocketmq_consumer_group_create_execution_time_milliseconds",
    "Time that it took to create or change consumer groups",
    (it) => it.groupCreations,
    (it) => ({ labels: executionLabels(it), histogram: it.timeMs }),
  ),
  rows(
    "gauge",
    "rocketmq_producer_connections",
    "Producers that are connected",
    (it) => it.producerConnections,
    (it) => ({
      labels: { language: it.language, version: it.version, ...REMOTING },
      value: it.count,
    }),
  ),
  rows(
    "gauge",
    "rocketmq_consumer_connections",
    "Consumers that are connected",
    (it) => it.consumerConnections,
    (it) => ({
      labels: {
        consumer_group: it.group,
        language: it.language,
        version: it.version,
        consume_mode: it.consumeMode,
        ...REMOTING,
        is_system: it.isSystem,
      },
      value: it.count,
    }),
  ),
];

const ofLags = (
  name: string,
  help: string,
  valueOf: (it: GroupLagMetrics) => number,
) =>
  rows<GroupLagMetrics>("gauge", name, help, (it) => it.lags, (it) => ({
    labels: { ...groupLabels(it), is_retry: it.isRetry },
    value: valueOf(it),
  }));

const LAGS: readonly MetricSpec[] = [
  ofLags(
    "rocketmq_consumer_lag_messages",
    "Messages that a group has not consumed yet",
    (it) => it.lagMessages,
  ),
  ofLags(
    "rocketmq_consumer_lag_latency_milliseconds",
    "Age of the oldest message that a group has not consumed yet",
    (it) => it.lagLatencyMs,
  ),
  ofLags(
    "rocketmq_consumer_inflight_messages",
    "Messages given to a group that it has not confirmed",
    (it) => it.inflightMessages,
  ),
  ofLags(
    "rocketmq_consumer_queueing_latency_milliseconds",
    "Age of the oldest message that a group was not given yet",
    (it) => it.queueingLatencyMs,
  ),
  ofLags(
    "rocketmq_consumer_ready_messages",
    "Messages that a group was not given yet",
    (it) => it.readyMessages,
  ),
];

const STORE: readonly MetricSpec[] = [
  gauge(
    "rocketmq_storage_size_bytes",
    "Bytes in use on the disk of the store, whoever uses them",
    (it) => it.diskUsedBytes,
    DISK,
  ),
  gauge(
    "rocketmq_storage_flush_behind_bytes",
    "Bytes that a power cut would lose",
    (it) => Math.max(0, it.commitLogMaxOffset - it.flushedOffset),
    DISK,
  ),
  gauge(
    "rocketmq_storage_dispatch_behind_bytes",
    "Bytes that consumers cannot see yet",
    (it) => it.dispatchBehindBytes,
    DISK,
  ),
  gauge(
    "rocketmq_storage_message_reserve_time_milliseconds",
    "Age of the oldest message",
    (it) => it.messageReserveTimeMs,
    DISK,
  ),
];

/** All of them. */
export const ROCKETMQ_METRICS: readonly MetricSpec[] = [
  ...BROKER,
  ...TRAFFIC,
  ...TRANSACTIONS,
  ...REQUESTS,
  ...LAGS,
  ...STORE,
];
