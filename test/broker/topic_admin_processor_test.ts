import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { test } from "node:test";
import type { BrokerOptions } from "../../src/broker/broker_options.ts";
import { topicAdminProcessors } from "../../src/broker/processor/topic_admin_processor.ts";
import { decodeTopicList } from "../../src/protocol/body/topic_list.ts";
import { BodyError } from "../../src/protocol/body/json_fields.ts";
import { HeaderError } from "../../src/protocol/header/field_reader.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { topicOf } from "./fakes.ts";
import { ask, bodyText, ManagerRig, OPTIONS } from "./manager_rig.ts";

function open(options: BrokerOptions = OPTIONS) {
  const rig = new ManagerRig(options);
  const events: string[] = [];
  const table = topicAdminProcessors({
    ...rig,
    messageStore: {
      deleteTopics: async (topics) => {
        events.push(`delete ${topics}`);
        await Promise.resolve();
      },
    },
    registerChanges: async () => {
      await Promise.resolve();
      events.push("register");
    },
  });
  const create = (fields: Record<string, string> = {}) =>
    ask(table, RequestCode.UPDATE_AND_CREATE_TOPIC, {
      topic: "T",
      defaultTopic: "TBW102",
      readQueueNums: "4",
      writeQueueNums: "4",
      perm: "6",
      topicFilterType: "SINGLE_TAG",
      order: "false",
      ...fields,
    });
  const createList = (body: unknown) =>
    ask(
      table,
      RequestCode.UPDATE_AND_CREATE_TOPIC_LIST,
      {},
      JSON.stringify(body),
    );
  const remove = (topic: string) =>
    ask(table, RequestCode.DELETE_TOPIC_IN_BROKER, { topic });
  return { rig, table, events, create, createList, remove };
}

test("215 removes topic and queues in one turn: a send of the next makes a new topic", async () => {
  const { rig, events, create, remove } = open();
  await create();
  events.length = 0;
  const removal = remove("T");
  assertEquals(rig.topicConfigManager.selectTopicConfig("T"), undefined);
  assertEquals(events, ["delete T"]);
  assertEquals((await removal).code, 0);
});

test("17 creates, stores, then tells the name servers", async () => {
  const { rig, events, create } = open();
  const answer = await create({ order: "true", topicSysFlag: "1" });
  assertEquals([answer.code, answer.remark], [0, null]);
  assertEquals(
    rig.topicConfigManager.selectTopicConfig("T"),
    topicOf("T", { order: true, topicSysFlag: 1 }),
  );
  assertStringIncludes(rig.files.topics.text!, '"T":{');
  assertEquals(events, ["register"]);
});

test("17 without a change makes no new version", async () => {
  const { rig, events, create } = open();
  await create();
  const before = rig.topicConfigManager.dataVersion;
  assertEquals((await create()).code, 0);
  assertEquals(rig.topicConfigManager.dataVersion, before);
  assertEquals(events, ["register"]);
});

test("17 refuses with 29 and one sentence", async () => {
  const { create, rig } = open();
  const cases: [Record<string, string>, string][] = [
    [{ topic: "" }, "The specified topic is blank."],
    [{ topic: "a b" }, 'The specified topic "a b" contains'],
    [{ topic: "x".repeat(128) }, "max length 127"],
    [{ topic: "TBW102" }, "The topic[TBW102] is conflict with system topic."],
    [{ topic: "DefaultCluster" }, "conflict with system topic"],
    [{ topic: "broker-a" }, "conflict with system topic"],
    [{ topic: "rmq_sys_x" }, "conflict with system topic"],
    [{ perm: "8" }, "The perm is 8, allowed are 0 to 7."],
    [{ readQueueNums: "-1" }, "The readQueueNums is -1"],
    [{ writeQueueNums: "70000" }, "allowed are 0 to 65535"],
    [{ topicFilterType: "OTHER" }, 'The topicFilterType is "OTHER"'],
  ];
  for (const [fields, sentence] of cases) {
    const answer = await create(fields);
    assertEquals(answer.code, 29, sentence);
    assertStringIncludes(answer.remark!, sentence);
  }
  assertEquals(rig.topicConfigManager.selectTopicConfig("T"), undefined);
  await assertRejects(
    async () => await create({ perm: "six" }),
    HeaderError,
    "perm",
  );
});

test("17 may change system topics where the check is off", async () => {
  const { create } = open({
    ...OPTIONS,
    validateSystemTopicWhenUpdateTopic: false,
  });
  assertEquals((await create({ topic: "TBW102", perm: "7" })).code, 0);
});

test("17 changes attributes by +key=value and -key", async () => {
  const { create, rig } = open();
  const attributes = () =>
    rig.topicConfigManager.selectTopicConfig("T")?.attributes;
  assertEquals(
    (await create({ attributes: "+message.type=FIFO,+queue.type=SimpleCQ" }))
      .code,
    0,
  );
  assertEquals(attributes(), {
    "message.type": "FIFO",
    "queue.type": "SimpleCQ",
  });
  await create({ attributes: "+message.type=DELAY" });
  assertEquals(attributes()!["message.type"], "DELAY");
  await create({ attributes: "-message.type" });
  assertEquals(attributes(), { "queue.type": "SimpleCQ" });
  const refusals: [string, string][] = [
    ["+queue.type=BatchCQ", "unchangeable"],
    ["+colour=red", "unsupported"],
    ["message.type=FIFO", "wrong format"],
    ["+message.type=ODD", "allowed are UNSPECIFIED"],
    ["-message.type", "does not exist"],
  ];
  for (const [text, sentence] of refusals) {
    const answer = await create({ attributes: text });
    assertEquals(answer.code, 1);
    assertStringIncludes(answer.remark!, sentence);
  }
  const onCreate = await create({ topic: "N", attributes: "-message.type" });
  assertEquals(onCreate.code, 1);
  for (const value of ["queue.type=BatchCQ", "cleanup.policy=COMPACTION"]) {
    const answer = await create({ topic: "N", attributes: `+${value}` });
    assertEquals(answer.code, 1);
    assertStringIncludes(answer.remark!, "not supported as");
  }
  assertEquals(rig.topicConfigManager.selectTopicConfig("N"), undefined);
});

test("17 on a full disk answers 1 and says what is owed", async () => {
  const { create, rig } = open();
  await rig.persisted();
  rig.files.topics.failure = new Error("the disk is full");
  const answer = await create();
  assertEquals(answer.code, 1);
  assertEquals(
    answer.remark,
    "The change of topic T could not be stored yet: the disk is full",
  );
});

test("18 creates all or none, with one version", async () => {
  const { createList, rig } = open();
  const { counter } = rig.topicConfigManager.dataVersion;
  const bad = await createList({
    topicConfigList: [{ topicName: "A" }, { topicName: "" }],
  });
  assertEquals(bad.code, 29);
  assertEquals(rig.topicConfigManager.selectTopicConfig("A"), undefined);
  const good = await createList({
    topicConfigList: [
      { topicName: "A", readQueueNums: 2, writeQueueNums: 2 },
      { topicName: "B", attributes: { "+message.type": "FIFO" } },
    ],
  });
  assertEquals(good.code, 0);
  assertEquals(rig.topicConfigManager.dataVersion.counter, counter + 1);
  assertEquals(rig.topicConfigManager.selectTopicConfig("B")?.attributes, {
    "message.type": "FIFO",
  });
  assertEquals((await createList({})).code, 0);
});

test("18 with a body of no use is an error with a sentence", async () => {
  const { table } = open();
  for (const body of ["", "[]", '{"topicConfigList":{}}', "<nil>"]) {
    await assertRejects(
      async () =>
        await ask(table, RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, {}, body),
      BodyError,
    );
  }
});

test("215 takes offsets and queues with the topic", async () => {
  const { rig, events, create, remove } = open();
  await create();
  for (const it of ["%RETRY%g+T", "%RETRY%g_T"]) {
    rig.topicConfigManager.updateTopicConfig(topicOf(it));
  }
  rig.consumerOffsetManager.commitOffset("x", "g", "T", 0, 0);
  events.length = 0;
  assertEquals((await remove("T")).code, 0);
  assertEquals(rig.topicConfigManager.selectTopicConfig("T"), undefined);
  assertEquals(rig.consumerOffsetManager.queryOffset("g", "T", 0), -1);
  assertEquals(events, ["delete T,%RETRY%g+T,%RETRY%g_T", "register"]);
  assert(!rig.files.topics.text!.includes('"T":{'));
  assert(!rig.files.offsets.text!.includes('"T@g":{'));
  assertEquals((await remove("T")).code, 0);
});

test("215 refuses blank and system topics", async () => {
  const { remove } = open();
  assertEquals((await remove(" ")).remark, "The specified topic is blank.");
  for (const topic of ["SELF_TEST_TOPIC", "broker-a", "rmq_sys_x"]) {
    assertEquals((await remove(topic)).code, 29);
  }
});

test("21 answers the table with its version, as 5.x slaves expect", async () => {
  const { rig, table } = open();
  const answer = await ask(table, RequestCode.GET_ALL_TOPIC_CONFIG);
  const body = JSON.parse(bodyText(answer));
  assertEquals(
    Object.keys(body.topicConfigTable),
    [...rig.topicConfigManager.allTopics().keys()],
  );
  const { dataVersion } = rig.topicConfigManager;
  assertEquals(body.dataVersion, { ...dataVersion });
  assert("mappingDataVersion" in body);
});

test("351 answers one topic, or 17", async () => {
  const { table } = open();
  const get = (topic: string) =>
    ask(table, RequestCode.GET_TOPIC_CONFIG, { topic });
  const answer = JSON.parse(bodyText(await get("TBW102")));
  assertEquals(answer.perm, 7);
  assertEquals(answer.topicName, "TBW102");
  assertEquals((await get("no")).code, 17);
});

test("305 lists system topics", async () => {
  const { table } = open();
  const answer = await ask(
    table,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER,
  );
  const { topicList } = decodeTopicList(answer.body);
  assert(topicList.includes("SCHEDULE_TOPIC_XXXX"));
  assert(topicList.includes("broker-a"));
  assert(topicList.includes("DefaultCluster"));
  assertEquals(new Set(topicList).size, topicList.length);
});
