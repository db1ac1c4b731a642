/** What the names of RocketMQ's 4.x exporter need of a running broker. */
import { joinHostPort } from "../broker/broker_addresses.ts";
import { runtimeInfo } from "../broker/processor/runtime_info_processor.ts";
import type { StatsColumn, StatsItem } from "../broker/stats_item.ts";
import type {
  ExporterGroup,
  ExporterGroupRates,
  ExporterSnapshot,
  ExporterTopic,
  ExporterTopicRates,
} from "../metrics/exporter_snapshot.ts";
import type { ScrapePace } from "../metrics/scrape_pace.ts";
import { isDlqTopic, isRetryTopic } from "../model/topic_names.ts";
import type { RunningBroker } from "./broker_server.ts";
import { consumerStatus } from "./facade_consumer_status.ts";
import type { GroupPosition } from "./facade_lag_metrics.ts";

/** Reads everything; `positions` are those of the same scrape. */
export async function exporterSnapshot(
  { broker, context }: RunningBroker,
  positions: readonly GroupPosition[],
  pace: ScrapePace,
): Promise<ExporterSnapshot> {
  const { clock, fileSystem } = context.runtime;
  const { messageStore, parts, remotingServer } = broker;
  const { brokerIP1, listenPort, storePathRootDir } = broker.options.broker;
  const { clusterName, brokerName } = broker.identity;
  const { brokerStatsManager: stats } = parts;
  const rate = (direction: "put" | "get") => {
    const item = stats.brokerTotals(direction, clusterName)?.all;
    return item === undefined ? null : rateOf(item, "nums");
  };
  const runtime = await runtimeInfo({
    clock,
    options: () => broker.options.broker,
    messageStore,
    brokerStats: parts.brokerStats,
    schedule: broker.schedule,
    requests: remotingServer.counters.requests,
    diskSpace: () => fileSystem.diskSpace(storePathRootDir),
  });
  return {
    clusterName,
    brokerName,
    brokerAddr: joinHostPort(brokerIP1, listenPort),
    runtime,
    putTps: rate("put"),
    getTps: rate("get"),
    topics: await topicsOf(broker, pace),
    topicRates: await topicRates(broker, pace),
    groupRates: await groupRates(broker, pace),
    groupOffsets: positions.map((it) => ({
      topic: it.topic,
      group: it.group,
      consumerOffset: it.consumerOffset,
      lagMessages: it.lagMessages,
      latencyMs: it.lagLatencyMs,
    })),
    groups: await groupsOf(broker, pace),
    clients: await consumerStatus(broker),
    producers: new Map(
      [...parts.producerManager.groups()].map(([group, { size }]) =>
        [group, size] as const
      ),
    ),
  };
}

type Broker = RunningBroker["broker"];

/** A second, over the last minute, with two decimals as the exporter shows it. */
function rateOf(item: StatsItem, column: StatsColumn): number {
  return Math.round(item.snapshot("minute", column).tps * 100) / 100;
}

function topicsOf(
  { messageStore }: Broker,
  pace: ScrapePace,
): Promise<ExporterTopic[]> {
  return pace.map(messageStore.topics(), (topic) => ({
    topic,
    maxOffset: messageStore.queueIds(topic).reduce(
      (sum, queueId) => sum + messageStore.getMaxOffsetInQueue(topic, queueId),
      0,
    ),
  }));
}

function isOfGroup(topic: string): boolean {
  return isRetryTopic(topic) || isDlqTopic(topic);
}

function topicRates(
  { parts }: Broker,
  pace: ScrapePace,
): Promise<ExporterTopicRates[]> {
  return pace.map(
    parts.brokerStatsManager.topics,
    ({ item, topic }) =>
      item.isAsleep || isOfGroup(topic) ? undefined : {
        topic,
        tps: rateOf(item, "nums"),
        bytesPerSecond: rateOf(item, "size"),
      },
  );
}

function groupRates(
  { parts }: Broker,
  pace: ScrapePace,
): Promise<ExporterGroupRates[]> {
  return pace.map(parts.brokerStatsManager.groups(), (it) => {
    const { get, group, sendBack, topic } = it;
    if (get === undefined || get.isAsleep || isOfGroup(topic)) return undefined;
    return {
      topic,
      group,
      tps: rateOf(get, "nums"),
      bytesPerSecond: rateOf(get, "size"),
      sendBacks: sendBack?.snapshot("minute", "nums").sum ?? 0,
    };
  });
}

function groupsOf(
  { parts }: Broker,
  pace: ScrapePace,
): Promise<ExporterGroup[]> {
  const { consumerManager, subscriptionGroupManager } = parts;
  return pace.map(subscriptionGroupManager.allGroups().keys(), (group) => {
    const info = consumerManager.getConsumerGroupInfo(group);
    const clients = [...info?.clients.values() ?? []];
    return {
      group,
      addresses: clients.map((it) => it.connection.remoteAddress),
      clientIds: clients.map((it) => it.clientId),
      isBroadcasting: info?.messageModel === "BROADCASTING",
    };
  });
}
