import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { test } from "node:test";
import {
  allocateForPop,
  allocationStrategy,
} from "../../../src/broker/pop/queue_allocation.ts";
import { TopicRouteInfo } from "../../../src/broker/pop/topic_route_info.ts";
import { BodyError } from "../../../src/protocol/body/json_fields.ts";
import { encodeSetMessageRequestModeBody } from "../../../src/protocol/body/message_request_mode_body.ts";
import {
  decodeQueryAssignmentResponseBody,
  encodeQueryAssignmentRequestBody,
} from "../../../src/protocol/body/query_assignment_body.ts";
import { encodeTopicRouteData } from "../../../src/protocol/body/topic_route_data.ts";
import { createResponse } from "../../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../../src/protocol/request_code.ts";
import { ResponseCode } from "../../../src/protocol/response_code.ts";
import { HEARTBEAT } from "../broker_site.ts";
import { FakeClock, FakeTopics, topicOf } from "../fakes.ts";
import { decodeHeartbeatData } from "../../../src/protocol/body/heartbeat_body.ts";
import { GROUP, PopSite, TOPIC } from "./pop_site.ts";

const MODE = {
  topic: TOPIC,
  consumerGroup: GROUP,
  mode: "POP" as const,
  popShareQueueNum: 0,
};

function setMode(site: PopSite, changes: Partial<typeof MODE> = {}) {
  return site.clock.complete(site.call(
    RequestCode.SET_MESSAGE_REQUEST_MODE,
    {},
    encodeSetMessageRequestModeBody({ ...MODE, ...changes }),
  ));
}

async function assigned(site: PopSite, changes: Record<string, string> = {}) {
  const body = encodeQueryAssignmentRequestBody({
    topic: TOPIC,
    consumerGroup: GROUP,
    clientId: "127.0.0.1@1",
    strategyName: "AVG",
    messageModel: "CLUSTERING",
    ...changes,
  });
  const answer = await site.clock.complete(
    site.call(RequestCode.QUERY_ASSIGNMENT, {}, body),
  );
  assertEquals(answer.code, ResponseCode.SUCCESS);
  return decodeQueryAssignmentResponseBody(answer.body)
    ?.map(({ messageQueue, mode }) => `${mode} ${messageQueue.queueId}`) ??
    null;
}

/** The client of the fixture is a member of the group. */
function join(site: PopSite): void {
  const { consumerDataSet } = decodeHeartbeatData(HEARTBEAT);
  const client = {
    clientId: "127.0.0.1@1",
    connection: site.connection,
    language: "JAVA",
    version: 500,
    lastUpdateTimestamp: site.clock.nowMs(),
    lastUpdateMs: site.clock.monotonicMs(),
  };
  site.parts.consumerManager.registerConsumer(client, consumerDataSet[0]!, {
    isNotifyEnabled: false,
    withoutSub: false,
    fingerprint: 0,
  });
}

test("a group pulls its share of queues until it is switched to POP, over a restart too", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(2);
  assertEquals(await assigned(site), null);
  join(site);
  assertEquals(await assigned(site), ["PULL 0", "PULL 1"]);
  assertEquals((await setMode(site)).code, ResponseCode.SUCCESS);
  assertEquals(await assigned(site), ["POP -1"]);
  assertEquals(await assigned(site, { strategyName: "MACHINE_ROOM" }), null);
  const broadcast = { messageModel: "BROADCASTING" };
  assertEquals(await assigned(site, broadcast), ["POP 0", "POP 1"]);
  const text = site.parts.messageRequestModeFile.encode();
  assertEquals(
    text,
    '{"messageRequestModeMap":{"T":{"g":{"consumerGroup":"g","mode":"POP","popShareQueueNum":0,"topic":"T"}}}}',
  );
  site.die();
  await site.start();
  assertEquals(site.parts.messageRequestModeFile.encode(), text);
  assertEquals((await setMode(site, { mode: "PULL" as never })).code, 0);
  join(site);
  assertEquals(await assigned(site), ["PULL 0", "PULL 1"]);
});

test("the mode of groups without one, and of retry topics, which pull", async () => {
  const site = new PopSite();
  await site.start({ defaultMessageRequestMode: "POP" });
  site.createTopicAndGroup(2);
  join(site);
  assertEquals(await assigned(site), ["POP -1"]);
  site.parts.topicConfigManager.updateTopicConfig(
    topicOf(`%RETRY%${GROUP}`, { readQueueNums: 1 }),
  );
  assertEquals(await assigned(site, { topic: `%RETRY%${GROUP}` }), ["PULL 0"]);
  site.pop.reconfigure({ ...site.options, serverLoadBalancerEnable: false });
  assertEquals(await assigned(site), ["POP 0", "POP 1"]);
});

test("a mode is refused for what is not there", async () => {
  const site = new PopSite();
  await site.start({ autoCreateSubscriptionGroup: false });
  site.createTopicAndGroup(2);
  const codes = [
    await setMode(site, { topic: "U" }),
    await setMode(site, { consumerGroup: "h" }),
    await setMode(site, { topic: `%RETRY%${GROUP}` }),
  ];
  assertEquals(codes.map((it) => it.code), [
    ResponseCode.TOPIC_NOT_EXIST,
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
    ResponseCode.NO_PERMISSION,
  ]);
  for (const it of codes) assertMatch(it.remark!, /\w+ \w+/);
  await assertRejects(
    () => setMode(site, { mode: "PUSH" as never }),
    BodyError,
    "neither PULL nor POP",
  );
});

const QUEUES = Array.from(
  { length: 5 },
  (_, queueId) => ({ topic: TOPIC, brokerName: "broker-a", queueId }),
);

test("queues are shared as Apache's strategies do", () => {
  const share = (name: string, clientId: string) =>
    allocationStrategy(name)!(clientId, QUEUES, ["a", "b"])
      .map((it) => it.queueId);
  assertEquals(share("AVG", "a"), [0, 1, 2]);
  assertEquals(share("AVG", "b"), [3, 4]);
  assertEquals(share("AVG_BY_CIRCLE", "a"), [0, 2, 4]);
  assertEquals(share("AVG_BY_CIRCLE", "c"), []);
});

test("POP shares queues with neighbours, or all with all", () => {
  const share = (clientId: string, clients: string[], nums: number) =>
    allocateForPop(allocationStrategy("AVG")!, clientId, QUEUES, clients, nums)
      .map((it) => it.queueId);
  assertEquals(share("a", ["a", "b"], 0), [-1]);
  assertEquals(share("a", ["a", "b"], 1), [-1]);
  assertEquals(share("a", ["a", "b", "c"], 1), [0, 1, 2, 3]);
  assertEquals(share("c", ["a", "b", "c"], 1), [4, 0, 1]);
  assertEquals(share("f", [..."abcdef"], 1), [0]);
  assertEquals(share("x", ["a", "b", "c"], 1), []);
});

test("queues of a topic are those that a name server tells, for some seconds, else the own ones", async () => {
  const clock = new FakeClock();
  const topics = new FakeTopics();
  let asked = 0;
  let isAnswering = true;
  const route = encodeTopicRouteData({
    orderTopicConf: null,
    queueDatas: [
      {
        brokerName: "b",
        readQueueNums: 1,
        writeQueueNums: 1,
        perm: 6,
        topicSysFlag: 0,
      },
      {
        brokerName: "w",
        readQueueNums: 1,
        writeQueueNums: 1,
        perm: 2,
        topicSysFlag: 0,
      },
    ],
    brokerDatas: [],
    filterServerTable: new Map(),
  });
  const info = new TopicRouteInfo({
    client: {
      invoke: () => {
        asked++;
        return isAnswering
          ? Promise.resolve(createResponse(0, null, {}, route))
          : Promise.reject(new Error("no answer"));
      },
    },
    clock,
    namesrvAddrs: () => ["127.0.0.1:9876"],
    brokerName: "broker-a",
    topics,
  });
  const told = [{ topic: TOPIC, brokerName: "b", queueId: 0 }];
  assertEquals(await info.queuesOf(TOPIC), told);
  assertEquals(await info.queuesOf(TOPIC), told);
  assertEquals(asked, 1);
  isAnswering = false;
  clock.advance(6_000);
  assertEquals(await info.queuesOf(TOPIC), told);
  assertEquals(await info.queuesOf("Own"), null);
  topics.table.set("Own", topicOf("Own", { readQueueNums: 1 }));
  clock.advance(6_000);
  assertEquals(await info.queuesOf("Own"), [
    { topic: "Own", brokerName: "broker-a", queueId: 0 },
  ]);
});
