import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { BrokerStatsManager } from "../../src/broker/broker_stats_manager.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

function open() {
  const site = { nowMs: 0 };
  const stats = new BrokerStatsManager({
    clusterName: () => "C",
    isSystemTopic: (topic) => topic.startsWith("rmq_sys_"),
    monotonicMs: () => site.nowMs,
  });
  return { site, stats };
}

/** Ticks once a second from `fromMs` to `toMs`. */
function run(
  stats: BrokerStatsManager,
  fromMs: number,
  toMs: number,
  each: () => void = () => {},
): void {
  for (let ms = fromMs; ms < toMs; ms += SECOND) {
    stats.tick(ms);
    each();
  }
}

test("BrokerStatsManager shows rates over a minute, an hour, a day", () => {
  const { stats } = open();
  run(stats, 0, 3 * HOUR, () => {
    stats.onPut("T", 1, "normal", 2, 200, 3);
    stats.onGet("T", "g", 0, 4, 100, 5);
  });
  const put = stats.view("TOPIC_PUT_NUMS", "T")!;
  assertEquals(put.statsMinute, { sum: 120, tps: 2, avgpt: 2 });
  assertEquals(put.statsHour, { sum: 7_200, tps: 2, avgpt: 2 });
  assertEquals(put.statsDay.tps, 2);
  assertEquals(stats.view("TOPIC_PUT_SIZE", "T")!.statsMinute, {
    sum: 12_000,
    tps: 200,
    avgpt: 200,
  });
  assertEquals(stats.view("GROUP_GET_NUMS", "T@g")!.statsMinute.tps, 4);
  assertEquals(stats.view("GROUP_GET_SIZE", "T@g")!.statsMinute.tps, 100);
  assertEquals([stats.topicPutTps("T"), stats.groupGetTps("T", "g")], [2, 4]);
  // Latencies have the queue in front; their avgpt is the mean.
  assertEquals(stats.view("TOPIC_PUT_LATENCY", "1@T")!.statsMinute.avgpt, 3);
  assertEquals(stats.view("GROUP_GET_LATENCY", "0@T@g")!.statsMinute.avgpt, 5);
  // Silence: the minute empties, the hour still tells.
  run(stats, 3 * HOUR, 3 * HOUR + 90 * SECOND);
  assertEquals(stats.topicPutTps("T"), 0);
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T")!.statsHour.sum > 0, true);
});

test("BrokerStatsManager keeps totals of the broker, with and without RocketMQ's own topics", () => {
  const { stats } = open();
  run(stats, 0, 70 * SECOND, () => {
    stats.onPut("T", 0, "normal", 2, 200, 0);
    stats.onPut("rmq_sys_x", 0, "normal", 1, 100, 0);
    stats.onGet("T", "g", 0, 4, 100, 0);
    stats.onGet("rmq_sys_x", "g", 0, 1, 100, 0);
  });
  const tps = (name: string, key = "C") => {
    const { tps, avgpt } = stats.view(name, key)!.statsMinute;
    return [tps, avgpt];
  };
  // As in Java, which does not count the requests of these.
  assertEquals(tps("BROKER_PUT_NUMS"), [3, 0]);
  assertEquals(tps("BROKER_GET_NUMS"), [5, 0]);
  assertEquals(tps("BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC"), [2, 0]);
  assertEquals(tps("BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC"), [4, 0]);
  assertEquals(stats.view("BROKER_PUT_NUMS", "D"), undefined);
});

test("BrokerStatsManager shows what was given up and what became a dead letter", () => {
  const { site, stats } = open();
  stats.tick(0);
  site.nowMs = 500;
  stats.onSendBack("T", "g");
  stats.onSendBack("T", "g");
  stats.onDeadLetter("T", "g");
  stats.onSendToDlq("T", "g");
  stats.tick(10 * SECOND);
  const sum = (name: string, key: string) =>
    stats.view(name, key)?.statsMinute.sum;
  assertEquals(sum("SNDBCK_PUT_NUMS", "T@g"), 2);
  assertEquals(sum("SNDBCK2DLQ_TIMES", "null@T@g@SEND_BACK_TO_DLQ"), 1);
  assertEquals(sum("SNDBCK2DLQ_TIMES", "T@g"), undefined);
  assertEquals([...stats.groups()].map((it) => it.toDlq), [1]);
});

test("BrokerStatsManager counts a transaction for its topic when it is committed", () => {
  const { stats } = open();
  stats.onPut("rmq_sys_half", 0, "transaction", 1, 150, 0);
  stats.onCommitted("T", 100);
  assertEquals(stats.countsWithoutSystem.put, 1);
  const { item, traffic } = stats.topicStats("T")!;
  assertEquals([item.nums, item.bytes], [1, 100]);
  // It was sent once: /metrics has it as a half message already.
  assertEquals(traffic, {});
});

test("BrokerStatsManager counts heartbeats and connections", () => {
  const { stats } = open();
  run(stats, 0, 70 * SECOND, () => {
    stats.onRegistered("consumer", 4);
    stats.onRegistered("producer", 6);
    stats.onChannel("CONNECT");
  });
  const avgpt = (name: string, key: string) =>
    stats.view(name, key)?.statsMinute.avgpt;
  assertEquals(avgpt("CONSUMER_REGISTER_TIME", "C"), 4);
  assertEquals(avgpt("PRODUCER_REGISTER_TIME", "C"), 6);
  assertEquals(stats.view("CHANNEL_ACTIVITY", "CONNECT")!.statsMinute.tps, 1);
  assertEquals(stats.view("CHANNEL_ACTIVITY", "CLOSE"), undefined);
});

test("BrokerStatsManager counts from an item's beginning, not from its first sample", () => {
  const { site, stats } = open();
  stats.tick(0);
  site.nowMs = 5 * SECOND;
  stats.onPut("T", 0, "normal", 7, 70, 0);
  stats.tick(10 * SECOND);
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T")!.statsMinute, {
    sum: 7,
    tps: 1.4,
    avgpt: 7,
  });
});

test("BrokerStatsManager tells messages by their type", () => {
  const { stats } = open();
  stats.onPut("T", 0, "normal", 1, 1_024, 0);
  stats.onPut("T", 0, "normal", 4, 8_000, 0);
  stats.onPut("T", 0, "fifo", 1, 5_000_000, 0);
  const { normal, fifo, delay } = stats.topicStats("T")!.traffic;
  assertEquals([normal?.nums, normal?.bytes], [5, 9_024]);
  // A send of several counts once, with its mean.
  assertEquals([...normal!.sizes.counts], [1, 1, 0, 0, 0, 0, 0]);
  assertEquals([...fifo!.sizes.counts], [0, 0, 0, 0, 0, 0, 1]);
  assertEquals(delay, undefined);
});

test("BrokerStatsManager knows nothing of what never counted, or is deleted", () => {
  const { stats } = open();
  stats.onPut("T", 0, "normal", 1, 1, 0);
  stats.onGet("T", "g", 0, 1, 1, 0);
  stats.onSendBack("T", "g");
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T")?.statsDay.sum, 0);
  assertEquals(stats.view("SNDBCK_PUT_NUMS", "T@g")?.statsDay.sum, 0);
  for (
    const [name, key] of [
      ["TOPIC_PUT_NUMS", "U"],
      ["toString", "T"],
      ["GROUP_GET_NUMS", "T"],
      ["GROUP_GET_NUMS", "T@h"],
      ["TOPIC_PUT_LATENCY", "T"],
      ["TOPIC_PUT_LATENCY", "1@T"],
      ["GROUP_GET_LATENCY", "T@g"],
      ["GROUP_GET_LATENCY", "999999999999@T@g"],
      ["SNDBCK2DLQ_TIMES", "null@T@g@SEND_BACK_TO_DLQ"],
    ] as const
  ) assertEquals(stats.view(name, key), undefined, `${name} ${key}`);
  stats.onGroupDeleted("g");
  assertEquals(stats.view("GROUP_GET_NUMS", "T@g"), undefined);
  stats.onTopicDeleted("T");
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T"), undefined);
  // A topic of the same name begins anew.
  stats.onPut("T", 0, "normal", 1, 1, 0);
  assertEquals(stats.topicStats("T")!.item.nums, 1);
});

/** Names of Apache's table that Apache's broker puts nothing into, or not without a feature. */
const EMPTY_NAMES: Readonly<Record<string, readonly string[]>> = {
  "only of the schedule topic, whose messages this version refuses": [
    "QUEUE_PUT_NUMS",
    "QUEUE_PUT_SIZE",
    "QUEUE_GET_NUMS",
    "QUEUE_GET_SIZE",
  ],
  "only of POP": [
    "GROUP_ACK_NUMS",
    "GROUP_CK_NUMS",
    "BROKER_ACK_NUMS",
    "BROKER_CK_NUMS",
  ],
  "logged only: no table of 315 has them": [
    "GROUP_GET_FALL_SIZE",
    "GROUP_GET_FALL_TIME",
  ],
  "for hooks that Apache does not have": [
    "COMMERCIAL_SEND_TIMES",
    "COMMERCIAL_SEND_SIZE",
    "COMMERCIAL_RCV_TIMES",
    "COMMERCIAL_RCV_SIZE",
    "COMMERCIAL_RCV_EPOLLS",
    "COMMERCIAL_SNDBCK_TIMES",
    "COMMERCIAL_PERM_FAILURES",
  ],
  "counted nowhere": [
    "DLQ_PUT_NUMS",
    "GROUP_GET_FROM_DISK_NUMS",
    "GROUP_GET_FROM_DISK_SIZE",
    "BROKER_GET_FROM_DISK_NUMS",
    "BROKER_GET_FROM_DISK_SIZE",
  ],
};

for (const [why, names] of Object.entries(EMPTY_NAMES)) {
  test(`BrokerStatsManager has nothing under ${names[0]} and its like: ${why}`, () => {
    const { stats } = open();
    stats.onPut("T", 0, "normal", 1, 1, 0);
    stats.onGet("T", "g", 0, 1, 1, 0);
    for (const name of names) {
      for (const key of ["T", "T@g", "T@0", "0@T", "0@T@g", "C"]) {
        assertEquals(stats.view(name, key), undefined, `${name} ${key}`);
      }
    }
  });
}

test("BrokerStatsManager forgets a key that a whole day brought nothing, until it counts again", () => {
  const { site, stats } = open();
  stats.onPut("T", 0, "normal", 1, 1, 0);
  run(stats, 0, 23 * HOUR);
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T") === undefined, false);
  run(stats, 23 * HOUR, 26 * HOUR);
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T"), undefined);
  site.nowMs = 26 * HOUR;
  stats.onPut("T", 0, "normal", 5, 1, 0);
  run(stats, 26 * HOUR, 26 * HOUR + 11 * SECOND);
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T")!.statsMinute.sum, 5);
  assertEquals(stats.topicStats("T")!.item.nums, 6);
});

test("BrokerStatsManager keeps latencies of some thousand queues, not of all", () => {
  const { stats } = open();
  for (let n = 0; n < 5_000; n++) stats.onPut(`T${n}`, 7, "normal", 1, 1, 0);
  const has = (n: number) =>
    stats.view("TOPIC_PUT_LATENCY", `7@T${n}`) !== undefined;
  assertEquals([has(0), has(4_095), has(4_096)], [true, true, false]);
  stats.onTopicDeleted("T0");
  stats.onPut("T4999", 7, "normal", 1, 1, 0);
  assertEquals([has(0), has(4_999)], [false, true]);
});
