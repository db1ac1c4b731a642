import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { EXPORTER_METRICS } from "../../src/metrics/exporter_metric_specs.ts";

/** All names of rocketmq-exporter; runtime ones without `rocketmq_brokeruntime_`. */
const NAMES = `
broker_commitlog_diff broker_qps broker_tps client_consume_fail_msg_count
client_consume_fail_msg_tps client_consume_ok_msg_tps client_consume_rt
client_consumer_pull_rt client_consumer_pull_tps consumer_message_size
consumer_offset consumer_tps group_consume_total_offset group_consume_tps
group_count group_diff group_dlqdiff group_get_latency_by_storetime
group_retrydiff producer_count producer_message_size producer_offset
producer_tps send_back_nums topic_dlq_offset topic_retry_offset`;
const RUNTIME_NAMES = `
commitlog_disk_ratio commitlog_maxoffset commitlog_minoffset
commitlogdir_capacity_free commitlogdir_capacity_total
consumequeue_disk_ratio dispatch_behind_bytes dispatch_maxbuffer
earliest_message_timestamp getfound_tps10 getfound_tps60 getfound_tps600
getmessage_entire_time_max getmiss_tps10 getmiss_tps60 getmiss_tps600
gettotal_tps10 gettotal_tps60 gettotal_tps600 gettransfered_tps10
gettransfered_tps60 gettransfered_tps600 msg_gettotal_today_now
msg_gettotal_todaymorning msg_gettotal_yesterdaymorning
msg_put_total_today_now msg_puttotal_todaymorning
msg_puttotal_yesterdaymorning pagecache_lock_time_mills pmdt_0ms
pmdt_0to10ms pmdt_100to200ms pmdt_10stomore pmdt_10to50ms pmdt_1to2s
pmdt_200to500ms pmdt_2to3s pmdt_3to4s pmdt_4to5s pmdt_500to1s pmdt_50to100ms
pmdt_5to10s pull_threadpoolqueue_capacity
pull_threadpoolqueue_headwait_timemills pull_threadpoolqueue_size
put_latency_99 put_latency_999 put_message_average_size
put_message_size_total put_tps10 put_tps60 put_tps600
putmessage_entire_time_max putmessage_times_total
query_threadpool_queue_capacity query_threadpoolqueue_headwait_timemills
query_threadpoolqueue_size remain_howmanydata_toflush
remain_transientstore_buffer_numbs send_threadpool_queue_size
send_threadpoolqueue_capacity send_threadpoolqueue_headwait_timemills
start_accept_sendrequest_time`;

/** Declared there, and never filled. */
const EMPTY = [
  "rocketmq_group_consume_total_offset",
  "rocketmq_group_consume_tps",
  "rocketmq_group_dlqdiff",
];

const words = (text: string, prefix: string) =>
  text.trim().split(/\s+/).map((it) => prefix + it);

test("The metrics for the 4.x exporter's dashboards have its names", () => {
  const all = [
    ...words(NAMES, "rocketmq_"),
    ...words(RUNTIME_NAMES, "rocketmq_brokeruntime_"),
  ];
  assertEquals(all.length, 89);
  assertEquals(
    EXPORTER_METRICS.map((it) => it.name).sort(),
    all.filter((it) => !EMPTY.includes(it)).sort(),
  );
  for (const { kind, name } of EXPORTER_METRICS) {
    assertEquals(kind, "gauge", name);
  }
});
