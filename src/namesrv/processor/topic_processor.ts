/** Topic lists, topic registration and deletion, write permissions (205-206, 216-217, 224, 304, 311-313, 327). */
import { PermName } from "../../model/topic_config.ts";
import { encodeTopicList } from "../../protocol/body/topic_list.ts";
import { decodeTopicRouteData } from "../../protocol/body/topic_route_data.ts";
import {
  decodeNamesrvTopicHeader,
  decodeTopicsByClusterHeader,
  decodeWritePermHeader,
} from "../../protocol/header/namesrv_topic_header.ts";
import {
  createResponse,
  type ExtFields,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { RequestProcessor } from "../../remoting/request_processor.ts";
import type { NamesrvContext } from "../namesrv_context.ts";
import type { RouteInfoManager } from "../route_info_manager.ts";
import type { UnitTopics } from "../topic_queue_table.ts";

/** The processors by code. */
export function topicProcessors(
  namesrv: NamesrvContext,
): [number, RequestProcessor][] {
  const routes = namesrv.routeInfoManager;
  return [
    [RequestCode.WIPE_WRITE_PERM_OF_BROKER, (_, request) => {
      const count = routes.topics.wipeWritePerm(
        decodeWritePermHeader(request.extFields),
      );
      return success({ wipeTopicCount: String(count) });
    }],
    [RequestCode.ADD_WRITE_PERM_OF_BROKER, (_, request) => {
      const count = routes.topics.changePerm(
        decodeWritePermHeader(request.extFields),
        () => PermName.READ | PermName.WRITE,
      );
      return success({ addTopicCount: String(count) });
    }],
    [
      RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
      () => allTopics(namesrv),
    ],
    [RequestCode.DELETE_TOPIC_IN_NAMESRV, (_, request) => {
      const header = decodeNamesrvTopicHeader(request.extFields);
      routes.deleteTopic(header.topic, header.clusterName);
      return success();
    }],
    [RequestCode.REGISTER_TOPIC_IN_NAMESRV, (_, request) => {
      const header = decodeNamesrvTopicHeader(request.extFields);
      const { queueDatas } = decodeTopicRouteData(request.body);
      routes.registerTopic(header.topic, queueDatas);
      return success();
    }],
    [RequestCode.GET_TOPICS_BY_CLUSTER, (_, request) =>
      topicList(
        routes.topicsOfCluster(decodeTopicsByClusterHeader(request.extFields)),
      )],
    [RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS, () => systemTopics(routes)],
    [RequestCode.GET_UNIT_TOPIC_LIST, () => unitTopics(routes, "unit")],
    [
      RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST,
      () => unitTopics(routes, "unit-sub"),
    ],
    [
      RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
      () => unitTopics(routes, "unit-sub-ununit"),
    ],
  ];
}

function allTopics(namesrv: NamesrvContext): RemotingCommand {
  return namesrv.options.enableAllTopicList
    ? topicList(namesrv.routeInfoManager.topics.topics())
    : createResponse(
      ResponseCode.SYSTEM_ERROR,
      "the topic list is off (enableAllTopicList=false)",
    );
}

function unitTopics(
  routes: RouteInfoManager,
  kind: UnitTopics,
): RemotingCommand {
  return topicList(routes.topics.unitTopics(kind));
}

/** Cluster and broker names are topics too; the address is where the rest can be asked. */
function systemTopics(routes: RouteInfoManager): RemotingCommand {
  const { brokers } = routes;
  const clusterNames = brokers.clusterNames();
  const topics = new Set(clusterNames);
  for (const cluster of clusterNames) {
    for (const name of brokers.brokerNamesOf(cluster)) topics.add(name);
  }
  const [anyName] = brokers.brokerNames();
  const [anyAddr] = brokers.get(anyName ?? "")?.brokerAddrs.values() ?? [];
  return topicList([...topics], anyAddr ?? null);
}

function topicList(
  topics: readonly string[],
  brokerAddr: string | null = null,
): RemotingCommand {
  return success({}, encodeTopicList({ topicList: topics, brokerAddr }));
}

function success(
  extFields: ExtFields = {},
  body?: Uint8Array,
): RemotingCommand {
  return createResponse(ResponseCode.SUCCESS, null, extFields, body);
}
