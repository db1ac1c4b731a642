/**
 * What an administrator asks of the members of a group, over the broker:
 * GET_CONSUMER_RUNNING_INFO (307), CONSUME_MESSAGE_DIRECTLY (309), and
 * INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223, to members 221); reference 2.5, 2.7.
 */
import { shown } from "../../base/shown.ts";
import type { Logger } from "../../io/logger.ts";
import { decodeMessageId } from "../../model/message_id.ts";
import {
  decodeConsumerStatus,
  encodeConsumerStatus,
} from "../../protocol/body/consumer_status_body.ts";
import type { QueueOffset } from "../../protocol/body/reset_offset_body.ts";
import {
  type ConsumerClient,
  decodeConsumeMessageDirectlyRequestHeader,
  decodeGetConsumerRunningInfoRequestHeader,
  decodeGetConsumerStatusRequestHeader,
} from "../../protocol/header/consumer_admin_header.ts";
import {
  createRequest,
  createResponse,
  type ExtFields,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { withoutSignature } from "../../protocol/request_signature.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { ClientChannelInfo } from "../client_channel_info.ts";
import type { ConsumerManager } from "../consumer_manager.ts";
import type { SubscriptionGroupManager } from "../subscription_group_manager.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";
import { bodyResponse } from "./admin_response.ts";

/** What the processors work on. */
export interface CallConsumerDeps {
  readonly logger: Logger;
  readonly options: () => BrokerOptions;
  readonly messageStore: {
    selectOneMessageByOffset(
      phyOffset: number,
    ): Promise<Uint8Array | undefined>;
  };
  readonly consumerManager: ConsumerManager;
  readonly topicConfigManager: TopicConfigManager;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
}

/** Milliseconds until a member must have answered. */
const CALL_TIMEOUT_MS = 10_000;
const STATUS_TIMEOUT_MS = 5_000;
/** 3.1.8-SNAPSHOT and 3.0.7-SNAPSHOT (reference 1.5): older ones do not know the requests. */
const CALL_VERSION_MIN = 62;
const STATUS_VERSION_MIN = 28;

/** Processors by request code. */
export function callConsumerProcessors(deps: CallConsumerDeps): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [RequestCode.GET_CONSUMER_RUNNING_INFO, (_context, request) =>
      callConsumer(
        deps,
        decodeGetConsumerRunningInfoRequestHeader(request.extFields),
        createRequest(
          RequestCode.GET_CONSUMER_RUNNING_INFO,
          withoutSignature(request.extFields),
        ),
      )],
    [
      RequestCode.CONSUME_MESSAGE_DIRECTLY,
      (_context, request) => consumeMessageDirectly(deps, request),
    ],
    [
      RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
      (_context, request) => consumerStatus(deps, request),
    ],
  ]);
}

/** Hands a record of this broker to one member; its answer says what became of it. */
async function consumeMessageDirectly(
  deps: CallConsumerDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const header = decodeConsumeMessageDirectlyRequestHeader(request.extFields);
  const id = decodeMessageId(header.msgId);
  if (id === undefined) {
    return failed(`The msgId ${shown(header.msgId)} is no offset message id`);
  }
  const record = await deps.messageStore.selectOneMessageByOffset(id.phyOffset);
  if (record === undefined) {
    return failed(`can not find message by the offset, ${id.phyOffset}`);
  }
  const fields: ExtFields = {
    ...withoutSignature(request.extFields),
    brokerName: deps.options().brokerName,
  };
  const topic = header.topic === undefined
    ? undefined
    : deps.topicConfigManager.selectTopicConfig(header.topic);
  if (topic !== undefined) fields.topicSysFlag = String(topic.topicSysFlag);
  const group = deps.subscriptionGroupManager.getSubscriptionGroupConfig(
    header.consumerGroup,
  );
  if (group !== undefined) fields.groupSysFlag = String(group.groupSysFlag);
  const call = createRequest(
    RequestCode.CONSUME_MESSAGE_DIRECTLY,
    fields,
    record,
  );
  return await callConsumer(deps, header, call);
}

/** The member's own answer, or why there is none. */
async function callConsumer(
  { consumerManager }: CallConsumerDeps,
  { consumerGroup, clientId }: ConsumerClient,
  call: RemotingCommand,
): Promise<RemotingCommand> {
  const client = consumerManager.findClient(consumerGroup, clientId);
  const names = `<${shown(consumerGroup)}> <${shown(clientId)}>`;
  if (client === undefined) return failed(`The Consumer ${names} not online`);
  if (client.version < CALL_VERSION_MIN) {
    return failed(
      `The Consumer <${shown(clientId)}> Version <${client.version}> too low ` +
        "to finish, please upgrade it to V3_1_8_SNAPSHOT",
    );
  }
  try {
    const answer = await client.connection.invoke(call, CALL_TIMEOUT_MS);
    return createResponse(
      answer.code,
      answer.remark,
      answer.extFields,
      answer.body,
    );
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.name === "RemotingTimeoutError"
      ? createResponse(
        ResponseCode.CONSUME_MSG_TIMEOUT,
        `consumer ${names} Timeout: ${error.message}`,
      )
      : failed(`invoke consumer ${names} Exception: ${error.message}`);
  }
}

/** Where the members of a group stand, as they say themselves. */
async function consumerStatus(
  deps: CallConsumerDeps,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const header = decodeGetConsumerStatusRequestHeader(request.extFields);
  const { topic, group, clientAddr } = header;
  const clients = deps.consumerManager.getConsumerGroupInfo(group)?.clients;
  if (clients === undefined || clients.size === 0) {
    return failed(
      `No Any Consumer online in the consumer group: [${shown(group)}]`,
    );
  }
  const asked = [...clients.values()].filter((it) =>
    clientAddr === undefined || it.clientId === clientAddr
  );
  const old = asked.find((it) => it.version < STATUS_VERSION_MIN);
  if (old !== undefined) {
    return failed(
      `the client does not support this feature. version=${old.version}`,
    );
  }
  const table = new Map<string, readonly QueueOffset[]>();
  await Promise.all(asked.map(async (client) => {
    const offsets = await statusOf(deps, client, topic, group);
    if (offsets !== undefined) table.set(client.clientId, offsets);
  }));
  return bodyResponse(encodeConsumerStatus(table));
}

/** Undefined when the member did not answer: the others are shown without it. */
async function statusOf(
  { logger }: CallConsumerDeps,
  client: ClientChannelInfo,
  topic: string,
  group: string,
): Promise<readonly QueueOffset[] | undefined> {
  const request = createRequest(RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, {
    topic,
    group,
  });
  try {
    const answer = await client.connection.invoke(request, STATUS_TIMEOUT_MS);
    return answer.code === ResponseCode.SUCCESS && answer.body.length > 0
      ? decodeConsumerStatus(answer.body)
      : undefined;
  } catch (error) {
    logger.warn("a consumer did not say where it stands", {
      topic: shown(topic),
      group: shown(group),
      clientId: shown(client.clientId),
      reason: error instanceof Error ? error.message : String(error),
    });
    return undefined;
  }
}

function failed(sentence: string): RemotingCommand {
  return createResponse(ResponseCode.SYSTEM_ERROR, sentence);
}
