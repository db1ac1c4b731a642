/**
 * The metrics of POP, with the names, types and labels of RocketMQ 5's broker. It has three more,
 * of buffers that are not here: positions are not buffered, and no buffer is scanned.
 */
import type { PopCountMetrics } from "./broker_metrics_source.ts";
import { gauge, type Labels, type MetricSpec, rows } from "./metric_spec.ts";

function labelsOf(row: PopCountMetrics): Labels {
  const { group, queueId, status, topic, type } = row;
  return {
    consumer_group: group,
    topic,
    ...(queueId === undefined ? {} : { queue_id: String(queueId) }),
    ...(type === undefined ? {} : { revive_message_type: type }),
    ...(status === undefined ? {} : { put_status: status }),
  };
}

const sampleOf = (row: PopCountMetrics) => ({
  labels: labelsOf(row),
  value: row.count,
});

/** POP. */
export const POP_METRICS: readonly MetricSpec[] = [
  rows(
    "counter",
    "rocketmq_pop_revive_in_message_total",
    "Check points and acknowledgements put into the revive log",
    (it) => it.pop.puts,
    sampleOf,
  ),
  rows(
    "counter",
    "rocketmq_pop_revive_out_message_total",
    "Check points and acknowledgements read from the revive log",
    (it) => it.pop.gets,
    sampleOf,
  ),
  rows(
    "counter",
    "rocketmq_pop_revive_retry_messages_total",
    "Messages put into retry topics because nobody acknowledged them",
    (it) => it.pop.retries,
    sampleOf,
  ),
  rows(
    "gauge",
    "rocketmq_pop_revive_lag_milliseconds",
    "Check points that are due and not revived; the unit in the name is RocketMQ's",
    (it) => it.pop.queues,
    ({ dueCount, queueId }) => ({
      labels: { queue_id: String(queueId) },
      value: dueCount,
    }),
  ),
  rows(
    "gauge",
    "rocketmq_pop_revive_latency_milliseconds",
    "Since the first check point that is not revived was due",
    (it) => it.pop.queues,
    ({ lateMs, queueId }) => ({
      labels: { queue_id: String(queueId) },
      value: lateMs,
    }),
  ),
  gauge(
    "rocketmq_pop_checkpoint_buffer_size",
    "Check points that are not acknowledged as a whole",
    (it) => it.pop.checkPointCount,
  ),
  gauge(
    "pocketmq_pop_inflight_messages",
    "Messages that are popped and not acknowledged",
    (it) => it.pop.inflightMessages,
  ),
  gauge(
    "pocketmq_held_pop_requests",
    "POP requests and notifications that wait for messages",
    (it) => it.pop.heldRequests,
  ),
];
