import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { ColdPace } from "../../src/store/cold_pace.ts";
import { SimClock } from "../sim/sim_clock.ts";

const SIZE = 262_144;
const BYTES_PER_SECOND = 32 * 1024 * 1024;
/** What one block takes at that rate. */
const BLOCK_MS = 1_000 / 128;

/** Milliseconds until the next block may be read, and then that turn. */
async function waited(clock: SimClock, pace: ColdPace): Promise<number> {
  const startMs = clock.monotonicMs();
  const turn = pace.next(SIZE);
  if (turn !== undefined) await clock.complete(turn);
  return clock.monotonicMs() - startMs;
}

test("ColdPace.next() spaces reads while the log grows, and only then", async () => {
  const clock = new SimClock();
  let end = 1_000;
  const pace = new ColdPace(clock, () => end, BYTES_PER_SECOND);
  for (let block = 0; block < 10; block++) {
    assertEquals(await waited(clock, pace), 0);
  }
  const startMs = clock.monotonicMs();
  for (let block = 0; block <= 128; block++) {
    end++;
    await waited(clock, pace);
  }
  const tookMs = clock.monotonicMs() - startMs;
  assertEquals(Math.abs(tookMs - 128 * BLOCK_MS) < 2 * BLOCK_MS, true);
  clock.advance(1_001);
  for (let block = 0; block < 10; block++) {
    assertEquals(await waited(clock, pace), 0);
  }
});

test("ColdPace.next() lets a reader catch up with a log that grows faster than the limit", async () => {
  const clock = new SimClock();
  let end = 0;
  const pace = new ColdPace(clock, () => end, BYTES_PER_SECOND);
  const growthPerMs = 2 * BYTES_PER_SECOND / 1_000;
  const startMs = clock.monotonicMs();
  let readBytes = 0;
  while (clock.monotonicMs() - startMs < 10_000) {
    const before = clock.monotonicMs();
    await waited(clock, pace);
    readBytes += SIZE;
    end += growthPerMs * Math.max(1, clock.monotonicMs() - before);
  }
  assertEquals(readBytes > 1.5 * end, true, `${readBytes} of ${end}`);
});

test("ColdPace.next() with 0 never waits", async () => {
  const clock = new SimClock();
  let end = 0;
  const pace = new ColdPace(clock, () => end, 0);
  for (let block = 0; block < 100; block++) {
    end++;
    assertEquals(await waited(clock, pace), 0);
  }
});
