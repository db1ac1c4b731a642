/**
 * Positions of groups, compared and copied: QUERY_CONSUME_TIME_SPAN (303),
 * QUERY_CORRECTION_OFFSET (308), CLONE_GROUP_OFFSET (314); reference 2.7.
 */
import { shown } from "../../base/shown.ts";
import type { Clock } from "../../io/clock.ts";
import type { Logger } from "../../io/logger.ts";
import {
  encodeQueryConsumeTimeSpanBody,
  type QueueTimeSpan,
} from "../../protocol/body/consume_time_span_body.ts";
import { writeFastjson } from "../../protocol/fastjson.ts";
import {
  decodeCloneGroupOffsetRequestHeader,
  decodeGroupTopicHeader,
  decodeQueryCorrectionOffsetHeader,
} from "../../protocol/header/consumer_admin_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestContext,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { ConsumerManager } from "../consumer_manager.ts";
import type { ConsumerOffsetManager } from "../consumer_offset_manager.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";
import { bodyResponse, notStored, textResponse } from "./admin_response.ts";
import type { QueueStatsStore } from "./stats_admin_processor.ts";

/** What the processors work on. */
export interface GroupOffsetDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options: () => BrokerOptions;
  readonly messageStore: QueueStatsStore;
  readonly topicConfigManager: TopicConfigManager;
  readonly consumerManager: ConsumerManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
}

/** Java's Long.MAX_VALUE: the compared group is behind all others. */
const NO_CORRECTION = 0x7fff_ffff_ffff_ffffn;

/** Processors by request code. */
export function groupOffsetProcessors(deps: GroupOffsetDeps): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [
      RequestCode.QUERY_CONSUME_TIME_SPAN,
      (_context, request) => consumeTimeSpan(deps, request),
    ],
    [
      RequestCode.QUERY_CORRECTION_OFFSET,
      (_context, request) => correctionOffsets(deps, request),
    ],
    [
      RequestCode.CLONE_GROUP_OFFSET,
      (context, request) => cloneGroupOffset(deps, context, request),
    ],
  ]);
}

async function consumeTimeSpan(
  deps: GroupOffsetDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const { topic, group } = decodeGroupTopicHeader(
    request.extFields,
    "QueryConsumeTimeSpanRequestHeader",
  );
  const config = deps.topicConfigManager.selectTopicConfig(topic);
  if (config === undefined) {
    return createResponse(
      ResponseCode.TOPIC_NOT_EXIST,
      `topic[${shown(topic)}] not exist`,
    );
  }
  const spans: QueueTimeSpan[] = [];
  for (let queueId = 0; queueId < config.writeQueueNums; queueId++) {
    spans.push(await timeSpanOf(deps, group, topic, queueId));
  }
  return bodyResponse(encodeQueryConsumeTimeSpanBody(spans));
}

async function timeSpanOf(
  deps: GroupOffsetDeps,
  group: string,
  topic: string,
  queueId: number,
): Promise<QueueTimeSpan> {
  const { messageStore: store, consumerOffsetManager, clock } = deps;
  const timeAt = (queueOffset: number) =>
    store.getMessageStoreTimeStamp(topic, queueId, queueOffset);
  const minOffset = Math.max(0, store.getMinOffsetInQueue(topic, queueId));
  const maxOffset = Math.max(0, store.getMaxOffsetInQueue(topic, queueId));
  // Who has no position yet begins with the first message that is left.
  const next = Math.max(
    minOffset,
    consumerOffsetManager.queryOffset(group, topic, queueId),
  );
  const minTimeStamp = await timeAt(minOffset);
  const waitsSince = next < maxOffset ? await timeAt(next) : -1;
  return {
    messageQueue: { topic, brokerName: deps.options().brokerName, queueId },
    minTimeStamp,
    maxTimeStamp: await timeAt(maxOffset - 1),
    consumeTimeStamp: next > minOffset ? await timeAt(next - 1) : minTimeStamp,
    delayTime: waitsSince < 0 ? 0 : Math.max(0, clock.nowMs() - waitsSince),
  };
}

/**
 * By queue the smallest offset of all groups on the topic, or the largest number there is where
 * the compared group is behind it. Java forgets the offsets of the filtered groups for good when
 * it is asked: here they only do not count.
 */
function correctionOffsets(
  { consumerOffsetManager: offsets, messageStore: store }: GroupOffsetDeps,
  request: RemotingCommand,
): RemotingCommand {
  const { topic, compareGroup, filterGroups } =
    decodeQueryCorrectionOffsetHeader(request.extFields);
  const smallest = new Map<number, number | bigint>();
  for (const group of offsets.whichGroupByTopic(topic)) {
    if (filterGroups.includes(group)) continue;
    for (const [queueId, offset] of offsets.queryOffsets(group, topic)) {
      if (offset < store.getMinOffsetInQueue(topic, queueId)) continue;
      const present = smallest.get(queueId);
      if (present === undefined || offset < present) {
        smallest.set(queueId, offset);
      }
    }
  }
  for (const [id, offset] of offsets.queryOffsets(compareGroup, topic)) {
    const present = smallest.get(id);
    if (present !== undefined && present > offset) {
      smallest.set(id, NO_CORRECTION);
    }
  }
  return textResponse(writeFastjson({ correctionOffsets: smallest }));
}

async function cloneGroupOffset(
  deps: GroupOffsetDeps,
  context: RequestContext,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const header = decodeCloneGroupOffsetRequestHeader(request.extFields);
  const { srcGroup, destGroup } = header;
  const { consumerOffsetManager, consumerManager, topicConfigManager } = deps;
  const topics = header.topic === undefined
    ? consumerOffsetManager.whichTopicByConsumer(srcGroup)
    : [header.topic];
  const isOffline = header.offline ||
    consumerManager.findSubscriptionDataCount(srcGroup) === 0;
  const cloned = topics.filter((topic) =>
    topicConfigManager.selectTopicConfig(topic) !== undefined &&
    (isOffline ||
      consumerManager.findSubscriptionData(srcGroup, topic) !== undefined)
  );
  for (const topic of cloned) {
    consumerOffsetManager.cloneOffset(srcGroup, destGroup, topic);
  }
  deps.logger.info("a client copies the offsets of a group", {
    srcGroup: shown(srcGroup),
    destGroup: shown(destGroup),
    topics: cloned.length,
    client: context.connection.remoteAddress,
  });
  try {
    await consumerOffsetManager.persist();
  } catch (error) {
    return notStored(`The copy to group ${shown(destGroup)}`, error);
  }
  return createResponse(ResponseCode.SUCCESS);
}
