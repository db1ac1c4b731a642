/**
 * The metrics of Apache's broker 5.5.0, as its Prometheus exporter spells them: type and labels
 * beside those that all have. The interop test compares the list with the real one.
 */

const TOPIC = ["is_system", "message_type", "topic"];
const GROUP = ["consumer_group", "is_system", "topic"];
const LAG = ["consumer_group", "is_retry", "is_system", "topic"];
const STORE = ["storage_medium", "storage_type"];

/** Those that are here too. */
export const SHARED: Readonly<
  Record<string, readonly [type: string, labels: readonly string[]]>
> = {
  rocketmq_processor_watermark: ["gauge", ["processor"]],
  rocketmq_broker_permission: ["gauge", []],
  rocketmq_topic_number: ["gauge", []],
  rocketmq_consumer_group_number: ["gauge", []],
  rocketmq_messages_in_total: ["counter", TOPIC],
  rocketmq_messages_out_total: ["counter", GROUP],
  rocketmq_throughput_in_total: ["counter", TOPIC],
  rocketmq_throughput_out_total: ["counter", GROUP],
  rocketmq_message_size: ["histogram", TOPIC],
  rocketmq_topic_create_execution_time_milliseconds: [
    "histogram",
    ["invocation_status", "is_system"],
  ],
  rocketmq_consumer_group_create_execution_time_milliseconds: [
    "histogram",
    ["invocation_status"],
  ],
  rocketmq_producer_connections: [
    "gauge",
    ["language", "protocol_type", "version"],
  ],
  rocketmq_consumer_connections: ["gauge", [
    "consume_mode",
    "consumer_group",
    "is_system",
    "language",
    "protocol_type",
    "version",
  ]],
  rocketmq_consumer_lag_messages: ["gauge", LAG],
  rocketmq_consumer_lag_latency_milliseconds: ["gauge", LAG],
  rocketmq_consumer_inflight_messages: ["gauge", LAG],
  rocketmq_consumer_queueing_latency_milliseconds: ["gauge", LAG],
  rocketmq_consumer_ready_messages: ["gauge", LAG],
  rocketmq_send_to_dlq_messages_total: ["counter", GROUP],
  rocketmq_rpc_latency_milliseconds: ["histogram", [
    "is_long_polling",
    "protocol_type",
    "request_code",
    "response_code",
    "result",
  ]],
  rocketmq_pop_revive_lag_milliseconds: ["gauge", ["queue_id"]],
  rocketmq_pop_revive_latency_milliseconds: ["gauge", ["queue_id"]],
  rocketmq_pop_checkpoint_buffer_size: ["gauge", []],
  rocketmq_commit_messages_total: ["counter", ["topic"]],
  rocketmq_rollback_messages_total: ["counter", ["topic"]],
  rocketmq_finish_message_latency_milliseconds: ["histogram", ["topic"]],
  rocketmq_storage_size_bytes: ["gauge", STORE],
  rocketmq_storage_flush_behind_bytes: ["gauge", STORE],
  rocketmq_storage_dispatch_behind_bytes: ["gauge", STORE],
  rocketmq_storage_message_reserve_time_milliseconds: ["gauge", STORE],
};

const TIMER_TOPIC = [...STORE, "topic"].sort();

/**
 * Those of timers, which are here too. Where no timer message was sent, Apache's broker shows some
 * of them only.
 */
export const OF_TIMERS: typeof SHARED = {
  rocketmq_timer_enqueue_lag: ["gauge", STORE],
  rocketmq_timer_enqueue_latency_milliseconds: ["gauge", STORE],
  rocketmq_timer_dequeue_lag: ["gauge", STORE],
  rocketmq_timer_dequeue_latency_milliseconds: ["gauge", STORE],
  rocketmq_timing_messages: ["gauge", TIMER_TOPIC],
  rocketmq_timer_enqueue_total: ["counter", TIMER_TOPIC],
  rocketmq_timer_dequeue_total: ["counter", TIMER_TOPIC],
  rocketmq_timer_message_snapshot: ["gauge", [...STORE, "timer_bound_s"]],
  rocketmq_delay_message_latency_seconds: ["histogram", TIMER_TOPIC],
};

/** Those that are not, by the reason. */
export const ABSENT: Readonly<Record<string, readonly RegExp[]>> = {
  "counted per topic in a file of Apache's own": [/^rocketmq_half_messages$/],
  "POP buffers neither positions nor check points": [
    /^rocketmq_pop_offset_buffer_size/,
    /^rocketmq_pop_buffer_scan_time_consume/,
  ],
  "no RocksDB, tiered store, proxy or controller": [
    /^rocketmq_rocksdb_/,
    /^rocketmq_tiered_store_/,
    /^rocketmq_proxy_/,
  ],
  "of OpenTelemetry itself": [/^target_info$/, /^otel_/],
};
