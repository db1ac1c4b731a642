/**
 * Who is connected: GET_CONSUMER_CONNECTION_LIST (203),
 * GET_PRODUCER_CONNECTION_LIST (204), GET_ALL_PRODUCER_INFO (328); reference 2.7.
 */
import { shown } from "../../base/shown.ts";
import {
  type ClientConnection,
  encodeConsumerConnection,
  encodeProducerConnection,
  encodeProducerTable,
  type ProducerInfo,
} from "../../protocol/body/connection_body.ts";
import {
  decodeConsumerGroupHeader,
  decodeProducerGroupHeader,
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
import type { ClientChannelInfo } from "../client_channel_info.ts";
import type { ConsumerManager } from "../consumer_manager.ts";
import type { ProducerManager } from "../producer_manager.ts";
import { bodyResponse } from "./admin_response.ts";

/** What the processors work on. */
export interface ConnectionAdminDeps {
  readonly consumerManager: ConsumerManager;
  readonly producerManager: ProducerManager;
}

/** Processors by request code. */
export function connectionAdminProcessors(
  deps: ConnectionAdminDeps,
): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [
      RequestCode.GET_CONSUMER_CONNECTION_LIST,
      (_context, request) => consumerConnections(deps, request),
    ],
    [
      RequestCode.GET_PRODUCER_CONNECTION_LIST,
      (_context, request) => producerConnections(deps, request),
    ],
    [RequestCode.GET_ALL_PRODUCER_INFO, () => allProducers(deps)],
  ]);
}

function consumerConnections(
  deps: ConnectionAdminDeps,
  request: RemotingCommand,
): RemotingCommand {
  const group = decodeConsumerGroupHeader(
    request.extFields,
    "GetConsumerConnectionListRequestHeader",
  );
  const info = deps.consumerManager.getConsumerGroupInfo(group);
  if (info === undefined) {
    return createResponse(
      ResponseCode.CONSUMER_NOT_ONLINE,
      `the consumer group[${shown(group)}] not online`,
    );
  }
  return bodyResponse(encodeConsumerConnection({
    connectionSet: [...info.clients.values()].map(connectionOf),
    consumeType: info.consumeType,
    messageModel: info.messageModel,
    consumeFromWhere: info.consumeFromWhere,
    subscriptionTable: info.subscriptions,
  }));
}

function producerConnections(
  deps: ConnectionAdminDeps,
  request: RemotingCommand,
): RemotingCommand {
  const group = decodeProducerGroupHeader(request.extFields);
  const clients = deps.producerManager.groups().get(group);
  return clients === undefined
    ? createResponse(
      ResponseCode.SYSTEM_ERROR,
      `the producer group[${shown(group)}] not exist`,
    )
    : bodyResponse(
      encodeProducerConnection([...clients.values()].map(connectionOf)),
    );
}

function allProducers(deps: ConnectionAdminDeps): RemotingCommand {
  const data = new Map<string, ProducerInfo[]>();
  for (const [group, clients] of deps.producerManager.groups()) {
    data.set(group, [...clients.values()].map(producerInfoOf));
  }
  return bodyResponse(encodeProducerTable(data));
}

function connectionOf(client: ClientChannelInfo): ClientConnection {
  return {
    clientId: client.clientId,
    clientAddr: client.connection.remoteAddress,
    language: client.language,
    version: client.version,
  };
}

function producerInfoOf(client: ClientChannelInfo): ProducerInfo {
  return {
    clientId: client.clientId,
    // Java writes its socket address there, which begins with the empty name of the host.
    remoteIP: `/${client.connection.remoteAddress}`,
    language: client.language,
    version: client.version,
    lastUpdateTimestamp: client.lastUpdateTimestamp,
  };
}
