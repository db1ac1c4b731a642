/**
 * BrokerStatsManager: rates per topic and per group, under the names of RocketMQ's
 * VIEW_BROKER_STATS_DATA (315); `mqadmin statsAll` and the dashboard show them.
 *
 * | statsName                         | statsKey      | counts                          |
 * | --------------------------------- | ------------- | ------------------------------- |
 * | TOPIC_PUT_NUMS, TOPIC_PUT_SIZE    | topic         | messages stored, their bytes    |
 * | GROUP_GET_NUMS, GROUP_GET_SIZE    | topic@group   | messages handed out, bytes      |
 * | SNDBCK_PUT_NUMS                   | topic@group   | messages that consumers gave up |
 * | BROKER_PUT_NUMS, BROKER_GET_NUMS  | cluster name  | both, of the whole broker       |
 */
import {
  STATS_SPANS,
  type StatsColumn,
  StatsItem,
  type StatsSnapshot,
  type StatsSpan,
} from "./stats_item.ts";

/** BrokerStatsData. */
export interface BrokerStatsData {
  readonly statsMinute: StatsSnapshot;
  readonly statsHour: StatsSnapshot;
  readonly statsDay: StatsSnapshot;
}

type SetName = "topicPut" | "groupGet" | "sendBack" | "brokerPut" | "brokerGet";

const NAMES: Readonly<Record<string, readonly [SetName, StatsColumn]>> = {
  TOPIC_PUT_NUMS: ["topicPut", "nums"],
  TOPIC_PUT_SIZE: ["topicPut", "size"],
  GROUP_GET_NUMS: ["groupGet", "nums"],
  GROUP_GET_SIZE: ["groupGet", "size"],
  SNDBCK_PUT_NUMS: ["sendBack", "nums"],
  BROKER_PUT_NUMS: ["brokerPut", "nums"],
  BROKER_GET_NUMS: ["brokerGet", "nums"],
};
const SPANS = ["minute", "hour", "day"] as const;

/** The items of one kind, by topic and then by group; "" where there is no group. */
class StatsItemSet {
  readonly #items = new Map<string, Map<string, StatsItem>>();

  add(key: string, group: string, nums: number, bytes: number): void {
    let groups = this.#items.get(key);
    if (groups === undefined) this.#items.set(key, groups = new Map());
    let item = groups.get(group);
    if (item === undefined) groups.set(group, item = new StatsItem());
    item.add(nums, bytes);
  }

  get(key: string, group: string): StatsItem | undefined {
    return this.#items.get(key)?.get(group);
  }

  sample(span: StatsSpan, monotonicMs: number): void {
    for (const [key, groups] of this.#items) {
      for (const [group, item] of groups) {
        item.sample(span, monotonicMs);
        if (span === "day" && item.isIdle) groups.delete(group);
      }
      if (groups.size === 0) this.#items.delete(key);
    }
  }

  delete(key: string): void {
    this.#items.delete(key);
  }

  deleteGroup(group: string): void {
    for (const groups of this.#items.values()) groups.delete(group);
  }
}

/** Counts, and samples in `tick`. */
export class BrokerStatsManager {
  readonly #sets: Readonly<Record<SetName, StatsItemSet>> = {
    topicPut: new StatsItemSet(),
    groupGet: new StatsItemSet(),
    sendBack: new StatsItemSet(),
    brokerPut: new StatsItemSet(),
    brokerGet: new StatsItemSet(),
  };
  readonly #sampledMs: Record<StatsSpan, number> = {
    minute: -Infinity,
    hour: -Infinity,
    day: -Infinity,
  };

  constructor(private readonly clusterName: () => string) {}

  /** A send stored `nums` messages. */
  onPut(topic: string, nums: number, bytes: number): void {
    this.#sets.topicPut.add(topic, "", nums, bytes);
    this.#sets.brokerPut.add(this.clusterName(), "", nums, bytes);
  }

  /** A pull handed `nums` messages out. */
  onGet(topic: string, group: string, nums: number, bytes: number): void {
    this.#sets.groupGet.add(topic, group, nums, bytes);
    this.#sets.brokerGet.add(this.clusterName(), "", nums, bytes);
  }

  /** A consumer gave up a message of `topic`. */
  onSendBack(topic: string, group: string): void {
    this.#sets.sendBack.add(topic, group, 1, 0);
  }

  onTopicDeleted(topic: string): void {
    for (const it of Object.values(this.#sets)) it.delete(topic);
  }

  onGroupDeleted(group: string): void {
    this.#sets.groupGet.deleteGroup(group);
    this.#sets.sendBack.deleteGroup(group);
  }

  /** Messages a second over the last minute. */
  topicPutTps(topic: string): number {
    return this.#sets.topicPut.get(topic, "")?.snapshot("minute", "nums").tps ??
      0;
  }

  /** Messages a second over the last minute. */
  groupGetTps(topic: string, group: string): number {
    return this.#sets.groupGet.get(topic, group)?.snapshot("minute", "nums")
      .tps ?? 0;
  }

  /** What code 315 answers; undefined for a name or key that counted nothing yet. */
  view(statsName: string, statsKey: string): BrokerStatsData | undefined {
    const [set, column] = Object.hasOwn(NAMES, statsName)
      ? NAMES[statsName]!
      : [];
    if (set === undefined || column === undefined) return undefined;
    // The name of a topic has no @.
    const hasGroup = set === "groupGet" || set === "sendBack";
    const at = hasGroup ? statsKey.indexOf("@") : -1;
    const item = at < 0
      ? this.#sets[set].get(statsKey, "")
      : this.#sets[set].get(statsKey.slice(0, at), statsKey.slice(at + 1));
    if (item === undefined) return undefined;
    return {
      statsMinute: item.snapshot("minute", column),
      statsHour: item.snapshot("hour", column),
      statsDay: item.snapshot("day", column),
    };
  }

  /** Every 100 ms. */
  tick(monotonicMs: number): void {
    for (const span of SPANS) {
      const elapsedMs = monotonicMs - this.#sampledMs[span];
      if (elapsedMs < STATS_SPANS[span].intervalMs) continue;
      this.#sampledMs[span] = monotonicMs;
      for (const it of Object.values(this.#sets)) it.sample(span, monotonicMs);
    }
  }
}
