import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { ScrapePace } from "../../src/metrics/scrape_pace.ts";
import { open, snapshot, TurnsClock } from "./metrics_fixture.ts";

/** A look at the clock takes half a millisecond here: a turn of 2 ms has four of them. */
const STEP_MS = 0.5;
/** 64 rows between two looks, and the four looks of a turn. */
const ROWS_PER_TURN_MAX = 64 * 5;

test("ScrapePace lets the loop go on every few rows, and leaves no row out", async () => {
  const clock = new TurnsClock(STEP_MS);
  const pace = new ScrapePace(clock);
  let rows = 0;
  let most = 0;
  clock.onTurn = () => {
    most = Math.max(most, rows);
    rows = 0;
  };
  const numbers = Array.from({ length: 10_000 }, (_, it) => it);
  const made = await pace.map(numbers, (it) => {
    rows += 1;
    return it % 2 === 0 ? it : undefined;
  });
  assertEquals(made, numbers.filter((it) => it % 2 === 0));
  assert(most > 0 && most <= ROWS_PER_TURN_MAX, `${most} rows in one turn`);
  assert(clock.turns >= 10_000 / ROWS_PER_TURN_MAX, `${clock.turns} turns`);
});

test("ScrapePace does not let the loop go on without need", async () => {
  const clock = new TurnsClock();
  const pace = new ScrapePace(clock);
  await pace.rest();
  await pace.each([1, 2, 3], () => {});
  assertEquals(clock.turns, 0);
});

test("A scrape of 2,000 topics is made in many turns, and says the same as one in a single turn", async () => {
  const base = snapshot();
  const topics = Array.from(
    { length: 2_000 },
    (_, n) => ({ ...base.topics[0]!, topic: `T${n}`, nums: n }),
  );
  const storedTopics = topics.map(({ topic, isSystem, nums }) => ({
    topic,
    isSystem,
    messages: nums,
  }));
  const broker = { ...base, topics, storedTopics };
  const clock = new TurnsClock(STEP_MS);
  const paced = await open(broker, 50_000, clock).text();
  assert(paced.includes('topic="T1999"'));
  // Five metrics of topics, read and written.
  assert(clock.turns > 5 * 2 * 2_000 / ROWS_PER_TURN_MAX, `${clock.turns}`);
  assertEquals(paced === await open(broker).text(), true);
});
