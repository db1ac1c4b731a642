/** Timer messages of stock Java clients, over kill -9. */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { withSite } from "../support/site.ts";
import {
  type DeliveredTimer,
  deliveredTimers,
} from "../support/timer_messages.ts";
import { runDriver } from "./java.ts";
import { ROCKETMQ_VERSIONS } from "./versions.ts";

const COUNT = 20;
const TOPIC = "TimerTopic";

const isTimed = (it: DeliveredTimer) =>
  it.properties.includes("TIMER_OUT_MS\u0001");
const early = (all: readonly DeliveredTimer[]) =>
  all.filter((it) => it.storeTimestamp < it.dueMs);

for (const version of ROCKETMQ_VERSIONS) {
  test(`timers of the Java client ${version} come when they are due, over kill -9`, () =>
    withSite(async (site) => {
      const made = await site.run("topic", "create", TOPIC, "--queues", "1");
      assertEquals(made.code, 0, made.stderr);
      const done = await runDriver(version, [
        "specials",
        `namesrv=${site.namesrv}`,
        `topic=${TOPIC}`,
        `count=${COUNT}`,
        "timers=1",
      ], site.folder);
      assertEquals(done.result, { ok: 3 * COUNT, faults: 0 }, done.output);
      await site.restart("SIGKILL");
      const timed = async () =>
        (await deliveredTimers(site.broker, TOPIC)).filter(isTimed);
      const bodies = async () =>
        new Set((await timed()).map((it) => it.body)).size;
      await eventually(async () => await bodies() === COUNT, {
        timeoutMs: 30_000,
      });
      assertEquals(early(await timed()), []);
    }));
}
