/** The pure bookkeeping of timers against a model, over kills, rolls, and a clock that jumps. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { TimerMessageStore } from "../../../src/broker/timer/timer_message_store.ts";
import {
  NO_PROGRESS,
  type TimerProgress,
} from "../../../src/broker/timer/timer_progress.ts";
import type { TimerUnit } from "../../../src/store/timer_messages.ts";

const LIMITS = { entriesMax: 8, partUnits: 3 };

/** A queue, and lives of a master that reads it. */
class Model {
  readonly queue: TimerUnit[] = [];
  /** What each unit stands for: a copy stands for its first one. */
  readonly origin: number[] = [];
  readonly delivered = new Map<number, number>();
  /** Messages delivered since the last progress was written. */
  readonly sinceWrite = new Set<number>();
  readonly mayRepeat = new Set<number>();
  nowMs = 1_000;
  written: TimerProgress = NO_PROGRESS;
  store = this.#newLife();

  send(delayMs: number): void {
    this.#append(this.nowMs + delayMs, this.queue.length);
  }

  sendSome(seed: number): void {
    for (let at = 0; at < 4; at++) this.send((seed * (at + 7) * 31) % 400);
  }

  /** The queue is read, and some of what is due is delivered. */
  work(max: number): void {
    const { store } = this;
    for (;;) {
      const part = store.nextScan(this.#range());
      if (part === undefined) break;
      store.onScanned(this.#units(part));
      // Of what was there at start all is read first, whatever is read of it at once.
      if (store.isCaughtUp) break;
    }
    const due = store.takeDue(this.nowMs, max);
    for (const entry of due.slice(0, Math.ceil(due.length / 2))) {
      assert(entry.dueMs <= this.nowMs, "a message is early");
      if (!store.isRolled(entry)) {
        const origin = this.origin[entry.queueOffset]!;
        this.delivered.set(origin, (this.delivered.get(origin) ?? 0) + 1);
        this.sinceWrite.add(origin);
      }
      store.onDone(entry);
    }
    store.giveBack();
    const old = store.nextRescan();
    if (old !== undefined) store.onRescanned(this.#units(old), old);
  }

  roll(upTo: number): void {
    this.store.startRoll(upTo);
    const part = this.store.nextRoll();
    if (part === undefined) return;
    for (const unit of this.#units(part)) {
      if (!this.store.isPending(unit)) continue;
      const origin = this.origin[unit.queueOffset]!;
      this.#append(unit.time!.dueMs, origin);
      this.store.onRolled(unit.queueOffset + 1);
      // Both are there until the next write tells that one is enough.
      this.sinceWrite.add(origin);
    }
    this.store.onRolled(part.offset + part.count);
  }

  write(): void {
    this.written = this.store.progress(true);
    if (this.store.isCaughtUp) this.sinceWrite.clear();
  }

  /** The next life knows what was written. */
  restart(isClean: boolean): void {
    if (isClean) this.write();
    for (const it of this.sinceWrite) this.mayRepeat.add(it);
    this.store = this.#newLife();
  }

  /** Everything comes due. */
  finish(): void {
    this.nowMs += 1_000_000;
    const { store } = this;
    for (let left = 5_000; left > 0; left--) {
      this.work(64);
      if (store.tail === this.queue.length && store.pendingCount === 0) return;
    }
    throw new Error(`${store.pendingCount} messages are never delivered`);
  }

  #newLife(): TimerMessageStore {
    return new TimerMessageStore(
      this.written ?? NO_PROGRESS,
      this.#range(),
      LIMITS,
    );
  }

  #append(dueMs: number, origin: number): void {
    const queueOffset = this.queue.length;
    this.origin.push(origin);
    this.queue.push({
      queueOffset,
      phyOffset: queueOffset * 100,
      size: 100,
      time: { dueMs, isRecall: false },
      isGone: false,
    });
  }

  #range() {
    const max = this.queue.length;
    return { min: 0, max, maxInLog: max };
  }

  #units({ count, offset }: { offset: number; count: number }): TimerUnit[] {
    return this.queue.slice(offset, offset + count);
  }
}

type Step = readonly [kind: string, amount: number];

const amount = fc.integer({ min: 0, max: 40 });
const steps = (kinds: readonly string[]) =>
  fc.array(fc.tuple(fc.constantFrom(...kinds), amount), {
    minLength: 20,
    maxLength: 150,
    size: "max",
  });
const CALM = ["send", "send", "send", "work", "work", "pass", "write"];

function run(all: readonly Step[]): Model {
  const model = new Model();
  for (const [kind, by] of all) {
    if (kind === "send") model.sendSome(by);
    else if (kind === "work") model.work(1 + by % 8);
    else if (kind === "pass") model.nowMs += by * 5;
    else if (kind === "back") model.nowMs = Math.max(1, model.nowMs - by * 10);
    else if (kind === "roll") model.roll(by);
    else if (kind === "write") model.write();
    else model.restart(kind === "stop");
  }
  model.finish();
  assertEquals(
    model.delivered.size,
    new Set(model.origin).size,
    "a message was lost",
  );
  return model;
}

test("TimerMessageStore delivers each message exactly once, with an index that is too small", () => {
  fc.assert(
    fc.property(steps([...CALM, "roll", "back"]), (all) => {
      const { delivered } = run(all);
      assertEquals([...delivered].filter(([, times]) => times !== 1), []);
    }),
    { numRuns: 150 },
  );
});

test("TimerMessageStore delivers each message exactly once over clean stops", () => {
  fc.assert(
    fc.property(steps([...CALM, "roll", "stop", "back"]), (all) => {
      const { delivered } = run(all);
      assertEquals([...delivered].filter(([, times]) => times !== 1), []);
    }),
    { numRuns: 150 },
  );
});

test("TimerMessageStore loses nothing over kills, and repeats only what was done since the last write", () => {
  fc.assert(
    fc.property(steps([...CALM, "roll", "kill", "back"]), (all) => {
      const { delivered, mayRepeat } = run(all);
      const repeated = [...delivered].filter(([, times]) => times > 1);
      assertEquals(repeated.filter(([it]) => !mayRepeat.has(it)), []);
    }),
    { numRuns: 150 },
  );
});

test("TimerMessageStore counts only up to times of which it knows all", () => {
  const max = 20;
  const store = new TimerMessageStore(
    NO_PROGRESS,
    { min: 0, max, maxInLog: max },
    LIMITS,
  );
  const units = Array.from({ length: max }, (_, queueOffset): TimerUnit => ({
    queueOffset,
    phyOffset: queueOffset * 100,
    size: 100,
    time: { dueMs: 1_000 + queueOffset, isRecall: false },
    isGone: false,
  }));
  store.onScanned(units.slice(0, 3));
  assertEquals(store.countsUntil([1_000, 1_001, 5_000]), [1, 1, 1]);
  store.onScanned(units.slice(3));
  assertEquals(store.pendingCount, max);
  // Eight are in memory at most.
  assertEquals(store.countsUntil([1_001, 5_000]), [2]);
});
