import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { consumerManageProcessors } from "../../src/broker/processor/consumer_manage_processor.ts";
import { HeaderError } from "../../src/protocol/header/field_reader.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { topicOf } from "./fakes.ts";
import {
  ask,
  bodyText,
  ManagerRig,
  RecordingConnection,
} from "./manager_rig.ts";

function open(store = { min: 0, isInMemory: false }) {
  const rig = new ManagerRig();
  rig.topicConfigManager.updateTopicConfig(topicOf("T"));
  rig.subscriptionGroupManager.findSubscriptionGroupConfig("g");
  rig.maxOffsets.set("T/0", 100);
  const table = consumerManageProcessors({
    ...rig,
    topics: rig.topicConfigManager,
    messageStore: {
      getMinOffsetInQueue: () => store.min,
      checkInMemByConsumeOffset: () => store.isInMemory,
    },
  });
  const update = (fields: Record<string, string> = {}) =>
    ask(table, RequestCode.UPDATE_CONSUMER_OFFSET, {
      consumerGroup: "g",
      topic: "T",
      queueId: "0",
      commitOffset: "7",
      ...fields,
    });
  const query = (fields: Record<string, string> = {}) =>
    ask(table, RequestCode.QUERY_CONSUMER_OFFSET, {
      consumerGroup: "g",
      topic: "T",
      queueId: "0",
      ...fields,
    });
  return { rig, table, update, query };
}

test("15 stores, 14 answers", async () => {
  const { update, query } = open();
  assertEquals((await update()).code, 0);
  const answer = await query();
  assertEquals([answer.code, answer.extFields["offset"]], [0, "7"]);
});

test("15 refuses unknown groups and topics with Java's codes", async () => {
  const { update } = open();
  assertEquals((await update({ consumerGroup: "no" })).code, 26);
  assertEquals((await update({ topic: "no" })).code, 17);
});

test("15 refuses -1 and what lies beyond the end; the stored offset stays", async () => {
  const { update, query } = open();
  await update();
  for (const commitOffset of ["-1", "101", "9223372036854775807"]) {
    const answer = await update({ commitOffset });
    assertEquals(answer.code, 29);
    assertStringIncludes(answer.remark!, "commitOffset");
  }
  assertEquals((await update({ queueId: "-1" })).code, 29);
  assertEquals((await query()).extFields["offset"], "7");
});

test("15 with a field missing or unreadable names it", async () => {
  const { table, update } = open();
  await assertRejects(
    async () => await update({ commitOffset: "x" }),
    HeaderError,
    "commitOffset",
  );
  await assertRejects(
    async () =>
      await ask(table, RequestCode.UPDATE_CONSUMER_OFFSET, { topic: "T" }),
    HeaderError,
    "consumerGroup",
  );
});

test("14 without offset: 0 for a queue that is all in memory, else 22", async () => {
  const fresh = await open({ min: 0, isInMemory: true }).query();
  assertEquals([fresh.code, fresh.extFields["offset"]], [0, "0"]);
  assertEquals((await open({ min: 0, isInMemory: false }).query()).code, 22);
  assertEquals((await open({ min: 5, isInMemory: true }).query()).code, 22);
  const strict = await open({ min: 0, isInMemory: true })
    .query({ setZeroIfNotFound: "false" });
  assertEquals(strict.code, 22);
});

test("38 lists members, and answers 1 without any", async () => {
  const { rig, table } = open();
  const list = () =>
    ask(table, RequestCode.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup: "g" });
  const none = await list();
  assertEquals(
    [none.code, none.remark],
    [1, "no consumer for this group, g"],
  );
  for (const clientId of ["a", "b"]) {
    rig.consumerManager.registerConsumer(
      {
        clientId,
        language: "JAVA",
        version: 0,
        connection: new RecordingConnection(),
        lastUpdateTimestamp: 0,
        lastUpdateMs: 0,
      },
      {
        groupName: "g",
        consumeType: "CONSUME_PASSIVELY",
        messageModel: "CLUSTERING",
        consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
        subscriptionDataSet: [],
        unitMode: false,
      },
      { isNotifyEnabled: true, withoutSub: false, fingerprint: 0 },
    );
  }
  assertEquals(bodyText(await list()), '{"consumerIdList":["a","b"]}');
});
