/** The exporter's rocketmq_brokeruntime_* gauges: the runtime info (28), taken apart. */
import type { ExporterSnapshot } from "./exporter_snapshot.ts";
import type { NumberSpec } from "./metric_spec.ts";

type Table = ReadonlyMap<string, string>;
type NumberIn = (table: Table) => number;

const PREFIX = "rocketmq_brokeruntime_";
const UNITS = "BKMGTPE";

/** By the name behind the prefix, the key of a plain number. */
const PLAIN: Readonly<Record<string, string>> = {
  msg_put_total_today_now: "msgPutTotalTodayNow",
  msg_gettotal_today_now: "msgGetTotalTodayNow",
  msg_puttotal_todaymorning: "msgPutTotalTodayMorning",
  msg_gettotal_todaymorning: "msgGetTotalTodayMorning",
  msg_puttotal_yesterdaymorning: "msgPutTotalYesterdayMorning",
  msg_gettotal_yesterdaymorning: "msgGetTotalYesterdayMorning",
  dispatch_behind_bytes: "dispatchBehindBytes",
  dispatch_maxbuffer: "dispatchMaxBuffer",
  put_message_size_total: "putMessageSizeTotal",
  put_message_average_size: "putMessageAverageSize",
  putmessage_times_total: "putMessageTimesTotal",
  putmessage_entire_time_max: "putMessageEntireTimeMax",
  getmessage_entire_time_max: "getMessageEntireTimeMax",
  put_latency_99: "putLatency99",
  put_latency_999: "putLatency999",
  pagecache_lock_time_mills: "pageCacheLockTimeMills",
  earliest_message_timestamp: "earliestMessageTimeStamp",
  start_accept_sendrequest_time: "startAcceptSendRequestTimeStamp",
  remain_transientstore_buffer_numbs: "remainTransientStoreBufferNumbs",
  commitlog_disk_ratio: "commitLogDiskRatio",
  consumequeue_disk_ratio: "consumeQueueDiskRatio",
  commitlog_minoffset: "commitLogMinOffset",
  commitlog_maxoffset: "commitLogMaxOffset",
  send_threadpool_queue_size: "sendThreadPoolQueueSize",
  send_threadpoolqueue_capacity: "sendThreadPoolQueueCapacity",
  send_threadpoolqueue_headwait_timemills:
    "sendThreadPoolQueueHeadWaitTimeMills",
  pull_threadpoolqueue_size: "pullThreadPoolQueueSize",
  pull_threadpoolqueue_capacity: "pullThreadPoolQueueCapacity",
  pull_threadpoolqueue_headwait_timemills:
    "pullThreadPoolQueueHeadWaitTimeMills",
  query_threadpoolqueue_size: "queryThreadPoolQueueSize",
  query_threadpool_queue_capacity: "queryThreadPoolQueueCapacity",
  query_threadpoolqueue_headwait_timemills:
    "queryThreadPoolQueueHeadWaitTimeMills",
};

/** The key of three rates, over 10, 60 and 600 s. */
const RATES: Readonly<Record<string, string>> = {
  put_tps: "putTps",
  getfound_tps: "getFoundTps",
  getmiss_tps: "getMissTps",
  gettotal_tps: "getTotalTps",
  gettransfered_tps: "getTransferredTps",
};

/** Classes of putMessageDistributeTime. */
const CLASSES: Readonly<Record<string, string>> = {
  pmdt_0ms: "<=0ms",
  pmdt_0to10ms: "0~10ms",
  pmdt_10to50ms: "10~50ms",
  pmdt_50to100ms: "50~100ms",
  pmdt_100to200ms: "100~200ms",
  pmdt_200to500ms: "200~500ms",
  pmdt_500to1s: "500ms~1s",
  pmdt_1to2s: "1~2s",
  pmdt_2to3s: "2~3s",
  pmdt_3to4s: "3~4s",
  pmdt_4to5s: "4~5s",
  pmdt_5to10s: "5~10s",
  pmdt_10stomore: "10s~",
};

const NUMBERS: readonly (readonly [string, NumberIn])[] = [
  ...Object.entries(PLAIN).map(([name, key]) =>
    [name, (table: Table) => Number(table.get(key))] as const
  ),
  ...Object.entries(RATES).flatMap(([name, key]) =>
    [10, 60, 600].map((seconds, at) =>
      [
        `${name}${seconds}`,
        (table: Table) => Number(table.get(key)?.split(" ")[at] ?? NaN),
      ] as const
    )
  ),
  ...Object.entries(CLASSES).map(([name, label]) =>
    [
      name,
      (table: Table) =>
        numberAfter(table, "putMessageDistributeTime", `[${label}]:`),
    ] as const
  ),
  [
    "commitlogdir_capacity_total",
    (table) => sizeAfter(table, "commitLogDirCapacity", "Total : "),
  ],
  [
    "commitlogdir_capacity_free",
    (table) => sizeAfter(table, "commitLogDirCapacity", "Free : "),
  ],
  [
    // The exporter shows the number and forgets its unit; bytes say more.
    "remain_howmanydata_toflush",
    (table) => sizeAfter(table, "remainHowManyDataToFlush", ""),
  ],
];

/** A number that the table does not have is left out. */
export const RUNTIME_GAUGES: readonly NumberSpec[] = NUMBERS.map((
  [name, numberIn],
) => ({
  kind: "gauge",
  name: PREFIX + name,
  help: `Runtime info of the broker: ${name}`,
  samples: ({ exporter }) => {
    if (exporter === null) return [];
    const value = numberIn(exporter.runtime);
    return Number.isNaN(value) ? [] : [{ labels: labelsOf(exporter), value }];
  },
}));

function labelsOf({ clusterName, brokerAddr, runtime }: ExporterSnapshot) {
  return {
    cluster: clusterName,
    brokerIP: brokerAddr,
    // The exporter leaves it empty.
    brokerHost: "",
    des: runtime.get("brokerVersionDesc") ?? "",
    boottime: runtime.get("bootTimestamp") ?? "",
    broker_version: runtime.get("brokerVersion") ?? "",
  };
}

function textAfter(table: Table, key: string, label: string): string {
  const text = table.get(key) ?? "";
  const at = text.indexOf(label);
  return at < 0 ? "" : text.slice(at + label.length);
}

function numberAfter(table: Table, key: string, label: string): number {
  const found = /^\d+/.exec(textAfter(table, key, label));
  return found === null ? NaN : Number(found[0]);
}

/** Bytes of a text like `1.5 KiB`. */
function sizeAfter(table: Table, key: string, label: string): number {
  const found = /^([\d.]+) ([KMGTPE]?)(?:iB|B)/.exec(
    textAfter(table, key, label),
  );
  return found === null
    ? NaN
    : Number(found[1]) * 1024 ** Math.max(0, UNITS.indexOf(found[2] || "B"));
}
