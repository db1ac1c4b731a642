import { assertEquals, assertMatch } from "@std/assert";
import { test } from "node:test";
import { javaHashCode } from "../../../src/base/java_hash.ts";
import { RequestCode } from "../../../src/protocol/request_code.ts";
import { ResponseCode } from "../../../src/protocol/response_code.ts";
import { poppedOf } from "../../support/popped.ts";
import { GROUP, PopSite, TOPIC } from "./pop_site.ts";

const REFUSED: readonly (readonly [
  name: string,
  fields: Record<string, string>,
  code: number,
  remark: RegExp,
])[] = [
  ["no topic", { topic: "U" }, ResponseCode.TOPIC_NOT_EXIST, /topic\[U\]/],
  [
    "no group",
    { consumerGroup: "h" },
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
    /group \[h\]/,
  ],
  [
    "no queue",
    { queueId: "2" },
    ResponseCode.INVALID_PARAMETER,
    /queueId\[2\]/,
  ],
  [
    "33 messages",
    { maxMsgNums: "33" },
    ResponseCode.INVALID_PARAMETER,
    /num is 33, and must be 1 to 32/,
  ],
  [
    "no invisible time",
    { invisibleTime: "0" },
    ResponseCode.INVALID_PARAMETER,
    /invisibleTime is 0/,
  ],
  [
    "too late",
    { bornTime: "1000", pollTime: "100" },
    ResponseCode.POLLING_TIMEOUT,
    /timeout too much/,
  ],
  [
    "broken SQL",
    { exp: "a >", expType: "SQL92" },
    ResponseCode.SUBSCRIPTION_PARSE_FAILED,
    /subscription failed: \S/,
  ],
];

for (const [name, fields, code, remark] of REFUSED) {
  test(`POP is refused: ${name}`, async () => {
    const site = new PopSite();
    await site.start({ autoCreateSubscriptionGroup: false });
    site.createTopicAndGroup();
    const answer = await site.popAnswer(fields);
    assertEquals(answer.code, code);
    assertMatch(answer.remark!, remark);
  });
}

test("POP takes from all queues, once, and says how much is left", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(3);
  for (let i = 0; i < 9; i++) await site.send(`m${i}`, { queueId: i % 3 });
  const seen: string[] = [];
  for (const rest of [5, 1, 0]) {
    const answer = await site.popAnswer({ maxMsgNums: "4" });
    assertEquals(answer.remark, "FOUND");
    assertEquals(answer.extFields["restNum"], String(rest));
    seen.push(...poppedOf(answer).map((it) => it.text));
  }
  assertEquals(seen.toSorted(), [..."012345678"].map((it) => `m${it}`));
  assertEquals((await site.popAnswer()).code, ResponseCode.POLLING_TIMEOUT);
});

test("initMode of a group without position: oldest, or newest unless all is in memory", async () => {
  const site = new PopSite();
  await site.start({ initPopOffsetByCheckMsgInMem: false });
  site.createTopicAndGroup(1);
  for (let i = 0; i < 3; i++) await site.send(`m${i}`);
  const newest = await site.popped({ initMode: "1" });
  assertEquals(newest.map((it) => it.text), ["m2"]);
  site.parts.consumerOffsetManager.removeOffset(GROUP);
  const oldest = await site.popped({ initMode: "0" });
  assertEquals(oldest.map((it) => it.text), ["m0", "m1", "m2"]);
  await site.stop();
  await site.start({ initPopOffsetByCheckMsgInMem: true });
  site.parts.consumerOffsetManager.removeOffset(GROUP);
  assertEquals((await site.popped({ initMode: "1" })).length, 3);
});

test("POP filters by tag and by property, and goes past what it refuses", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  for (let i = 0; i < 4; i++) {
    const tag = i % 2 === 0 ? "A" : "B";
    await site.send(`m${i}`, {
      propertiesText: `TAGS\u0001${tag}\u0002n\u0001${i}\u0002`,
      tagsCode: javaHashCode(tag),
    });
  }
  const byTag = await site.popped({ exp: "B", expType: "TAG" });
  assertEquals(byTag.map((it) => it.text), ["m1", "m3"]);
  assertEquals((await site.popAnswer()).code, ResponseCode.POLLING_TIMEOUT);
  site.parts.consumerOffsetManager.removeOffset(GROUP);
  const byProperty = await site.popped({ exp: "n >= 2", expType: "SQL92" });
  assertEquals(byProperty.map((it) => it.text), ["m2", "m3"]);
});

test("a POP waits for a message that its filter takes, and is answered once", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  const fields = { ...site.popFields(), pollTime: "5000", exp: "B" };
  const waiting = site.call(RequestCode.POP_MESSAGE, fields);
  await site.run(100);
  assertEquals(site.parts.popLongPollingService.heldCount, 1);
  const polling = await site.call(RequestCode.POLLING_INFO, {
    consumerGroup: GROUP,
    topic: TOPIC,
    queueId: "-1",
  });
  assertEquals(polling.extFields["pollingNum"], "1");
  await site.send("no", { tagsCode: javaHashCode("A") });
  await site.run(0);
  assertEquals(site.parts.popLongPollingService.heldCount, 1);
  await site.send("yes", {
    propertiesText: "TAGS\u0001B\u0002",
    tagsCode: javaHashCode("B"),
  });
  assertEquals(poppedOf(await waiting).map((it) => it.text), ["yes"]);
  assertEquals(site.parts.popLongPollingService.heldCount, 0);
});

test("a POP that waits in vain is answered at its end, and dropped with its connection", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  const fields = { ...site.popFields(), pollTime: "2000" };
  const waiting = site.call(RequestCode.POP_MESSAGE, fields);
  await site.run(2_200);
  assertEquals((await waiting).code, ResponseCode.POLLING_TIMEOUT);
  void site.call(RequestCode.POP_MESSAGE, {
    ...fields,
    bornTime: String(site.clock.nowMs()),
  });
  await site.run(100);
  assertEquals(site.parts.popLongPollingService.heldCount, 1);
  site.parts.onConnectionClosed(site.connection);
  assertEquals(site.parts.popLongPollingService.heldCount, 0);
});

test("waiting POPs are limited for a queue and altogether", async () => {
  const site = new PopSite();
  await site.start({ popPollingSize: 1 });
  site.createTopicAndGroup(1);
  const fields = { ...site.popFields(), pollTime: "2000" };
  void site.call(RequestCode.POP_MESSAGE, fields);
  await site.run(100);
  const refused = await site.call(RequestCode.POP_MESSAGE, fields);
  assertEquals(refused.code, ResponseCode.POLLING_FULL);
  const answer = await site.call(RequestCode.NOTIFICATION, fields);
  assertEquals(answer.extFields, { hasMsg: "false", pollingFull: "true" });
});

test("NOTIFICATION tells of messages, at once or when they come", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  const fields = { ...site.popFields(), pollTime: "2000" };
  const waiting = site.call(RequestCode.NOTIFICATION, fields);
  await site.run(100);
  await site.send("m");
  assertEquals((await waiting).extFields["hasMsg"], "true");
  const again = await site.call(RequestCode.NOTIFICATION, fields);
  assertEquals(again.extFields["hasMsg"], "true");
  assertEquals((await site.popped()).length, 1);
  const none = site.call(RequestCode.NOTIFICATION, fields);
  await site.run(2_200);
  assertEquals((await none).extFields["hasMsg"], "false");
});

test("PEEK shows what a POP would give, and takes nothing", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(2);
  for (let i = 0; i < 4; i++) await site.send(`m${i}`, { queueId: i % 2 });
  const peek = () =>
    site.call(RequestCode.PEEK_MESSAGE, {
      consumerGroup: GROUP,
      topic: TOPIC,
      queueId: "-1",
      maxMsgNums: "3",
    });
  for (let i = 0; i < 2; i++) {
    const answer = await peek();
    assertEquals(answer.code, ResponseCode.SUCCESS);
    assertEquals(answer.extFields["restNum"], "1");
  }
  assertEquals((await site.popped()).length, 4);
  assertEquals((await peek()).code, ResponseCode.PULL_NOT_FOUND);
});

test("nothing is popped that cannot be written down", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.send("m");
  site.failure = "SERVICE_NOT_AVAILABLE";
  const answer = await site.popAnswer();
  assertEquals(answer.code, ResponseCode.SERVICE_NOT_AVAILABLE);
  assertMatch(answer.remark!, /Nothing is popped .*a test says so/);
  assertEquals(site.pop.log.table.size, 0);
  site.failure = null;
  assertEquals((await site.popped()).map((it) => it.text), ["m"]);
});

test("a queue with too many messages in flight gives no more", async () => {
  const site = new PopSite();
  await site.start({
    enablePopMessageThreshold: true,
    popInflightMessageThreshold: 2,
  });
  site.createTopicAndGroup(1);
  for (let i = 0; i < 4; i++) await site.send(`m${i}`);
  const first = await site.popped({ maxMsgNums: "2" });
  assertEquals(first.length, 2);
  assertEquals((await site.popped()).length, 0);
  for (const it of first) assertEquals(await site.ack(it), 0);
  assertEquals((await site.popped()).length, 2);
});

test("an administrator's position beats that of the group", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  for (let i = 0; i < 3; i++) await site.send(`m${i}`);
  assertEquals((await site.popped()).length, 3);
  site.parts.resetOffsets.add(GROUP, TOPIC, 0, {
    offset: 1,
    minOffset: 0,
    maxOffset: 3,
  });
  assertEquals((await site.popped()).map((it) => it.text), ["m1", "m2"]);
});
