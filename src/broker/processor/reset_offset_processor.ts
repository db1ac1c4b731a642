/**
 * INVOKE_BROKER_TO_RESET_OFFSET (222): a group goes on elsewhere (reference 11.8). The broker
 * stores the new positions itself, whether members are there or not (5.x's way), or, with
 * useServerSideResetOffset=false, has the members do it (4.9's).
 */
import { shown } from "../../base/shown.ts";
import type { Logger } from "../../io/logger.ts";
import { encodeResetOffsetBody } from "../../protocol/body/reset_offset_body.ts";
import {
  decodeResetOffsetRequestHeader,
  type ResetOffsetRequestHeader,
} from "../../protocol/header/reset_offset_request_header.ts";
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
import type { ResetOffset, ResetOffsets } from "../reset_offsets.ts";
import type { SubscriptionGroupManager } from "../subscription_group_manager.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";
import { bodyResponse, invalid, notStored } from "./admin_response.ts";
import type { QueueOffsetStore } from "./offset_admin_processor.ts";
import { resetByMembers } from "./reset_offset_by_members.ts";

/** What the processor works on. */
export interface ResetOffsetDeps {
  readonly logger: Logger;
  readonly options: () => BrokerOptions;
  readonly messageStore: Omit<QueueOffsetStore, "getEarliestMessageTime">;
  readonly topicConfigManager: TopicConfigManager;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
  readonly consumerManager: ConsumerManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly resetOffsets: ResetOffsets;
  readonly pullRequestHoldService: {
    wakeQueue(topic: string, queueId: number): void;
  };
}

/** The processor by request code. */
export function resetOffsetProcessors(deps: ResetOffsetDeps): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [
      RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
      (context, request) => resetOffset(deps, context, request),
    ],
  ]);
}

async function resetOffset(
  deps: ResetOffsetDeps,
  context: RequestContext,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const header = decodeResetOffsetRequestHeader(request.extFields);
  const refusal = refusalOf(deps, header);
  if (refusal !== undefined) return refusal;
  const resets = new Map<number, ResetOffset>();
  for (const queueId of queueIdsOf(deps, header)) {
    const reset = await target(deps, header, queueId);
    if (typeof reset === "string") return invalid(reset);
    resets.set(queueId, reset);
  }
  const client = context.connection.remoteAddress;
  if (!deps.options().useServerSideResetOffset) {
    return resetByMembers(deps, header, resets, client);
  }
  return await resetHere(deps, header, resets, client);
}

/** Stores the positions; the members are told with their next pull. */
async function resetHere(
  deps: ResetOffsetDeps,
  { topic, group }: ResetOffsetRequestHeader,
  resets: ReadonlyMap<number, ResetOffset>,
  client: string,
): Promise<RemotingCommand> {
  for (const [queueId, reset] of resets) {
    const { consumerOffsetManager: offsets } = deps;
    offsets.commitOffset(client, group, topic, queueId, reset.offset);
    deps.resetOffsets.add(group, topic, queueId, reset);
    deps.pullRequestHoldService.wakeQueue(topic, queueId);
  }
  try {
    await deps.consumerOffsetManager.persist();
  } catch (error) {
    return notStored(`The reset of group ${shown(group)}`, error);
  }
  deps.logger.info("a client resets the offsets of a group", {
    topic: shown(topic),
    group: shown(group),
    offsets: [...resets].map(([id, it]) => `${id}:${it.offset}`).join(" "),
    client,
  });
  const { brokerName } = deps.options();
  return bodyResponse(encodeResetOffsetBody(
    [...resets].map(([queueId, { offset }]) => ({
      queue: { topic, brokerName, queueId },
      offset,
    })),
  ));
}

function refusalOf(
  deps: ResetOffsetDeps,
  { topic, group, queueId }: ResetOffsetRequestHeader,
): RemotingCommand | undefined {
  if (deps.options().brokerRole === "SLAVE") {
    return createResponse(
      ResponseCode.SYSTEM_ERROR,
      "this broker is a slave: reset the offsets on its master",
    );
  }
  const config = deps.topicConfigManager.selectTopicConfig(topic);
  if (config === undefined) {
    return createResponse(
      ResponseCode.TOPIC_NOT_EXIST,
      `Topic ${shown(topic)} does not exist`,
    );
  }
  if (!deps.subscriptionGroupManager.containsSubscriptionGroup(group)) {
    return createResponse(
      ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
      `Group ${shown(group)} does not exist`,
    );
  }
  return queueId < config.readQueueNums ? undefined : invalid(
    `The queueId ${queueId} is none of topic ${shown(topic)}, which has ` +
      `${config.readQueueNums}.`,
  );
}

function queueIdsOf(
  { topicConfigManager }: ResetOffsetDeps,
  { topic, queueId }: ResetOffsetRequestHeader,
): readonly number[] {
  if (queueId >= 0) return [queueId];
  const config = topicConfigManager.selectTopicConfig(topic);
  return Array.from({ length: config?.readQueueNums ?? 0 }, (_, id) => id);
}

/** Where the readers of one queue go on; a sentence when it cannot be there. */
async function target(
  { messageStore: store }: ResetOffsetDeps,
  { topic, queueId: wanted, offset, timestamp }: ResetOffsetRequestHeader,
  queueId: number,
): Promise<ResetOffset | string> {
  const minOffset = Math.max(0, store.getMinOffsetInQueue(topic, queueId));
  const maxOffset = Math.max(0, store.getMaxOffsetInQueue(topic, queueId));
  if (wanted >= 0 && offset >= 0) {
    return offset >= minOffset && offset <= maxOffset
      ? { offset, minOffset, maxOffset }
      : `The offset ${offset} is not in queue ${queueId} of topic ${
        shown(topic)
      }, which reaches from ${minOffset} to ${maxOffset}.`;
  }
  const found = timestamp < 0
    ? maxOffset
    : await store.getOffsetInQueueByTime(topic, queueId, timestamp, "lower");
  const within = Math.min(Math.max(found, minOffset), maxOffset);
  return { offset: within, minOffset, maxOffset };
}
