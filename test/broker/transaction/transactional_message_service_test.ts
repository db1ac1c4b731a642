import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { TopicNames } from "../../../src/model/topic_names.ts";
import { brokerInner } from "../../model/message_fixture.ts";
import { put } from "../../store/message_store_fixture.ts";
import { COMMIT, ROLLBACK, TransactionSite } from "./transaction_site.ts";

const HALF = TopicNames.RMQ_SYS_TRANS_HALF_TOPIC;
const OP = TopicNames.RMQ_SYS_TRANS_OP_HALF_TOPIC;

test("TransactionalMessageService delivers what is committed, and only that", async () => {
  const site = await TransactionSite.open();
  const [first, second, third] = [site.send(), site.send(), site.send()];
  assertEquals(site.keys(), []);
  assertEquals(await site.end(first, COMMIT), 0);
  assertEquals(await site.end(second, ROLLBACK), 0);
  const [message] = site.messages("T", 1);
  assertEquals(site.keys(), [first.key]);
  assertEquals(message!.sysFlag & 0xc, COMMIT);
  assertEquals(message!.preparedTransactionOffset, first.commitLogOffset);
  // 4.9 reads one offset without a separator, and nothing else.
  const ops = site.messages(OP, 0).map((it) =>
    new TextDecoder().decode(it.body)
  );
  assertEquals(ops, ["0", "1"]);
  // Twice is once.
  assertEquals(await site.end(first, COMMIT, true), 0);
  const both = [site.end(third, COMMIT), site.end(third, COMMIT, true)];
  assertEquals(await Promise.all(both), [0, 0]);
  assertEquals(site.keys(), [first.key, third.key]);
  // Counted once each, however often an end comes.
  const [counted] = site.service.stats.topics;
  assertEquals([counted!.committed, counted!.rolledBack], [2, 1]);
  assertEquals(counted!.latencyS.counts.reduce((sum, it) => sum + it, 0), 2);
  assertEquals(site.committed.map(([topic]) => topic), ["T", "T"]);
  await site.check();
  assertEquals(site.offsets(), [3, 3]);
  await site.close();
});

test("TransactionalMessageService refuses ends that fit no half message", async () => {
  const site = await TransactionSite.open();
  const sent = site.send();
  const wrong = { ...sent, tranStateTableOffset: 7 };
  assertEquals(await site.end(wrong, COMMIT), 1);
  const nowhere = { ...sent, commitLogOffset: 1_000_000 };
  assertEquals(await site.end(nowhere, COMMIT), 1);
  const ordinary = put(site.messageStore, brokerInner({ topic: "T" }));
  const other = {
    commitLogOffset: ordinary.phyOffset,
    tranStateTableOffset: ordinary.queueOffset,
  };
  assertEquals(await site.end(other, COMMIT), 1);
  site.topics.table.delete("T");
  assertEquals(await site.end(sent, COMMIT), 17);
  assertEquals(site.keys(), []);
  await site.close();
});

test("Only half messages that nobody ended are checked [scenario 124]", async () => {
  const site = await TransactionSite.open();
  const all = Array.from({ length: 1_000 }, () => site.send());
  for (const [at, it] of all.entries()) {
    if (at % 2 === 0) await site.end(it, at % 4 === 0 ? COMMIT : ROLLBACK);
  }
  await site.check(5_000);
  assertEquals(site.asked(), []);
  await site.check(2_000);
  const open = all.filter((_, at) => at % 2 === 1).map((it) => it.key);
  const asked = site.asked();
  assertEquals(asked.map((it) => it.key), open);
  const { record } = asked[0]!;
  assertEquals([record.topic, record.queueId], ["T", 1]);
  for (const it of asked) assertEquals(await site.end(it, COMMIT, true), 0);
  await site.check();
  assertEquals(site.asked(), []);
  assertEquals(site.keys().length, 750);
  assertEquals(site.offsets(), [1_500, 1_000]);
  await site.close();
});

test("A restart forgets no end, and checks what was open", async () => {
  const site = await TransactionSite.open();
  const all = Array.from({ length: 40 }, () => site.send());
  for (const it of all.slice(1, 30)) await site.end(it, COMMIT);
  // The first one holds the front: the others are settled behind it.
  await site.check();
  assertEquals(site.offsets(), [0, 0]);
  await site.restart();
  await site.check(7_000);
  const asked = site.asked();
  const open = [all[0]!, ...all.slice(30)].map((it) => it.key);
  assertEquals(asked.map((it) => it.key), open);
  await site.restart();
  // The end names the first copy, or the original: both are the same message.
  assertEquals(await site.end(asked[0]!, COMMIT, true), 0);
  assertEquals(await site.end(all[0]!, COMMIT), 0);
  assertEquals(await site.end(all[30]!, ROLLBACK), 0);
  await site.restart();
  await site.check();
  assertEquals(site.asked().map((it) => it.key), open.slice(2));
  assertEquals(site.keys().length, 30);
  await site.close();
});

test("Whatever its immunity, each is checked or put aside in the end [scenario 125]", async () => {
  const immunities = ["1", "60", "600", "soon", "-1", "1.5"];
  const site = await TransactionSite.open();
  const sent = immunities.map((it) =>
    site.send({ CHECK_IMMUNITY_TIME_IN_SECONDS: it })
  );
  const firstCheckMs = new Map<string, number>();
  const bornMs = site.nowMs;
  for (let round = 0; round < 90; round++) {
    await site.check(10_000);
    if (round === 30) await site.restart();
    for (const it of site.asked()) {
      if (!firstCheckMs.has(it.key)) {
        firstCheckMs.set(it.key, site.nowMs - bornMs);
      }
    }
  }
  assertEquals(sent.map((it) => firstCheckMs.get(it.key)! / 1_000), [
    10,
    70,
    610,
    10,
    10,
    10,
  ]);
  assertEquals(site.discarded.sort(), sent.map((it) => it.key).sort());
  await site.check();
  const [half, op] = site.offsets();
  assertEquals(half, site.messageStore.getMaxOffsetInQueue(HALF, 0));
  assertEquals(op, site.messageStore.getMaxOffsetInQueue(OP, 0));
  // A late end still counts.
  assertEquals(await site.end(sent[0]!, COMMIT, true), 0);
  assertEquals(site.keys(), [sent[0]!.key]);
  await site.close();
});

test("The count rises with a check that was sent, and with nothing else [scenario 126]", async () => {
  const site = await TransactionSite.open();
  const immune = site.send({ CHECK_IMMUNITY_TIME_IN_SECONDS: "600" });
  const orphan = site.send();
  site.hasProducer = false;
  for (let round = 0; round < 60; round++) await site.check(1_000);
  site.hasProducer = true;
  for (let round = 0; round < 3; round++) await site.check(1_000);
  const times = site.asked().map((it) => [it.key, it.checkTimes]);
  assertEquals(times, [1, 2, 3].map((it) => [orphan.key, it]));
  for (let round = 0; round < 60; round++) await site.check(1_000);
  assertEquals(site.asked().map((it) => it.checkTimes).at(-1), 15);
  assertEquals(site.discarded, [orphan.key]);
  await site.check(600_000);
  const asked = site.asked();
  assertEquals(asked.map((it) => [it.key, it.checkTimes]), [[immune.key, 1]]);
  // Nothing was copied while it waited.
  assertEquals(site.messages(HALF, 0).length, 2 + 15 + 1);
  await site.close();
});

test("What is no half message is put aside and holds up nobody [scenario 127]", async () => {
  const site = await TransactionSite.open();
  for (let count = 0; count < 500; count++) site.send();
  put(
    site.messageStore,
    brokerInner({
      topic: HALF,
      queueId: 0,
      propertiesText: "UNIQ_KEY\u0001odd\u0002REAL_TOPIC\u0001T\u0002",
    }),
  );
  for (let count = 0; count < 500; count++) site.send();
  await site.check(7_000);
  const asked = site.asked();
  assertEquals(asked.length, 1_000);
  for (const it of asked) await site.end(it, ROLLBACK, true);
  await site.check();
  assertEquals(site.discarded, ["odd"]);
  assertEquals(site.offsets(), [2_001, 1_001]);
  assert(site.store.logger.lines.some((it) => it.includes("put aside")));
  await site.close();
});

test("What was given up is checked again when an operator says so [scenario 129]", async () => {
  const site = await TransactionSite.open();
  site.options.transactionCheckMax = 2;
  const sent = site.send();
  for (let round = 0; round < 4; round++) await site.check(7_000);
  assertEquals(site.asked().length, 2);
  assertEquals(site.discarded, [sent.key]);
  const [given] = site.messages(
    TopicNames.RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
    0,
  );
  assertEquals((await site.service.resume(given!.phyOffset)).code, 0);
  assertEquals((await site.service.resume(sent.commitLogOffset)).code, 1);
  assertEquals(site.keys(), []);
  await site.check(7_000);
  const [asked] = site.asked();
  assertEquals([asked!.key, asked!.checkTimes], [sent.key, 1]);
  assertEquals(await site.end(asked!, COMMIT, true), 0);
  assertEquals(site.keys(), [sent.key]);
  await site.close();
});

test("An end that comes by itself after the immunity it asked for is refused with 604", async () => {
  const site = await TransactionSite.open();
  const sent = site.send({ CHECK_IMMUNITY_TIME_IN_SECONDS: "10" });
  await site.store.pass(site.messageStore, 10_100);
  assertEquals(await site.end(sent, COMMIT), 604);
  assertEquals(await site.end(sent, COMMIT, true), 0);
  assertEquals(site.keys(), [sent.key]);
  await site.close();
});

test("Nothing is checked while nothing may change, nor before its time", async () => {
  const site = await TransactionSite.open();
  site.send();
  site.isWritable = false;
  await site.check(7_000);
  assertEquals(site.asked(), []);
  site.service.tick(site.store.clock.monotonicMs() + 60_000);
  site.isWritable = true;
  await site.service.stop();
  await site.check();
  assertEquals(site.asked(), []);
  await site.messageStore.shutdown();
});
