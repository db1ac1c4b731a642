import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { REVIVE_GROUP } from "../../../src/broker/pop/pop_names.ts";
import { reviveTopicOf } from "../../../src/model/topic_names.ts";
import { GROUP, PopSite, TOPIC } from "./pop_site.ts";

const REVIVE_TOPIC = reviveTopicOf("DefaultCluster");

for (const isPowerCut of [false, true]) {
  test(`after ${isPowerCut ? "a power cut" : "kill -9"} POP goes on where it was`, async () => {
    const site = new PopSite();
    await site.start();
    site.createTopicAndGroup(2);
    await site.clock.complete(site.parts.persist());
    for (let i = 0; i < 6; i++) await site.send(`m${i}`, { queueId: i % 2 });
    const first = await site.popped({ maxMsgNums: "4" });
    for (const it of first.slice(0, 2)) assertEquals(await site.ack(it), 0);
    // The log is flushed by now, the positions are not written.
    await site.run(1_000);
    site.die(isPowerCut);
    await site.start();
    const rest = await site.popped();
    assertEquals(rest.length, 2);
    for (const it of rest) assertEquals(await site.ack(it), 0);
    await site.run(10_000);
    const again = await site.popped();
    assertEquals(
      again.map((it) => [it.text, it.reconsumeTimes]),
      first.slice(2).map((it) => [it.text, 1]),
    );
  });
}

test("handles outlive the process", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.clock.complete(site.parts.persist());
  for (let i = 0; i < 2; i++) await site.send(`m${i}`);
  const [a, b] = await site.popped();
  site.die();
  await site.start();
  assertEquals(await site.ack(a!), 0);
  assertEquals((await site.changeInvisibleTime(b!, 30_000)).code, 0);
  site.die();
  await site.start();
  await site.run(29_000);
  assertEquals(await site.popped(), []);
  await site.run(2_000);
  assertEquals((await site.popped()).map((it) => it.text), ["m1"]);
});

test("what was revived before a crash is not revived once more", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  await site.clock.complete(site.parts.persist());
  await site.send("m");
  await site.popped({ invisibleTime: "1000" });
  await site.run(1_500);
  assertEquals(site.pop.revive.counts.retries, 1);
  site.die();
  await site.start();
  await site.run(5_000);
  assertEquals(site.pop.revive.counts.retries, 0);
  assertEquals((await site.popped()).map((it) => it.text), ["m"]);
});

test("a position that was set back is not set forward by a restart", async () => {
  const site = new PopSite();
  await site.start();
  site.createTopicAndGroup(1);
  for (let i = 0; i < 3; i++) await site.send(`m${i}`);
  for (const it of await site.popped()) await site.ack(it);
  site.parts.consumerOffsetManager.commitOffset("test", GROUP, TOPIC, 0, 1);
  await site.run(100);
  site.die();
  await site.start();
  assertEquals((await site.popped()).map((it) => it.text), ["m1", "m2"]);
});

test("the revive log is read from the first record that is needed, and positions follow", async () => {
  const site = new PopSite();
  await site.start({ reviveQueueNum: 1 });
  site.createTopicAndGroup(1);
  for (let i = 0; i < 4; i++) {
    await site.send(`m${i}`);
    for (const it of await site.popped()) assertEquals(await site.ack(it), 0);
  }
  const query = () =>
    site.parts.consumerOffsetManager.queryOffset(REVIVE_GROUP, REVIVE_TOPIC, 0);
  await site.run(30_000);
  // Four check points and four acknowledgements: the last record that is done.
  assertEquals(site.store.getMaxOffsetInQueue(REVIVE_TOPIC, 0), 8);
  assertEquals(query(), 7);
  await site.send("open");
  assertEquals((await site.popped({ invisibleTime: "99000" })).length, 1);
  await site.run(30_000);
  assertEquals(query(), 7);
  await site.stop();
  await site.start();
  await site.run(100);
  assertEquals(site.pop.log.table.inFlightCount, 1);
});

test("a lasting check point does not keep the revive log from being done", async () => {
  const site = new PopSite();
  await site.start({ reviveQueueNum: 1 });
  site.createTopicAndGroup(1);
  await site.send("long");
  assertEquals((await site.popped({ invisibleTime: "90000000" })).length, 1);
  const { log } = site.pop;
  const done = {
    topic: TOPIC,
    group: GROUP,
    queueId: 0,
    startOffset: 0,
    popTime: 1,
    brokerName: "broker-a",
    offsets: [0],
  };
  for (let i = 0; i < 1_002; i++) {
    void log.putAck(done, 0, 1, false);
    if (i % 100 === 0) await site.run(0);
  }
  await site.run(100);
  const oldest = log.table.oldest(0)!;
  assertEquals(oldest.reviveOffset, 1_003);
  assertEquals(log.queues()[0]!.floor, 1_003);
  site.die();
  await site.start();
  await site.run(100);
  assertEquals(site.pop.log.table.inFlightCount, 1);
});
