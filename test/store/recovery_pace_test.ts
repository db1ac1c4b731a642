import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import type { Clock, Timer } from "../../src/io/clock.ts";
import { RecoveryPace } from "../../src/store/recovery_pace.ts";

/** A clock on which every look costs a millisecond. */
class BusyClock implements Clock {
  #nowMs = 0;
  readonly waiting: (() => void)[] = [];
  nowMs(): number {
    return this.#nowMs;
  }
  monotonicMs(): number {
    return this.#nowMs++;
  }
  every(): Timer {
    throw new Error("not here");
  }
  after(_delayMs: number, run: () => void): Timer {
    this.waiting.push(run);
    return { cancel() {} };
  }
}

test("156: RecoveryPace gives the loop away every 50 ms and tells how far it is", async () => {
  const clock = new BusyClock();
  const pace = new RecoveryPace(clock);
  assertEquals(pace.progress, null);
  pace.begin(100, 1_000_100);
  assertEquals(pace.progress, {
    startOffset: 100,
    offset: 100,
    endOffset: 1_000_100,
  });
  let offset = 100;
  let pauseCount = 0;
  for (let records = 0; records < 64 * 200; records++) {
    offset += 10;
    const pause = pace.pause(offset);
    if (pause === undefined) continue;
    pauseCount++;
    assertEquals(pace.progress?.offset, offset);
    let isOver = false;
    const ended = pause.then(() => void (isOver = true));
    await Promise.resolve();
    assert(!isOver, "the loop was not given away");
    clock.waiting.shift()!();
    await ended;
  }
  // 200 looks of a millisecond each, and one more for every pause.
  assert(pauseCount >= 3 && pauseCount <= 4, `${pauseCount} pauses`);
});
