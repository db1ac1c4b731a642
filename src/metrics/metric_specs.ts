/** Which metrics there are: RocketMQ 5's, those of replication, and `pocketmq_` for what is ours. */
import { HA_METRICS } from "./ha_metric_specs.ts";
import { counter, gauge, type MetricSpec, rows } from "./metric_spec.ts";
import { POP_METRICS } from "./pop_metric_specs.ts";
import { ROCKETMQ_METRICS } from "./rocketmq_metric_specs.ts";
import { TIMER_METRICS } from "./timer_metric_specs.ts";

const ROLES = ["ASYNC_MASTER", "SYNC_MASTER", "SLAVE"];

const BROKER: readonly MetricSpec[] = [
  gauge("pocketmq_connections", "Open connections", (it) => it.connections),
  gauge("pocketmq_held_pulls", "Pulls that wait", (it) => it.heldPulls),
  rows(
    "gauge",
    "pocketmq_delayed_messages",
    "Messages that wait for their delay to pass, by level",
    (it) => it.delayed,
    ([level, value]) => ({ labels: { delay_level: String(level) }, value }),
  ),
  rows(
    "counter",
    "pocketmq_requests_total",
    "Requests, by request code",
    (it) => it.requests,
    ([code, value]) => ({ labels: { request_code: String(code) }, value }),
  ),
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
  rows(
    "counter",
    "pocketmq_topic_messages_total",
    "Messages of a topic since it exists, sent or replicated",
    (it) => it.storedTopics,
    (it) => ({
      labels: { topic: it.topic, is_system: it.isSystem },
      value: it.messages,
    }),
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
    samples: ({ role }) =>
      ROLES.map((it) => ({
        labels: { role: it },
        value: it === role ? 1 : 0,
      })),
  },
  ...HA_METRICS,
  ...POP_METRICS,
  ...TIMER_METRICS,
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
  ...ROCKETMQ_METRICS,
  ...BROKER,
  ...STORE,
  ...HA,
];
