/** The heap against a sorted list, with and without eviction. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  compareKeys,
  type TimerEntry,
  TimerIndex,
} from "../../../src/broker/timer/timer_index.ts";

const entries = fc.array(
  fc.record({ atMs: fc.integer({ min: 0, max: 9 }), isRecall: fc.boolean() }),
  { maxLength: 200 },
).map((all) =>
  all.map(({ atMs, isRecall }, queueOffset): TimerEntry => ({
    atMs,
    dueMs: isRecall ? atMs + 1_000 : atMs,
    isRecall,
    queueOffset,
    phyOffset: queueOffset * 1_000,
    size: queueOffset + 1,
  }))
);

function drain(index: TimerIndex): TimerEntry[] {
  const all: TimerEntry[] = [];
  while (index.size > 0) all.push(index.pop());
  return all;
}

test("TimerIndex gives back what it got, in order", () => {
  fc.assert(fc.property(entries, (all) => {
    const index = new TimerIndex(4_096);
    for (const it of all) index.push(it);
    assertEquals(
      index.minQueueOffset(),
      all.length === 0 ? Infinity : 0,
    );
    assertEquals(drain(index), [...all].sort(compareKeys));
  }));
});

test("TimerIndex drops the later half", () => {
  fc.assert(fc.property(entries.filter((it) => it.length > 1), (all) => {
    const index = new TimerIndex(all.length);
    for (const it of all) index.push(it);
    assert(index.isFull);
    const { count, last, minQueueOffset } = index.evict();
    const sorted = [...all].sort(compareKeys);
    const kept = sorted.slice(0, all.length - count);
    const gone = sorted.slice(all.length - count);
    assertEquals(
      minQueueOffset,
      Math.min(...gone.map((it) => it.queueOffset)),
    );
    assertEquals(compareKeys(last, kept.at(-1)!), 0);
    assertEquals(drain(index), kept);
  }));
});

test("TimerIndex holds a million messages in 28 MiB, and drops half of them in a moment", () => {
  const index = new TimerIndex(2 ** 20);
  for (let at = 0; at < 2 ** 20; at++) {
    // As a producer sends: a delay that is nearly the same for all.
    const atMs = 1_000_000 + at + (at * 7_919) % 1_000;
    index.push({
      atMs,
      dueMs: atMs,
      isRecall: false,
      queueOffset: at,
      phyOffset: at * 300,
      size: 300,
    });
  }
  assert(index.isFull);
  assertEquals(index.evict().count, 2 ** 19);
  assertEquals(index.size, 2 ** 19);
});
