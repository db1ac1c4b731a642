import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { groupOffsetProcessors } from "../../src/broker/processor/group_offset_processor.ts";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import { parseFastjson } from "../../src/protocol/fastjson.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { topicOf } from "./fakes.ts";
import {
  ask,
  bodyText,
  ManagerRig,
  RecordingConnection,
} from "./manager_rig.ts";

/** Topic T with queues 0 of [2, 10) and 1 without messages; the message at N was stored at 1000 + N. */
function open() {
  const rig = new ManagerRig();
  rig.topicConfigManager.updateTopicConfigs([
    topicOf("T", { readQueueNums: 1, writeQueueNums: 2 }),
    topicOf("U", { readQueueNums: 1, writeQueueNums: 1 }),
  ]);
  rig.maxOffsets.set("T/0", 10).set("U/0", 9);
  const table = groupOffsetProcessors({
    ...rig,
    messageStore: {
      getMinOffsetInQueue: (topic, queueId) =>
        topic === "T" && queueId === 0 ? 2 : 0,
      getMaxOffsetInQueue: (topic, queueId) =>
        rig.maxOffsets.get(`${topic}/${queueId}`) ?? 0,
      getMessageStoreTimeStamp: (topic, queueId, queueOffset) => {
        const max = rig.maxOffsets.get(`${topic}/${queueId}`) ?? 0;
        const isThere = queueOffset >= 0 && queueOffset < max;
        return Promise.resolve(isThere ? 1_000 + queueOffset : -1);
      },
    },
  });
  const commit = (group: string, topic: string, offset: number) =>
    rig.consumerOffsetManager.commitOffset("x", group, topic, 0, offset);
  return { rig, table, commit };
}

async function spansOf({ table }: ReturnType<typeof open>, topic = "T") {
  const fields = { topic, group: "g" };
  const answer = await ask(table, RequestCode.QUERY_CONSUME_TIME_SPAN, fields);
  return answer.code === 0
    ? JSON.parse(bodyText(answer)).consumeTimeSpanSet
    : [answer.code, answer.remark];
}

test("303 tells the times of a group in each queue", async () => {
  const opened = open();
  const messageQueue = { brokerName: "broker-a", queueId: 0, topic: "T" };
  const nowMs = opened.rig.clock.nowMs();
  const begin = {
    consumeTimeStamp: 1_002,
    delayTime: nowMs - 1_002,
    maxTimeStamp: 1_009,
    messageQueue,
    minTimeStamp: 1_002,
  };
  const empty = {
    consumeTimeStamp: -1,
    delayTime: 0,
    maxTimeStamp: -1,
    messageQueue: { ...messageQueue, queueId: 1 },
    minTimeStamp: -1,
  };
  // Nothing committed: it begins with the first message.
  assertEquals(await spansOf(opened), [begin, empty]);
  opened.commit("g", "T", 5);
  assertEquals(await spansOf(opened), [
    { ...begin, consumeTimeStamp: 1_004, delayTime: nowMs - 1_005 },
    empty,
  ]);
  opened.commit("g", "T", 10);
  assertEquals(await spansOf(opened), [
    { ...begin, consumeTimeStamp: 1_009, delayTime: 0 },
    empty,
  ]);
  assertEquals(await spansOf(opened, "no"), [17, "topic[no] not exist"]);
});

async function corrections(
  { table }: ReturnType<typeof open>,
  compareGroup: string,
  filterGroups?: string,
) {
  const answer = await ask(table, RequestCode.QUERY_CORRECTION_OFFSET, {
    topic: "T",
    compareGroup,
    ...(filterGroups === undefined ? {} : { filterGroups }),
  });
  const body = parseFastjson(bodyText(answer)) as {
    correctionOffsets: unknown;
  };
  return body.correctionOffsets;
}

test("308 answers the smallest offset of all groups, filtered ones left out and kept", async () => {
  const opened = open();
  assertEquals(await corrections(opened, "a"), {});
  opened.commit("a", "T", 8);
  opened.commit("b", "T", 5);
  // Below what the queue still holds: it does not count.
  opened.commit("old", "T", 1);
  assertEquals(await corrections(opened, "a"), { 0: 5 });
  assertEquals(await corrections(opened, "a", "b,x"), { 0: 8 });
  assertEquals(opened.rig.consumerOffsetManager.queryOffset("b", "T", 0), 5);
  // The compared group is behind all that count.
  assertEquals(await corrections(opened, "b", "b"), {
    0: 9_223_372_036_854_775_807n,
  });
});

function clone(
  { table }: ReturnType<typeof open>,
  fields: Record<string, string>,
) {
  return ask(table, RequestCode.CLONE_GROUP_OFFSET, {
    srcGroup: "a",
    destGroup: "b",
    ...fields,
  });
}

test("314 copies positions, backwards too, durably and as a change that slaves must follow", async () => {
  const opened = open();
  const { rig } = opened;
  const offsets = rig.consumerOffsetManager;
  opened.commit("a", "T", 4);
  opened.commit("a", "U", 7);
  opened.commit("b", "T", 9);
  assertEquals((await clone(opened, { topic: "T" })).code, 0);
  assertEquals(offsets.queryOffset("b", "T", 0), 4);
  assertEquals(offsets.queryOffset("b", "U", 0), -1);
  assertEquals(offsets.queryOffset("a", "T", 0), 4);
  const stored = JSON.parse(rig.files.offsets.text!);
  assertEquals(stored.offsetTable["T@b"], { 0: 4 });
  assertEquals(stored.offsetGenerations["T@b"] > 0, true);
  // Without a topic: all of the source.
  assertEquals((await clone(opened, {})).code, 0);
  assertEquals(offsets.queryOffset("b", "U", 0), 7);
  // Nothing to copy changes nothing.
  await clone(opened, { srcGroup: "nobody", topic: "T" });
  await clone(opened, { srcGroup: "b", topic: "T" });
  assertEquals(offsets.queryOffset("b", "T", 0), 4);
});

test("314 copies no topic that a living group left, unless offline", async () => {
  const opened = open();
  const { rig } = opened;
  opened.commit("a", "T", 4);
  opened.commit("a", "U", 7);
  rig.consumerManager.registerConsumer(
    {
      clientId: "c",
      language: "JAVA",
      version: 401,
      connection: new RecordingConnection(),
      lastUpdateTimestamp: 5,
      lastUpdateMs: 5,
    },
    {
      groupName: "a",
      consumeType: "CONSUME_PASSIVELY",
      messageModel: "CLUSTERING",
      consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
      subscriptionDataSet: [buildSubscriptionData("U", "*", "TAG", 3)],
      unitMode: false,
    },
    { isNotifyEnabled: true, withoutSub: false, fingerprint: 0 },
  );
  await clone(opened, { offline: "false" });
  const offsets = rig.consumerOffsetManager;
  assertEquals(offsets.queryOffset("b", "T", 0), -1);
  assertEquals(offsets.queryOffset("b", "U", 0), 7);
  await clone(opened, { offline: "true" });
  assertEquals(offsets.queryOffset("b", "T", 0), 4);
  rig.files.offsets.failure = new Error("disk full");
  const answer = await clone(opened, { destGroup: "c", offline: "true" });
  assertEquals(answer.code, 1);
  assertEquals(
    answer.remark,
    "The copy to group c could not be stored yet: disk full",
  );
});
