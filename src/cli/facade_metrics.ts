/** BrokerMetricsSource over a running broker. */
import type { BrokerController } from "../broker/broker_controller.ts";
import type { GroupGetStats } from "../broker/group_get_stats.ts";
import { watermarksOf } from "../broker/processor_watermarks.ts";
import { MESSAGE_TYPES } from "../broker/topic_put_stats.ts";
import { clientInfoOf } from "../ha/ha_runtime_info.ts";
import type {
  BrokerLabels,
  BrokerMetricsSnapshot,
  BrokerMetricsSource,
  DeadLetterMetrics,
  GroupTrafficMetrics,
  HAMetrics,
  StoredTopicMetrics,
  TopicTrafficMetrics,
} from "../metrics/broker_metrics_source.ts";
import type { ScrapePace } from "../metrics/scrape_pace.ts";
import { isDlqTopic, isRetryTopic } from "../model/topic_names.ts";
import { isSystemGroup } from "../model/validators.ts";
import type { RunningBroker } from "./broker_server.ts";
import {
  consumerConnections,
  executionTimes,
  producerConnections,
  rpcMetrics,
} from "./facade_client_metrics.ts";
import { exporterSnapshot } from "./facade_exporter_metrics.ts";
import { popMetrics } from "./facade_pop_metrics.ts";
import { timerMetrics } from "./facade_timer_metrics.ts";
import { groupPositions } from "./facade_lag_metrics.ts";
import { earliestMessageMs } from "./facade_status.ts";

/** Reads the managers and the store. */
export function metricsSource(running: RunningBroker): BrokerMetricsSource {
  const { broker, context, configuration } = running;
  const { clock, host } = context.runtime;
  const startedMs = clock.nowMs() -
    (clock.monotonicMs() - context.startedMs);
  return {
    labels: labelsOf(broker, configuration.values.metricsLabel),
    cardinalityLimit: () => configuration.values.metricsOtelCardinalityLimit,
    clock,
    broker: (pace) => snapshotOf(running, pace),
    process: () => ({
      residentBytes: host.residentBytes(),
      cpuSeconds: host.cpuSeconds(),
      startedMs,
      uptimeSeconds: (clock.monotonicMs() - context.startedMs) / 1000,
    }),
  };
}

/** `pairs` is metricsLabel: `key:value,key:value`. */
function labelsOf(
  { identity }: BrokerController,
  pairs: string,
): BrokerLabels {
  const labels: Record<string, string> = {};
  for (const pair of pairs.split(",").filter((it) => it !== "")) {
    const at = pair.indexOf(":");
    labels[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return {
    ...labels,
    cluster: identity.clusterName,
    node_type: "broker",
    node_id: identity.brokerName,
  };
}

async function snapshotOf(
  running: RunningBroker,
  pace: ScrapePace,
): Promise<BrokerMetricsSnapshot> {
  const { broker, configuration, context } = running;
  const { messageStore: store, parts, remotingServer: server } = broker;
  const { counters } = server;
  const { metricsLagGroupMax, metricsOfExporterEnable } = configuration.values;
  const nowMs = context.runtime.clock.nowMs();
  const earliestMs = await earliestMessageMs(broker);
  const positions = await groupPositions(
    broker,
    nowMs,
    metricsLagGroupMax,
    pace,
  );
  const ha = haMetrics(broker);
  const groups = await pace.map(
    parts.brokerStatsManager.groups(),
    (it) => it,
  );
  return {
    ha,
    pop: popMetrics(broker, nowMs),
    timers: await timerMetrics(broker, nowMs),
    role: broker.ha.role,
    brokerPermission: broker.options.broker.brokerPermission,
    topicCount: parts.topicConfigManager.allTopics().size,
    groupCount: parts.subscriptionGroupManager.allGroups().size,
    producerConnections: producerConnections(broker),
    consumerConnections: await consumerConnections(broker, pace),
    connections: server.connectionCount,
    heldPulls: parts.pullRequestHoldService.heldCount,
    junkCloses: counters.junkCloses,
    bytesIn: counters.bytesIn,
    bytesOut: counters.bytesOut,
    requests: new Map(
      [...counters.requests].map(([code, { received }]) => [code, received]),
    ),
    rpc: rpcMetrics(broker),
    watermarks: new Map<string, number>([
      ...watermarksOf(counters.requests),
      // Apache has a pool for what goes on once disk and slaves have a message.
      ["async_put", ha.pendingSyncRequests],
    ]),
    topicCreations: executionTimes(parts.topicCreations.times),
    groupCreations: executionTimes(parts.groupCreations.times),
    ...store.counters,
    isWritable: store.isWritable,
    commitLogMinOffset: store.minPhyOffset,
    commitLogMaxOffset: store.maxPhyOffset,
    flushedOffset: store.flushedOffset,
    dispatchBehindBytes: store.dispatchBehindBytes,
    messageReserveTimeMs: earliestMs === null ? null : nowMs - earliestMs,
    diskUsedBytes: diskUsedBytes(running),
    diskUsedPercent: store.diskUsedPercent,
    delayed: broker.schedule.waitingCounts(),
    topics: await topicTraffic(broker, pace),
    storedTopics: await storedTopics(broker, pace),
    groups: await groupTraffic(broker, groups, pace),
    deadLetters: await deadLetters(broker, groups, pace),
    transactions: [...broker.transactionStats.topics],
    lags: positions,
    exporter: metricsOfExporterEnable
      ? await exporterSnapshot(running, positions, pace)
      : null,
  };
}

/** RocketMQ's storage size is that of the disk. */
function diskUsedBytes({ broker, context }: RunningBroker): number | null {
  try {
    const { totalBytes, freeBytes } = context.runtime.fileSystem.diskSpace(
      broker.options.broker.storePathRootDir,
    );
    return totalBytes > 0 ? totalBytes - freeBytes : null;
  } catch {
    return null; // Left out: the scrape must not fail for it.
  }
}

function haMetrics({ ha }: BrokerController): HAMetrics {
  const { service } = ha;
  const { accepted, protocolErrors } = service.counters;
  const connections = ha.connections();
  const client = ha.role === "SLAVE" ? clientInfoOf(ha.client) : null;
  return {
    state: ha.state().state,
    connectionCount: connections.length,
    slaves: connections.filter((it) => it.lagMs !== null).map((it) => ({
      slave: it.addr,
      lagBytes: it.diff,
      lagMs: it.lagMs,
      bytesInSecond: it.transferredByteInSecond,
    })),
    inSyncSlaveNums: service.inSyncSlaveNums,
    pendingSyncRequests: service.groupTransferService.pendingCount,
    replicatedOffset: service.replicatedOffset,
    acceptedCount: accepted,
    refusedCount: service.refusedCount,
    protocolErrorCount: protocolErrors,
    masterLagBytes: client?.diff ?? null,
    masterLagMs: client?.lagMs ?? null,
    reconnectCount: client?.reconnects ?? 0,
  };
}

function isOfGroup(topic: string): boolean {
  return isRetryTopic(topic) || isDlqTopic(topic);
}

async function topicTraffic(
  { parts }: BrokerController,
  pace: ScrapePace,
): Promise<TopicTrafficMetrics[]> {
  const metrics: TopicTrafficMetrics[] = [];
  const { topics } = parts.brokerStatsManager;
  await pace.each(topics, ({ isSystem, topic, traffic }) => {
    if (isOfGroup(topic)) return;
    for (const messageType of MESSAGE_TYPES) {
      const found = traffic[messageType];
      if (found === undefined) continue;
      metrics.push({ topic, messageType, isSystem, ...found });
    }
  });
  return metrics;
}

/** What the log brought, sent here or to the master that is followed: nothing is counted for it. */
function storedTopics(
  { messageStore, parts }: BrokerController,
  pace: ScrapePace,
): Promise<StoredTopicMetrics[]> {
  return pace.map(messageStore.topics(), (topic) => ({
    topic,
    isSystem: parts.topicConfigManager.isSystemTopic(topic),
    messages: messageStore.queueIds(topic).reduce(
      (sum, queueId) => sum + messageStore.getMaxOffsetInQueue(topic, queueId),
      0,
    ),
  }));
}

function isSystem(
  { parts }: BrokerController,
  { topic, group }: GroupGetStats,
): boolean {
  return parts.topicConfigManager.isSystemTopic(topic) || isSystemGroup(group);
}

function groupTraffic(
  broker: BrokerController,
  groups: readonly GroupGetStats[],
  pace: ScrapePace,
): Promise<GroupTrafficMetrics[]> {
  return pace.map(groups, (it) => {
    const { get, group, topic } = it;
    if (get === undefined || isOfGroup(topic)) return undefined;
    const { nums, bytes } = get;
    return { topic, group, isSystem: isSystem(broker, it), nums, bytes };
  });
}

function deadLetters(
  broker: BrokerController,
  groups: readonly GroupGetStats[],
  pace: ScrapePace,
): Promise<DeadLetterMetrics[]> {
  return pace.map(groups, (it) =>
    it.toDlq > 0
      ? {
        topic: it.topic,
        group: it.group,
        isSystem: isSystem(broker, it),
        nums: it.toDlq,
      }
      : undefined);
}
