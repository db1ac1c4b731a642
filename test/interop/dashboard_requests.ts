/**
 * What rocketmq-dashboard asks of a broker, as its services call MQAdminExt: which code, why, and
 * whether ours answers as Apache's does. Name servers get 105, 106, 206 and 216 from it.
 */
import { assertEquals } from "@std/assert";
import { encodeSubscriptionGroupConfig } from "../../src/protocol/body/subscription_group_config_body.ts";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import { parseFastjson } from "../../src/protocol/fastjson.ts";
import type { ExtFields } from "../../src/protocol/remoting_command.ts";
import type { RawClient } from "../support/raw_client.ts";
import { GROUP, TOPIC } from "./stats_load.ts";

interface DashboardRequest {
  readonly code: number;
  readonly page: string;
  readonly fields?: ExtFields;
  readonly body?: Uint8Array;
}

const queue = { topic: TOPIC, queueId: "0" };
const made = {
  defaultTopic: "TBW102",
  readQueueNums: "2",
  writeQueueNums: "2",
  perm: "6",
  topicFilterType: "SINGLE_TAG",
  topicSysFlag: "0",
  order: "false",
};
const group = (name: string) =>
  encodeSubscriptionGroupConfig(createSubscriptionGroupConfig(name));

/** In this order: what is made is asked for and deleted again. */
export const DASHBOARD_REQUESTS: readonly DashboardRequest[] = [
  { code: 17, page: "topic: create", fields: { topic: "Made", ...made } },
  { code: 17, page: "topic: bad name", fields: { topic: "a b", ...made } },
  { code: 21, page: "topic: configurations" },
  { code: 202, page: "topic: status", fields: { topic: TOPIC } },
  { code: 202, page: "topic: status of none", fields: { topic: "none" } },
  { code: 351, page: "topic: configuration", fields: { topic: TOPIC } },
  { code: 351, page: "topic: configuration of none", fields: { topic: "no" } },
  { code: 300, page: "topic: who consumes", fields: { topic: TOPIC } },
  { code: 30, page: "message: newest", fields: queue },
  { code: 31, page: "message: oldest", fields: queue },
  {
    code: 29,
    page: "message: by time",
    fields: { ...queue, timestamp: "1700000000000" },
  },
  {
    code: 12,
    page: "message: by key",
    fields: {
      topic: TOPIC,
      key: "stats1",
      maxNum: "64",
      beginTimestamp: "0",
      endTimestamp: "9999999999999",
      _UNIQUE_KEY_QUERY: "true",
    },
  },
  {
    code: 12,
    page: "message: by a key of none",
    fields: {
      topic: TOPIC,
      key: "no such key",
      maxNum: "64",
      beginTimestamp: "0",
      endTimestamp: "9999999999999",
    },
  },
  { code: 33, page: "message: by id", fields: { topic: TOPIC, offset: "0" } },
  {
    code: 33,
    page: "message: by an id of none",
    fields: { topic: TOPIC, offset: "999999999" },
  },
  { code: 200, page: "consumer: create", body: group("made-group") },
  { code: 201, page: "consumer: configurations" },
  { code: 203, page: "consumer: clients", fields: { consumerGroup: GROUP } },
  {
    code: 203,
    page: "consumer: clients of a group that is away",
    fields: { consumerGroup: "made-group" },
  },
  { code: 208, page: "consumer: progress", fields: { consumerGroup: GROUP } },
  {
    code: 208,
    page: "consumer: progress on a topic",
    fields: { consumerGroup: GROUP, topic: TOPIC },
  },
  {
    code: 222,
    page: "consumer: reset of a group that is away",
    fields: {
      topic: TOPIC,
      group: "made-group",
      timestamp: "0",
      isForce: "true",
    },
  },
  {
    code: 14,
    page: "consumer: reset the old way",
    fields: { ...queue, consumerGroup: GROUP },
  },
  {
    code: 15,
    page: "consumer: reset the old way",
    fields: { ...queue, consumerGroup: GROUP, commitOffset: "1" },
  },
  {
    code: 204,
    page: "producer: clients",
    fields: { producerGroup: "stats-producers" },
  },
  {
    code: 204,
    page: "producer: clients of none",
    fields: { producerGroup: "none" },
  },
  {
    code: 303,
    page: "consumer: time span",
    fields: { topic: TOPIC, group: GROUP },
  },
  {
    code: 303,
    page: "consumer: time span on none",
    fields: { topic: "none", group: GROUP },
  },
  {
    code: 308,
    page: "consumer: corrections",
    fields: { topic: TOPIC, compareGroup: GROUP },
  },
  {
    code: 314,
    page: "consumer: clone",
    fields: {
      srcGroup: GROUP,
      destGroup: "made-group",
      topic: TOPIC,
      offline: "true",
    },
  },
  {
    code: 208,
    page: "consumer: progress of a clone",
    fields: { consumerGroup: "made-group", topic: TOPIC },
  },
  {
    code: 307,
    page: "consumer: inside of a client that is away",
    fields: { consumerGroup: GROUP, clientId: "nobody", jstackEnable: "false" },
  },
  {
    code: 343,
    page: "consumer: topics",
    fields: { group: GROUP },
  },
  { code: 317, page: "cluster: lags", fields: { isOrder: "false" } },
  { code: 305, page: "cluster: topics of the system" },
  { code: 328, page: "producer: all" },
  { code: 32, page: "message: oldest time", fields: queue },
  { code: 306, page: "cluster: clean expired queues" },
  { code: 316, page: "cluster: clean unused topics" },
  { code: 908, page: "cluster: reset the master's flush offset" },
  { code: 28, page: "cluster: numbers" },
  { code: 26, page: "cluster: configuration" },
  {
    code: 315,
    page: "dashboard: rates",
    fields: { statsName: "TOPIC_PUT_NUMS", statsKey: TOPIC },
  },
  {
    code: 315,
    page: "dashboard: rates of none",
    fields: { statsName: "TOPIC_PUT_NUMS", statsKey: "none" },
  },
  {
    code: 207,
    page: "consumer: delete",
    fields: { groupName: "made-group", cleanOffset: "true" },
  },
  { code: 215, page: "topic: delete", fields: { topic: "Made" } },
];

/** Bodies that are JSON with a fixed set of keys. */
const JSON_CODES: readonly number[] = [
  21,
  28,
  201,
  202,
  203,
  204,
  208,
  222,
  300,
  303,
  305,
  308,
  315,
  317,
  328,
  343,
  351,
];

/** Newer than the version that ours says it is (5.3.3): for slaves that ask page by page. */
const OF_5_5: readonly string[] = ["totalTopicNum", "totalGroupNum"];

/** Both brokers give the same codes, header fields and keys. */
export async function compareDashboard(
  apache: RawClient,
  ours: RawClient,
): Promise<void> {
  for (const { code, page, fields = {}, body } of DASHBOARD_REQUESTS) {
    const shapeOf = async (client: RawClient) => {
      const answer = await client.invoke(code, fields, body);
      const isJson = answer.code === 0 && JSON_CODES.includes(code);
      return {
        code: answer.code,
        fields: Object.keys(answer.extFields)
          .filter((it) => !OF_5_5.includes(it)).sort(),
        hasBody: answer.body.length > 0,
        keys: isJson ? keysOf(answer.body) : [],
      };
    };
    assertEquals(await shapeOf(ours), await shapeOf(apache), `${code} ${page}`);
  }
}

function keysOf(body: Uint8Array): string[] {
  return Object.keys(
    parseFastjson(new TextDecoder().decode(body)) as object,
  ).sort();
}
