import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { test } from "node:test";
import { groupAdminProcessors } from "../../src/broker/processor/group_admin_processor.ts";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import { BodyError } from "../../src/protocol/body/json_fields.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import {
  ask,
  bodyText,
  ManagerRig,
  RecordingConnection,
} from "./manager_rig.ts";

function open() {
  const rig = new ManagerRig();
  const table = groupAdminProcessors({ ...rig });
  const update = (body: unknown) =>
    ask(
      table,
      RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
      {},
      JSON.stringify(body),
    );
  return { rig, table, update, groups: rig.subscriptionGroupManager };
}

test("200 creates and replaces a group; unknown keys stay", async () => {
  const { rig, update, groups } = open();
  const answer = await update({
    groupName: "g",
    retryMaxTimes: 3,
    subscriptionDataSet: [{ topic: "T", expression: "*" }],
  });
  assertEquals([answer.code, answer.remark], [0, null]);
  const config = groups.getSubscriptionGroupConfig("g")!;
  assertEquals(config.retryMaxTimes, 3);
  assertEquals(config.consumeEnable, true);
  assertStringIncludes(rig.files.groups.text!, '"subscriptionDataSet":[');
  await update({ groupName: "g", consumeEnable: false });
  assertEquals(groups.getSubscriptionGroupConfig("g")?.consumeEnable, false);
});

test("200 refuses with 29 and one sentence", async () => {
  const { update, groups } = open();
  const cases: [unknown, string][] = [
    [{}, "The specified group is blank."],
    [{ groupName: "a b" }, "contains illegal characters"],
    [{ groupName: "x".repeat(121) }, "max length 120"],
    [{ groupName: "g", retryQueueNums: -1 }, "The retryQueueNums is -1"],
    [{ groupName: "g", retryMaxTimes: -2 }, "The retryMaxTimes is -2"],
  ];
  for (const [body, sentence] of cases) {
    const answer = await update(body);
    assertEquals(answer.code, 29);
    assertStringIncludes(answer.remark!, sentence);
  }
  assertEquals(groups.containsSubscriptionGroup("g"), false);
});

test("200 with a body of no use is an error with a sentence", async () => {
  const { table } = open();
  for (const body of ["", "[]", "<nil>", '{"retryMaxTimes":"x"}']) {
    await assertRejects(
      async () =>
        await ask(
          table,
          RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
          {},
          body,
        ),
      BodyError,
    );
  }
});

test("225 creates all or none", async () => {
  const { table, groups } = open();
  const list = (configs: unknown[]) =>
    ask(
      table,
      RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
      {},
      JSON.stringify({ groupConfigList: configs }),
    );
  assertEquals((await list([{ groupName: "a" }, {}])).code, 29);
  assertEquals(groups.containsSubscriptionGroup("a"), false);
  const { counter } = groups.dataVersion;
  assertEquals((await list([{ groupName: "a" }, { groupName: "b" }])).code, 0);
  assertEquals(groups.dataVersion.counter, counter + 1);
  assertEquals((await list([])).code, 0);
});

test("201 answers groups, forbidden table and version", async () => {
  const { table, groups } = open();
  groups.updateForbidden("g", "T", 1);
  const answer = await ask(table, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG);
  const body = JSON.parse(bodyText(answer));
  assertEquals(Object.keys(body), [
    "dataVersion",
    "forbiddenTable",
    "subscriptionGroupTable",
  ]);
  assertEquals(body.forbiddenTable, { g: { T: 1 } });
  assertEquals(
    body.subscriptionGroupTable.TOOLS_CONSUMER.groupName,
    "TOOLS_CONSUMER",
  );
  assertEquals(body.dataVersion, { ...groups.dataVersion });
});

test("352 answers one group, or 26, and creates nothing", async () => {
  const { table, groups } = open();
  const get = (group: string) =>
    ask(table, RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, { group });
  const body = JSON.parse(bodyText(await get("TOOLS_CONSUMER")));
  assertEquals(body.retryMaxTimes, 16);
  assertEquals((await get("no")).code, 26);
  assertEquals(groups.containsSubscriptionGroup("no"), false);
});

test("207 deletes, with offsets when either version asks so", async () => {
  for (const flag of ["cleanOffset", "removeOffset"]) {
    const { rig, table, groups } = open();
    const remove = (fields: Record<string, string>) =>
      ask(table, RequestCode.DELETE_SUBSCRIPTIONGROUP, fields);
    groups.findSubscriptionGroupConfig("g");
    rig.consumerOffsetManager.commitOffset("x", "g", "T", 0, 0);
    assertEquals((await remove({ groupName: "g" })).code, 0);
    assertEquals(groups.containsSubscriptionGroup("g"), false);
    assertEquals(rig.consumerOffsetManager.queryOffset("g", "T", 0), 0);
    await remove({ groupName: "g", [flag]: "true" });
    assertEquals(rig.consumerOffsetManager.queryOffset("g", "T", 0), -1);
    const blank = await remove({ groupName: "" });
    assertEquals(
      [blank.code, blank.remark],
      [29, "The specified group is blank."],
    );
  }
});

test("300 joins subscribers and groups with offsets", async () => {
  const { rig, table } = open();
  rig.consumerOffsetManager.commitOffset("x", "old", "T", 0, 0);
  rig.consumerOffsetManager.commitOffset("x", "live", "T", 0, 0);
  rig.consumerManager.registerConsumer(
    {
      clientId: "c",
      language: "JAVA",
      version: 0,
      connection: new RecordingConnection(),
      lastUpdateTimestamp: 0,
      lastUpdateMs: 0,
    },
    {
      groupName: "live",
      consumeType: "CONSUME_PASSIVELY",
      messageModel: "CLUSTERING",
      consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
      subscriptionDataSet: [buildSubscriptionData("T", "*")],
      unitMode: false,
    },
    { isNotifyEnabled: true, withoutSub: false, fingerprint: 0 },
  );
  const answer = await ask(table, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, {
    topic: "T",
  });
  assertEquals(JSON.parse(bodyText(answer)).groupList, ["live", "old"]);
  assert(answer.code === 0);
});
