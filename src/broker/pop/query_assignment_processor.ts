/**
 * QueryAssignmentProcessor: QUERY_ASSIGNMENT (400), which queues a client consumes and whether it
 * pulls or pops them, and SET_MESSAGE_REQUEST_MODE (401), which says so for a group (reference 2.4).
 */
import { shown } from "../../base/shown.ts";
import type { MessageQueue } from "../../model/message_queue.ts";
import type { SubscriptionGroupConfig } from "../../model/subscription_group_config.ts";
import { isRetryTopic } from "../../model/topic_names.ts";
import type { TopicConfig } from "../../model/topic_config.ts";
import {
  decodeSetMessageRequestModeBody,
  type SetMessageRequestModeBody,
} from "../../protocol/body/message_request_mode_body.ts";
import {
  decodeQueryAssignmentRequestBody,
  encodeQueryAssignmentResponseBody,
  type QueryAssignmentRequestBody,
} from "../../protocol/body/query_assignment_body.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestProcessor } from "../../remoting/request_processor.ts";
import type { MessageRequestModeFile } from "../message_request_mode_file.ts";
import { allocateForPop, allocationStrategy } from "./queue_allocation.ts";

/** What the processor works on. */
export interface QueryAssignmentDeps {
  readonly messageRequestModeFile: MessageRequestModeFile;
  readonly routes: {
    queuesOf(topic: string): Promise<readonly MessageQueue[] | null>;
  };
  readonly topics: {
    selectTopicConfig(topic: string): TopicConfig | undefined;
  };
  readonly groups: {
    findSubscriptionGroupConfig(
      group: string,
    ): SubscriptionGroupConfig | undefined;
  };
  /** Living members of a group; undefined without any. */
  clientIds(group: string): readonly string[] | undefined;
  options(): QueryAssignmentOptions;
}

/** Keys of broker.conf. */
export interface QueryAssignmentOptions {
  /** Of groups that nobody set one for. */
  readonly defaultMessageRequestMode: "PULL" | "POP";
  readonly defaultPopShareQueueNum: number;
  /** False: every client gets every queue. */
  readonly serverLoadBalancerEnable: boolean;
}

/** Processors by request code. */
export function queryAssignmentProcessors(
  deps: QueryAssignmentDeps,
): ReadonlyMap<number, RequestProcessor> {
  return new Map<number, RequestProcessor>([
    [
      RequestCode.QUERY_ASSIGNMENT,
      (_context, request) => queryAssignment(deps, request),
    ],
    [
      RequestCode.SET_MESSAGE_REQUEST_MODE,
      (_context, request) => setMessageRequestMode(deps, request),
    ],
  ]);
}

async function queryAssignment(
  deps: QueryAssignmentDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const body = decodeQueryAssignmentRequestBody(request.body);
  const { consumerGroup, messageModel, topic } = body;
  if (messageModel !== "CLUSTERING" && messageModel !== "BROADCASTING") {
    return createResponse(
      ResponseCode.INVALID_PARAMETER,
      `messageModel is ${
        shown(messageModel, 32)
      }, and must be CLUSTERING or BROADCASTING`,
    );
  }
  const entry = deps.messageRequestModeFile.get(topic, consumerGroup) ??
    defaultMode(deps, topic, consumerGroup);
  const all = await deps.routes.queuesOf(topic);
  const queues = all === null || messageModel === "BROADCASTING"
    ? all
    : shareOf(deps, body, entry, all);
  return createResponse(
    ResponseCode.SUCCESS,
    null,
    {},
    encodeQueryAssignmentResponseBody(
      queues?.map((messageQueue) => ({ messageQueue, mode: entry.mode })) ??
        null,
    ),
  );
}

function defaultMode(
  deps: QueryAssignmentDeps,
  topic: string,
  consumerGroup: string,
): SetMessageRequestModeBody {
  const { defaultMessageRequestMode, defaultPopShareQueueNum } = deps.options();
  // What POP has to redeliver has retry topics of its own.
  const mode = isRetryTopic(topic) ? "PULL" : defaultMessageRequestMode;
  const popShareQueueNum = mode === "POP" ? defaultPopShareQueueNum : 0;
  return { topic, consumerGroup, mode, popShareQueueNum };
}

/** Null when the client is to go on with what it has. */
function shareOf(
  deps: QueryAssignmentDeps,
  { clientId, consumerGroup, strategyName }: QueryAssignmentRequestBody,
  { mode, popShareQueueNum }: SetMessageRequestModeBody,
  all: readonly MessageQueue[],
): readonly MessageQueue[] | null {
  if (!deps.options().serverLoadBalancerEnable) return all;
  const members = deps.clientIds(consumerGroup);
  const strategy = allocationStrategy(strategyName);
  if (members === undefined || strategy === undefined || all.length === 0) {
    return null;
  }
  const queues = [...all].sort((a, b) =>
    compare(a.brokerName, b.brokerName) || a.queueId - b.queueId
  );
  const clientIds = [...members].sort(compare);
  return mode === "POP"
    ? allocateForPop(strategy, clientId, queues, clientIds, popShareQueueNum)
    : strategy(clientId, queues, clientIds);
}

/** As Java compares texts: by UTF-16 units. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

async function setMessageRequestMode(
  deps: QueryAssignmentDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const entry = decodeSetMessageRequestModeBody(request.body);
  const { consumerGroup, topic } = entry;
  if (isRetryTopic(topic)) {
    return createResponse(
      ResponseCode.NO_PERMISSION,
      "retry topic is not allowed to set mode",
    );
  }
  if (deps.topics.selectTopicConfig(topic) === undefined) {
    return createResponse(
      ResponseCode.TOPIC_NOT_EXIST,
      `topic[${shown(topic)}] not exist`,
    );
  }
  if (deps.groups.findSubscriptionGroupConfig(consumerGroup) === undefined) {
    return createResponse(
      ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
      `subscription group ${shown(consumerGroup)} does not exist`,
    );
  }
  await deps.messageRequestModeFile.set(entry);
  return createResponse(ResponseCode.SUCCESS);
}
