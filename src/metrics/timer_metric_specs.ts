/**
 * The metrics of timer messages, with the names, types, labels and buckets of RocketMQ 5's broker.
 * Counted are messages: RocketMQ counts each one once more whenever it puts it again.
 */
import type { TimerDeliveryMetrics } from "./broker_metrics_source.ts";
import {
  gauge,
  histogram,
  type Labels,
  type MetricSpec,
  rows,
} from "./metric_spec.ts";

const DISK: Labels = Object.freeze({
  storage_type: "local",
  storage_medium: "disk",
});

const topicLabels = (topic: string): Labels => ({ topic, ...DISK });

const ofDelivery = (
  name: string,
  help: string,
  valueOf: (it: TimerDeliveryMetrics) => number | null,
) =>
  gauge(
    name,
    help,
    ({ timers: { delivery } }) => delivery === null ? null : valueOf(delivery),
    DISK,
  );

const ofTopics = (
  kind: "counter" | "gauge",
  name: string,
  help: string,
  of: "timing" | "enqueued" | "dequeued",
) =>
  rows<[string, number]>(
    kind,
    name,
    help,
    ({ timers }) => timers[of],
    ([topic, value]) => ({ labels: topicLabels(topic), value }),
  );

/** Timers. */
export const TIMER_METRICS: readonly MetricSpec[] = [
  ofDelivery(
    "rocketmq_timer_enqueue_lag",
    "Timer messages that were not read yet",
    (it) => it.unreadCount,
  ),
  ofDelivery(
    "rocketmq_timer_enqueue_latency_milliseconds",
    "Since the first timer message that was not read yet was stored",
    (it) => it.unreadMs,
  ),
  ofDelivery(
    "rocketmq_timer_dequeue_lag",
    "Timer messages that wait",
    (it) => it.pendingCount,
  ),
  ofDelivery(
    "rocketmq_timer_dequeue_latency_milliseconds",
    "Seconds (RocketMQ says milliseconds, and counts these) since the next timer message was due",
    (it) => it.overdueSeconds,
  ),
  ofTopics(
    "gauge",
    "rocketmq_timing_messages",
    "Timer messages that wait, by topic; on a slave as its master told last",
    "timing",
  ),
  ofTopics(
    "counter",
    "rocketmq_timer_enqueue_total",
    "Timer messages that were sent",
    "enqueued",
  ),
  ofTopics(
    "counter",
    "rocketmq_timer_dequeue_total",
    "Timer messages that were delivered",
    "dequeued",
  ),
  rows(
    "gauge",
    "rocketmq_timer_message_snapshot",
    "Timer messages that are due within so many seconds, and not within the bound before",
    (it) => it.timers.delivery?.dueWithin ?? [],
    ({ boundSeconds, count }) => ({
      labels: { timer_bound_s: String(boundSeconds), ...DISK },
      value: count,
    }),
  ),
  histogram(
    "rocketmq_delay_message_latency_seconds",
    "From the birth of a timer message to its time",
    (it) => it.timers.waitsS,
    ([topic, waits]) => ({ labels: topicLabels(topic), histogram: waits }),
  ),
];
