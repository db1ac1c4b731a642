/** The names of RocketMQ's 4.x exporter, for dashboards made for it: gauges, as there. */
import type {
  BrokerMetricsSnapshot,
  SlaveMetrics,
} from "./broker_metrics_source.ts";
import { CLIENT_GAUGES } from "./exporter_client_specs.ts";
import { RUNTIME_GAUGES } from "./exporter_runtime_specs.ts";
import type {
  ExporterGroup,
  ExporterGroupOffsets,
  ExporterGroupRates,
  ExporterSnapshot,
  ExporterTopic,
} from "./exporter_snapshot.ts";
import {
  type Labels,
  mapped,
  type MetricSpec,
  type NumberSpec,
  rows,
} from "./metric_spec.ts";

const RETRY = "%RETRY%";
const DLQ = "%DLQ%";
type Kind = "topic" | "retry" | "dlq";

function kindOf(topic: string): Kind {
  if (topic.startsWith(RETRY)) return "retry";
  return topic.startsWith(DLQ) ? "dlq" : "topic";
}

/** A gauge of rows of the exporter's own snapshot; none while it is off. */
function ofExporter<Row>(
  name: string,
  help: string,
  rowsOf: (it: ExporterSnapshot) => Iterable<Row>,
  labelsOf: (row: Row, it: ExporterSnapshot) => Labels,
  valueOf: (row: Row) => number,
): NumberSpec {
  return {
    kind: "gauge",
    name,
    help,
    samples: ({ exporter }) =>
      exporter === null ? [] : mapped(rowsOf(exporter), (row) => ({
        labels: labelsOf(row, exporter),
        value: valueOf(row),
      })),
  };
}

const ofBroker = (
  name: string,
  help: string,
  numberOf: (it: ExporterSnapshot) => number | null,
) =>
  ofExporter(
    name,
    help,
    (it) => [numberOf(it)].filter((value) => value !== null),
    (_, it) => ({
      cluster: it.clusterName,
      brokerIP: it.brokerAddr,
      broker: it.brokerName,
    }),
    (value) => value,
  );

const topicLabels = ({ topic }: { topic: string }, it: ExporterSnapshot) => ({
  cluster: it.clusterName,
  broker: it.brokerName,
  topic,
});

const ofTopics = (name: string, kind: Kind) =>
  ofExporter<ExporterTopic>(
    name,
    "Ends of the queues of a topic, summed up",
    (it) => it.topics.filter(({ topic }) => kindOf(topic) === kind),
    (row, it) =>
      kind === "dlq"
        ? {
          cluster: it.clusterName,
          broker: it.brokerName,
          group: row.topic.slice(DLQ.length),
        }
        : topicLabels(row, it),
    (row) => row.maxOffset,
  );

const groupLabels = (
  row: { topic: string; group: string },
  it: ExporterSnapshot,
) => ({ ...topicLabels(row, it), group: row.group });

const ofGroupRates = (
  name: string,
  help: string,
  valueOf: (row: ExporterGroupRates) => number,
) => ofExporter(name, help, (it) => it.groupRates, groupLabels, valueOf);

const ofGroupOffsets = (
  name: string,
  help: string,
  rowsOf: (it: ExporterSnapshot) => Iterable<ExporterGroupOffsets>,
  valueOf: (row: ExporterGroupOffsets) => number,
) => ofExporter(name, help, rowsOf, groupLabels, valueOf);

/** The exporter leaves out dead letters, and groups that broadcast. */
function clusteringOffsets(it: ExporterSnapshot): ExporterGroupOffsets[] {
  const broadcasting = new Set(
    it.groups.filter((row) => row.isBroadcasting).map((row) => row.group),
  );
  return it.groupOffsets.filter(({ group, topic }) =>
    !broadcasting.has(group) && kindOf(topic) !== "dlq"
  );
}

function diffs(name: string, kind: Kind): NumberSpec {
  return {
    kind: "gauge",
    name,
    help: "Messages that a group has not consumed yet",
    samples: ({ exporter }) => {
      if (exporter === null) return [];
      const online = new Map(exporter.groups.map((it) => [it.group, it]));
      return clusteringOffsets(exporter)
        .filter(({ topic }) => kindOf(topic) === kind)
        .map(({ group, topic, lagMessages }) => ({
          labels: {
            group,
            topic,
            countOfOnlineConsumers: String(
              online.get(group)?.clientIds.length ?? 0,
            ),
            // Ordinal of MessageModel: BROADCASTING, CLUSTERING.
            msgModel: "1",
          },
          value: lagMessages,
        }));
    },
  };
}

/** All of them; without samples unless the snapshot has the exporter's part. */
export const EXPORTER_METRICS: readonly MetricSpec[] = [
  ofBroker("rocketmq_broker_tps", "BrokerPutNums", (it) => it.putTps),
  ofBroker("rocketmq_broker_qps", "BrokerGetNums", (it) => it.getTps),
  rows<readonly [SlaveMetrics, BrokerMetricsSnapshot]>(
    "gauge",
    "rocketmq_broker_commitlog_diff",
    "Bytes that a slave is behind its master",
    (broker) =>
      broker.exporter === null ? [] : broker.ha.slaves
        .filter((it) => it.lagBytes !== null)
        .map((it) => [it, broker] as const),
    ([slave, { exporter }]) => ({
      labels: {
        cluster: exporter!.clusterName,
        brokerIP: slave.slave,
        broker: exporter!.brokerName,
      },
      value: slave.lagBytes!,
    }),
  ),
  ofTopics("rocketmq_producer_offset", "topic"),
  ofTopics("rocketmq_topic_retry_offset", "retry"),
  ofTopics("rocketmq_topic_dlq_offset", "dlq"),
  ofExporter(
    "rocketmq_producer_tps",
    "TopicPutNums",
    (it) => it.topicRates,
    topicLabels,
    (row) => row.tps,
  ),
  ofExporter(
    "rocketmq_producer_message_size",
    "TopicPutMessageSize",
    (it) => it.topicRates,
    topicLabels,
    (row) => row.bytesPerSecond,
  ),
  ofExporter(
    "rocketmq_producer_count",
    "producer instance counter",
    (it) => it.producers,
    ([group], it) => ({
      cluster: it.clusterName,
      broker: it.brokerName,
      group,
    }),
    ([, count]) => count,
  ),
  ofGroupRates("rocketmq_consumer_tps", "GroupGetNums", (it) => it.tps),
  ofGroupRates(
    "rocketmq_consumer_message_size",
    "GroupGetMessageSize",
    (it) => it.bytesPerSecond,
  ),
  ofGroupRates("rocketmq_send_back_nums", "SendBackNums", (it) => it.sendBacks),
  ofGroupOffsets(
    "rocketmq_consumer_offset",
    "GroupBrokerTotalOffset",
    (it) => it.groupOffsets.filter(({ topic }) => kindOf(topic) !== "dlq"),
    (it) => it.consumerOffset,
  ),
  ofGroupOffsets(
    "rocketmq_group_get_latency_by_storetime",
    "GroupGetLatencyByStoreTime",
    clusteringOffsets,
    (it) => it.latencyMs,
  ),
  diffs("rocketmq_group_diff", "topic"),
  diffs("rocketmq_group_retrydiff", "retry"),
  ofExporter<ExporterGroup>(
    "rocketmq_group_count",
    "GroupCount",
    (it) => it.groups,
    (row) => ({
      caddr: row.addresses.join(","),
      localaddr: row.clientIds.join(","),
      group: row.group,
    }),
    (row) => row.clientIds.length,
  ),
  ...CLIENT_GAUGES,
  ...RUNTIME_GAUGES,
];
