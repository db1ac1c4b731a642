import { test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { consumerManageProcessors } from "../../src/broker/processor/consumer_manage_processor.ts";
import { resetOffsetProcessors } from "../../src/broker/processor/reset_offset_processor.ts";
import { topicAdminProcessors } from "../../src/broker/processor/topic_admin_processor.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { topicOf } from "./fakes.ts";
import { ask, bodyText, ManagerRig, OPTIONS } from "./manager_rig.ts";

function open(options = OPTIONS) {
  const rig = new ManagerRig(options);
  rig.topicConfigManager.updateTopicConfig(
    topicOf("T", { readQueueNums: 2, writeQueueNums: 2 }),
  );
  rig.maxOffsets.set("T/0", 100).set("T/1", 200);
  for (const queueId of [0, 1]) {
    rig.consumerOffsetManager.commitOffset(
      "x",
      "TOOLS_CONSUMER",
      "T",
      queueId,
      90,
    );
  }
  const woken: string[] = [];
  const messageStore = {
    getMinOffsetInQueue: () => 10,
    getMaxOffsetInQueue: (topic: string, queueId: number) =>
      rig.maxOffsets.get(`${topic}/${queueId}`) ?? 0,
    getOffsetInQueueByTime: (_topic: string, _id: number, time: number) =>
      Promise.resolve(time),
    checkInMemByConsumeOffset: () => false,
    deleteTopics: () => Promise.resolve(),
  };
  const deps = {
    ...rig,
    messageStore,
    topics: rig.topicConfigManager,
    registerChanges: () => Promise.resolve(),
    pullRequestHoldService: {
      wakeQueue: (topic: string, queueId: number) =>
        void woken.push(`${topic}/${queueId}`),
    },
  };
  const table = new Map([
    ...resetOffsetProcessors(deps),
    ...consumerManageProcessors(deps),
    ...topicAdminProcessors(deps),
  ]);
  const reset = (fields: Record<string, string>) =>
    ask(table, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, {
      topic: "T",
      group: "TOOLS_CONSUMER",
      isForce: "true",
      timestamp: "-1",
      ...fields,
    });
  const stored = () =>
    [0, 1].map((it) =>
      rig.consumerOffsetManager.queryOffset("TOOLS_CONSUMER", "T", it)
    );
  return { rig, table, reset, stored, woken };
}

test("222 sets every queue by time, within its ends, and wakes held pulls", async () => {
  const { reset, rig, stored, woken } = open();
  const answer = await reset({ timestamp: "50" });
  assertEquals(answer.code, 0, answer.remark ?? "");
  assertEquals(stored(), [50, 50]);
  assertEquals(woken, ["T/0", "T/1"]);
  assertStringIncludes(bodyText(answer), '"queueId":1');
  assertEquals(rig.resetOffsets.take("TOOLS_CONSUMER", "T", 0)?.offset, 50);
  assertEquals(rig.resetOffsets.take("TOOLS_CONSUMER", "T", 0), undefined);
  await reset({ timestamp: "0" });
  assertEquals(stored(), [10, 10]);
  await reset({ timestamp: "-1" });
  assertEquals(stored(), [100, 200]);
});

test("222 sets one queue to an offset", async () => {
  const { reset, stored } = open();
  assertEquals((await reset({ queueId: "1", offset: "20" })).code, 0);
  assertEquals(stored(), [90, 20]);
  const beyond = await reset({ queueId: "1", offset: "201" });
  assertEquals(beyond.code, 29);
  assertStringIncludes(beyond.remark!, "from 10 to 200");
  assertEquals(stored(), [90, 20]);
});

test("222 refuses with RocketMQ's codes", async () => {
  const { reset, stored } = open();
  const codes = [
    (await reset({ topic: "nosuch" })).code,
    (await reset({ group: "nosuch" })).code,
    (await reset({ queueId: "2" })).code,
    (await open({ ...OPTIONS, brokerRole: "SLAVE" }).reset({})).code,
  ];
  assertEquals(codes, [17, 26, 29, 1]);
  assertEquals(stored(), [90, 90]);
});

test("commits of a reader that was not told yet count for nothing", async () => {
  const { reset, rig, stored, table } = open();
  await reset({ timestamp: "30" });
  const commit = () =>
    ask(table, RequestCode.UPDATE_CONSUMER_OFFSET, {
      consumerGroup: "TOOLS_CONSUMER",
      topic: "T",
      queueId: "0",
      commitOffset: "95",
    });
  const ignored = await commit();
  assertEquals([ignored.code, ignored.remark], [
    0,
    "Offset has been previously reset",
  ]);
  assertEquals(stored(), [30, 30]);
  rig.resetOffsets.take("TOOLS_CONSUMER", "T", 0);
  await commit();
  assertEquals(stored(), [95, 30]);
});

test("a reset goes with its topic", async () => {
  const { reset, rig, table } = open();
  await reset({ timestamp: "30" });
  await ask(table, RequestCode.DELETE_TOPIC_IN_BROKER, { topic: "T" });
  assertEquals(rig.resetOffsets.has("TOOLS_CONSUMER", "T", 0), false);
});
