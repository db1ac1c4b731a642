import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { TopicQueueCleaner } from "../../src/broker/topic_queue_cleaner.ts";
import { settle } from "./fake_master.ts";
import { FakeLogger } from "./fakes.ts";

test("TopicQueueCleaner waits for dispatch, and survives a disk that fails", async () => {
  const removed: [string, number][] = [];
  const store = {
    maxPhyOffset: 100,
    dispatchBehindBytes: 60,
    deleteQueuesBefore: (topic: string, phyOffset: number) => {
      if (topic === "bad") return Promise.reject(new Error("no disk"));
      removed.push([topic, phyOffset]);
      return Promise.resolve();
    },
  };
  const logger = new FakeLogger();
  const cleaner = new TopicQueueCleaner(store, logger);
  cleaner.add("late", 90);
  cleaner.add("now", 40);
  cleaner.tick();
  await settle();
  assertEquals(removed, [["now", 40]]);
  cleaner.add("bad", 10);
  cleaner.tick();
  await settle();
  assertEquals(logger.lines.length, 1);
  store.dispatchBehindBytes = 10;
  cleaner.tick();
  cleaner.tick();
  await settle();
  assertEquals(removed, [["now", 40], ["late", 90]]);
});
