import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { BrokerStatsManager } from "../../src/broker/broker_stats_manager.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

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
  const stats = new BrokerStatsManager(() => "C");
  run(stats, 0, 3 * HOUR, () => {
    stats.onPut("T", 2, 200);
    stats.onGet("T", "g", 4, 100);
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
  assertEquals(stats.view("BROKER_PUT_NUMS", "C")!.statsMinute.tps, 2);
  assertEquals(stats.view("BROKER_GET_NUMS", "C")!.statsMinute.tps, 4);
  assertEquals([stats.topicPutTps("T"), stats.groupGetTps("T", "g")], [2, 4]);
  // Silence: the minute empties, the hour still tells.
  run(stats, 3 * HOUR, 3 * HOUR + 90 * SECOND);
  assertEquals(stats.topicPutTps("T"), 0);
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T")!.statsHour.sum > 0, true);
});

test("BrokerStatsManager knows nothing of what never counted, or is deleted", () => {
  const stats = new BrokerStatsManager(() => "C");
  stats.onPut("T", 1, 1);
  stats.onGet("T", "g", 1, 1);
  stats.onSendBack("T", "g");
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T")?.statsDay.sum, 0);
  assertEquals(stats.view("SNDBCK_PUT_NUMS", "T@g")?.statsDay.sum, 0);
  for (
    const [name, key] of [
      ["TOPIC_PUT_NUMS", "U"],
      ["toString", "T"],
      ["GROUP_GET_NUMS", "T"],
      ["GROUP_GET_NUMS", "T@h"],
    ] as const
  ) assertEquals(stats.view(name, key), undefined, `${name} ${key}`);
  stats.onGroupDeleted("g");
  assertEquals(stats.view("GROUP_GET_NUMS", "T@g"), undefined);
  stats.onTopicDeleted("T");
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T"), undefined);
});

test("BrokerStatsManager forgets a key that a whole day brought nothing", () => {
  const stats = new BrokerStatsManager(() => "C");
  stats.onPut("T", 1, 1);
  run(stats, 0, 23 * HOUR);
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T") === undefined, false);
  run(stats, 23 * HOUR, 26 * HOUR);
  assertEquals(stats.view("TOPIC_PUT_NUMS", "T"), undefined);
});
