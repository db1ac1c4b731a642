/**
 * BrokerStatsManager: what is counted per topic and per group, for RocketMQ's
 * VIEW_BROKER_STATS_DATA (315), for `mqadmin statsAll`, the dashboard and /metrics.
 *
 * | statsName                                    | statsKey                 | counts                                  |
 * | -------------------------------------------- | ------------------------ | --------------------------------------- |
 * | TOPIC_PUT_NUMS, TOPIC_PUT_SIZE               | topic                    | messages stored, their bytes            |
 * | TOPIC_PUT_LATENCY                            | queueId@topic            | milliseconds that puts took             |
 * | GROUP_GET_NUMS, GROUP_GET_SIZE               | topic@group              | messages handed out, bytes              |
 * | GROUP_GET_LATENCY                            | queueId@topic@group      | milliseconds that pulls took            |
 * | SNDBCK_PUT_NUMS                              | topic@group              | messages that consumers gave up         |
 * | SNDBCK2DLQ_TIMES                             | null@topic@group@STATS   | those that became dead letters          |
 * | BROKER_PUT_NUMS, BROKER_GET_NUMS             | cluster name             | both, of the whole broker               |
 * | BROKER_{PUT,GET}_NUMS_WITHOUT_SYSTEM_TOPIC   | cluster name             | both, of what is not RocketMQ's own     |
 * | {CONSUMER,PRODUCER}_REGISTER_TIME            | cluster name             | milliseconds that heartbeats took       |
 * | CHANNEL_ACTIVITY                             | CONNECT, CLOSE           | connections                             |
 *
 * STATS is SEND_BACK_TO_DLQ, and null an owner that only Apache's hooks would give. Other names of
 * Apache's table count POP, delays or hooks that Apache itself does not have: nothing is in them.
 */
import {
  type BrokerStatsData,
  type EventName,
  statsDataOf,
} from "./broker_stats_data.ts";
import { GroupGetStats } from "./group_get_stats.ts";
import { STATS_SPANS, StatsItem, type StatsSpan } from "./stats_item.ts";
import { type MessageType, TopicPutStats } from "./topic_put_stats.ts";

/** What the manager needs of the broker. */
export interface BrokerStatsPorts {
  clusterName(): string;
  isSystemTopic(topic: string): boolean;
  monotonicMs(): number;
}

/** Queues whose latencies are kept; those that come later are not. */
const LATENCY_QUEUES_MAX = 4_096;
const SPANS = ["minute", "hour", "day"] as const;

/** The messages of one direction. */
interface BrokerTotals {
  readonly all: StatsItem;
  readonly withoutSystem: StatsItem;
}

/** Counts, and samples in `tick`. */
export class BrokerStatsManager {
  readonly #ports: BrokerStatsPorts;
  readonly #topics = new Map<string, TopicPutStats>();
  /** By topic, then group. */
  readonly #groups = new Map<string, Map<string, GroupGetStats>>();
  /** Undefined until the first message. */
  #put: BrokerTotals | undefined;
  #get: BrokerTotals | undefined;
  /** The topic of the last put: most puts go where the one before went. */
  #last: TopicPutStats | undefined;
  /** By name, then key. */
  readonly #events = new Map<EventName, Map<string, StatsItem>>();
  #latencyCount = 0;
  readonly #sampledMs: Record<StatsSpan, number> = {
    minute: -Infinity,
    hour: -Infinity,
    day: -Infinity,
  };

  constructor(ports: BrokerStatsPorts) {
    this.#ports = ports;
  }

  /** Topics that messages were sent to. */
  get topics(): Iterable<TopicPutStats> {
    return this.#topics.values();
  }

  /** What groups did. */
  *groups(): Iterable<GroupGetStats> {
    for (const groups of this.#groups.values()) yield* groups.values();
  }

  /** A send stored `nums` messages of `bytes` bytes in `elapsedMs`. */
  onPut(
    topic: string,
    queueId: number,
    type: MessageType,
    nums: number,
    bytes: number,
    elapsedMs: number,
  ): void {
    const last = this.#last;
    const stats = last !== undefined && last.topic === topic
      ? last
      : this.#topicOf(topic);
    stats.add(type, nums, bytes);
    (stats.latencies[queueId] ?? this.#latencyOf(stats.latencies, queueId))
      ?.add(elapsedMs, 0);
    this.#countPut(stats, nums);
  }

  /** A transaction stored its message of `bytes` bytes: it was sent as a half message before. */
  onCommitted(topic: string, bytes: number): void {
    const stats = this.#topicOf(topic);
    stats.item.add(1, bytes);
    this.#countPut(stats, 1);
  }

  /** A pull handed `nums` messages out; it took `elapsedMs`. */
  onGet(
    topic: string,
    group: string,
    queueId: number,
    nums: number,
    bytes: number,
    elapsedMs: number,
  ): void {
    const stats = this.#groupOf(topic, group);
    (stats.get ??= this.#newItem()).add(nums, bytes);
    (stats.latencies[queueId] ?? this.#latencyOf(stats.latencies, queueId))
      ?.add(elapsedMs, 0);
    const totals = this.#get ??= this.#newTotals();
    totals.all.addNums(nums);
    if (!this.#ports.isSystemTopic(topic)) totals.withoutSystem.addNums(nums);
  }

  /** A consumer gave up a message of `topic`. */
  onSendBack(topic: string, group: string): void {
    const stats = this.#groupOf(topic, group);
    (stats.sendBack ??= this.#newItem()).add(1, 0);
  }

  /** What a consumer gave up is a dead letter. */
  onDeadLetter(topic: string, group: string): void {
    const stats = this.#groupOf(topic, group);
    (stats.deadLetters ??= this.#newItem()).add(1, 0);
  }

  /** A message of `topic` is to become a dead letter. */
  onSendToDlq(topic: string, group: string): void {
    this.#groupOf(topic, group).toDlq++;
  }

  /** A heartbeat registered consumers, or producers, in `elapsedMs`. */
  onRegistered(who: "consumer" | "producer", elapsedMs: number): void {
    const name = who === "consumer"
      ? "CONSUMER_REGISTER_TIME"
      : "PRODUCER_REGISTER_TIME";
    this.#eventOf(name, this.#ports.clusterName()).add(elapsedMs, 0);
  }

  /** A connection was opened or closed. */
  onChannel(activity: "CONNECT" | "CLOSE"): void {
    this.#eventOf("CHANNEL_ACTIVITY", activity).add(1, 0);
  }

  onTopicDeleted(topic: string): void {
    const stats = this.#topics.get(topic);
    if (this.#last === stats) this.#last = undefined;
    this.#latencyCount -= countOf(stats?.latencies);
    this.#topics.delete(topic);
    for (const it of this.#groups.get(topic)?.values() ?? []) {
      this.#latencyCount -= countOf(it.latencies);
    }
    this.#groups.delete(topic);
  }

  onGroupDeleted(group: string): void {
    for (const [topic, groups] of this.#groups) {
      this.#latencyCount -= countOf(groups.get(group)?.latencies);
      if (groups.delete(group) && groups.size === 0) this.#groups.delete(topic);
    }
  }

  /** Messages a second over the last minute. */
  topicPutTps(topic: string): number {
    return this.#topics.get(topic)?.item.snapshot("minute", "nums").tps ?? 0;
  }

  /** Messages a second over the last minute. */
  groupGetTps(topic: string, group: string): number {
    return this.#groups.get(topic)?.get(group)?.get
      ?.snapshot("minute", "nums").tps ?? 0;
  }

  /** What code 315 answers; undefined for a name or key that counted nothing for a day. */
  view(statsName: string, statsKey: string): BrokerStatsData | undefined {
    return statsDataOf(this, statsName, statsKey);
  }

  topicStats(topic: string): TopicPutStats | undefined {
    return this.#topics.get(topic);
  }

  groupStats(topic: string, group: string): GroupGetStats | undefined {
    return this.#groups.get(topic)?.get(group);
  }

  /** Messages sent and handed out, without those of system topics. */
  get countsWithoutSystem(): { readonly put: number; readonly get: number } {
    return {
      put: this.#put?.withoutSystem.nums ?? 0,
      get: this.#get?.withoutSystem.nums ?? 0,
    };
  }

  eventStats(name: EventName, key: string): StatsItem | undefined {
    return this.#events.get(name)?.get(key);
  }

  /** Totals of one direction; undefined for another key than the cluster's name. */
  brokerTotals(
    direction: "put" | "get",
    clusterName: string,
  ): BrokerTotals | undefined {
    if (clusterName !== this.#ports.clusterName()) return undefined;
    return direction === "put" ? this.#put : this.#get;
  }

  /** Every 100 ms. */
  tick(monotonicMs: number): void {
    for (const span of SPANS) {
      const elapsedMs = monotonicMs - this.#sampledMs[span];
      if (elapsedMs < STATS_SPANS[span].intervalMs) continue;
      this.#sampledMs[span] = monotonicMs;
      for (const it of this.#items()) it.sample(span, monotonicMs);
    }
  }

  *#items(): Iterable<StatsItem> {
    for (const { item, latencies } of this.#topics.values()) {
      yield item;
      for (const it of latencies) if (it !== undefined) yield it;
    }
    for (const stats of this.groups()) yield* stats.items();
    for (const items of this.#events.values()) yield* items.values();
    for (const totals of [this.#put, this.#get]) {
      if (totals !== undefined) yield* [totals.all, totals.withoutSystem];
    }
  }

  #countPut({ isSystem }: TopicPutStats, nums: number): void {
    const totals = this.#put ??= this.#newTotals();
    totals.all.addNums(nums);
    if (!isSystem) totals.withoutSystem.addNums(nums);
  }

  #topicOf(topic: string): TopicPutStats {
    let stats = this.#topics.get(topic);
    if (stats === undefined) {
      stats = new TopicPutStats(
        topic,
        this.#ports.isSystemTopic(topic),
        this.#ports.monotonicMs(),
      );
      this.#topics.set(topic, stats);
    }
    return this.#last = stats;
  }

  #groupOf(topic: string, group: string): GroupGetStats {
    let groups = this.#groups.get(topic);
    if (groups === undefined) this.#groups.set(topic, groups = new Map());
    let stats = groups.get(group);
    if (stats === undefined) {
      groups.set(group, stats = new GroupGetStats(topic, group));
    }
    return stats;
  }

  #eventOf(name: EventName, key: string): StatsItem {
    let items = this.#events.get(name);
    if (items === undefined) this.#events.set(name, items = new Map());
    let item = items.get(key);
    if (item === undefined) items.set(key, item = this.#newItem());
    return item;
  }

  #latencyOf(latencies: StatsItem[], queueId: number): StatsItem | undefined {
    if (this.#latencyCount >= LATENCY_QUEUES_MAX) return undefined;
    this.#latencyCount++;
    return latencies[queueId] = this.#newItem();
  }

  #newTotals(): BrokerTotals {
    return { all: this.#newItem(), withoutSystem: this.#newItem() };
  }

  #newItem(): StatsItem {
    return new StatsItem(this.#ports.monotonicMs());
  }
}

/** Of an array with holes. */
function countOf(items: readonly StatsItem[] = []): number {
  return items.reduce((count) => count + 1, 0);
}
