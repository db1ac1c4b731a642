/** Routes, clusters and members for clients and tools (105, 106, 901). */
import { shown } from "../../base/shown.ts";
import {
  encodeBrokerMemberGroup,
  encodeClusterInfo,
} from "../../protocol/body/cluster_info.ts";
import {
  encodeTopicRouteData,
  type TopicRouteData,
} from "../../protocol/body/topic_route_data.ts";
import { decodeGetRouteInfoRequestHeader } from "../../protocol/header/get_route_info_header.ts";
import { decodeBrokerMemberGroupHeader } from "../../protocol/header/namesrv_topic_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestProcessor } from "../../remoting/request_processor.ts";
import { NAMESPACE_ORDER_TOPIC_CONFIG } from "../kv_config_manager.ts";
import type { NamesrvContext } from "../namesrv_context.ts";
import { inZone, withActingMasters } from "../route_pickup.ts";

/** The processors by code. */
export function routeProcessors(
  namesrv: NamesrvContext,
): [number, RequestProcessor][] {
  return [
    [
      RequestCode.GET_ROUTEINFO_BY_TOPIC,
      (_, request) => getRouteInfo(namesrv, request),
    ],
    [RequestCode.GET_BROKER_CLUSTER_INFO, () =>
      success(
        encodeClusterInfo(namesrv.routeInfoManager.brokers.clusterInfo()),
      )],
    [RequestCode.GET_BROKER_MEMBER_GROUP, (_, request) => {
      const header = decodeBrokerMemberGroupHeader(request.extFields);
      const group = namesrv.routeInfoManager.brokers.memberGroup(
        header.clusterName,
        header.brokerName,
      );
      return success(encodeBrokerMemberGroup(group));
    }],
  ];
}

function getRouteInfo(
  namesrv: NamesrvContext,
  request: RemotingCommand,
): RemotingCommand {
  const header = decodeGetRouteInfoRequestHeader(request.extFields);
  const { options, routeInfoManager, kvConfigManager } = namesrv;
  const readyAtMs = namesrv.startedMs + options.waitSecondsForService * 1000;
  if (options.needWaitForService && namesrv.nowMs() < readyAtMs) {
    return notReady("it waits for brokers after its start");
  }
  let route = routeInfoManager.pickupTopicRouteData(header.topic);
  if (route === undefined) return noRoute(namesrv, header.topic);
  if (options.supportActingMaster) {
    route = withActingMasters(header.topic, route);
  }
  if (header.zoneName !== undefined) route = inZone(route, header.zoneName);
  if (options.orderMessageEnable) {
    const orderTopicConf = kvConfigManager.get(
      NAMESPACE_ORDER_TOPIC_CONFIG,
      header.topic,
    ) ?? null;
    route = { ...route, orderTopicConf } satisfies TopicRouteData;
  }
  return success(encodeTopicRouteData(route));
}

/** Apache's name servers tell it with this answer; tools add an address of their own otherwise. */
const FAQ = "https://rocketmq.apache.org/docs/bestPractice/06FAQ";

/** Before the first broker came, a topic is unknown rather than absent. */
function noRoute(namesrv: NamesrvContext, topic: string): RemotingCommand {
  const { hasEverRegistered, liveBrokerCount } = namesrv.routeInfoManager;
  if (!hasEverRegistered) {
    return notReady("no broker has registered since its start");
  }
  const hint = liveBrokerCount === 0
    ? " (not ready: no broker is registered)"
    : "";
  return createResponse(
    ResponseCode.TOPIC_NOT_EXIST,
    `No topic route info in name server for the topic: ${
      shown(topic)
    }${hint}\nSee ${FAQ} for further details.`,
  );
}

function notReady(why: string): RemotingCommand {
  return createResponse(
    ResponseCode.SYSTEM_ERROR,
    `name server is not ready: ${why}`,
  );
}

function success(body: Uint8Array): RemotingCommand {
  return createResponse(ResponseCode.SUCCESS, null, {}, body);
}
