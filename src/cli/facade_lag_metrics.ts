/**
 * Where groups stand, for /metrics: RocketMQ 5's five numbers per group and topic.
 *
 * Every group is looked up once, with its own topics: those it has offsets on, and those that its
 * members subscribe. A record is read only for a queue that is not at its end.
 */
import type { BrokerController } from "../broker/broker_controller.ts";
import type { GroupLagMetrics } from "../metrics/broker_metrics_source.ts";
import type { ScrapePace } from "../metrics/scrape_pace.ts";
import { isDlqTopic, isRetryTopic } from "../model/topic_names.ts";
import { isSystemGroup } from "../model/validators.ts";

/** A row of metrics, and the sum of the group's offsets. */
export interface GroupPosition extends GroupLagMetrics {
  readonly consumerOffset: number;
}

/**
 * Of at most `groupMax` groups. A group that never committed on a queue with messages has no row
 * for that topic: its lag is unknown, and a 0 would say that nothing is left to read.
 */
export async function groupPositions(
  broker: BrokerController,
  nowMs: number,
  groupMax: number,
  pace: ScrapePace,
): Promise<GroupPosition[]> {
  const positions: GroupPosition[] = [];
  const { consumerManager, consumerOffsetManager } = broker.parts;
  const groups = broker.parts.subscriptionGroupManager.allGroups();
  let count = 0;
  for (const group of groups.keys()) {
    if (count >= groupMax) break;
    const topics = new Set(consumerOffsetManager.whichTopicByConsumer(group));
    const info = consumerManager.getConsumerGroupInfo(group);
    for (const topic of info?.subscriptions.keys() ?? []) topics.add(topic);
    if (topics.size > 0) count++;
    for (const topic of topics) {
      if (isDlqTopic(topic)) continue;
      // Answers that need no disk do not let others in.
      await pace.rest();
      const position = await positionOf(broker, group, topic, nowMs);
      if (position !== undefined) positions.push(position);
    }
  }
  return positions;
}

async function positionOf(
  broker: BrokerController,
  group: string,
  topic: string,
  nowMs: number,
): Promise<GroupPosition | undefined> {
  const { topicConfigManager } = broker.parts;
  const config = topicConfigManager.selectTopicConfig(topic);
  if (config === undefined) return undefined;
  const sum = {
    consumerOffset: 0,
    lagMessages: 0,
    inflightMessages: 0,
    readyMessages: 0,
  };
  let unconsumedMs = Infinity;
  let unpulledMs = Infinity;
  const queueNums = Math.max(config.readQueueNums, config.writeQueueNums);
  for (let queueId = 0; queueId < queueNums; queueId++) {
    const { max, committed, pulled, isCommitted } = offsetsOf(
      broker,
      group,
      topic,
      queueId,
    );
    if (!isCommitted && max > 0) return undefined;
    sum.consumerOffset += committed;
    sum.lagMessages += Math.max(0, max - committed);
    sum.inflightMessages += Math.max(0, pulled - committed) +
      broker.pop.log.table.inFlight(topic, group, queueId);
    sum.readyMessages += Math.max(0, max - pulled);
    const ofCommitted = await storeTime(broker, topic, queueId, committed, max);
    unconsumedMs = Math.min(unconsumedMs, ofCommitted);
    unpulledMs = Math.min(
      unpulledMs,
      pulled === committed
        ? ofCommitted
        : await storeTime(broker, topic, queueId, pulled, max),
    );
  }
  return {
    ...sum,
    group,
    topic,
    isRetry: isRetryTopic(topic),
    isSystem: topicConfigManager.isSystemTopic(topic) || isSystemGroup(group),
    lagLatencyMs: ageOf(unconsumedMs, nowMs),
    queueingLatencyMs: ageOf(unpulledMs, nowMs),
  };
}

/** A group that has not pulled since the start has pulled what it has committed. */
function offsetsOf(
  { messageStore, parts }: BrokerController,
  group: string,
  topic: string,
  queueId: number,
) {
  const { consumerOffsetManager } = parts;
  const max = Math.max(0, messageStore.getMaxOffsetInQueue(topic, queueId));
  const found = consumerOffsetManager.queryOffset(group, topic, queueId);
  const committed = found < 0 ? max : Math.min(found, max);
  const asked = consumerOffsetManager.queryPullOffset(group, topic, queueId);
  return {
    max,
    committed,
    pulled: asked < 0 ? committed : Math.min(asked, max),
    isCommitted: found >= 0,
  };
}

/** Infinity at the end of a queue, and where the record is gone. */
async function storeTime(
  { messageStore }: BrokerController,
  topic: string,
  queueId: number,
  offset: number,
  max: number,
): Promise<number> {
  if (offset >= max) return Infinity;
  const from = Math.max(
    offset,
    messageStore.getMinOffsetInQueue(topic, queueId),
  );
  const timeMs = await messageStore.getMessageStoreTimeStamp(
    topic,
    queueId,
    from,
  );
  return timeMs > 0 ? timeMs : Infinity;
}

function ageOf(storeMs: number, nowMs: number): number {
  return Number.isFinite(storeMs) ? Math.max(0, nowMs - storeMs) : 0;
}
