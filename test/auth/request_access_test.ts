/** What every request code wants, and that none is forgotten. */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { accessRuleOf, REQUEST_ACCESS } from "../../src/auth/request_access.ts";
import { BrokerController } from "../../src/broker/broker_controller.ts";
import { encodeJson } from "../../src/protocol/body/json_fields.ts";
import {
  createRequest,
  type ExtFields,
} from "../../src/protocol/remoting_command.ts";
import { requestCodeName } from "../../src/protocol/request_code.ts";
import { brokerSlices, runtime } from "../broker/broker_site.ts";
import { FakeLogger } from "../broker/fakes.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

test("every code that a broker answers has a rule in src/auth/request_access.ts", async () => {
  await withTempDirectory(async (folder) => {
    const codes: number[] = [];
    const controller = new BrokerController({
      ...runtime,
      logger: new FakeLogger(),
      configuration: {
        text: () => "",
        dataVersion: { stateVersion: 0, timestamp: 0, counter: 0 },
        update: () => Promise.reject(new Error("not here")),
      },
      guard: {
        wrap: (table) => codes.push(...table.keys()),
        tick: () => {},
      },
    }, brokerSlices(folder));
    await controller.start();
    await controller.stop();
    const missing = codes.filter((it) => !REQUEST_ACCESS.has(it))
      .map((it) => `${it} ${requestCodeName(it)}`);
    assertEquals(
      missing,
      [],
      "Add a line per code to REQUEST_ACCESS (src/auth/request_access.ts): which of Apache's actions on which topic, group or the cluster; Apache's own rule is the @RocketMQAction of the request's header. Then add a case to the table in this file.",
    );
    // As many as there are: an empty table would prove nothing.
    assertEquals(codes.length > 60, true, String(codes.length));
  });
});

test("only administrators may what has no rule", () => {
  const { actions, plain } = accessRuleOf(987_654);
  assertEquals({ actions, plain }, { actions: ["UPDATE"], plain: "admin" });
});

const QUEUE = { topic: "T", brokerName: "b", queueId: 0 };
const RETRY_QUEUE = { topic: "%RETRY%g", brokerName: "b", queueId: 0 };

/** Code, fields, body; then actions and resources. */
const CASES: [number, ExtFields, unknown, string, string[]][] = [
  [10, { topic: "T" }, null, "PUB", ["Topic:T"]],
  [10, { topic: "%RETRY%g", group: "mine" }, null, "PUB", ["Group:g"]],
  [310, { a: "mine", b: "%RETRY%g" }, null, "PUB", ["Group:g"]],
  [320, { b: "T", topic: "other" }, null, "PUB", ["Topic:T"]],
  [324, { topic: "DefaultCluster_REPLY_TOPIC" }, null, "PUB", []],
  [325, { b: "T" }, null, "PUB", ["Topic:T"]],
  [37, { topic: "T" }, null, "PUB", ["Topic:T"]],
  [37, {}, null, "PUB", []],
  [370, { topic: "T" }, null, "PUB", ["Topic:T"]],
  [36, { group: "g", originTopic: "T" }, null, "SUB", ["Group:g"]],
  [36, { group: "%RETRY%g" }, null, "SUB", ["Group:g"]],
  [11, { topic: "T", consumerGroup: "g" }, null, "SUB", ["Topic:T", "Group:g"]],
  [
    200_050,
    { topic: "%RETRY%h", consumerGroup: "g" },
    null,
    "SUB",
    ["Group:h", "Group:g"],
  ],
  [
    200_051,
    { topic: "%RETRY%g_T", consumerGroup: "g" },
    null,
    "SUB",
    ["Topic:T", "Group:g"],
  ],
  [
    200_151,
    {},
    {
      consumerGroup: "g",
      acks: [{ c: "g", t: "T" }, { c: "g", t: "T" }, { c: "h", t: "%RETRY%g" }],
    },
    "SUB",
    ["Group:g", "Group:h", "Topic:T", "Group:g"],
  ],
  [400, {}, { topic: "T", consumerGroup: "g" }, "SUB,GET", [
    "Topic:T",
    "Group:g",
  ]],
  [401, {}, { topic: "T", consumerGroup: "g" }, "UPDATE", [
    "Topic:T",
    "Group:g",
  ]],
  [33, { offset: "1" }, null, "GET", ["Cluster"]],
  [33, { offset: "1", topic: "T" }, null, "GET", ["Topic:T"]],
  [35, { producerGroup: "p" }, null, "SUB", []],
  [35, { consumerGroup: "g" }, null, "SUB", ["Group:g"]],
  [41, {}, { consumerGroup: "g", mqSet: [QUEUE, QUEUE, RETRY_QUEUE] }, "SUB", [
    "Group:g",
    "Topic:T",
    "Group:g",
  ]],
  [
    18,
    {},
    { topicConfigList: [{ topicName: "T" }, { topicName: "U" }] },
    "CREATE",
    [
      "Topic:T",
      "Topic:U",
    ],
  ],
  [200, {}, { groupName: "g" }, "CREATE,UPDATE", ["Group:g"]],
  [
    225,
    {},
    { groupConfigList: [{ groupName: "g" }, { groupName: "h" }] },
    "CREATE,UPDATE",
    [
      "Group:g",
      "Group:h",
    ],
  ],
  [207, { groupName: "g" }, null, "DELETE", ["Group:g"]],
  [208, { consumerGroup: "g", topicList: "T; U;" }, null, "GET", [
    "Topic:T",
    "Topic:U",
    "Group:g",
  ]],
  [308, { topic: "T", compareGroup: "g", filterGroups: "h,i" }, null, "GET", [
    "Topic:T",
    "Group:g",
    "Group:h",
    "Group:i",
  ]],
  [314, { srcGroup: "s", destGroup: "g", topic: "T" }, null, "UPDATE", [
    "Topic:T",
    "Group:g",
  ]],
  [25, {}, null, "UPDATE", ["Cluster"]],
  [26, {}, null, "GET", ["Cluster"]],
  [31_001, {}, null, "GET", ["Cluster"]],
];

test("rules name what a request touches, from the fields that its processor reads", () => {
  for (const [code, fields, body, actions, expected] of CASES) {
    const rule = accessRuleOf(code);
    const request = createRequest(
      code,
      fields,
      body === null ? undefined : encodeJson(body),
    );
    const resources = rule.resources(request).map((it) =>
      it.kind === "Cluster" ? it.kind : `${it.kind}:${it.name}`
    );
    const what = `${code} ${JSON.stringify(fields)}`;
    assertEquals(
      [rule.actions.join(","), resources],
      [actions, expected],
      what,
    );
  }
});
