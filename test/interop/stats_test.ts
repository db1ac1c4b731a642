/** The numbers that brokers give of themselves: Apache's and ours after the same requests. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { decodeKVTable } from "../../src/protocol/body/kv_table.ts";
import { ABSENT, OF_TIMERS, SHARED } from "../metrics/apache_metrics.ts";
import { scraped, type ScrapedMetric } from "../metrics/metrics_fixture.ts";
import type { RawClient } from "../support/raw_client.ts";
import { ApacheBroker } from "./apache_broker.ts";
import { compareDashboard } from "./dashboard_requests.ts";
import { freePort } from "./free_ports.ts";
import { type InteropSite, withInteropSite } from "./interop_site.ts";
import { OurBroker } from "./our_broker.ts";
import {
  GROUP,
  LOAD_CODES,
  statsLoad,
  TOPIC,
  transactions,
} from "./stats_load.ts";
import { compareTables } from "./stats_tables.ts";
import { APACHE_SERVER_VERSIONS } from "./versions.ts";

for (const version of APACHE_SERVER_VERSIONS) {
  test(`a broker of ours and of ${version} show the same numbers after the same requests`, async () => {
    await withInteropSite((site) => compare(version, site));
  });
}

/** Checks of half messages would commit positions at some moment. */
const SETTINGS = { transactionCheckInterval: "3600000" };

async function compare(version: string, site: InteropSite): Promise<void> {
  const promPort = await freePort();
  const [apache, ours] = await Promise.all([
    site.own(ApacheBroker.start({
      version,
      folder: `${site.folder}/apache`,
      namesrv: "",
      settings: {
        ...SETTINGS,
        metricsExporterType: "PROM",
        metricsPromExporterHost: "127.0.0.1",
        metricsPromExporterPort: String(promPort),
      },
    })),
    site.own(OurBroker.start({
      folder: `${site.folder}/ours`,
      namesrv: "",
      settings: SETTINGS,
    })),
  ]);
  const eventually = site.eventually.bind(site);
  const theirs = await statsLoad(apache.address, eventually);
  const own = await statsLoad(ours.address, eventually);
  try {
    await eventually(
      async () => (await theirs.invoke(28)).code === 0,
      "Apache's first sample",
    );
    compareRuntimeInfo(version, await runtime(theirs), await runtime(own));
    await compareStats(version, theirs, own);
    await compareTables(version, theirs, own);
    if (version.startsWith("4.")) return;
    for (const it of [theirs, own]) await transactions(it, eventually);
    const scrape = async (url: string) =>
      scraped(await (await fetch(url)).text());
    compareMetrics(
      await scrape(`http://127.0.0.1:${promPort}/metrics`),
      await scrape(`${ours.admin}/metrics`),
    );
    await compareDashboard(theirs, own);
  } finally {
    theirs.close();
    own.close();
  }
}

async function runtime(client: RawClient): Promise<Map<string, string>> {
  const answer = await client.invoke(28);
  assertEquals(answer.code, 0);
  return new Map(decodeKVTable(answer.body));
}

/** Those that hold a path, or a level of delay, are as the site is. */
function keysOf(table: ReadonlyMap<string, string>): string[] {
  return [...table.keys()].map((it) =>
    it.replace(/^(commitLogDiskRatio_).*/, "$1")
  )
    .filter((it) => !it.startsWith("scheduleMessageOffset_")).sort();
}

/** What ours has in addition, for tools of the other version. */
const OWN_KEYS: Readonly<Record<string, readonly string[]>> = {
  "5.5.0": ["brokerVersion", "getTransferedTps"],
  "4.9.7": [
    "ackThreadPoolQueueCapacity",
    "ackThreadPoolQueueHeadWaitTimeMills",
    "ackThreadPoolQueueSize",
    "brokerActive",
    "getTransferredTps",
    "litePullThreadPoolQueueCapacity",
    "litePullThreadPoolQueueHeadWaitTimeMills",
    "litePullThreadPoolQueueSize",
    "timerCongestNum",
    "timerDequeueTps",
    "timerEnqueueTps",
    "timerOffsetBehind",
    "timerReadBehind",
  ],
};

/** Numbers that follow from the load. */
const KNOWN_VALUES = [
  "msgPutTotalYesterdayMorning",
  "msgPutTotalTodayMorning",
  "msgGetTotalYesterdayMorning",
  "msgGetTotalTodayMorning",
  "msgPutTotalTodayNow",
  "msgGetTotalTodayNow",
  "dispatchBehindBytes",
  "dispatchMaxBuffer",
  "pageCacheLockTimeMills",
  "commitLogMinOffset",
  "putMessageTimesTotal",
  "putMessageFailedTimes",
  "remainTransientStoreBufferNumbs",
  "startAcceptSendRequestTimeStamp",
  "sendThreadPoolQueueSize",
  "sendThreadPoolQueueCapacity",
  "pullThreadPoolQueueSize",
  "pullThreadPoolQueueCapacity",
  "queryThreadPoolQueueSize",
  "queryThreadPoolQueueCapacity",
  "sendThreadPoolQueueHeadWaitTimeMills",
  "pullThreadPoolQueueHeadWaitTimeMills",
  "queryThreadPoolQueueHeadWaitTimeMills",
  "EndTransactionQueueSize",
  "EndTransactionThreadPoolQueueCapacity",
];

function compareRuntimeInfo(
  version: string,
  apache: ReadonlyMap<string, string>,
  ours: ReadonlyMap<string, string>,
): void {
  const theirs = keysOf(apache);
  const more = keysOf(ours).filter((it) => !theirs.includes(it));
  const less = theirs.filter((it) => !keysOf(ours).includes(it));
  assertEquals(less, [], "keys that Apache has and we lack");
  assertEquals(more, OWN_KEYS[version], "keys that we have and Apache lacks");
  // 4.9 counts every message that is stored, 5.x those that are sent.
  const keys = version.startsWith("4.")
    ? KNOWN_VALUES.filter((it) => it !== "msgPutTotalTodayNow")
    : KNOWN_VALUES;
  const values = (table: ReadonlyMap<string, string>) =>
    keys.map((it) => `${it}=${table.get(it)}`);
  assertEquals(values(ours), values(apache));
}

/** Whether 315 knows a name and a key is the same; times to sample differ, and so do the values. */
async function compareStats(
  version: string,
  apache: RawClient,
  ours: RawClient,
): Promise<void> {
  const names = version.startsWith("4.")
    ? STATS_NAMES.filter((it) => !STATS_OF_5.includes(it))
    : STATS_NAMES;
  const keys = [
    TOPIC,
    "other",
    "DefaultCluster",
    "CONNECT",
    `${TOPIC}@${GROUP}`,
    `${TOPIC}@other`,
    `0@${TOPIC}`,
    `9@${TOPIC}`,
    `0@${TOPIC}@${GROUP}`,
    `null@${TOPIC}@${GROUP}@SEND_BACK_TO_DLQ`,
  ];
  const known = async (client: RawClient) => {
    const found: string[] = [];
    for (const statsName of names) {
      for (const statsKey of keys) {
        const { code } = await client.invoke(315, { statsName, statsKey });
        if (code === 0) found.push(`${statsName} ${statsKey}`);
      }
    }
    return found;
  };
  assertEquals(await known(ours), await known(apache));
}

const STATS_OF_5 = [
  "TOPIC_PUT_LATENCY",
  "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC",
  "BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC",
  "SNDBCK2DLQ_TIMES",
  "CONSUMER_REGISTER_TIME",
  "PRODUCER_REGISTER_TIME",
  "CHANNEL_ACTIVITY",
];
const STATS_NAMES = [
  ...STATS_OF_5,
  "TOPIC_PUT_NUMS",
  "TOPIC_PUT_SIZE",
  "QUEUE_PUT_NUMS",
  "QUEUE_GET_NUMS",
  "GROUP_GET_NUMS",
  "GROUP_GET_SIZE",
  "GROUP_GET_LATENCY",
  "GROUP_GET_FALL_SIZE",
  "GROUP_GET_FALL_TIME",
  "GROUP_ACK_NUMS",
  "SNDBCK_PUT_NUMS",
  "DLQ_PUT_NUMS",
  "BROKER_PUT_NUMS",
  "BROKER_GET_NUMS",
  "BROKER_GET_FROM_DISK_NUMS",
  "COMMERCIAL_SEND_TIMES",
  "COMMERCIAL_RCV_TIMES",
  "COMMERCIAL_SNDBCK_TIMES",
  "COMMERCIAL_PERM_FAILURES",
  "NO_SUCH_NAME",
];

type Metrics = ReadonlyMap<string, ScrapedMetric>;

/** Every sample has them; the first is of OpenTelemetry. */
const COMMON_LABELS = ["otel_scope_name", "cluster", "node_id", "node_type"];

function compareMetrics(apache: Metrics, ours: Metrics): void {
  const absent = Object.values(ABSENT).flat();
  for (const [name, metric] of apache) {
    if (absent.some((it) => it.test(name))) {
      assert(!ours.has(name), `${name} is listed as absent`);
      continue;
    }
    const shape = SHARED[name] ?? OF_TIMERS[name];
    assertEquals(shapeOf(metric), shape, `Apache's ${name}`);
    assertEquals(shapeOf(ours.get(name)), shape, `our ${name}`);
  }
  for (const name of Object.keys(SHARED)) {
    assert(apache.has(name), `Apache has no ${name}`);
    assertEquals(shapeOf(ours.get(name)), SHARED[name], `our ${name}`);
  }
  for (const name of COMPARED_VALUES) {
    assertEquals(valuesOf(ours, name), valuesOf(apache, name), name);
  }
  const rpc = (metrics: Metrics) =>
    valuesOf(metrics, "rocketmq_rpc_latency_milliseconds").filter((line) =>
      LOAD_CODES.some((it) => line.includes(`request_code=${it},`))
    );
  assertEquals(rpc(ours), rpc(apache));
}

function shapeOf(
  metric: ScrapedMetric | undefined,
): readonly [string, readonly string[]] | undefined {
  if (metric === undefined) return undefined;
  const labels = [...metric.labelNames]
    .filter((it) => !COMMON_LABELS.includes(it)).sort();
  return [metric.type, labels];
}

/** Counters and gauges that the load decides. */
const COMPARED_VALUES = [
  "rocketmq_messages_in_total",
  "rocketmq_messages_out_total",
  "rocketmq_throughput_in_total",
  "rocketmq_throughput_out_total",
  "rocketmq_message_size",
  "rocketmq_send_to_dlq_messages_total",
  "rocketmq_commit_messages_total",
  "rocketmq_rollback_messages_total",
  "rocketmq_finish_message_latency_milliseconds",
  "rocketmq_topic_create_execution_time_milliseconds",
  "rocketmq_consumer_group_create_execution_time_milliseconds",
  "rocketmq_producer_connections",
  "rocketmq_consumer_connections",
  "rocketmq_consumer_lag_messages",
  "rocketmq_consumer_inflight_messages",
  "rocketmq_consumer_ready_messages",
  "rocketmq_broker_permission",
  "rocketmq_storage_dispatch_behind_bytes",
];

/** `label=value,… number`, sorted; of histograms how many there were. */
function valuesOf(metrics: Metrics, name: string): string[] {
  return metrics.get(name)!.samples.map(({ labels, value }) => {
    const pairs = [...labels].filter(([it]) => it !== "otel_scope_name")
      .map(([label, text]) => `${label}=${text},`).sort();
    return `${pairs.join("")} ${value}`;
  }).sort();
}
