/** Builders of registrations for name server tests. */
import type { TopicConfig } from "../../src/model/topic_config.ts";
import type { RegisterBrokerBody } from "../../src/protocol/body/register_broker_body.ts";
import type { RegisterBrokerRequestHeader } from "../../src/protocol/header/register_broker_header.ts";
import { RouteInfoManager } from "../../src/namesrv/route_info_manager.ts";
import { DEFAULT_NAMESRV_OPTIONS } from "../../src/namesrv/namesrv_options.ts";
import type { RegisterBrokerResult } from "../../src/namesrv/route_effect.ts";

export function topicConfig(
  topicName: string,
  queues = 4,
  perm = 6,
): TopicConfig {
  return {
    topicName,
    readQueueNums: queues,
    writeQueueNums: queues,
    perm,
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: 0,
    order: false,
    attributes: {},
  };
}

export interface BrokerSpec {
  name?: string;
  cluster?: string;
  id?: number;
  addr?: string;
  topics?: readonly (string | TopicConfig)[];
  counter?: number;
  stateVersion?: number;
  connection?: number;
  nowMs?: number;
  timeoutMs?: number | undefined;
  acting?: boolean | undefined;
  /** False: an incremental registration. */
  full?: boolean;
}

export function headerOf(spec: BrokerSpec): RegisterBrokerRequestHeader {
  const id = spec.id ?? 0;
  return {
    brokerName: spec.name ?? "broker-a",
    brokerAddr: spec.addr ?? `10.0.0.${id + 1}:10911`,
    clusterName: spec.cluster ?? "DefaultCluster",
    haServerAddr: `10.0.0.${id + 1}:10912`,
    brokerId: id,
    compressed: false,
    bodyCrc32: 0,
    heartbeatTimeoutMillis: spec.timeoutMs,
    enableActingMaster: spec.acting,
    zoneName: undefined,
  };
}

export function bodyOf(spec: BrokerSpec): RegisterBrokerBody {
  const own = (spec.topics ?? ["T"]).map((it) =>
    typeof it === "string" ? topicConfig(it) : it
  );
  const system = spec.full === false ? [] : ["SELF_TEST_TOPIC", "TBW102"].map(
    (it) => topicConfig(it),
  );
  return {
    filterServerList: [],
    topicConfigSerializeWrapper: {
      dataVersion: {
        stateVersion: spec.stateVersion ?? 0,
        timestamp: 1,
        counter: spec.counter ?? 1,
      },
      topicConfigTable: new Map(
        [...system, ...own].map((it) => [it.topicName, it]),
      ),
    },
  };
}

export function newRoutes(options = {}): RouteInfoManager {
  return new RouteInfoManager({ ...DEFAULT_NAMESRV_OPTIONS, ...options });
}

export function register(
  routes: RouteInfoManager,
  spec: BrokerSpec = {},
): RegisterBrokerResult {
  return routes.registerBroker(
    headerOf(spec),
    bodyOf(spec),
    spec.connection ?? (spec.id ?? 0) + 1,
    spec.nowMs ?? 0,
  );
}

/** `name id=addr …` of every broker of the topic, or undefined. */
export function brokersOf(
  routes: RouteInfoManager,
  topic = "T",
): string | undefined {
  return routes.pickupTopicRouteData(topic)?.brokerDatas.map((it) =>
    [it.brokerName, ...[...it.brokerAddrs].map(([id, addr]) => `${id}=${addr}`)]
      .join(" ")
  ).join(", ");
}

export function permOf(
  routes: RouteInfoManager,
  topic = "T",
): number | undefined {
  return routes.pickupTopicRouteData(topic)?.queueDatas[0]?.perm;
}
