import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { groupTopicProcessors } from "../../src/broker/processor/group_topic_processor.ts";
import { PermName } from "../../src/model/topic_config.ts";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import {
  ask,
  bodyText,
  ManagerRig,
  OPTIONS,
  RecordingConnection,
} from "./manager_rig.ts";

function open() {
  const rig = new ManagerRig({
    ...OPTIONS,
    brokerIP1: "10.0.0.5",
    listenPort: 10911,
  });
  return { rig, table: groupTopicProcessors(rig) };
}

test("343 lists the topics on which a group has positions", async () => {
  const { rig, table } = open();
  rig.consumerOffsetManager.commitOffset("x", "g", "T", 0, 0);
  rig.consumerOffsetManager.commitOffset("x", "g", "U", 0, 0);
  const topics = async (group: string) =>
    JSON.parse(bodyText(
      await ask(table, RequestCode.QUERY_TOPICS_BY_CONSUMER, { group }),
    ));
  assertEquals(await topics("g"), {
    brokerAddr: "10.0.0.5:10911",
    topicList: ["T", "U"],
  });
  assertEquals((await topics("no")).topicList, []);
});

test("345 shows what a living group subscribes of a topic", async () => {
  const { rig, table } = open();
  const subscription = async (topic: string) =>
    JSON.parse(bodyText(
      await ask(table, RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, {
        group: "g",
        topic,
      }),
    ));
  assertEquals(await subscription("T"), { group: "g", topic: "T" });
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
      groupName: "g",
      consumeType: "CONSUME_PASSIVELY",
      messageModel: "CLUSTERING",
      consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
      subscriptionDataSet: [buildSubscriptionData("T", "TagA", "TAG", 3)],
      unitMode: false,
    },
    { isNotifyEnabled: true, withoutSub: false, fingerprint: 0 },
  );
  const found = await subscription("T");
  assertEquals(found.subscriptionData.tagsSet, ["TagA"]);
  assertEquals((await subscription("U")).subscriptionData, undefined);
});

test("353 forbids a group to read a topic and allows it again, durably", async () => {
  const { rig, table } = open();
  const groups = rig.subscriptionGroupManager;
  const readable = async (fields: Record<string, string> = {}) => {
    const answer = await ask(
      table,
      RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN,
      { group: "g", topic: "T", ...fields },
    );
    if (answer.code !== 0) return answer.remark;
    const body = JSON.parse(bodyText(answer));
    assertEquals([body.group, body.topic], ["g", "T"]);
    return body.readable;
  };
  groups.updateForbidden("g", "T", PermName.WRITE);
  assertEquals(await readable(), true);
  assertEquals(await readable({ readable: "false" }), false);
  assertEquals(groups.getForbidden("g", "T"), PermName.READ | PermName.WRITE);
  assertEquals(JSON.parse(rig.files.groups.text!).forbiddenTable, {
    g: { T: PermName.READ | PermName.WRITE },
  });
  assertEquals(await readable(), false);
  assertEquals(await readable({ readable: "true" }), true);
  assertEquals(groups.getForbidden("g", "T"), PermName.WRITE);
  rig.files.groups.failure = new Error("disk full");
  assertEquals(
    await readable({ readable: "false" }),
    "The permission of group g could not be stored yet: disk full",
  );
});
