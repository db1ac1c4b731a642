/**
 * Where queues and groups stand, and how fast they move: GET_TOPIC_STATS_INFO (202),
 * GET_CONSUME_STATS (208), VIEW_BROKER_STATS_DATA (315), GET_BROKER_CONSUME_STATS (317);
 * reference 2.7.
 */
import { shown } from "../../base/shown.ts";
import {
  type ConsumeStats,
  encodeConsumeStats,
  encodeConsumeStatsList,
  type OffsetWrapper,
} from "../../protocol/body/consume_stats_body.ts";
import { encodeJson } from "../../protocol/body/json_fields.ts";
import {
  encodeTopicStatsTable,
  type TopicOffset,
} from "../../protocol/body/topic_stats_body.ts";
import {
  decodeGetConsumeStatsInBrokerHeader,
  decodeGetConsumeStatsRequestHeader,
  decodeTopicHeader,
  decodeViewBrokerStatsDataRequestHeader,
  type GetConsumeStatsRequestHeader,
} from "../../protocol/header/broker_admin_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import { joinHostPort } from "../broker_addresses.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { BrokerStatsManager } from "../broker_stats_manager.ts";
import type { ConsumerManager } from "../consumer_manager.ts";
import type { ConsumerOffsetManager } from "../consumer_offset_manager.ts";
import type { SubscriptionGroupManager } from "../subscription_group_manager.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";
import { bodyResponse } from "./admin_response.ts";

/** What the store knows of a queue. */
export interface QueueStatsStore {
  getMinOffsetInQueue(topic: string, queueId: number): number;
  getMaxOffsetInQueue(topic: string, queueId: number): number;
  /** Store time of the record at a queue offset, milliseconds; negative: unknown. */
  getMessageStoreTimeStamp(
    topic: string,
    queueId: number,
    queueOffset: number,
  ): Promise<number>;
}

/** What the processors work on. */
export interface StatsAdminDeps {
  readonly options: () => BrokerOptions;
  readonly messageStore: QueueStatsStore;
  readonly topicConfigManager: TopicConfigManager;
  readonly consumerManager: ConsumerManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly brokerStatsManager: BrokerStatsManager;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
}

/** Processors by request code. */
export function statsAdminProcessors(deps: StatsAdminDeps): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [
      RequestCode.GET_TOPIC_STATS_INFO,
      (_context, request) => topicStats(deps, request),
    ],
    [
      RequestCode.GET_CONSUME_STATS,
      (_context, request) => consumeStats(deps, request),
    ],
    [
      RequestCode.VIEW_BROKER_STATS_DATA,
      (_context, request) => viewBrokerStats(deps, request),
    ],
    [
      RequestCode.GET_BROKER_CONSUME_STATS,
      (_context, request) => brokerConsumeStats(deps, request),
    ],
  ]);
}

async function topicStats(
  deps: StatsAdminDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const topic = decodeTopicHeader(
    request.extFields,
    "GetTopicStatsInfoRequestHeader",
  );
  const config = deps.topicConfigManager.selectTopicConfig(topic);
  if (config === undefined) {
    return createResponse(
      ResponseCode.TOPIC_NOT_EXIST,
      `topic[${shown(topic)}] not exist`,
    );
  }
  const { messageStore: store } = deps;
  const { brokerName } = deps.options();
  const queueNums = Math.max(config.readQueueNums, config.writeQueueNums);
  const offsets: TopicOffset[] = [];
  for (let queueId = 0; queueId < queueNums; queueId++) {
    const maxOffset = Math.max(0, store.getMaxOffsetInQueue(topic, queueId));
    offsets.push({
      queue: { topic, brokerName, queueId },
      minOffset: Math.max(0, store.getMinOffsetInQueue(topic, queueId)),
      maxOffset,
      lastUpdateTimestamp: await timeOf(store, topic, queueId, maxOffset - 1),
    });
  }
  const topicPutTps = deps.brokerStatsManager.topicPutTps(topic);
  return bodyResponse(encodeTopicStatsTable({ offsets, topicPutTps }));
}

async function consumeStats(
  deps: StatsAdminDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const header = decodeGetConsumeStatsRequestHeader(request.extFields);
  const { consumerGroup: group } = header;
  const all: ConsumeStats[] = [];
  for (const topic of topicsOf(deps, group, header)) {
    all.push(await topicConsumeStats(deps, group, topic));
  }
  return bodyResponse(encodeConsumeStats({
    offsets: all.flatMap((it) => it.offsets),
    consumeTps: all.reduce((sum, it) => sum + it.consumeTps, 0),
  }));
}

async function topicConsumeStats(
  deps: StatsAdminDeps,
  group: string,
  topic: string,
): Promise<ConsumeStats> {
  const config = deps.topicConfigManager.selectTopicConfig(topic);
  const queueNums = config?.readQueueNums ?? 0;
  const offsets: OffsetWrapper[] = [];
  for (let queueId = 0; queueId < queueNums; queueId++) {
    offsets.push(await offsetOf(deps, group, topic, queueId));
  }
  const consumeTps = deps.brokerStatsManager.groupGetTps(topic, group);
  return { offsets, consumeTps };
}

/** All groups, also those without positions, their topics apart; with `isOrder` ordered topics only. */
async function brokerConsumeStats(
  deps: StatsAdminDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const { isOrder } = decodeGetConsumeStatsInBrokerHeader(request.extFields);
  const { topicConfigManager: topics } = deps;
  const groups = new Map<string, ConsumeStats[]>();
  for (const group of deps.subscriptionGroupManager.allGroups().keys()) {
    const stats: ConsumeStats[] = [];
    for (const topic of topicsOf(deps, group)) {
      const config = topics.selectTopicConfig(topic);
      if (config === undefined || (isOrder && !config.order)) continue;
      stats.push(await topicConsumeStats(deps, group, topic));
    }
    groups.set(group, stats);
  }
  const { brokerIP1, listenPort } = deps.options();
  return bodyResponse(encodeConsumeStatsList({
    brokerAddr: joinHostPort(brokerIP1, listenPort),
    groups,
  }));
}

function viewBrokerStats(
  deps: StatsAdminDeps,
  request: RemotingCommand,
): RemotingCommand {
  const { statsName, statsKey } = decodeViewBrokerStatsDataRequestHeader(
    request.extFields,
  );
  const data = deps.brokerStatsManager.view(statsName, statsKey);
  return data === undefined
    ? createResponse(
      ResponseCode.SYSTEM_ERROR,
      `The stats <${shown(statsName)}> <${shown(statsKey)}> not exist`,
    )
    : bodyResponse(encodeJson({ ...data }));
}

async function offsetOf(
  deps: StatsAdminDeps,
  group: string,
  topic: string,
  queueId: number,
): Promise<OffsetWrapper> {
  const { messageStore: store, consumerOffsetManager: offsets } = deps;
  const brokerOffset = Math.max(0, store.getMaxOffsetInQueue(topic, queueId));
  // An offset of before a lost tail lies beyond the end: lag is never negative.
  const within = (offset: number) =>
    Math.min(Math.max(0, offset), brokerOffset);
  const consumerOffset = within(offsets.queryOffset(group, topic, queueId));
  const pullOffset = within(offsets.queryPullOffset(group, topic, queueId));
  return {
    queue: { topic, brokerName: deps.options().brokerName, queueId },
    brokerOffset,
    consumerOffset,
    pullOffset: Math.max(consumerOffset, pullOffset),
    lastTimestamp: await timeOf(store, topic, queueId, consumerOffset - 1),
  };
}

/** The topics of a group that count: those it has offsets on and still subscribes. */
function topicsOf(
  deps: StatsAdminDeps,
  group: string,
  header?: GetConsumeStatsRequestHeader,
): readonly string[] {
  if (header !== undefined && header.topicList.length > 0) {
    return header.topicList;
  }
  const topics = header?.topic === undefined
    ? deps.consumerOffsetManager.whichTopicByConsumer(group)
    : [header.topic];
  // Who is offline has no subscriptions: then all count.
  if (deps.consumerManager.findSubscriptionDataCount(group) === 0) {
    return topics;
  }
  return topics.filter((topic) =>
    deps.consumerManager.findSubscriptionData(group, topic) !== undefined
  );
}

async function timeOf(
  store: QueueStatsStore,
  topic: string,
  queueId: number,
  queueOffset: number,
): Promise<number> {
  if (queueOffset < 0) return 0;
  const timestamp = await store.getMessageStoreTimeStamp(
    topic,
    queueId,
    queueOffset,
  );
  return Math.max(0, timestamp);
}
