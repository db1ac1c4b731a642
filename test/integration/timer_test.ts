/** Timer messages of the executable: over a stop and over kill -9, and taken back. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { withSite } from "../support/site.ts";
import {
  deliveredTimers,
  recallTimer,
  sendTimers,
} from "../support/timer_messages.ts";

const TOPIC = "TimerTopic";
const COUNT = 1_000;
const ARGS = ["--set", "recallMessageEnable=true"];

test("timers over a stop and kill -9: each once it is due, none lost, none that was recalled", async () => {
  await withSite(async (site) => {
    const made = await site.run("topic", "create", TOPIC, "--queues", "1");
    assertEquals(made.code, 0, made.stderr);
    const delays = Array.from(
      { length: COUNT },
      (_, at) => 1_500 + (at * 7_919) % 4_000,
    );
    const handles = await sendTimers(site.broker, TOPIC, "m", delays);
    const last = await sendTimers(site.broker, TOPIC, "far", [
      5_400,
      3_600_000,
    ]);
    assertEquals(await recallTimer(site.broker, TOPIC, last[0]!), 0);
    assertEquals(await recallTimer(site.broker, "None", handles[0]!), 17);
    await site.restart();
    const seen = () => deliveredTimers(site.broker, TOPIC);
    await eventually(async () => (await seen()).length > COUNT / 4, {
      timeoutMs: 20_000,
    });
    const beforeKill = await seen();
    assertEquals(
      beforeKill.length,
      new Set(beforeKill.map((it) => it.body)).size,
      "a clean stop repeats none",
    );
    await site.restart("SIGKILL");
    const isDone = async () =>
      new Set((await seen()).map((it) => it.body)).size === COUNT;
    await eventually(isDone, { timeoutMs: 20_000 });
    const all = await seen();
    assertEquals(all.filter((it) => it.storeTimestamp < it.dueMs), []);
    assertEquals(all.filter((it) => it.body.startsWith("far")), []);
    assert(all.length <= 2 * COUNT, `${all.length}`);
    // In time, but for those that were due while the broker was away.
    const late = all.map((it) => it.storeTimestamp - it.dueMs)
      .sort((a, b) => a - b);
    console.log(
      `${all.length} deliveries, ms late: ${
        late[Math.floor(late.length / 2)]
      } in the middle`,
    );
  }, ARGS);
});
