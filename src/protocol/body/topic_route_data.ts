/**
 * TopicRouteData: where a topic lives (reference 10.4).
 *
 * Always written with quoted keys: Java and every lenient parser take them, and
 * strict JSON clients (Go, Rust, Node) take nothing else.
 */
import {
  arrayField,
  booleanField,
  decodeJson,
  encodeJson,
  integerOf,
  intField,
  type JsonObject,
  jsonOfMap,
  mapField,
  objectOf,
  optionalTextField,
  textField,
} from "./json_fields.ts";

/** Queues of one topic on one broker name. */
export interface QueueData {
  readonly brokerName: string;
  readonly readQueueNums: number;
  readonly writeQueueNums: number;
  readonly perm: number;
  readonly topicSysFlag: number;
}

/** The brokers of one name: addresses by broker id. */
export interface BrokerData {
  readonly cluster: string;
  readonly brokerName: string;
  readonly brokerAddrs: ReadonlyMap<number, string>;
  readonly enableActingMaster: boolean;
  readonly zoneName: string | null;
}

/** The route of one topic. */
export interface TopicRouteData {
  /** `broker-a:4;broker-b:4`, or null. */
  readonly orderTopicConf: string | null;
  readonly queueDatas: readonly QueueData[];
  readonly brokerDatas: readonly BrokerData[];
  readonly filterServerTable: ReadonlyMap<string, readonly string[]>;
}

/** BrokerData as JSON, keys as Java sorts them. */
export function brokerDataToJson(data: BrokerData): JsonObject {
  return {
    brokerAddrs: jsonOfMap(data.brokerAddrs, (it) => it),
    brokerName: data.brokerName,
    cluster: data.cluster,
    enableActingMaster: data.enableActingMaster,
    ...(data.zoneName === null ? {} : { zoneName: data.zoneName }),
  };
}

/** Reads BrokerData; throws `BodyError`. */
export function brokerDataFromJson(value: unknown): BrokerData {
  const object = objectOf(value, "BrokerData");
  return {
    cluster: textField(object, "cluster", ""),
    brokerName: textField(object, "brokerName", ""),
    brokerAddrs: brokerAddrsFromJson(object),
    enableActingMaster: booleanField(object, "enableActingMaster", false),
    zoneName: optionalTextField(object, "zoneName") ?? null,
  };
}

/** Reads the field `brokerAddrs`: addresses by broker id. */
export function brokerAddrsFromJson(object: JsonObject): Map<number, string> {
  const addresses = mapField(object, "brokerAddrs", (it) => String(it));
  return new Map(
    [...addresses].map(([id, it]) => [integerOf(id, "a broker id"), it]),
  );
}

/** The body of GET_ROUTEINFO_BY_TOPIC. */
export function encodeTopicRouteData(route: TopicRouteData): Uint8Array {
  return encodeJson({
    brokerDatas: route.brokerDatas.map(brokerDataToJson),
    filterServerTable: jsonOfMap(route.filterServerTable, (it) => it),
    ...(route.orderTopicConf === null
      ? {}
      : { orderTopicConf: route.orderTopicConf }),
    queueDatas: route.queueDatas.map((it) => ({
      brokerName: it.brokerName,
      perm: it.perm,
      readQueueNums: it.readQueueNums,
      topicSysFlag: it.topicSysFlag,
      writeQueueNums: it.writeQueueNums,
    })),
  });
}

/** Reads a route in either dialect; throws `BodyError`. */
export function decodeTopicRouteData(bytes: Uint8Array): TopicRouteData {
  const object = objectOf(
    decodeJson(bytes, "TopicRouteData"),
    "TopicRouteData",
  );
  return {
    orderTopicConf: optionalTextField(object, "orderTopicConf") ?? null,
    queueDatas: arrayField(object, "queueDatas").map(queueDataFromJson),
    brokerDatas: arrayField(object, "brokerDatas").map(brokerDataFromJson),
    filterServerTable: mapField(
      object,
      "filterServerTable",
      (it) => Array.isArray(it) ? it.map(String) : [],
    ),
  };
}

function queueDataFromJson(value: unknown): QueueData {
  const object = objectOf(value, "QueueData");
  return {
    brokerName: textField(object, "brokerName", ""),
    readQueueNums: intField(object, "readQueueNums", 0),
    writeQueueNums: intField(object, "writeQueueNums", 0),
    perm: intField(object, "perm", 0),
    topicSysFlag: intField(object, "topicSysFlag", 0),
  };
}
