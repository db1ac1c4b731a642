import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { BrokerMetrics } from "../../src/metrics/broker_metrics.ts";
import type { BrokerMetricsSnapshot } from "../../src/metrics/broker_metrics_source.ts";

function snapshot(): BrokerMetricsSnapshot {
  return {
    ha: {
      state: "catching-up",
      connectionCount: 3,
      slaves: [
        { slave: "s:1", lagBytes: 21, lagMs: 22, bytesInSecond: 23 },
      ],
      inSyncSlaveNums: 1,
      pendingSyncRequests: 24,
      replicatedOffset: 979,
      acceptedCount: 25,
      refusedCount: 26,
      protocolErrorCount: 27,
      masterLagBytes: null,
      masterLagMs: null,
      reconnectCount: 0,
    },
    role: "ASYNC_MASTER",
    brokerPermission: 6,
    topicCount: 3,
    groupCount: 2,
    producerConnections: 1,
    consumerConnections: 4,
    connections: 5,
    heldPulls: 6,
    junkCloses: 7,
    bytesIn: 8,
    bytesOut: 9,
    requests: new Map([[310, 11], [11, 12]]),
    putCount: 13,
    putBytes: 14,
    putFailedCount: 15,
    getCount: 16,
    getBytes: 17,
    isWritable: true,
    commitLogMinOffset: 100,
    commitLogMaxOffset: 1_000,
    flushedOffset: 900,
    dispatchBehindBytes: 18,
    messageReserveTimeMs: null,
    diskUsedPercent: 42,
    topics: [{ topic: "T", isSystem: false, messagesIn: 19 }],
    lags: [{ group: "G", topic: "%RETRY%G", lagMessages: 20 }],
  };
}

function open(broker = snapshot()) {
  return new BrokerMetrics({
    labels: { cluster: "C", node_type: "broker", node_id: "b" },
    broker: () => Promise.resolve(broker),
    process: () => ({
      residentBytes: 1,
      cpuSeconds: 2.5,
      startedMs: 3_000,
      uptimeSeconds: 4,
    }),
  });
}

async function samples(metrics: BrokerMetrics): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const line of (await metrics.text()).split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const space = line.lastIndexOf(" ");
    found.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return found;
}

const NODE = 'cluster="C",node_type="broker",node_id="b"';

test("BrokerMetrics.text() has RocketMQ 5's names and labels", async () => {
  const found = await samples(open());
  const of = (name: string, labels = NODE) => found.get(`${name}{${labels}}`);
  assertEquals(
    of("rocketmq_messages_in_total", `${NODE},topic="T",is_system="false"`),
    19,
  );
  assertEquals(of("rocketmq_messages_out_total"), 16);
  assertEquals(of("rocketmq_throughput_in_total"), 14);
  assertEquals(of("rocketmq_storage_size"), 900);
  assertEquals(of("rocketmq_storage_flush_behind_bytes"), 100);
  assertEquals(of("rocketmq_commitlog_max_offset"), 1_000);
  assertEquals(
    of(
      "rocketmq_consumer_lag_messages",
      `${NODE},consumer_group="G",topic="%RETRY%G",is_retry="true"`,
    ),
    20,
  );
  assertEquals(of("rocketmq_ha_role", `${NODE},role="ASYNC_MASTER"`), 1);
  assertEquals(of("rocketmq_ha_role", `${NODE},role="SLAVE"`), 0);
  assertEquals(of("pocketmq_requests_total", `${NODE},request_code="310"`), 11);
  assertEquals(found.get("process_cpu_seconds_total"), 2.5);
  assertEquals(found.get("process_start_time_seconds"), 3);
});

test("BrokerMetrics.text() leaves out what is unknown", async () => {
  const text = await open().text();
  assert(text.includes("# TYPE rocketmq_messages_in_total counter"));
  assert(
    !/^rocketmq_storage_message_reserve_time_milliseconds\{/m.test(text),
  );
});

test("BrokerMetrics.text() shows what is there now, again and again", async () => {
  const broker = { ...snapshot() };
  const metrics = open(broker);
  await metrics.text();
  Object.assign(broker, { topics: [], putBytes: 15 });
  const found = await samples(metrics);
  assertEquals(found.get(`rocketmq_throughput_in_total{${NODE}}`), 15);
  assertEquals(
    [...found.keys()].some((it) => it.includes('topic="T"')),
    false,
  );
});

test("BrokerMetrics shows the pair with the numbers of /admin/ha", async () => {
  const found = await samples(open());
  const of = (name: string, labels = "") =>
    found.get(`${name}{${NODE}${labels}}`);
  assertEquals(of("rocketmq_ha_state", ',state="catching-up"'), 1);
  assertEquals(of("rocketmq_ha_state", ',state="healthy"'), 0);
  assertEquals(of("rocketmq_ha_slaves_connected"), 1);
  assertEquals(of("rocketmq_ha_slave_lag_bytes", ',slave="s:1"'), 21);
  assertEquals(of("rocketmq_ha_replicated_offset"), 979);
  assertEquals(of("rocketmq_ha_protocol_errors_total"), 27);
  assertEquals(of("rocketmq_ha_master_lag_bytes"), undefined);
});
