import { assert, assertEquals, assertMatch } from "@std/assert";
import { test } from "node:test";
import { decodeProperties } from "../../../src/model/message_properties.ts";
import { encodeBatchAckMessageRequestBody } from "../../../src/protocol/body/batch_ack_body.ts";
import { RequestCode } from "../../../src/protocol/request_code.ts";
import { ResponseCode } from "../../../src/protocol/response_code.ts";
import { ackFields } from "../../support/popped.ts";
import { GROUP, PopSite, TOPIC } from "./pop_site.ts";

test("what is not acknowledged in time is consumed again, what is acknowledged is not", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(2);
  for (let i = 0; i < 6; i++) await site.send(`m${i}`, { queueId: i % 2 });
  const first = await site.popped();
  assertEquals(first.length, 6);
  for (const it of first.slice(0, 4)) assertEquals(await site.ack(it), 0);
  await site.run(9_000);
  assertEquals(await site.popped(), []);
  await site.run(2_000);
  const again = await site.popped();
  assertEquals(
    again.map((it) => [it.text, it.reconsumeTimes, it.message.topic]),
    first.slice(4).map((it) => [it.text, 1, TOPIC]),
  );
  const { propertiesText } = again[0]!.message;
  assertEquals(
    decodeProperties(propertiesText).get("1ST_POP_TIME"),
    first[4]!.extraInfo.split(" ")[1],
  );
  for (const it of again) assertEquals(await site.ack(it), 0);
  await site.run(30_000);
  assertEquals(await site.popped(), []);
  assertEquals(site.pop.log.table.inFlightCount, 0);
});

test("who waits is told of what is consumed again", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.send("m");
  assertEquals((await site.popped({ invisibleTime: "1000" })).length, 1);
  const fields = { ...site.popFields(), pollTime: "9000" };
  let isAnswered = false;
  const waiting = site.call(RequestCode.POP_MESSAGE, fields)
    .then((it) => (isAnswered = true, it));
  await site.run(900);
  assert(!isAnswered);
  await site.run(400);
  assert(isAnswered);
  assertEquals((await waiting).code, 0);
});

test("the invisible time of a message is another one, and its old handle is worth nothing", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.send("m");
  const [it] = await site.popped({ invisibleTime: "2000" });
  const answer = await site.changeInvisibleTime(it!, 20_000);
  assertEquals(answer.code, 0);
  assertEquals(answer.extFields["invisibleTime"], "20000");
  const again = await site.changeInvisibleTime(it!, 20_000);
  assertEquals(again.code, ResponseCode.NO_MESSAGE);
  assertMatch(again.remark!, /not in flight any more/);
  await site.run(19_000);
  assertEquals(await site.popped(), []);
  await site.run(2_000);
  assertEquals((await site.popped()).map(({ text }) => text), ["m"]);
});

test("a message with a new handle is acknowledged by it", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.send("m");
  const [it] = await site.popped();
  const { extFields } = await site.changeInvisibleTime(it!, 1_000);
  const { popTime, invisibleTime, reviveQid } = extFields;
  const extraInfo = `0 ${popTime} ${invisibleTime} ${reviveQid} 0 broker-a 0 0`;
  assertEquals(await site.ack(it!, { extraInfo }), 0);
  await site.run(20_000);
  assertEquals(await site.popped(), []);
});

test("BATCH_ACK acknowledges the bits that are set", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  for (let i = 0; i < 12; i++) await site.send(`m${i}`);
  const all = await site.popped();
  const [startOffset, popTime, invisibleTime, reviveQueueId] = all[0]!
    .extraInfo.split(" ").map(Number);
  const body = encodeBatchAckMessageRequestBody({
    brokerName: "broker-a",
    acks: [{
      consumerGroup: GROUP,
      topic: TOPIC,
      retry: "0",
      startOffset: startOffset!,
      queueId: 0,
      reviveQueueId: reviveQueueId!,
      popTime: popTime!,
      invisibleTime: invisibleTime!,
      indexes: [0, 2, 3, 4, 5, 6, 7, 8, 9, 11, 500],
    }],
  });
  const answer = await site.call(RequestCode.BATCH_ACK_MESSAGE, {}, body);
  assertEquals(answer.code, 0);
  await site.run(11_000);
  assertEquals((await site.popped()).map((it) => it.text), ["m1", "m10"]);
  const empty = await site.call(
    RequestCode.BATCH_ACK_MESSAGE,
    {},
    encodeBatchAckMessageRequestBody({ brokerName: "broker-a", acks: [] }),
  );
  assertEquals(empty.code, ResponseCode.NO_MESSAGE);
});

test("after retryMaxTimes a message is a dead letter", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1, 2);
  await site.send("poison", { propertiesText: "UNIQ_KEY\u0001id\u0002" });
  for (const times of [0, 1, 2]) {
    const popped = await site.popped({ invisibleTime: "1000" });
    assertEquals(popped.map((it) => it.reconsumeTimes), [times]);
    await site.run(1_500);
  }
  assertEquals(await site.popped(), []);
  const dead = await site.popped({ topic: `%DLQ%${GROUP}` });
  assertEquals(dead.map((it) => it.text), ["poison"]);
  const properties = decodeProperties(dead[0]!.message.propertiesText);
  assertEquals(properties.get("DLQ_ORIGIN_TOPIC"), TOPIC);
  assertEquals(properties.get("DLQ_ORIGIN_MESSAGE_ID"), "id");
  assertEquals(site.pop.revive.counts.deadLetters, 1);
});

test("what cannot be stored is revived later, and only then", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.send("m");
  assertEquals((await site.popped({ invisibleTime: "1000" })).length, 1);
  site.failure = "SERVICE_NOT_AVAILABLE";
  await site.run(5_000);
  assertEquals(
    site.logger.lines.filter((it) => it.includes("tried again")).length,
    1,
  );
  site.failure = null;
  site.mayTake = false;
  await site.run(5_000);
  site.mayTake = true;
  assertEquals(await site.popped(), []);
  await site.run(2_000);
  assertEquals((await site.popped()).map((it) => it.text), ["m"]);
});

const BAD_ACKS: readonly (readonly [
  name: string,
  fields: Record<string, string>,
  code: number,
])[] = [
  ["topic", { topic: "U" }, ResponseCode.TOPIC_NOT_EXIST],
  ["queue", { queueId: "7" }, ResponseCode.MESSAGE_ILLEGAL],
  ["offset", { offset: "99" }, ResponseCode.NO_MESSAGE],
  ["handle", { extraInfo: "1 2 3" }, ResponseCode.MESSAGE_ILLEGAL],
  [
    "letters in a handle",
    { extraInfo: "0 x 1 0 0 b 0 0" },
    ResponseCode.MESSAGE_ILLEGAL,
  ],
  [
    "queue of the revive log",
    { extraInfo: "0 1 1 17 0 b 0 0" },
    ResponseCode.MESSAGE_ILLEGAL,
  ],
];

test("acknowledgements of what is not there are refused by name", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.send("m");
  const [it] = await site.popped();
  for (const [name, fields, code] of BAD_ACKS) {
    for (
      const request of [
        RequestCode.ACK_MESSAGE,
        RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
      ]
    ) {
      const answer = await site.call(request, {
        ...ackFields(it!),
        invisibleTime: "1000",
        ...fields,
      });
      assertEquals([name, answer.code], [name, code]);
      assert(answer.remark!.length > 10);
    }
  }
  assertEquals(await site.ack(it!), 0);
});

test("a group or a topic that is gone takes what it had in flight along", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.send("m");
  assertEquals((await site.popped({ invisibleTime: "1000" })).length, 1);
  site.parts.topicConfigManager.deleteTopicConfig(TOPIC);
  await site.run(2_000);
  assertEquals(site.pop.log.table.size, 0);
  assertEquals(site.pop.revive.counts.retries, 0);
});

test("retry topics of version 2 are written, and both are read", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.send("a");
  assertEquals((await site.popped({ invisibleTime: "1000" })).length, 1);
  await site.run(1_500);
  await site.stop();
  await site.start({ enableRetryTopicV2: true });
  await site.send("b");
  assertEquals((await site.popped({ maxMsgNums: "1" })).length, 1);
  await site.run(11_000);
  const v2 = `%RETRY%${GROUP}+${TOPIC}`;
  assertEquals(site.store.getMaxOffsetInQueue(v2, 0), 1);
  const both = await site.popAnswer();
  assertEquals(both.extFields["startOffsetInfo"], "2 0 0;1 0 0");
});
