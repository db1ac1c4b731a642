import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { DelayLevelTask } from "../../src/broker/delay_level_task.ts";
import { delayLevelOf } from "../../src/broker/schedule_message.ts";
import type { DelayedUnit } from "../../src/store/delayed_messages.ts";

const range = (min: number, max: number) => ({ min, max, maxInLog: max });
const at = (ms: number) => ({ nowMs: 1_000_000 + ms, monotonicMs: ms });
const unit = (dueMs: number, changes: Partial<DelayedUnit> = {}) => ({
  phyOffset: 0,
  size: 100,
  deliverTimestamp: 1_000_000 + dueMs,
  isGone: false,
  ...changes,
});

test("DelayLevelTask tells what was deleted before it was due, and goes on behind it", () => {
  const task = new DelayLevelTask(4, 1_000, 2);
  assertEquals(task.next(range(7, 9), at(0)), {
    kind: "lost",
    level: 4,
    count: 5,
  });
  assertEquals(task.next(range(7, 9), at(0)), {
    kind: "read",
    level: 4,
    offset: 7,
  });
  assertEquals(task.next(range(7, 9), at(0)), undefined);
  const units = [unit(0, { isGone: true }), unit(-5)];
  assertEquals(task.onUnits(units, at(0)), {
    kind: "deliver",
    level: 4,
    units: [units[1]!],
    offset: 7,
    nextOffset: 9,
  });
  task.onDelivered(9);
  assertEquals(task.offset, 9);
});

test("DelayLevelTask reads the queue once for a head that is not due, and delivers by bytes", () => {
  const task = new DelayLevelTask(1, 1_000, 0);
  task.next(range(0, 3), at(0));
  assertEquals(task.onUnits([unit(900)], at(0)), undefined);
  for (let ms = 100; ms < 900; ms += 100) {
    assertEquals(task.next(range(0, 3), at(ms)), undefined);
  }
  assertEquals(task.next(range(0, 3), at(900))?.kind, "read");
  const big = unit(0, { size: 700_000 });
  const effect = task.onUnits([big, big, big], at(900));
  assertEquals(effect?.kind === "deliver" && effect.nextOffset, 1);
});

test("DelayLevelTask waits a little when there is nothing to read, and longer each time", () => {
  const task = new DelayLevelTask(1, 1_000, 0);
  const reads: number[] = [];
  for (let ms = 0; ms <= 20_000; ms += 100) {
    if (task.next(range(0, 3), at(ms)) === undefined) continue;
    reads.push(ms);
    task.onUnits([], at(ms));
  }
  assertEquals(reads, [0, 100, 300, 700, 1_500, 3_100, 6_300, 11_300, 16_300]);
});

test("delayLevelOf() reads Java's ints and nothing else", () => {
  for (
    const [text, level] of [
      ["3", 3],
      ["+3", 3],
      ["-1", -1],
      ["0", 0],
      ["007", 7],
      ["2147483647", 2_147_483_647],
    ] as const
  ) assertEquals(delayLevelOf(text), level);
  for (const text of ["", "x", "1.5", " 3", "3 ", "0x3", "2147483648", "1e3"]) {
    assertEquals(delayLevelOf(text), undefined, text);
  }
});
