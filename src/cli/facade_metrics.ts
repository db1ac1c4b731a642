/** BrokerMetricsSource over a running broker. */
import type { BrokerController } from "../broker/broker_controller.ts";
import type {
  BrokerMetricsSnapshot,
  BrokerMetricsSource,
  GroupLagMetrics,
  HAMetrics,
  TopicMetrics,
} from "../metrics/broker_metrics_source.ts";
import { clientInfoOf } from "../ha/ha_runtime_info.ts";
import type { RunningBroker } from "./broker_server.ts";
import { lagOf } from "./facade_groups.ts";
import { earliestMessageMs } from "./facade_status.ts";

/** Topics beyond are not listed one by one: a scrape must stay small. */
const TOPICS_MAX = 500;

/** Reads the managers and the store. */
export function metricsSource(running: RunningBroker): BrokerMetricsSource {
  const { broker, context, configuration } = running;
  const { clock, host } = context.runtime;
  const startedMs = clock.nowMs() -
    (clock.monotonicMs() - context.startedMs);
  return {
    labels: {
      cluster: broker.identity.clusterName,
      node_type: "broker",
      node_id: broker.identity.brokerName,
    },
    broker: () =>
      snapshotOf(
        broker,
        clock.nowMs(),
        configuration.values.metricsLagGroupMax,
      ),
    process: () => ({
      residentBytes: host.residentBytes(),
      cpuSeconds: host.cpuSeconds(),
      startedMs,
      uptimeSeconds: (clock.monotonicMs() - context.startedMs) / 1000,
    }),
  };
}

async function snapshotOf(
  broker: BrokerController,
  nowMs: number,
  lagGroupMax: number,
): Promise<BrokerMetricsSnapshot> {
  const { messageStore: store, parts, remotingServer: server } = broker;
  const { counters } = server;
  const { pull } = parts.brokerStats;
  const earliestMs = await earliestMessageMs(broker);
  const { brokerPermission } = broker.options.broker;
  return {
    ha: haMetrics(broker),
    role: broker.ha.role,
    brokerPermission,
    topicCount: parts.topicConfigManager.allTopics().size,
    groupCount: parts.subscriptionGroupManager.allGroups().size,
    producerConnections: sizesOf(parts.producerManager.groups().values()),
    consumerConnections: parts.consumerManager.clientCount,
    connections: server.connectionCount,
    heldPulls: parts.pullRequestHoldService.heldCount,
    junkCloses: counters.junkCloses,
    bytesIn: counters.bytesIn,
    bytesOut: counters.bytesOut,
    requests: counters.requests,
    ...store.counters,
    getCount: pull.transferredCount,
    getBytes: pull.transferredBytes,
    isWritable: store.isWritable,
    commitLogMinOffset: store.minPhyOffset,
    commitLogMaxOffset: store.maxPhyOffset,
    flushedOffset: store.flushedOffset,
    dispatchBehindBytes: store.dispatchBehindBytes,
    messageReserveTimeMs: earliestMs === null ? null : nowMs - earliestMs,
    diskUsedPercent: store.diskUsedPercent,
    topics: topicsOf(broker),
    lags: lagsOf(broker, lagGroupMax),
  };
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

function sizesOf(tables: Iterable<{ readonly size: number }>): number {
  let sum = 0;
  for (const { size } of tables) sum += size;
  return sum;
}

/** Messages stored are the ends of the queues: nothing is counted on the hot path. */
function topicsOf(broker: BrokerController): TopicMetrics[] {
  const { messageStore: store, parts } = broker;
  const topics: TopicMetrics[] = [];
  for (const topic of store.topics().slice(0, TOPICS_MAX)) {
    let messagesIn = 0;
    for (const queueId of store.queueIds(topic)) {
      messagesIn += store.getMaxOffsetInQueue(topic, queueId);
    }
    topics.push({
      topic,
      isSystem: parts.topicConfigManager.isSystemTopic(topic),
      messagesIn,
    });
  }
  return topics;
}

function lagsOf(
  broker: BrokerController,
  groupMax: number,
): GroupLagMetrics[] {
  const lags: GroupLagMetrics[] = [];
  const groups = broker.parts.subscriptionGroupManager.allGroups();
  for (const group of [...groups.keys()].slice(0, groupMax)) {
    const byTopic = new Map<string, number | null>();
    for (const { topic, lag } of lagOf(broker, group)) {
      const sum = byTopic.get(topic) ?? (byTopic.has(topic) ? null : 0);
      byTopic.set(topic, sum === null || lag === null ? null : sum + lag);
    }
    for (const [topic, lagMessages] of byTopic) {
      // Unknown is no number: a 0 would say that nothing is left to read.
      if (lagMessages !== null) lags.push({ group, topic, lagMessages });
    }
  }
  return lags;
}
