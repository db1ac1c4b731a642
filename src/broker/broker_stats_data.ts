/** BrokerStatsData: what VIEW_BROKER_STATS_DATA (315) answers to a name and a key. */
import type { GroupGetStats } from "./group_get_stats.ts";
import type { StatsColumn, StatsItem, StatsSnapshot } from "./stats_item.ts";
import type { TopicPutStats } from "./topic_put_stats.ts";

/** The answer. */
export interface BrokerStatsData {
  readonly statsMinute: StatsSnapshot;
  readonly statsHour: StatsSnapshot;
  readonly statsDay: StatsSnapshot;
}

/** Where names and keys are looked up. */
export interface StatsTables {
  topicStats(topic: string): TopicPutStats | undefined;
  groupStats(topic: string, group: string): GroupGetStats | undefined;
  brokerTotals(
    direction: "put" | "get",
    clusterName: string,
  ): { readonly all: StatsItem; readonly withoutSystem: StatsItem } | undefined;
  eventStats(name: EventName, key: string): StatsItem | undefined;
}

/** What does not belong to a topic. */
export type EventName =
  | "CONSUMER_REGISTER_TIME"
  | "PRODUCER_REGISTER_TIME"
  | "CHANNEL_ACTIVITY";

type Finder = (tables: StatsTables, key: string) => StatsItem | undefined;

/** The owner is the text that Java makes of none. */
const DEAD_LETTER_KEY = /^null@(.+)@SEND_BACK_TO_DLQ$/;
const QUEUE_KEY = /^(\d{1,9})@(.+)$/;

const FINDERS: Readonly<Record<string, readonly [StatsColumn, Finder]>> = {
  TOPIC_PUT_NUMS: ["nums", (it, key) => it.topicStats(key)?.item],
  TOPIC_PUT_SIZE: ["size", (it, key) => it.topicStats(key)?.item],
  TOPIC_PUT_LATENCY: ["nums", (it, key) => {
    const [, queueId, topic] = QUEUE_KEY.exec(key) ?? [];
    return it.topicStats(topic ?? "")?.latencies[Number(queueId)];
  }],
  GROUP_GET_NUMS: ["nums", (it, key) => groupOf(it, key)?.get],
  GROUP_GET_SIZE: ["size", (it, key) => groupOf(it, key)?.get],
  GROUP_GET_LATENCY: ["nums", (it, key) => {
    const [, queueId, rest] = QUEUE_KEY.exec(key) ?? [];
    return groupOf(it, rest ?? "")?.latencies[Number(queueId)];
  }],
  SNDBCK_PUT_NUMS: ["nums", (it, key) => groupOf(it, key)?.sendBack],
  SNDBCK2DLQ_TIMES: [
    "nums",
    (it, key) => groupOf(it, DEAD_LETTER_KEY.exec(key)?.[1] ?? "")?.deadLetters,
  ],
  BROKER_PUT_NUMS: ["nums", (it, key) => it.brokerTotals("put", key)?.all],
  BROKER_GET_NUMS: ["nums", (it, key) => it.brokerTotals("get", key)?.all],
  BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC: [
    "nums",
    (it, key) => it.brokerTotals("put", key)?.withoutSystem,
  ],
  BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC: [
    "nums",
    (it, key) => it.brokerTotals("get", key)?.withoutSystem,
  ],
  CONSUMER_REGISTER_TIME: eventFinder("CONSUMER_REGISTER_TIME"),
  PRODUCER_REGISTER_TIME: eventFinder("PRODUCER_REGISTER_TIME"),
  CHANNEL_ACTIVITY: eventFinder("CHANNEL_ACTIVITY"),
};

function eventFinder(name: EventName): readonly [StatsColumn, Finder] {
  return ["nums", (it, key) => it.eventStats(name, key)];
}

/** Undefined for a name or key that counted nothing for a day. */
export function statsDataOf(
  tables: StatsTables,
  statsName: string,
  statsKey: string,
): BrokerStatsData | undefined {
  if (!Object.hasOwn(FINDERS, statsName)) return undefined;
  const [column, find] = FINDERS[statsName]!;
  const item = find(tables, statsKey);
  if (item === undefined || item.isAsleep) return undefined;
  return {
    statsMinute: item.snapshot("minute", column),
    statsHour: item.snapshot("hour", column),
    statsDay: item.snapshot("day", column),
  };
}

/** Of `topic@group`; the name of a topic has no @. */
function groupOf(tables: StatsTables, key: string): GroupGetStats | undefined {
  const at = key.indexOf("@");
  return at < 0
    ? undefined
    : tables.groupStats(key.slice(0, at), key.slice(at + 1));
}
