/** Registration, good-bye, version query and heartbeat of brokers (103, 104, 322, 904). */
import { crc32 } from "../../base/crc32.ts";
import { isSameVersion } from "../../model/data_version.ts";
import {
  decodeDataVersion,
  encodeDataVersion,
} from "../../protocol/body/data_version_body.ts";
import { encodeKVTable } from "../../protocol/body/kv_table.ts";
import { decodeRegisterBrokerBody } from "../../protocol/body/register_broker_body.ts";
import { decodeBrokerIdentityHeader } from "../../protocol/header/broker_identity_header.ts";
import { encodeQueryDataVersionResponseHeader } from "../../protocol/header/query_data_version_header.ts";
import {
  decodeRegisterBrokerRequestHeader,
  encodeRegisterBrokerResponseHeader,
  type RegisterBrokerResponseHeader,
} from "../../protocol/header/register_broker_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  RequestContext,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import { NAMESPACE_ORDER_TOPIC_CONFIG } from "../kv_config_manager.ts";
import type { NamesrvContext } from "../namesrv_context.ts";

/** The processors by code. */
export function brokerProcessors(
  namesrv: NamesrvContext,
): [number, RequestProcessor][] {
  return [
    [
      RequestCode.REGISTER_BROKER,
      (it, request) => registerBroker(namesrv, it, request),
    ],
    [
      RequestCode.UNREGISTER_BROKER,
      (_, request) => unregisterBroker(namesrv, request),
    ],
    [
      RequestCode.QUERY_DATA_VERSION,
      (it, request) => queryDataVersion(namesrv, it, request),
    ],
    [
      RequestCode.BROKER_HEARTBEAT,
      (it, request) => heartbeat(namesrv, it, request),
    ],
  ];
}

function registerBroker(
  namesrv: NamesrvContext,
  { connection }: RequestContext,
  request: RemotingCommand,
): RemotingCommand {
  const header = decodeRegisterBrokerRequestHeader(request.extFields);
  if (header.bodyCrc32 !== 0 && crc32(request.body) !== header.bodyCrc32) {
    return createResponse(ResponseCode.SYSTEM_ERROR, "crc32 not match");
  }
  const result = namesrv.routeInfoManager.registerBroker(
    header,
    decodeRegisterBrokerBody(request.body, header.compressed, request.version),
    connection.id,
    namesrv.nowMs(),
  );
  if (result.kind === "refused") {
    namesrv.perform([{
      kind: "log",
      level: "warn",
      message: `registration refused: ${result.reason}`,
    }]);
    return createResponse(
      ResponseCode.SYSTEM_ERROR,
      `register broker failed: ${result.reason}`,
    );
  }
  namesrv.perform(result.effects);
  if (result.kind === "ignored") return registered(namesrv, NO_MASTER);
  namesrv.onBrokerConnection(connection);
  return registered(namesrv, result.header);
}

const NO_MASTER: RegisterBrokerResponseHeader = {
  haServerAddr: undefined,
  masterAddr: undefined,
};

function registered(
  namesrv: NamesrvContext,
  header: RegisterBrokerResponseHeader,
): RemotingCommand {
  const orderTopics = namesrv.options.returnOrderTopicConfigToBroker
    ? namesrv.kvConfigManager.namespace(NAMESPACE_ORDER_TOPIC_CONFIG)
    : undefined;
  return createResponse(
    ResponseCode.SUCCESS,
    null,
    encodeRegisterBrokerResponseHeader(header),
    orderTopics && encodeKVTable(orderTopics),
  );
}

function unregisterBroker(
  namesrv: NamesrvContext,
  request: RemotingCommand,
): RemotingCommand {
  const header = decodeBrokerIdentityHeader(request.extFields);
  namesrv.perform(namesrv.routeInfoManager.unregisterBroker(header));
  return createResponse(ResponseCode.SUCCESS);
}

function queryDataVersion(
  namesrv: NamesrvContext,
  { connection }: RequestContext,
  request: RemotingCommand,
): RemotingCommand {
  const header = decodeBrokerIdentityHeader(request.extFields);
  const theirs = decodeDataVersion(request.body);
  namesrv.onBrokerConnection(connection);
  const stored = namesrv.routeInfoManager.queryDataVersion(
    header,
    theirs,
    connection.id,
    namesrv.nowMs(),
  );
  const changed = stored === undefined || !isSameVersion(stored, theirs);
  return createResponse(
    ResponseCode.SUCCESS,
    null,
    encodeQueryDataVersionResponseHeader({ changed }),
    stored && encodeDataVersion(stored),
  );
}

function heartbeat(
  namesrv: NamesrvContext,
  { connection }: RequestContext,
  request: RemotingCommand,
): RemotingCommand {
  const header = decodeBrokerIdentityHeader(request.extFields);
  namesrv.onBrokerConnection(connection);
  namesrv.routeInfoManager.onHeartbeat(header, connection.id, namesrv.nowMs());
  return createResponse(ResponseCode.SUCCESS);
}
