/** What a broker with timer messages tells a scrape and its admin port. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { unreadForMs } from "../../src/broker/timer/timer_unread.ts";
import {
  timerMetrics,
  timersView,
} from "../../src/cli/facade_timer_metrics.ts";
import { FileError } from "../../src/io/file_system.ts";
import { startMaster, startSlave, stopAll } from "../ha/pair_site.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

/** Born long ago: `send` says 1700000000000. */
async function sendTimed(
  address: string,
  properties: readonly string[],
): Promise<void> {
  const client = await RawClient.open(address);
  for (const it of properties) {
    const { code, remark } = await client.send(
      "T",
      0,
      new Uint8Array(3),
      it,
    );
    assertEquals(code, 0, remark ?? "");
  }
  client.close();
}

const timed = (key: string, value: number) => `${key}\u0001${value}\u0002`;

test("timer messages are counted by topic and by the time until they are due", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/a`);
    const { controller } = master;
    await sendTimed(master.address, [
      timed("TIMER_DELAY_MS", 50),
      timed("TIMER_DELAY_SEC", 40),
      timed("TIMER_DELAY_SEC", 41),
      timed("TIMER_DELAY_SEC", 7_200),
      timed("TIMER_DELAY_SEC", 172_800),
    ]);
    await eventually(() => {
      const view = timersView(controller);
      return view?.deliveredTotal === 1 && view.unread === 0;
    });
    const nowMs = Date.now();
    const { delivery, dequeued, enqueued, timing, waitsS } = await timerMetrics(
      controller,
      nowMs,
    );
    assertEquals([...timing], [["T", 4]]);
    assertEquals([...enqueued], [["T", 5]]);
    assertEquals([...dequeued], [["T", 1]]);
    assertEquals(Array.from(waitsS.get("T")!.counts), [0, 0, 0, 0, 0, 0, 5]);
    assert(waitsS.get("T")!.sum > 5 * (nowMs / 1_000 - 1_700_000_001));
    assertEquals(delivery, {
      unreadCount: 0,
      unreadMs: 0,
      pendingCount: 4,
      overdueSeconds: 0,
      dueWithin: [5, 60, 300, 900, 3_600, 14_400, 28_800, 86_400].map((it) => ({
        boundSeconds: it,
        count: it === 60 ? 2 : it === 14_400 ? 1 : 0,
      })),
    });
    const late = await timerMetrics(controller, nowMs + 100_500);
    assert(late.delivery!.overdueSeconds >= 59, "since the first one was due");
    const view = timersView(controller)!;
    const restMs = view.nextDueTimestamp! - nowMs;
    assert(restMs > 0 && restMs <= 40_000, `${restMs}`);
    assertEquals({ ...view, nextDueTimestamp: 0, lastLatenessMs: 0 }, {
      pending: 4,
      unread: 0,
      nextDueTimestamp: 0,
      enqueuedTotal: 5,
      deliveredTotal: 1,
      lastLatenessMs: 0,
      lost: 0,
    });
    // One that were not read yet would have waited since it was stored.
    const { timers } = controller.messageStore.delayedMessages;
    const waited = await unreadForMs(timers, 0, nowMs + 60_000);
    assert(waited! >= 60_000 && waited! < 120_000, `${waited}`);
    assertEquals(await unreadForMs(timers, 5, nowMs), 0);
    await stopAll(master);
  }));

test("a slave has no timers of its own, nor has a broker without them", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/a`, {
      broker: { timerWheelEnable: false },
    });
    const slave = await startSlave(`${folder}/b`, master);
    for (const { controller } of [master, slave]) {
      assertEquals(timersView(controller), null);
      assertEquals((await timerMetrics(controller, 0)).delivery, null);
    }
    await stopAll(slave, master);
  }));

test("how long a message was not read is unknown while the device fails", async () => {
  const failing = {
    readRecords: () => Promise.reject(new Error("not asked")),
    readUnits: () => Promise.reject(new FileError("EIO", "io", "/q")),
  };
  assertEquals(await unreadForMs(failing, 0, 1), null);
});
