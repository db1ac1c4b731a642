import { test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { resetOffsetProcessors } from "../../src/broker/processor/reset_offset_processor.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { topicOf } from "./fakes.ts";
import {
  ask,
  bodyText,
  ManagerRig,
  OPTIONS,
  RecordingConnection,
} from "./manager_rig.ts";

const GROUP = "TOOLS_CONSUMER";

/** Queue 0 reaches from 10 to 100, queue 1 to 200; the group is at 40 and 50. */
function open() {
  const rig = new ManagerRig({ ...OPTIONS, useServerSideResetOffset: false });
  rig.topicConfigManager.updateTopicConfig(
    topicOf("T", { readQueueNums: 2, writeQueueNums: 2 }),
  );
  rig.maxOffsets.set("T/0", 100).set("T/1", 200);
  const commit = (queueId: number, offset: number) =>
    rig.consumerOffsetManager.commitOffset("x", GROUP, "T", queueId, offset);
  commit(0, 40);
  commit(1, 50);
  const table = resetOffsetProcessors({
    ...rig,
    messageStore: {
      getMinOffsetInQueue: () => 10,
      getMaxOffsetInQueue: (_topic: string, id: number) => id === 0 ? 100 : 200,
      getOffsetInQueueByTime: (_topic: string, _id: number, time: number) =>
        Promise.resolve(time),
    },
    pullRequestHoldService: { wakeQueue: () => {} },
  });
  const join = (clientId: string, language: string, version = 401) => {
    const connection = new RecordingConnection();
    rig.consumerManager.registerConsumer(
      {
        clientId,
        language,
        version,
        connection,
        lastUpdateTimestamp: 5,
        lastUpdateMs: 5,
      },
      {
        groupName: GROUP,
        consumeType: "CONSUME_PASSIVELY",
        messageModel: "CLUSTERING",
        consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
        subscriptionDataSet: [],
        unitMode: false,
      },
      { isNotifyEnabled: false, withoutSub: false, fingerprint: 0 },
    );
    return connection;
  };
  const reset = (fields: Record<string, string> = {}) =>
    ask(table, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, {
      topic: "T",
      group: GROUP,
      isForce: "true",
      timestamp: "45",
      ...fields,
    });
  const stored = () =>
    [0, 1].map((it) => rig.consumerOffsetManager.queryOffset(GROUP, "T", it));
  return { rig, join, reset, stored };
}

const key = (queueId: number) =>
  `{"brokerName":"broker-a","queueId":${queueId},"topic":"T"}`;

test("222 without useServerSideResetOffset has every member reset its offsets", async () => {
  const { rig, join, reset, stored } = open();
  const java = join("java", "JAVA");
  const cpp = join("cpp", "CPP");
  const answer = await reset();
  const body = `{"offsetTable":{${key(0)}:45,${key(1)}:45}}`;
  assertEquals([answer.code, bodyText(answer)], [0, body]);
  const [told] = java.oneways;
  assertEquals(java.oneways.length, 1);
  assertEquals(told!.code, RequestCode.RESET_CONSUMER_CLIENT_OFFSET);
  assertEquals(told!.extFields, {
    topic: "T",
    group: GROUP,
    timestamp: "45",
    isForce: "true",
  });
  assertEquals(bodyText(told!), body);
  assertEquals(
    bodyText(cpp.oneways[0]!),
    '{"offsetTable":[' +
      '{"brokerName":"broker-a","offset":45,"queueId":0,"topic":"T"},' +
      '{"brokerName":"broker-a","offset":45,"queueId":1,"topic":"T"}]}',
  );
  assertEquals(stored(), [40, 50]);
  assertEquals(rig.resetOffsets.has(GROUP, "T", 0), false);
});

test("222 without useServerSideResetOffset only goes back unless it is forced", async () => {
  const { join, reset } = open();
  const member = join("java", "JAVA");
  await reset({ isForce: "false" });
  await reset({ queueId: "1", offset: "60" });
  await reset({ timestamp: "-1", queueId: "0" });
  assertEquals(member.oneways.map(bodyText), [
    `{"offsetTable":{${key(0)}:40,${key(1)}:45}}`,
    `{"offsetTable":{${key(1)}:60}}`,
    `{"offsetTable":{${key(0)}:100}}`,
  ]);
});

test("222 without useServerSideResetOffset refuses with RocketMQ's codes", async () => {
  const { rig, join, reset } = open();
  const away = await reset();
  assertEquals(away.code, 206);
  assertStringIncludes(away.remark!, "Consumer not online");
  rig.topicConfigManager.updateTopicConfig(topicOf("New"));
  const connection = join("java", "JAVA");
  const unknown = await reset({ topic: "New" });
  assertEquals(unknown.code, 1);
  assertStringIncludes(unknown.remark!, `<${GROUP}> has no offset`);
  join("old", "JAVA", 27);
  const old = await reset();
  assertEquals(old.code, 1);
  assertStringIncludes(
    old.remark!,
    "does not support this feature. version=V3_0_",
  );
  assertEquals(connection.oneways.length, 0);
});
