import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import type { BrokerOptions } from "../../src/broker/broker_options.ts";
import { clientManageProcessors } from "../../src/broker/processor/client_manage_processor.ts";
import { BodyError } from "../../src/protocol/body/json_fields.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { topicOf } from "./fakes.ts";
import {
  ask,
  ManagerRig,
  OPTIONS,
  RecordingConnection,
} from "./manager_rig.ts";

function open(options: BrokerOptions = OPTIONS) {
  const rig = new ManagerRig(options);
  const table = clientManageProcessors({
    clock: rig.clock,
    options: rig.options,
    brokerStatsManager: rig.brokerStatsManager,
    consumerManager: rig.consumerManager,
    producerManager: rig.producerManager,
    subscriptionGroupManager: rig.subscriptionGroupManager,
    topicConfigManager: rig.topicConfigManager,
    consumerFilterManager: rig.consumerFilterManager,
    filterFactory: rig.filterFactory,
  });
  const connection = new RecordingConnection();
  const beat = (body: unknown) =>
    ask(table, RequestCode.HEART_BEAT, {}, JSON.stringify(body), connection);
  return { rig, table, connection, beat };
}

/** As DefaultMQPushConsumer sends it. */
function heartbeat(changes: object = {}, consumer: object = {}) {
  return {
    clientID: "10.0.0.1@1234#99",
    consumerDataSet: [{
      consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
      consumeType: "CONSUME_PASSIVELY",
      groupName: "g",
      messageModel: "CLUSTERING",
      subscriptionDataSet: [{
        classFilterMode: false,
        codeSet: [2598919],
        expressionType: "TAG",
        subString: "TagA",
        subVersion: 1700000000000,
        tagsSet: ["TagA"],
        topic: "T",
      }],
      unitMode: false,
      ...consumer,
    }],
    producerDataSet: [{ groupName: "CLIENT_INNER_PRODUCER" }],
    ...changes,
  };
}

test("34 registers consumers and producers and creates group and retry topic", async () => {
  const { rig, beat, connection } = open();
  const answer = await beat(heartbeat());
  assertEquals(answer.code, 0);
  assertEquals(answer.extFields, {
    IS_SUPPORT_HEART_BEAT_V2: "true",
    IS_SUB_CHANGE: "true",
  });
  assert(rig.subscriptionGroupManager.containsSubscriptionGroup("g"));
  assertEquals(
    rig.topicConfigManager.selectTopicConfig("%RETRY%g"),
    topicOf("%RETRY%g", { readQueueNums: 1, writeQueueNums: 1 }),
  );
  const info = rig.consumerManager.getConsumerGroupInfo("g")!;
  assertEquals([...info.clients.keys()], ["10.0.0.1@1234#99"]);
  assertEquals(info.subscriptions.get("T")?.codeSet, [2598919]);
  assert(rig.producerManager.findClient("10.0.0.1@1234#99"));
  assertEquals(connection.oneways.map((it) => it.code), [40]);
});

test("34 makes the retry topic of an order topic an order topic, in unit mode with its flag", async () => {
  const { rig, beat } = open();
  rig.topicConfigManager.updateTopicConfig(topicOf("T", { order: true }));
  await beat(heartbeat({}, { unitMode: true }));
  const retry = rig.topicConfigManager.selectTopicConfig("%RETRY%g")!;
  assertEquals(retry.order, true);
  assertEquals(retry.topicSysFlag, 2);
});

test("34 skips a group that may not be created, and answers 0", async () => {
  const { rig, beat } = open({
    ...OPTIONS,
    autoCreateSubscriptionGroup: false,
  });
  assertEquals((await beat(heartbeat())).code, 0);
  assertEquals(rig.consumerManager.getConsumerGroupInfo("g"), undefined);
});

test("34 skips pull consumers where they are rejected", async () => {
  const { rig, beat } = open({ ...OPTIONS, rejectPullConsumerEnable: true });
  await beat(heartbeat({}, { consumeType: "CONSUME_ACTIVELY" }));
  assertEquals(rig.consumerManager.clientCount, 0);
});

test("34 of version 2: IS_SUB_CHANGE asks for the full form, and only then", async () => {
  const { rig, beat } = open();
  const full = { heartbeatFingerprint: 77, withoutSub: false };
  const short = { heartbeatFingerprint: 77, withoutSub: true };
  const none = { subscriptionDataSet: [] };
  const isChange = async (body: object) =>
    (await beat(body)).extFields["IS_SUB_CHANGE"];
  // A broker that has just started knows nothing of the group.
  assertEquals(await isChange(heartbeat(short, none)), "true");
  assertEquals(await isChange(heartbeat(full)), "false");
  assertEquals(await isChange(heartbeat(short, none)), "false");
  assert(rig.consumerManager.findSubscriptionData("g", "T"));
  assertEquals(
    await isChange(heartbeat({ ...short, heartbeatFingerprint: 78 }, none)),
    "true",
  );
});

test("34 completes a subscription that came without tags and codes", async () => {
  const { rig, beat } = open();
  await beat(heartbeat({}, {
    subscriptionDataSet: [
      { topic: "A", subString: "TagA || TagB", subVersion: 1 },
      { topic: "B", subString: "||", subVersion: 1 },
      { topic: "C", subString: "*", subVersion: 1 },
    ],
  }));
  const codes = (topic: string) =>
    rig.consumerManager.findSubscriptionData("g", topic)?.codeSet;
  assertEquals(codes("A"), [2598919, 2598920]);
  assertEquals(codes("B"), []);
  assertEquals(codes("C"), []);
});

test("34 with a body of no use is an error with a sentence", async () => {
  const { table, beat } = open();
  for (const body of ["", "[]", "{", "<nil>"]) {
    await assertRejects(
      async () => await ask(table, RequestCode.HEART_BEAT, {}, body),
      BodyError,
      "HeartbeatData",
    );
  }
  assertEquals((await beat({})).code, 1);
  assertEquals((await beat({ clientID: "x".repeat(2_000) })).code, 1);
});

test("35 leaves the named groups", async () => {
  const { rig, table, beat, connection } = open();
  await beat(heartbeat());
  const leave = (fields: Record<string, string>) =>
    ask(table, RequestCode.UNREGISTER_CLIENT, fields, "", connection);
  const clientID = "10.0.0.1@1234#99";
  assertEquals((await leave({ clientID, consumerGroup: "g" })).code, 0);
  assertEquals(rig.consumerManager.clientCount, 0);
  assert(rig.producerManager.findClient(clientID));
  await leave({ clientID, producerGroup: "CLIENT_INNER_PRODUCER" });
  assertEquals(rig.producerManager.findClient(clientID), undefined);
  assertEquals((await leave({ clientID })).code, 0);
});

test("46 takes tags, and SQL92 only where it is enabled and compiles", async () => {
  const check = async (
    expressionType: string | null,
    changes: Partial<BrokerOptions> = {},
    subString = "a > 1",
  ) => {
    const { table } = open({ ...OPTIONS, ...changes });
    const body = JSON.stringify({
      clientId: "c",
      group: "g",
      subscriptionData: { topic: "T", subString, expressionType },
    });
    return await ask(table, RequestCode.CHECK_CLIENT_CONFIG, {}, body);
  };
  assertEquals((await check("TAG")).code, 0);
  assertEquals((await check(null)).code, 0);
  const refused = await check("SQL92");
  assertEquals(refused.code, 1);
  assertEquals(
    refused.remark,
    "The broker does not support consumer to filter message by SQL92",
  );
  const on = { enablePropertyFilter: true };
  assertEquals((await check("SQL92", on)).code, 0);
  const broken = await check("SQL92", on, "a >");
  assertEquals([broken.code, broken.remark], [
    23,
    "The SQL92 expression cannot be read at position 4: expected a value, " +
    "a name, NOT or (, found the end",
  ]);
  assertEquals((await check("SQL99", on)).code, 23);
  const { table } = open();
  const nothing = await ask(table, RequestCode.CHECK_CLIENT_CONFIG, {}, "{}");
  assertEquals(nothing.code, 29);
  assert(nothing.remark!.includes("holds no subscriptionData"));
});

test("34 registers filters, and the last member that leaves makes them dead", async () => {
  const { rig, table, beat, connection } = open();
  const subscribe = (subString: string, subVersion: number) =>
    beat(heartbeat({}, {
      subscriptionDataSet: [
        { topic: "T", subString, subVersion, expressionType: "SQL92" },
        { topic: "U", subString: "*", subVersion, expressionType: "TAG" },
      ],
    }));
  const filter = (topic = "T") => rig.consumerFilterManager.get(topic, "g");
  assertEquals((await subscribe("a > 1", 7)).code, 0);
  assertEquals([filter()?.expression, filter()?.deadTime], ["a > 1", 0]);
  assertEquals(filter("U"), undefined);
  // A short heartbeat says nothing of subscriptions.
  const short = { heartbeatFingerprint: 77, withoutSub: true };
  await beat(heartbeat(short, { subscriptionDataSet: [] }));
  assertEquals(filter()?.deadTime, 0);
  const fields = { clientID: "10.0.0.1@1234#99", consumerGroup: "g" };
  await ask(table, RequestCode.UNREGISTER_CLIENT, fields, "", connection);
  assertEquals(filter()?.deadTime, rig.clock.nowMs());
  await subscribe("a > 1", 7);
  assertEquals(filter()?.deadTime, 0);
  rig.consumerManager.doChannelCloseEvent(connection);
  assertEquals(filter()?.deadTime, rig.clock.nowMs());
  assertEquals((await subscribe("a >", 8)).code, 0);
  assertEquals(filter(), undefined);
});
