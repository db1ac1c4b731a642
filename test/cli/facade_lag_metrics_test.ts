import { assertEquals } from "@std/assert";
import { test } from "node:test";
import type { BrokerController } from "../../src/broker/broker_controller.ts";
import { groupPositions } from "../../src/cli/facade_lag_metrics.ts";
import { ScrapePace } from "../../src/metrics/scrape_pace.ts";
import { ManagerRig } from "../broker/manager_rig.ts";
import { topicOf } from "../broker/fakes.ts";
import { TurnsClock } from "../metrics/metrics_fixture.ts";

const NOW = 1_000_000;
const pace = () => new ScrapePace(new TurnsClock());

/** Queues end at 10; a record was stored at 1,000 times its offset. */
function open(topics: readonly string[], queueNums = 2) {
  const rig = new ManagerRig();
  const nums = { readQueueNums: queueNums, writeQueueNums: queueNums };
  rig.topicConfigManager.updateTopicConfigs(
    topics.map((it) => topicOf(it, nums)),
  );
  const site = {
    rig,
    looks: 0,
    reads: 0,
    minOffset: 0,
    popped: new Map<string, number>(),
  };
  for (const topic of topics) {
    for (let queueId = 0; queueId < queueNums; queueId++) {
      rig.maxOffsets.set(`${topic}/${queueId}`, 10);
    }
  }
  const broker = {
    parts: rig,
    pop: {
      log: {
        table: {
          inFlight: (topic: string, group: string, queueId: number) =>
            site.popped.get(`${topic}@${group}@${queueId}`) ?? 0,
        },
      },
    },
    messageStore: {
      getMaxOffsetInQueue: (topic: string, queueId: number) => {
        site.looks++;
        return rig.maxOffsets.get(`${topic}/${queueId}`) ?? 0;
      },
      getMinOffsetInQueue: () => site.minOffset,
      getMessageStoreTimeStamp: (_: string, __: number, offset: number) => {
        site.reads++;
        return Promise.resolve(1_000 * offset);
      },
    },
  } as unknown as BrokerController;
  const add = (group: string) =>
    rig.subscriptionGroupManager.updateSubscriptionGroupConfig({
      ...rig.subscriptionGroupManager.findSubscriptionGroupConfig(group)!,
    });
  return { site, broker, add };
}

test("groupPositions() gives RocketMQ's five numbers, of groups that are away too", async () => {
  const { site, broker, add } = open(["T"]);
  const { consumerOffsetManager: offsets } = site.rig;
  add("g");
  offsets.commitOffset("x", "g", "T", 0, 4);
  assertEquals(
    await groupPositions(broker, NOW, 9, pace()),
    [],
    "queue 1 is unknown",
  );
  offsets.commitOffset("x", "g", "T", 1, 10);
  offsets.commitPullOffset("x", "g", "T", 0, 7);
  const expected = {
    group: "g",
    topic: "T",
    isRetry: false,
    isSystem: false,
    consumerOffset: 14,
    lagMessages: 6,
    lagLatencyMs: NOW - 4_000,
    inflightMessages: 3,
    queueingLatencyMs: NOW - 7_000,
    readyMessages: 3,
  };
  assertEquals(await groupPositions(broker, NOW, 9, pace()), [expected]);
  // Records before the queue's first are gone: the oldest that is left waits.
  site.minOffset = 6;
  const [row] = await groupPositions(broker, NOW, 9, pace());
  assertEquals(row!.lagLatencyMs, NOW - 6_000);
  // A position beyond the end, after a lost tail, is no negative lag.
  site.rig.maxOffsets.set("T/0", 3);
  const [beyond] = await groupPositions(broker, NOW, 9, pace());
  assertEquals([beyond!.lagMessages, beyond!.lagLatencyMs], [0, 0]);
});

test("groupPositions() shows retries apart and leaves out dead letters", async () => {
  const { site, broker, add } = open(["%RETRY%g", "%DLQ%g"], 1);
  add("g");
  for (const topic of ["%RETRY%g", "%DLQ%g"]) {
    site.rig.consumerOffsetManager.commitOffset("x", "g", topic, 0, 1);
  }
  const rows = await groupPositions(broker, NOW, 9, pace());
  assertEquals(rows.map((it) => [it.topic, it.isRetry]), [["%RETRY%g", true]]);
});

test("groupPositions() looks at each group's own queues only, and reads where it lags", async () => {
  const topics = Array.from({ length: 300 }, (_, n) => `T${n}`);
  const { site, broker, add } = open(topics);
  for (const [n, topic] of topics.entries()) {
    add(`g${n}`);
    for (const queueId of [0, 1]) {
      site.rig.consumerOffsetManager
        .commitOffset("x", `g${n}`, topic, queueId, n < 5 ? 4 : 10);
    }
  }
  assertEquals((await groupPositions(broker, NOW, 1_000, pace())).length, 300);
  // Two queues a group, whatever other topics and groups there are.
  assertEquals([site.looks, site.reads], [600, 10]);
  assertEquals((await groupPositions(broker, NOW, 200, pace())).length, 200);
});

test("groupPositions() counts what is popped and not acknowledged", async () => {
  const { site, broker, add } = open(["T"]);
  add("g");
  for (const queueId of [0, 1]) {
    site.rig.consumerOffsetManager.commitOffset("x", "g", "T", queueId, 10);
  }
  site.popped.set("T@g@0", 3).set("T@g@1", 4).set("T@h@0", 5);
  const [position] = await groupPositions(broker, NOW, 10, pace());
  assertEquals(position?.inflightMessages, 7);
  assertEquals(position?.lagMessages, 0);
});
