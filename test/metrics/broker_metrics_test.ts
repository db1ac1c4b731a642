import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { ABSENT, OF_TIMERS, SHARED } from "./apache_metrics.ts";
import {
  exporterSnapshot,
  open,
  scraped,
  snapshot,
} from "./metrics_fixture.ts";

const NODE = 'cluster="C",node_type="broker",node_id="b"';
const NODE_LABELS = ["cluster", "node_id", "node_type"];

async function linesOf(metrics = open()): Promise<string[]> {
  return (await metrics.text()).split("\n");
}

test("BrokerMetrics has RocketMQ 5's names, types and labels", async () => {
  const found = scraped(await open().text());
  for (
    const [name, [type, labels]] of Object.entries({ ...SHARED, ...OF_TIMERS })
  ) {
    const metric = found.get(name);
    assertEquals(metric?.type, type, name);
    assertEquals(
      [...metric!.labelNames].sort(),
      [...NODE_LABELS, ...labels].sort(),
      name,
    );
  }
  for (const [why, patterns] of Object.entries(ABSENT)) {
    const wrong = [...found.keys()].filter((name) =>
      patterns.some((it) => it.test(name))
    );
    assertEquals(wrong, [], why);
  }
});

test("BrokerMetrics has one value per sample", async () => {
  const lines = await linesOf();
  const has = (line: string) => assert(lines.includes(line), line);
  const topic = 'topic="T",message_type="normal",is_system="false"';
  has(`rocketmq_messages_in_total{${NODE},${topic}} 19`);
  const pop = 'consumer_group="G",topic="T"';
  has(
    `rocketmq_pop_revive_in_message_total{${NODE},${pop},revive_message_type="CK",put_status="PUT_OK"} 56`,
  );
  has(
    `rocketmq_pop_revive_out_message_total{${NODE},${pop},queue_id="2",revive_message_type="ACK"} 57`,
  );
  has(
    `rocketmq_pop_revive_retry_messages_total{${NODE},${pop},put_status="PUT_OK"} 58`,
  );
  has(`rocketmq_pop_revive_lag_milliseconds{${NODE},queue_id="2"} 54`);
  has(`rocketmq_pop_revive_latency_milliseconds{${NODE},queue_id="2"} 55`);
  has(`rocketmq_pop_checkpoint_buffer_size{${NODE}} 51`);
  has(`rocketmq_throughput_in_total{${NODE},${topic}} 190`);
  const group = 'consumer_group="G",topic="T",is_system="false"';
  has(`rocketmq_messages_out_total{${NODE},${group}} 16`);
  has(`rocketmq_throughput_out_total{${NODE},${group}} 17`);
  has(`rocketmq_send_to_dlq_messages_total{${NODE},${group}} 3`);
  const lag =
    'consumer_group="G",topic="%RETRY%G",is_system="false",is_retry="true"';
  has(`rocketmq_consumer_lag_messages{${NODE},${lag}} 20`);
  has(`rocketmq_consumer_lag_latency_milliseconds{${NODE},${lag}} 31`);
  has(`rocketmq_consumer_inflight_messages{${NODE},${lag}} 5`);
  has(`rocketmq_consumer_queueing_latency_milliseconds{${NODE},${lag}} 29`);
  has(`rocketmq_consumer_ready_messages{${NODE},${lag}} 15`);
  has(`pocketmq_topic_messages_total{${NODE},topic="T",is_system="false"} 99`);
  has(`rocketmq_commit_messages_total{${NODE},topic="T"} 8`);
  has(`rocketmq_rollback_messages_total{${NODE},topic="T"} 9`);
  const disk = 'storage_type="local",storage_medium="disk"';
  has(`rocketmq_storage_size_bytes{${NODE},${disk}} 400`);
  has(`rocketmq_storage_flush_behind_bytes{${NODE},${disk}} 100`);
  has(`rocketmq_commitlog_max_offset{${NODE}} 1000`);
  has(`rocketmq_processor_watermark{${NODE},processor="send"} 2`);
  has(`rocketmq_ha_role{${NODE},role="ASYNC_MASTER"} 1`);
  has(`rocketmq_ha_role{${NODE},role="SLAVE"} 0`);
  has(`pocketmq_requests_total{${NODE},request_code="310"} 11`);
  const timers = 'storage_type="local",storage_medium="disk"';
  has(`rocketmq_timer_enqueue_lag{${NODE},${timers}} 61`);
  has(`rocketmq_timer_enqueue_latency_milliseconds{${NODE},${timers}} 62`);
  has(`rocketmq_timer_dequeue_lag{${NODE},${timers}} 63`);
  has(`rocketmq_timer_dequeue_latency_milliseconds{${NODE},${timers}} 64`);
  has(
    `rocketmq_timer_message_snapshot{${NODE},timer_bound_s="5",${timers}} 65`,
  );
  has(`rocketmq_timing_messages{${NODE},topic="T",${timers}} 66`);
  has(`rocketmq_timer_enqueue_total{${NODE},topic="T",${timers}} 67`);
  has(`rocketmq_timer_dequeue_total{${NODE},topic="T",${timers}} 68`);
  has(
    `rocketmq_delay_message_latency_seconds_sum{${NODE},topic="T",${timers}} 7`,
  );
  has("process_cpu_seconds_total 2.5");
  has("process_start_time_seconds 3");
});

test("BrokerMetrics writes histograms with cumulative buckets", async () => {
  const lines = await linesOf();
  const name = "rocketmq_rpc_latency_milliseconds";
  const labels =
    `${NODE},protocol_type="remoting",request_code="send_message_v2",` +
    'response_code="success",is_long_polling="false",result="success"';
  const at = lines.indexOf(`# TYPE ${name} histogram`);
  assertEquals(lines.slice(at + 1, at + 6), [
    `${name}_bucket{${labels},le="1"} 4`,
    `${name}_bucket{${labels},le="3"} 4`,
    `${name}_bucket{${labels},le="+Inf"} 5`,
    `${name}_count{${labels}} 5`,
    `${name}_sum{${labels}} 7`,
  ]);
});

test("BrokerMetrics leaves out what is unknown", async () => {
  const broker = { ...snapshot(), messageReserveTimeMs: null, topics: [] };
  const text = await open(broker).text();
  assert(!text.includes("rocketmq_storage_message_reserve_time"));
  assert(!text.includes("rocketmq_messages_in_total"));
});

test("BrokerMetrics shows what is there now, again and again", async () => {
  const broker = { ...snapshot() };
  const metrics = open(broker);
  await metrics.text();
  Object.assign(broker, { topics: [], putCount: 15 });
  const lines = await linesOf(metrics);
  assert(lines.includes(`pocketmq_puts_total{${NODE}} 15`));
  assertEquals(lines.filter((it) => it.includes('topic="T"')).length > 0, true);
  assertEquals(
    lines.some((it) => it.startsWith("rocketmq_messages_in_total")),
    false,
  );
});

test("BrokerMetrics shows the pair with the numbers of /admin/ha", async () => {
  const lines = await linesOf();
  const has = (line: string) => assert(lines.includes(line), line);
  has(`rocketmq_ha_state{${NODE},state="catching-up"} 1`);
  has(`rocketmq_ha_state{${NODE},state="healthy"} 0`);
  has(`rocketmq_ha_slaves_connected{${NODE}} 1`);
  has(`rocketmq_ha_slave_lag_bytes{${NODE},slave="s:1"} 21`);
  has(`rocketmq_ha_replicated_offset{${NODE}} 979`);
  has(`rocketmq_ha_protocol_errors_total{${NODE}} 27`);
  assert(!lines.some((it) => it.startsWith("rocketmq_ha_master_lag_bytes")));
});

test("BrokerMetrics sums up what exceeds the cardinality limit", async () => {
  const base = snapshot();
  const [topic] = base.topics;
  const broker = {
    ...base,
    topics: [1, 2, 3, 4].map((n) => ({ ...topic!, topic: `T${n}`, nums: n })),
    watermarks: new Map([["a", 1], ["b", 2], ["c", 3]]),
  };
  const found = scraped(await open(broker, 2).text());
  const values = (name: string) =>
    found.get(name)!.samples.map((it) => [
      it.labels.get("topic") ?? it.labels.get("processor") ??
        it.labels.get("otel_metric_overflow"),
      it.value,
    ]);
  assertEquals(values("rocketmq_messages_in_total"), [["T1", 1], ["true", 9]]);
  assertEquals(values("rocketmq_message_size"), [["T1", 5], ["true", 15]]);
  assertEquals(values("rocketmq_processor_watermark"), [["a", 1], ["b", 2]]);
});

test("BrokerMetrics escapes values of labels", async () => {
  const base = snapshot();
  const topics = [{ ...base.topics[0]!, topic: 'a"b\\c\nd' }];
  const lines = await linesOf(open({ ...base, topics }));
  assert(lines.some((it) => it.includes('topic="a\\"b\\\\c\\nd",')));
});

test("BrokerMetrics adds the names of the 4.x exporter when they are wanted", async () => {
  assert(!(await open().text()).includes("rocketmq_brokeruntime_"));
  const lines = await linesOf(
    open({ ...snapshot(), exporter: exporterSnapshot() }),
  );
  const has = (line: string) => assert(lines.includes(line), line);
  const broker = 'cluster="C",broker="b"';
  has(
    'rocketmq_broker_tps{cluster="C",brokerIP="10.0.0.1:10911",broker="b"} 1.25',
  );
  assert(!lines.some((it) => it.startsWith("rocketmq_broker_qps{")));
  has(
    'rocketmq_broker_commitlog_diff{cluster="C",brokerIP="s:1",broker="b"} 21',
  );
  has(`rocketmq_producer_offset{${broker},topic="T"} 10`);
  has(`rocketmq_topic_retry_offset{${broker},topic="%RETRY%G"} 11`);
  has(`rocketmq_topic_dlq_offset{${broker},group="G"} 12`);
  has(`rocketmq_producer_tps{${broker},topic="T"} 2`);
  has(`rocketmq_producer_message_size{${broker},topic="T"} 3`);
  has(`rocketmq_producer_count{${broker},group="P"} 2`);
  has(`rocketmq_consumer_tps{${broker},topic="T",group="G"} 4`);
  has(`rocketmq_consumer_message_size{${broker},topic="T",group="G"} 5`);
  has(`rocketmq_send_back_nums{${broker},topic="T",group="G"} 6`);
  has(`rocketmq_consumer_offset{${broker},topic="T",group="B"} 40`);
  has(
    `rocketmq_group_get_latency_by_storetime{${broker},topic="T",group="G"} 9`,
  );
  has(
    'rocketmq_group_diff{group="G",topic="T",countOfOnlineConsumers="2",msgModel="1"} 2',
  );
  has(
    'rocketmq_group_retrydiff{group="G",topic="%RETRY%G",countOfOnlineConsumers="2",msgModel="1"} 2',
  );
  // Groups that broadcast have no lag at the broker.
  assert(!lines.some((it) => it.startsWith('rocketmq_group_diff{group="B"')));
  has('rocketmq_group_count{caddr="a:1,a:2",localaddr="c1,c2",group="G"} 2');
  const client = 'clientAddr="a:1",clientId="c1",group="G",topic="T"';
  has(`rocketmq_client_consume_fail_msg_count{${client}} 6`);
  has(`rocketmq_client_consume_fail_msg_tps{${client}} 5`);
  has(`rocketmq_client_consume_ok_msg_tps{${client}} 4`);
  has(`rocketmq_client_consume_rt{${client}} 3`);
  has(`rocketmq_client_consumer_pull_rt{${client}} 1.5`);
  has(`rocketmq_client_consumer_pull_tps{${client}} 2`);
  const runtime =
    'cluster="C",brokerIP="10.0.0.1:10911",brokerHost="",des="V5_3_3",boottime="5",broker_version="479"';
  has(`rocketmq_brokeruntime_msg_put_total_today_now{${runtime}} 7`);
  has(`rocketmq_brokeruntime_put_tps10{${runtime}} 1.5`);
  has(`rocketmq_brokeruntime_put_tps600{${runtime}} 3.5`);
  has(`rocketmq_brokeruntime_pmdt_0ms{${runtime}} 8`);
  has(`rocketmq_brokeruntime_pmdt_0to10ms{${runtime}} 9`);
  has(
    `rocketmq_brokeruntime_commitlogdir_capacity_total{${runtime}} ${2 ** 32}`,
  );
  has(`rocketmq_brokeruntime_commitlogdir_capacity_free{${runtime}} 512`);
  has(`rocketmq_brokeruntime_remain_howmanydata_toflush{${runtime}} 1536`);
  // What the table lacks is left out, not shown as 0.
  assert(!lines.some((it) => it.startsWith("rocketmq_brokeruntime_getmiss")));
});
