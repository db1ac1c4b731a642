import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { findProperty } from "../../src/model/message_properties.ts";
import { TopicNames } from "../../src/model/topic_names.ts";
import { readConsumeQueueUnit } from "../../src/store/consume_queue_unit.ts";
import { bytesOf, put } from "../store/message_store_fixture.ts";
import {
  DELAY_OFFSET_JSON,
  PERSIST_INTERVAL_MS,
  ScheduleSite,
} from "./schedule_site.ts";

async function started(
  changes: Parameters<ScheduleSite["start"]>[0] = {},
): Promise<ScheduleSite> {
  const site = new ScheduleSite();
  await site.start(changes);
  return site;
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `m${index}`);

async function sendAll(
  site: ScheduleSite,
  texts: readonly string[],
  level: number,
): Promise<void> {
  for (const text of texts) await site.send(text, level);
}

test("ScheduleMessageShell delivers each level in order, when it is due", async () => {
  const site = await started();
  await sendAll(site, ["a5", "b5"], 2);
  await sendAll(site, ["a1", "b1"], 1);
  await site.run(900);
  assertEquals(await site.texts(), []);
  await site.run(200);
  assertEquals(await site.texts(), ["a1", "b1"]);
  await site.run(3_700);
  assertEquals(await site.texts(), ["a1", "b1"]);
  await site.run(300);
  assertEquals(await site.texts(), ["a1", "b1", "a5", "b5"]);
  assertEquals(site.puts, Array(4).fill(["T", "delay", 1]));
  assertEquals([...site.shell.offsets()], [[1, 2], [2, 2]]);
  await site.stop();
});

test("ScheduleMessageShell keeps what Apache keeps, and nothing waits for disk or slaves", async () => {
  const site = await started();
  const sent = await site.send("x", 1, {
    queueId: 2,
    flag: 7,
    reconsumeTimes: 3,
    bornTimestamp: 1_600_000_000_000,
    propertiesText:
      "TAGS\u0001TagA\u0002KEYS\u0001k\u0002DELAY\u00011\u0002TIMER_DELAY_SEC\u00019\u0002",
  });
  const [scheduled] = await site.messages(TopicNames.RMQ_SYS_SCHEDULE_TOPIC, 0);
  assertEquals(
    scheduled!.propertiesText,
    "TAGS\u0001TagA\u0002KEYS\u0001k\u0002DELAY\u00011\u0002REAL_TOPIC\u0001T\u0002REAL_QID\u00012\u0002",
  );
  await site.run(1_100);
  const [delivered] = await site.messages("T", 2);
  for (
    const field of [
      "flag",
      "sysFlag",
      "body",
      "bornTimestamp",
      "bornHost",
      "storeHost",
      "reconsumeTimes",
      "propertiesText",
    ] as const
  ) assertEquals(delivered![field], scheduled![field]);
  assertEquals(scheduled!.phyOffset, sent.phyOffset);
  assert(delivered!.storeTimestamp >= scheduled!.storeTimestamp + 1_000);
  assertEquals([delivered!.flag, delivered!.reconsumeTimes], [7, 3]);
  await site.stop();
});

test("DelayedMessages: the tags code of a unit is its delivery time, a level above the last is the last", async () => {
  const site = await started();
  const sent = await site.send("x", 1);
  const far = await site.send("y", 99);
  const path = (queueId: number) =>
    `/data/store/consumequeue/SCHEDULE_TOPIC_XXXX/${queueId}/00000000000000000000`;
  await site.run(100);
  for (
    const [queueId, { storeTimestamp }, delayMs] of [[0, sent, 1_000], [
      2,
      far,
      60_000,
    ]] as const
  ) {
    const bytes = site.disk.readFile(path(queueId));
    const unit = readConsumeQueueUnit(new DataView(bytes.buffer), 0);
    assertEquals(
      unit.tagsCodeHigh * 2 ** 32 + (unit.tagsCodeLow >>> 0),
      storeTimestamp + delayMs,
    );
  }
  const [last] = await site.messages(TopicNames.RMQ_SYS_SCHEDULE_TOPIC, 2);
  assertEquals(findProperty(last!.propertiesText, "DELAY"), "3");
  await site.stop();
});

test("ScheduleMessageShell after a clean stop repeats nothing, after kill -9 at most one interval [scenario 115]", async () => {
  const site = await started();
  const texts = numbered(300);
  for (const text of texts.slice(0, 200)) {
    await site.send(text, 1);
    await site.run(100);
  }
  await site.stop();
  await site.start();
  for (const text of texts.slice(200)) {
    await site.send(text, 1);
    await site.run(100);
  }
  const before = await site.texts();
  assertEquals(before, texts.slice(0, before.length));
  site.die();
  await site.start();
  await site.run(3_000);
  const after = await site.texts();
  const repeated = after.length - new Set(after).size;
  assertEquals(new Set(after), new Set(texts));
  // One message every 100 ms.
  assert(
    repeated > 0 && repeated <= PERSIST_INTERVAL_MS / 100 + 1,
    `${repeated}`,
  );
  await site.stop();
});

test("ScheduleMessageShell delivers what became due while the broker was down, in order, once [scenario 121]", async () => {
  const site = await started();
  const texts = numbered(100);
  await sendAll(site, texts, 2);
  await site.stop();
  await site.clock.run(60_000);
  await site.start();
  await site.run(1_000);
  assertEquals(await site.texts(), texts);
  await site.stop();
});

test("ScheduleMessageShell corrects an offset outside of its queue, once and in the file [scenarios 110, 114]", async () => {
  const site = await started();
  await sendAll(site, ["a", "b"], 1);
  await site.run(1_500);
  await site.stop();
  site.disk.plant(
    DELAY_OFFSET_JSON,
    bytesOf('{"offsetTable":{1:5000,7:3}}'.padEnd(400)),
  );
  await site.start();
  await site.run(300);
  const corrections = () =>
    site.logger.lines.filter((it) => it.includes("outside of its queue"));
  assertEquals(corrections().length, 1);
  assertEquals([...site.file.offsets()], [[1, 2], [7, 3]]);
  await site.stop();
  await site.start();
  await site.send("c", 1);
  await site.run(1_500);
  assertEquals(corrections().length, 1);
  assertEquals(await site.texts(), ["a", "b", "c"]);
  await site.stop();
});

test("ScheduleMessageShell tries again what could not be stored, without skipping or repeating [scenario 117]", async () => {
  const site = await started();
  const texts = numbered(1_000);
  await sendAll(site, texts, 1);
  site.failure = "SERVICE_NOT_AVAILABLE";
  await site.run(30_000);
  assertEquals(await site.texts(), []);
  // 100 ms at first, later every 5 s.
  assert(site.attempts > 5 && site.attempts < 15, `${site.attempts}`);
  site.failure = null;
  await site.run(6_000);
  assertEquals(await site.texts(), texts);
  const told = site.logger.lines.filter((it) => it.includes("delay level 1"));
  assertEquals(told.length, 2, told.join("\n"));
  assert(told[0]!.includes("SERVICE_NOT_AVAILABLE: a test says so"));
  assert(told[1]!.includes("delivered again"));
  await site.stop();
});

test("ScheduleMessageShell goes on behind what it stored before a failure", async () => {
  const site = await started();
  await sendAll(site, numbered(10), 1);
  site.failAt = 4;
  await site.run(1_000);
  assertEquals(await site.texts(), numbered(3));
  await site.run(6_000);
  assertEquals(await site.texts(), numbered(10));
  await site.stop();
});

test("ScheduleMessageShell: a clock that is set back costs one delay, and delivers nothing early [scenario 122]", async () => {
  const site = await started();
  await sendAll(site, ["a", "b", "c"], 2);
  await site.run(1_000);
  site.jumpedMs = -86_400_000;
  await site.send("d", 2);
  await site.run(4_900);
  assertEquals(await site.texts(), []);
  await site.run(300);
  assertEquals(await site.texts(), ["a", "b", "c", "d"]);
  site.jumpedMs = 86_400_000;
  await site.send("e", 2);
  await site.run(4_800);
  assertEquals((await site.texts()).length, 4);
  await site.run(300);
  assertEquals((await site.texts()).length, 5);
  await site.stop();
});

test("ScheduleMessageShell delivers levels that messageDelayLevel has lost or made shorter", async () => {
  const site = await started();
  await site.send("minute", 3);
  await site.send("five", 2);
  await site.stop();
  await site.start({ messageDelayLevel: "1s 2s" });
  await site.run(2_300);
  assertEquals(await site.texts(), ["five"]);
  await site.run(58_000);
  assertEquals(await site.texts(), ["five", "minute"]);
  await site.stop();
});

test("ScheduleMessageShell delivers only while this broker may take messages", async () => {
  const site = await started();
  await site.send("x", 1);
  site.isMaster = false;
  await site.run(2_000);
  assertEquals([...site.shell.offsets()], []);
  site.isMaster = true;
  site.mayDeliver = false;
  await site.run(2_000);
  assertEquals(await site.texts(), []);
  site.mayDeliver = true;
  await site.run(200);
  assertEquals(await site.texts(), ["x"]);
  await site.send("y", 1);
  assert(site.shell.isChanged);
  site.shell.hold();
  await site.run(1_500);
  assert(!site.shell.isChanged);
  assertEquals([...site.file.offsets()], [[1, 1]]);
  assertEquals(await site.texts(), ["x"]);
  site.shell.release();
  await site.run(200);
  assertEquals(await site.texts(), ["x", "y"]);
  await site.stop();
});

test("ScheduleMessageShell works in short turns, and no level waits for another's backlog", async () => {
  const site = await started();
  await sendAll(site, numbered(3_000), 1);
  await site.send("other", 2, { queueId: 1 });
  await site.clock.run(6_000);
  site.store.tick(site.wall.nowMs());
  site.shell.tick();
  const inOneTurn = site.attempts;
  assert(inOneTurn > 100 && inOneTurn < 1_100, `${inOneTurn}`);
  assertEquals(await site.texts("T", 1), ["other"]);
  await site.run(200);
  assertEquals(await site.texts(), numbered(3_000));
  await site.stop();
  assertEquals(site.clock.timerCount, 0);
});

test("ScheduleMessageShell reads old records off the loop, in order", async () => {
  const site = await started({ hotReadBytesMax: 0 });
  await sendAll(site, numbered(300), 1);
  await site.run(3_000);
  assertEquals(await site.texts(), numbered(300));
  await site.stop();
});

test("ScheduleMessageShell says what it can never deliver, and goes on", async () => {
  const site = await started();
  for (
    const properties of [
      "A\u0001b\u0002",
      "REAL_TOPIC\u0001T\u0002REAL_QID\u0001x\u0002",
    ]
  ) {
    put(site.store, {
      topic: TopicNames.RMQ_SYS_SCHEDULE_TOPIC,
      queueId: 0,
      propertiesText: properties,
    });
  }
  await site.send("half", 1, { topic: "RMQ_SYS_TRANS_HALF_TOPIC" });
  await site.send("gone", 1, { topic: "G" });
  await site.send("good", 1);
  await site.run(1_200);
  assertEquals(await site.texts(), ["good"]);
  assertEquals(await site.texts("G"), ["gone"]);
  const lines = site.logger.lines.filter((it) => it.includes("not delivered"));
  assertEquals(lines.length, 3, lines.join("\n"));
  const missing = site.logger.lines.filter((it) => it.includes("topic G"));
  assertEquals(missing.length, 1);
  await site.stop();
});

test("ScheduleMessageShell warns of delays as long as log files are kept", async () => {
  const site = await started({ messageDelayLevel: "1s 3d" });
  await site.run(100);
  assert(site.logger.lines.some((it) => it.includes("fileReservedTime")));
  await site.stop();
});
