/** Timer messages on a simulated disk, under a clock that is set (scenarios 120, 121). */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { findProperty } from "../../../src/model/message_properties.ts";
import { brokerInner } from "../../model/message_fixture.ts";
import { ROOT } from "../../store/message_store_fixture.ts";
import { latenessMs, TimerSite } from "./timer_site.ts";

const DELAY_MS = 30 * 3_600_000;
const HOUR_MS = 3_600_000;
const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => `m${at}`);

test("TimerMessageShell delivers to the millisecond, in the order of time", async () => {
  const site = new TimerSite();
  await site.start();
  await site.run(100);
  const delays = [1, 999, 1_000, 1_001, 350, 2_500, 37, 2_500];
  for (const [index, delay] of delays.entries()) {
    await site.send(`m${index}`, delay);
  }
  await site.run(3_000);
  const messages = await site.messages();
  assertEquals(
    await site.texts(),
    ["m0", "m6", "m4", "m1", "m2", "m3", "m5", "m7"],
  );
  assertEquals(messages.filter((it) => latenessMs(it) > 1), []);
  assertEquals(messages.filter((it) => latenessMs(it) < 0), []);
  const property = (name: string) =>
    findProperty(messages[3]!.propertiesText, name);
  assertEquals([property("TAGS"), property("REAL_TOPIC")], ["TagA", "T"]);
  assertEquals(
    property("TIMER_DEQUEUE_MS"),
    String(messages[3]!.storeTimestamp),
  );
  const waited = Number(property("TIMER_OUT_MS")) + 1 -
    Number(property("TIMER_ENQUEUE_MS"));
  assertEquals(waited, 999);
  await site.stop();
});

test("TimerMessageShell goes on after stops and a long sleep, and repeats nothing", async () => {
  const site = new TimerSite();
  await site.start();
  for (let at = 0; at < 50; at++) await site.send(`m${at}`, 100 * (at + 1));
  await site.run(2_000);
  await site.stop();
  await site.start();
  await site.run(1_000);
  await site.stop();
  assertEquals(site.disk.stat(`${ROOT}/config/timercheck`)?.size, 4_096);
  // Down while the rest comes due.
  await site.clock.run(60_000);
  await site.start();
  await site.run(300);
  assertEquals(await site.texts(), numbered(50));
  await site.stop();
});

test("TimerMessageShell: a clock set forward delivers at once, one set back never early", async () => {
  const site = new TimerSite();
  await site.start();
  await site.send("far", 2 * HOUR_MS);
  await site.run(500);
  assertEquals(await site.texts(), []);
  site.jumpedMs = 3 * HOUR_MS;
  await site.run(300);
  assertEquals(await site.texts(), ["far"]);
  site.jumpedMs = 0;
  await site.send("near", 1_000);
  await site.run(800);
  assertEquals(await site.texts(), ["far"]);
  await site.run(400);
  assertEquals(await site.texts(), ["far", "near"]);
  // What comes behind those that are done is known after a stop as well.
  await site.send("behind", 2_000);
  await site.run(500);
  await site.stop();
  await site.start();
  await site.run(500);
  assertEquals(await site.texts(), ["far", "near"]);
  await site.run(1_500);
  assertEquals(await site.texts(), ["far", "near", "behind"]);
  await site.stop();
});

test("TimerMessageShell: what cannot be stored waits, and is stored once", async () => {
  const site = new TimerSite();
  await site.start();
  for (let at = 0; at < 5; at++) await site.send(`m${at}`, 100);
  site.failure = "OS_PAGE_CACHE_BUSY";
  await site.run(2_000);
  assertEquals(await site.texts(), []);
  site.failure = null;
  await site.run(6_000);
  assertEquals(await site.texts(), numbered(5));
  await site.stop();
});

test("TimerMessageShell: records without a time or a topic are passed over", async () => {
  const site = new TimerSite();
  await site.start();
  const raw = (propertiesText: string) =>
    site.clock.complete(
      site.store.putMessage(brokerInner({
        topic: "rmq_sys_wheel_timer",
        queueId: 0,
        propertiesText,
      })),
    );
  const out = `TIMER_OUT_MS\u0001${site.wall.nowMs() + 99}\u0002`;
  await raw("");
  await raw("TIMER_OUT_MS\u0001abc\u0002REAL_TOPIC\u0001T\u0002");
  await raw("TIMER_OUT_MS\u00019223372036854775807\u0002");
  await raw(`${out}REAL_TOPIC\u0001T\u0002`);
  await raw(`${out}REAL_TOPIC\u0001T\u0002REAL_QID\u0001x\u0002`);
  await site.send("good", 100);
  await site.run(500);
  assertEquals(await site.texts(), ["good"]);
  const told = site.logger.lines.filter((it) =>
    it.includes("is not delivered")
  );
  assertEquals(told.length, 5, told.join("\n"));
  await site.stop();
});

test("TimerMessageShell: a recalled message is not delivered, also over a kill and a roll", async () => {
  const site = new TimerSite();
  site.timerRollWindowSlot = 3_600;
  await site.start();
  const dueMs = site.wall.nowMs() + 2 * HOUR_MS;
  for (const text of ["a", "b", "c"]) await site.sendAt(text, dueMs);
  await site.run(200);
  await site.recall("a", dueMs);
  await site.run(1_500);
  site.die();
  await site.start();
  await site.run(200);
  site.jumpedMs = HOUR_MS + 100_000;
  await site.run(61_000);
  assertEquals(site.store.getMaxOffsetInQueue("rmq_sys_wheel_timer", 0), 8);
  await site.recall("b", dueMs);
  site.jumpedMs = 2 * HOUR_MS - 100_000;
  await site.run(30_000);
  await site.stop();
  await site.start();
  await site.run(100_000);
  assertEquals(await site.texts(), ["c"]);
  await site.stop();
});

test("TimerMessageShell: what waits longer than log files are kept is put again and delivered once", async () => {
  const site = new TimerSite();
  await site.start({ fileReservedTime: 8, mappedFileSizeCommitLog: 8_192 });
  for (let at = 0; at < 30; at++) await site.send(`m${at}`, DELAY_MS + at);
  const firstEnd = site.store.maxPhyOffset;
  const mine = async () =>
    (await site.texts()).filter((it) => it.startsWith("m"));
  const dueMs = site.wall.nowMs() + DELAY_MS;
  while (site.wall.nowMs() < dueMs - HOUR_MS) {
    await site.clock.run(HOUR_MS - 60_000);
    // Traffic that lets files end, so that old ones go.
    for (let at = 0; at < 5; at++) {
      await site.send("x", 10, { body: new Uint8Array(1_900) });
    }
    // Rolls and old files are looked for.
    await site.run(60_000, 20_000);
  }
  assert(site.store.minPhyOffset > firstEnd, "the first files are still here");
  assertEquals(await mine(), []);
  await site.run(dueMs - site.wall.nowMs() + 1_000, 60_000);
  assertEquals(await mine(), numbered(30));
  const last = (await site.messages()).at(-1)!;
  const rolls = findProperty(last.propertiesText, "TIMER_ROLL_TIMES");
  assert(Number(rolls) >= 3, last.propertiesText);
  assertEquals(
    site.logger.lines.filter((it) => it.includes("not delivered")),
    [],
  );
  await site.stop();
});
