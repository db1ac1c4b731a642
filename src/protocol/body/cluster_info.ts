/** ClusterInfo and BrokerMemberGroup: which brokers there are (codes 106 and 901). */
import {
  decodeJson,
  encodeJson,
  jsonOfMap,
  mapField,
  objectField,
  objectOf,
  textField,
} from "./json_fields.ts";
import {
  brokerAddrsFromJson,
  type BrokerData,
  brokerDataFromJson,
  brokerDataToJson,
} from "./topic_route_data.ts";

/** All broker names, and the clusters they belong to. */
export interface ClusterInfo {
  readonly brokerAddrTable: ReadonlyMap<string, BrokerData>;
  /** Broker names by cluster. */
  readonly clusterAddrTable: ReadonlyMap<string, readonly string[]>;
}

/** The brokers of one name. */
export interface BrokerMemberGroup {
  readonly cluster: string;
  readonly brokerName: string;
  readonly brokerAddrs: ReadonlyMap<number, string>;
}

/** The body of GET_BROKER_CLUSTER_INFO, keys quoted. */
export function encodeClusterInfo(info: ClusterInfo): Uint8Array {
  return encodeJson({
    brokerAddrTable: jsonOfMap(info.brokerAddrTable, brokerDataToJson),
    clusterAddrTable: jsonOfMap(info.clusterAddrTable, (it) => it),
  });
}

/** Reads that body in either dialect; throws `BodyError`. */
export function decodeClusterInfo(bytes: Uint8Array): ClusterInfo {
  const object = objectOf(decodeJson(bytes, "ClusterInfo"), "ClusterInfo");
  return {
    brokerAddrTable: mapField(object, "brokerAddrTable", brokerDataFromJson),
    clusterAddrTable: mapField(
      object,
      "clusterAddrTable",
      (it) => Array.isArray(it) ? it.map(String) : [],
    ),
  };
}

/** The body of GET_BROKER_MEMBER_GROUP. */
export function encodeBrokerMemberGroup(group: BrokerMemberGroup): Uint8Array {
  return encodeJson({
    brokerMemberGroup: {
      brokerAddrs: jsonOfMap(group.brokerAddrs, (it) => it),
      brokerName: group.brokerName,
      cluster: group.cluster,
    },
  });
}

/** Reads that body in either dialect; throws `BodyError`. */
export function decodeBrokerMemberGroup(bytes: Uint8Array): BrokerMemberGroup {
  const body = objectOf(
    decodeJson(bytes, "BrokerMemberGroup"),
    "BrokerMemberGroup",
  );
  const object = objectField(body, "brokerMemberGroup");
  return {
    cluster: textField(object, "cluster", ""),
    brokerName: textField(object, "brokerName", ""),
    brokerAddrs: brokerAddrsFromJson(object),
  };
}
