import { assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import { deflate, ZlibError } from "../../src/base/zlib.ts";
import {
  decodeBrokerMemberGroup,
  decodeClusterInfo,
  encodeBrokerMemberGroup,
  encodeClusterInfo,
} from "../../src/protocol/body/cluster_info.ts";
import {
  decodeHeartbeatData,
  encodeHeartbeatData,
} from "../../src/protocol/body/heartbeat_body.ts";
import {
  BodyError,
  decodeJson,
  encodeJson,
} from "../../src/protocol/body/json_fields.ts";
import {
  decodeKVTable,
  encodeKVTable,
} from "../../src/protocol/body/kv_table.ts";
import {
  decodeRegisterBrokerBody,
  encodeRegisterBrokerBody,
} from "../../src/protocol/body/register_broker_body.ts";
import { encodeCompressedRegisterBrokerBody } from "../../src/protocol/body/register_broker_body_compressed.ts";
import {
  decodeTopicList,
  encodeTopicList,
} from "../../src/protocol/body/topic_list.ts";
import {
  decodeTopicRouteData,
  encodeTopicRouteData,
} from "../../src/protocol/body/topic_route_data.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (it: Uint8Array) => new TextDecoder().decode(it);

const REGISTER_BODY = {
  filterServerList: [],
  topicConfigSerializeWrapper: {
    dataVersion: { stateVersion: 2, timestamp: 1_700_000_000_000, counter: 7 },
    topicConfigTable: new Map([["T", {
      topicName: "T",
      readQueueNums: 8,
      writeQueueNums: 4,
      perm: 6,
      topicFilterType: "SINGLE_TAG" as const,
      topicSysFlag: 0,
      order: false,
      attributes: { "message.type": "FIFO" },
    }]]),
  },
};
const REGISTER_JSON =
  `{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":` +
  `{"counter":7,"stateVersion":2,"timestamp":1700000000000},` +
  `"mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":0},` +
  `"topicConfigTable":{"T":{"attributes":{"message.type":"FIFO"},` +
  `"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG",` +
  `"topicName":"T","topicSysFlag":0,"writeQueueNums":4}},` +
  `"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{}}}`;

test("RegisterBrokerBody plain form matches its golden text both ways", () => {
  assertEquals(textOf(encodeRegisterBrokerBody(REGISTER_BODY)), REGISTER_JSON);
  assertEquals(
    decodeRegisterBrokerBody(bytes(REGISTER_JSON), false, 479),
    REGISTER_BODY,
  );
});

test("RegisterBrokerBody of 4.9 needs no stateVersion and no mapping", () => {
  const json = `{"filterServerList":["10.0.0.1:1"],` +
    `"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"timestamp":2},` +
    `"topicConfigTable":{"T":{"order":false,"perm":6,"readQueueNums":8,` +
    `"topicFilterType":"MULTI_TAG","topicName":"T","topicSysFlag":1,` +
    `"writeQueueNums":8}}}}`;
  const body = decodeRegisterBrokerBody(bytes(json), false, 409);
  const wrapper = body.topicConfigSerializeWrapper;
  assertEquals(body.filterServerList, ["10.0.0.1:1"]);
  assertEquals(wrapper.dataVersion, {
    stateVersion: 0,
    timestamp: 2,
    counter: 1,
  });
  assertEquals(
    wrapper.topicConfigTable.get("T")?.topicFilterType,
    "MULTI_TAG",
  );
  const old = JSON.stringify(JSON.parse(json).topicConfigSerializeWrapper);
  const bare = decodeRegisterBrokerBody(bytes(old), false, 30);
  assertEquals(bare.topicConfigSerializeWrapper, wrapper);
  assertThrows(
    () => decodeRegisterBrokerBody(bytes("{}"), false, 409),
    BodyError,
    "topicConfigSerializeWrapper is missing",
  );
  const empty = decodeRegisterBrokerBody(new Uint8Array(0), false, 409);
  assertEquals(empty.topicConfigSerializeWrapper.topicConfigTable.size, 0);
});

test("RegisterBrokerBody compressed form is read back", () => {
  const compressed = encodeCompressedRegisterBrokerBody(REGISTER_BODY);
  assertEquals(decodeRegisterBrokerBody(compressed, true, 479), REGISTER_BODY);
  // 5.x says compressed=false of a compressed body.
  assertEquals(decodeRegisterBrokerBody(compressed, false, 479), REGISTER_BODY);
});

/** The parts of the compressed form before deflation. */
function inflatedBody(parts: readonly (string | number)[]): Uint8Array {
  const out: number[] = [];
  const int32 = (it: number) =>
    out.push(it >>> 24 & 255, it >>> 16 & 255, it >>> 8 & 255, it & 255);
  for (const part of parts) {
    if (typeof part === "number") int32(part);
    else {
      int32(part.length);
      out.push(...bytes(part));
    }
  }
  return Uint8Array.from(out);
}

test("RegisterBrokerBody compressed form of a Java broker", () => {
  const parts = [
    '{"counter":1,"timestamp":2}',
    2,
    "T 8 4 6 SINGLE_TAG",
    'U 1 1 6 MULTI_TAG {"+message.type":"FIFO DELAY"}',
    "[]",
  ];
  const body = decodeRegisterBrokerBody(
    deflate(inflatedBody(parts), 9),
    true,
    409,
  );
  const { topicConfigTable } = body.topicConfigSerializeWrapper;
  assertEquals(topicConfigTable.get("T")?.writeQueueNums, 4);
  assertEquals(topicConfigTable.get("U")?.attributes, {
    "+message.type": "FIFO DELAY",
  });
});

test("RegisterBrokerBody refuses what does not add up", () => {
  const decode = (it: Uint8Array) => () =>
    decodeRegisterBrokerBody(it, true, 479);
  assertThrows(decode(bytes("no zlib stream")), ZlibError);
  const whole = inflatedBody(['{"counter":1}', 1, "T 8 4 6 SINGLE_TAG", "[]"]);
  for (let cut = 0; cut < whole.length; cut++) {
    assertThrows(decode(deflate(whole.subarray(0, cut), 1)), BodyError);
  }
  const badTopic = inflatedBody(["{}", 1, "T 8 x 6 SINGLE_TAG", "[]"]);
  assertThrows(decode(deflate(badTopic, 1)), BodyError);
  const bomb = deflate(new Uint8Array(65 * 1024 * 1024), 1);
  assertThrows(decode(bomb), ZlibError);
  for (const json of ["", "[]", "1", '{"filterServerList":{}}', "{"]) {
    if (json === "") continue;
    assertThrows(
      () => decodeRegisterBrokerBody(bytes(json), false, 479),
      BodyError,
    );
  }
});

const ROUTE_JSON =
  `{"brokerDatas":[{"brokerAddrs":{"0":"10.0.0.1:10911","1":"10.0.0.2:10911"},` +
  `"brokerName":"broker-a","cluster":"DefaultCluster",` +
  `"enableActingMaster":false}],"filterServerTable":{},"queueDatas":[` +
  `{"brokerName":"broker-a","perm":6,"readQueueNums":8,"topicSysFlag":0,` +
  `"writeQueueNums":4}]}`;

test("TopicRouteData matches its golden text and is read in either dialect", () => {
  const route = decodeTopicRouteData(bytes(ROUTE_JSON));
  assertEquals(textOf(encodeTopicRouteData(route)), ROUTE_JSON);
  const bare = ROUTE_JSON.replace('"0":', "0:").replace('"1":', "1:");
  assertEquals(decodeTopicRouteData(bytes(bare)), route);
  assertEquals(route.brokerDatas[0]?.brokerAddrs.get(1), "10.0.0.2:10911");
  const full = {
    ...route,
    orderTopicConf: "broker-a:4",
    filterServerTable: new Map([["10.0.0.1:10911", ["x"]]]),
    brokerDatas: [{ ...route.brokerDatas[0]!, zoneName: "east" }],
  };
  assertEquals(decodeTopicRouteData(encodeTopicRouteData(full)), full);
});

test("ClusterInfo, BrokerMemberGroup, KVTable and TopicList are read back", () => {
  const brokerAddrs = new Map([[0, "10.0.0.1:10911"], [2, "10.0.0.2:10911"]]);
  const info = {
    brokerAddrTable: new Map([["broker-a", {
      brokerName: "broker-a",
      cluster: "c",
      brokerAddrs,
      enableActingMaster: true,
      zoneName: null,
    }]]),
    clusterAddrTable: new Map([["c", ["broker-a"]]]),
  };
  assertEquals(decodeClusterInfo(encodeClusterInfo(info)), info);
  const group = { cluster: "c", brokerName: "broker-a", brokerAddrs };
  assertEquals(
    decodeBrokerMemberGroup(encodeBrokerMemberGroup(group)),
    group,
  );
  const table = new Map([["a", "1"], ["__proto__", "2"]]);
  assertEquals(
    textOf(encodeKVTable(table)),
    '{"table":{"a":"1","__proto__":"2"}}',
  );
  assertEquals(decodeKVTable(encodeKVTable(table)), table);
  const list = { topicList: ["b", "a"], brokerAddr: null };
  assertEquals(textOf(encodeTopicList(list)), '{"topicList":["b","a"]}');
  assertEquals(decodeTopicList(encodeTopicList(list)), list);
});

const HEARTBEAT_JSON =
  `{"clientID":"10.0.0.3@1","consumerDataSet":[{"consumeFromWhere":` +
  `"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":` +
  `"g","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":` +
  `false,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA",` +
  `"subVersion":5,"tagsSet":["TagA"],"topic":"T"}],"unitMode":false}],` +
  `"heartbeatFingerprint":0,"producerDataSet":[{"groupName":"p"}],` +
  `"withoutSub":false}`;

test("HeartbeatData matches its golden text; C++ sends enum ordinals", () => {
  const data = decodeHeartbeatData(bytes(HEARTBEAT_JSON));
  assertEquals(textOf(encodeHeartbeatData(data)), HEARTBEAT_JSON);
  const ordinals = HEARTBEAT_JSON
    .replace('"CONSUME_FROM_FIRST_OFFSET"', "4")
    .replace('"CONSUME_PASSIVELY"', "1")
    .replace('"CLUSTERING"', "1");
  assertEquals(decodeHeartbeatData(bytes(ordinals)), data);
  const unknown = HEARTBEAT_JSON.replace("CLUSTERING", "SHARING");
  assertThrows(() => decodeHeartbeatData(bytes(unknown)), BodyError);
});

test("encodeJson() escapes what takes four bytes, and nothing else", () => {
  const value = { "é\n😀": ["中", "a\ud800", "\u{10ffff}"] };
  const body = encodeJson(value);
  assertEquals(
    textOf(body),
    '{"é\\n\\ud83d\\ude00":["中","a\\ud800","\\udbff\\udfff"]}',
  );
  assertEquals(decodeJson(body, "a body"), value);
});

test("decodeJson() says what is wrong, and where", () => {
  assertThrows(
    () => decodeJson(bytes('{"a" 1}'), "TopicList"),
    BodyError,
    "Cannot read TopicList: it is no JSON: no colon at position 5",
  );
});
