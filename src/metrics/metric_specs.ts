/**
 * Which metrics there are. Names are RocketMQ 5's where it has them, with the unit suffix that
 * its exporter adds, so that its dashboards work; `pocketmq_` elsewhere.
 */
import { HA_METRICS } from "./ha_metric_specs.ts";
import { counter, gauge, type MetricSpec } from "./metric_spec.ts";

const ROLES = ["ASYNC_MASTER", "SYNC_MASTER", "SLAVE"];

const TRAFFIC: readonly MetricSpec[] = [
  {
    name: "rocketmq_messages_in_total",
    help: "Messages stored, by topic",
    kind: "counter",
    labelNames: ["topic", "is_system"],
    samples: ({ topics }) =>
      topics.map((it) => ({
        labels: { topic: it.topic, is_system: String(it.isSystem) },
        value: it.messagesIn,
      })),
  },
  counter(
    "rocketmq_messages_out_total",
    "Messages sent to consumers",
    (it) => it.getCount,
  ),
  counter(
    "rocketmq_throughput_in_total",
    "Bytes stored",
    (it) => it.putBytes,
  ),
  counter(
    "rocketmq_throughput_out_total",
    "Bytes sent to consumers",
    (it) => it.getBytes,
  ),
  {
    name: "rocketmq_consumer_lag_messages",
    help: "Messages that a group has not consumed yet",
    kind: "gauge",
    labelNames: ["consumer_group", "topic", "is_retry"],
    samples: ({ lags }) =>
      lags.map((it) => ({
        labels: {
          consumer_group: it.group,
          topic: it.topic,
          is_retry: String(it.topic.startsWith("%RETRY%")),
        },
        value: it.lagMessages,
      })),
  },
  {
    name: "pocketmq_requests_total",
    help: "Requests, by request code",
    kind: "counter",
    labelNames: ["request_code"],
    samples: ({ requests }) =>
      [...requests].map(([code, value]) => ({
        labels: { request_code: String(code) },
        value,
      })),
  },
];

const BROKER: readonly MetricSpec[] = [
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
  gauge(
    "rocketmq_producer_connections",
    "Producers that are connected",
    (it) => it.producerConnections,
  ),
  gauge(
    "rocketmq_consumer_connections",
    "Consumers that are connected",
    (it) => it.consumerConnections,
  ),
  gauge("pocketmq_connections", "Open connections", (it) => it.connections),
  gauge("pocketmq_held_pulls", "Pulls that wait", (it) => it.heldPulls),
  counter(
    "pocketmq_junk_connections_total",
    "Connections closed for speaking another protocol",
    (it) => it.junkCloses,
  ),
  counter(
    "pocketmq_received_bytes_total",
    "Bytes received",
    (it) => it.bytesIn,
  ),
  counter("pocketmq_sent_bytes_total", "Bytes sent", (it) => it.bytesOut),
];

const STORE: readonly MetricSpec[] = [
  gauge(
    "rocketmq_storage_size",
    "Bytes of the commit log",
    (it) => it.commitLogMaxOffset - it.commitLogMinOffset,
  ),
  gauge(
    "rocketmq_storage_flush_behind_bytes",
    "Bytes that a power cut would lose",
    (it) => Math.max(0, it.commitLogMaxOffset - it.flushedOffset),
  ),
  gauge(
    "rocketmq_storage_dispatch_behind_bytes",
    "Bytes that consumers cannot see yet",
    (it) => it.dispatchBehindBytes,
  ),
  gauge(
    "rocketmq_storage_message_reserve_time_milliseconds",
    "Age of the oldest message",
    (it) => it.messageReserveTimeMs,
  ),
  gauge(
    "rocketmq_commitlog_max_offset",
    "End of the commit log",
    (it) => it.commitLogMaxOffset,
  ),
  gauge(
    "rocketmq_commitlog_min_offset",
    "Start of the commit log",
    (it) => it.commitLogMinOffset,
  ),
  gauge(
    "pocketmq_store_writable",
    "1 when messages are accepted",
    (it) => it.isWritable ? 1 : 0,
  ),
  counter(
    "pocketmq_put_failures_total",
    "Messages that were refused",
    (it) => it.putFailedCount,
  ),
  counter("pocketmq_puts_total", "Messages stored", (it) => it.putCount),
  gauge(
    "pocketmq_disk_used_percent",
    "Used part of the disk",
    (it) => it.diskUsedPercent,
  ),
];

const HA: readonly MetricSpec[] = [
  {
    name: "rocketmq_ha_role",
    help: "1 for the role that this broker has",
    kind: "gauge",
    labelNames: ["role"],
    samples: ({ role }) =>
      ROLES.map((it) => ({
        labels: { role: it },
        value: it === role ? 1 : 0,
      })),
  },
  ...HA_METRICS,
];

/** Metrics of the process. */
export const PROCESS_METRICS: readonly MetricSpec[] = [
  gauge(
    "process_resident_memory_bytes",
    "Resident memory",
    (_, it) => it.residentBytes,
  ),
  counter(
    "process_cpu_seconds_total",
    "CPU time, user and system",
    (_, it) => it.cpuSeconds,
  ),
  gauge(
    "process_start_time_seconds",
    "Start, seconds since epoch",
    (_, it) => it.startedMs / 1000,
  ),
  gauge(
    "process_uptime_seconds",
    "Seconds since the start",
    (_, it) => it.uptimeSeconds,
  ),
];

/** Metrics of the broker. */
export const BROKER_METRICS: readonly MetricSpec[] = [
  ...TRAFFIC,
  ...BROKER,
  ...STORE,
  ...HA,
];
