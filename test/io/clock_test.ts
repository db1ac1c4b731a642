import { assertEquals, assertGreaterOrEqual, assertLess } from "@std/assert";
import { describe, it } from "node:test";
import type { Clock } from "../../src/io/clock.ts";
import { SimClock } from "../sim/sim_clock.ts";
import { eventually } from "../support/eventually.ts";
import { openRuntime } from "#runtime";

interface ClockRig {
  readonly clock: Clock;
  until(condition: () => boolean): Promise<void>;
}

function simulatedRig(): ClockRig {
  const clock = new SimClock();
  return { clock, until: (condition) => clock.until(condition, 10_000) };
}

const CLOCKS: Record<string, () => ClockRig> = {
  runtime: () => ({
    clock: openRuntime().clock,
    until: async (condition) => void await eventually(condition),
  }),
  simulated: simulatedRig,
};

const STORIES: Record<string, (rig: ClockRig) => Promise<void>> = {
  async "after() fires once, not before its time"({ clock, until }) {
    const startMs = clock.monotonicMs();
    let firedMs = 0;
    let count = 0;
    clock.after(5, () => {
      count++;
      firedMs = clock.monotonicMs();
    });
    assertEquals(count, 0);
    await until(() => count > 0);
    assertGreaterOrEqual(firedMs - startMs, 4); // Timers count whole ms.
    let isLater = false;
    clock.after(15, () => isLater = true);
    await until(() => isLater);
    assertEquals(count, 1);
  },

  async "every() fires again and again until it is cancelled"(
    { clock, until },
  ) {
    let count = 0;
    const timer = clock.every(2, () => count++);
    await until(() => count >= 3);
    timer.cancel();
    timer.cancel();
    const atCancel = count;
    let isLater = false;
    clock.after(10, () => isLater = true);
    await until(() => isLater);
    assertEquals(count, atCancel);
  },

  async "a timer may be cancelled before, in and after its moment"(
    { clock, until },
  ) {
    let fired = "";
    clock.after(1, () => fired += "never").cancel();
    const own = clock.every(1, () => {
      fired += "own";
      own.cancel();
    });
    const late = clock.after(1, () => fired += "late");
    let isLater = false;
    clock.after(10, () => isLater = true);
    await until(() => isLater);
    late.cancel();
    assertEquals(fired, "ownlate");
  },

  async "a far timer does not fire at once"({ clock, until }) {
    let hasFired = false;
    const timer = clock.after(2 ** 31 + 5, () => hasFired = true);
    let isLater = false;
    clock.after(5, () => isLater = true);
    await until(() => isLater);
    timer.cancel();
    assertEquals(hasFired, false);
  },

  "nowMs() is whole milliseconds since 1970, monotonicMs() never falls"(
    { clock },
  ) {
    const nowMs = clock.nowMs();
    assertEquals(nowMs, Math.floor(nowMs));
    assertGreaterOrEqual(nowMs, Date.UTC(2024, 0));
    const first = clock.monotonicMs();
    assertGreaterOrEqual(clock.monotonicMs(), first);
    return Promise.resolve();
  },
};

for (const [name, makeRig] of Object.entries(CLOCKS)) {
  describe(`Clock (${name})`, () => {
    for (const [title, story] of Object.entries(STORIES)) {
      it(title, () => story(makeRig()));
    }
  });
}

describe("SimClock", () => {
  it("advance() fires what is due, in order, each at its moment", () => {
    const clock = new SimClock(1000);
    const seen: string[] = [];
    clock.every(10, () => seen.push(`every ${clock.nowMs()}`));
    clock.after(20, () => seen.push(`after ${clock.nowMs()}`));
    clock.after(5, () => {
      clock.after(3, () => seen.push(`inner ${clock.nowMs()}`));
    });
    clock.advance(20);
    assertEquals(seen, [
      "inner 1008",
      "every 1010",
      "every 1020",
      "after 1020",
    ]);
    assertEquals(clock.nowMs(), 1020);
    assertEquals(clock.timerCount, 1);
  });

  it("complete() passes hours in no time", async () => {
    const clock = new SimClock();
    const startMs = performance.now();
    const hourMs = 3_600_000;
    await clock.complete(
      new Promise<void>((resolve) => clock.after(hourMs - 1, resolve)),
    );
    assertEquals(clock.monotonicMs(), hourMs - 1);
    assertLess(performance.now() - startMs, 1000);
  });

  it("runUntilIdle() ends when only intervals are left", async () => {
    const clock = new SimClock();
    let count = 0;
    clock.every(7, () => {});
    const again = () => {
      if (++count < 5) clock.after(10, again);
    };
    again();
    await clock.runUntilIdle();
    assertEquals(count, 5);
    assertEquals(clock.monotonicMs(), 40);
  });
});
