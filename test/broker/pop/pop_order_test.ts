import { assert, assertEquals, assertMatch } from "@std/assert";
import { test } from "node:test";
import { RequestCode } from "../../../src/protocol/request_code.ts";
import { ResponseCode } from "../../../src/protocol/response_code.ts";
import { GROUP, PopSite, TOPIC } from "./pop_site.ts";

const ORDER = { order: "true", maxMsgNums: "2" };

async function siteWith(count: number): Promise<PopSite> {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.clock.complete(site.parts.persist());
  for (let i = 0; i < count; i++) await site.send(`m${i}`);
  return site;
}

async function texts(site: PopSite, fields = {}): Promise<string[]> {
  return (await site.popped({ ...ORDER, ...fields })).map((it) => it.text);
}

test("in order a queue gives nothing until its batch is acknowledged", async () => {
  const site = await siteWith(4);
  const first = await site.popped(ORDER);
  assertEquals(first.map((it) => it.text), ["m0", "m1"]);
  assertEquals(first[0]!.extraInfo.split(" ")[3], "999");
  assertEquals(await texts(site), []);
  assertEquals(await site.ack(first[0]!), 0);
  assertEquals(await texts(site), []);
  const fields = { ...site.popFields(), ...ORDER, pollTime: "5000" };
  const waiting = site.call(RequestCode.POP_MESSAGE, fields);
  await site.run(100);
  assertEquals(await site.ack(first[1]!), 0);
  await site.run(0);
  assertEquals((await waiting).code, ResponseCode.SUCCESS);
  assertEquals(site.pop.log.table.size, 0);
});

test("in order what is not acknowledged in time comes again, with how often it came", async () => {
  const site = await siteWith(4);
  const first = await site.popped({ ...ORDER, invisibleTime: "1000" });
  assertEquals(await site.ack(first[0]!), 0);
  const fields = { ...site.popFields(), ...ORDER, pollTime: "5000" };
  let isAnswered = false;
  const waiting = site.call(RequestCode.POP_MESSAGE, fields)
    .then((it) => (isAnswered = true, it));
  await site.run(800);
  assert(!isAnswered);
  await site.run(500);
  assert(isAnswered);
  const { extFields } = await waiting;
  assertEquals(extFields["msgOffsetInfo"], "0 0 1,2");
  assertEquals(extFields["orderCountInfo"], "0 qo0%1 1;0 0 0");
  // The handle of the batch before is worth nothing now.
  assertEquals(await site.ack(first[1]!), 0);
  assertEquals(await texts(site), []);
});

test("the repetition of a request gets the batch that its answer had", async () => {
  const site = await siteWith(4);
  const attempt = { attemptId: "a" };
  assertEquals(await texts(site, attempt), ["m0", "m1"]);
  assertEquals(await texts(site), []);
  const again = await site.popAnswer({ ...ORDER, ...attempt });
  assertEquals(again.extFields["msgOffsetInfo"], "0 0 0,1");
  assertEquals(again.extFields["orderCountInfo"], "0 0 0");
});

test("in order the invisible time of a message holds its queue, longer or shorter", async () => {
  const site = await siteWith(4);
  const [a, b] = await site.popped(ORDER);
  const answer = await site.changeInvisibleTime(a!, 30_000);
  assertEquals(answer.code, 0);
  assertEquals(answer.extFields["reviveQid"], "999");
  assertEquals((await site.changeInvisibleTime(b!, 1)).code, 0);
  await site.run(29_000);
  assertEquals(await texts(site), []);
  await site.run(2_000);
  assertEquals(await texts(site), ["m0", "m1"]);
  const stale = await site.changeInvisibleTime(a!, 1_000);
  assertEquals(stale.code, ResponseCode.NO_MESSAGE);
  assertMatch(stale.remark!, /popped anew/);
});

test("an acknowledgement of what the batch does not have is refused by name", async () => {
  const site = await siteWith(4);
  const [a] = await site.popped(ORDER);
  const answer = await site.call(RequestCode.ACK_MESSAGE, {
    consumerGroup: GROUP,
    topic: TOPIC,
    queueId: "0",
    extraInfo: a!.extraInfo,
    offset: "3",
  });
  assertEquals(answer.code, ResponseCode.MESSAGE_ILLEGAL);
  assertMatch(answer.remark!, /commit:3/);
});

test("a batch outlives a stop, in the file that Apache has", async () => {
  const site = await siteWith(4);
  const [a, b] = await site.popped(ORDER);
  assertEquals(await site.ack(a!), 0);
  const text = site.parts.consumerOrderInfoManager.encode();
  assertEquals(
    JSON.parse(text).table[`${TOPIC}@${GROUP}`]["0"],
    {
      cm: 1,
      i: 10_000,
      l: Number(a!.extraInfo.split(" ")[1]),
      o: [0, 1],
      oc: {},
      ot: {},
      popTime: Number(a!.extraInfo.split(" ")[1]),
    },
  );
  await site.stop();
  await site.start();
  assertEquals(site.parts.consumerOrderInfoManager.encode(), text);
  assertEquals(await texts(site), []);
  assertEquals(await site.ack(b!), 0);
  assertEquals(await texts(site), ["m2", "m3"]);
});

test("batches of topics and groups that are gone are forgotten", async () => {
  const site = await siteWith(4);
  await site.popped(ORDER);
  site.parts.topicConfigManager.deleteTopicConfig(TOPIC);
  await site.run(61_000);
  assertEquals(site.parts.consumerOrderInfoManager.encode(), '{"table":{}}');
});
