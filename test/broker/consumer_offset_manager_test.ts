import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { ManagerRig, OPTIONS } from "./manager_rig.ts";

/** As a 5.x broker writes it: queue ids are bare, the table of topics is derived. */
const APACHE_FILE = `{
	"dataVersion":{
		"counter":7,
		"stateVersion":0,
		"timestamp":1700000000123
	},
	"groupTopicMap":{
		"GroupTest":["TopicTest","%RETRY%GroupTest"]
	},
	"offsetTable":{
		"TopicTest@GroupTest":{0:250,1:251,2:9223372036854775807,3:0
		},
		"%RETRY%GroupTest@GroupTest":{0:5
		}
	}
}`;

test("ConsumerOffsetManager reads Apache's file with its bare keys", () => {
  const rig = new ManagerRig(OPTIONS, { offsets: APACHE_FILE });
  const offsets = rig.consumerOffsetManager;
  assertEquals(offsets.queryOffset("GroupTest", "TopicTest", 0), 250);
  assertEquals(offsets.queryOffset("GroupTest", "TopicTest", 3), 0);
  assertEquals(
    offsets.queryOffset("GroupTest", "TopicTest", 2),
    Number.MAX_SAFE_INTEGER,
  );
  assertEquals(offsets.queryOffset("GroupTest", "%RETRY%GroupTest", 0), 5);
  assertEquals(offsets.queryOffset("GroupTest", "TopicTest", 9), -1);
  assertEquals(offsets.dataVersion.counter, 7);
  assertEquals(
    offsets.whichTopicByConsumer("GroupTest"),
    ["TopicTest", "%RETRY%GroupTest"],
  );
});

test("ConsumerOffsetManager writes Apache's layout with quoted queue ids", async () => {
  const rig = new ManagerRig(OPTIONS, {
    offsets: '{"other":{"a":1},"offsetTable":{"T@g":{"1":7}}}',
  });
  rig.maxOffsets.set("T/0", 10);
  rig.consumerOffsetManager.commitOffset("x", "g", "T", 0, 10);
  await rig.consumerOffsetManager.persist();
  assertEquals(
    rig.files.offsets.text,
    `{
	"other":{
		"a":1
	},
	"dataVersion":{
		"counter":1,
		"stateVersion":0,
		"timestamp":${rig.clock.nowMs()}
	},
	"offsetTable":{
		"T@g":{
			"1":7,
			"0":10
		}
	}
}`,
  );
});

test("commitOffset() refuses a negative offset and one beyond the end; what is stored stays", () => {
  const rig = new ManagerRig();
  const offsets = rig.consumerOffsetManager;
  rig.maxOffsets.set("T/0", 100);
  assertEquals(offsets.commitOffset("x", "g", "T", 0, 100), undefined);
  assertStringIncludes(offsets.commitOffset("x", "g", "T", 0, -1)!, "negative");
  assertStringIncludes(
    offsets.commitOffset("x", "g", "T", 0, 101)!,
    "beyond the max offset 100",
  );
  assertStringIncludes(offsets.commitOffset("x", "g", "T", -1, 0)!, "queueId");
  assertEquals(offsets.queryOffset("g", "T", 0), 100);
  // The last commit wins, also a smaller one.
  offsets.commitOffset("x", "g", "T", 0, 40);
  assertEquals(offsets.queryOffset("g", "T", 0), 40);
  const warnings = rig.logger.lines.filter((it) => it.startsWith("warn"));
  assertEquals(warnings.length, 1);
});

test("tick() writes every flushConsumerOffsetInterval, and only what changed", async () => {
  const rig = await new ManagerRig().persisted();
  const { consumerOffsetManager: offsets, clock } = rig;
  rig.maxOffsets.set("T/0", 100);
  const tickAfter = async (ms: number) => {
    clock.advance(ms);
    offsets.tick(clock.monotonicMs());
    await offsets.persist();
    return rig.files.offsets.writes.length;
  };
  assertEquals(await tickAfter(5_000), 0);
  offsets.commitOffset("x", "g", "T", 0, 1);
  offsets.tick(clock.monotonicMs());
  assertEquals(rig.files.offsets.writes.length, 0);
  assertEquals(await tickAfter(5_000), 1);
  offsets.commitOffset("x", "g", "T", 0, 1);
  assertEquals(await tickAfter(5_000), 1);
});

test("offsets go with their group and with their topic", () => {
  const rig = new ManagerRig();
  const offsets = rig.consumerOffsetManager;
  for (const group of ["g1", "g2"]) {
    for (const topic of ["T1", "T2"]) {
      offsets.commitOffset("x", group, topic, 0, 0);
      offsets.commitPullOffset("x", group, topic, 0, 5);
    }
  }
  offsets.removeOffset("g1");
  offsets.cleanOffsetByTopic("T2");
  assertEquals(offsets.whichTopicByConsumer("g1"), []);
  assertEquals(offsets.whichGroupByTopic("T1"), ["g2"]);
  assertEquals(offsets.whichGroupByTopic("T2"), []);
  assertEquals(offsets.queryPullOffset("g1", "T1", 0), -1);
  assertEquals(offsets.queryPullOffset("g2", "T2", 0), -1);
  assertEquals(offsets.queryPullOffset("g2", "T1", 0), 5);
});

test("dataVersion moves with commits, and not without", () => {
  const rig = new ManagerRig();
  const offsets = rig.consumerOffsetManager;
  const before = offsets.dataVersion;
  assertEquals(offsets.dataVersion, before);
  offsets.commitOffset("x", "g", "T", 0, 0);
  offsets.commitOffset("x", "g", "T", 1, 0);
  assertEquals(offsets.dataVersion.counter, before.counter + 1);
});

test("entries of no use are left out, the rest is served", () => {
  const rig = new ManagerRig(OPTIONS, {
    offsets: `{"offsetTable":{"noSign":{"0":1},"@g":{"0":1},"T@":{"0":1},
      "T@g":{"0":"x"},"U@g":{"0":-1,"1":4},"V@g":null,"W@g":{"0":"8"}}}`,
  });
  const offsets = rig.consumerOffsetManager;
  assertEquals(offsets.queryOffset("g", "U", 0), -1);
  assertEquals(offsets.queryOffset("g", "U", 1), 4);
  assertEquals(offsets.queryOffset("g", "W", 0), 8);
  assertEquals(offsets.queryOffset("g", "T", 0), -1);
});

test("10,000 topics and 1,000 groups: a commit costs the same, a write encodes what changed", async () => {
  const rig = new ManagerRig();
  const offsets = rig.consumerOffsetManager;
  for (let topic = 0; topic < 10_000; topic++) {
    offsets.commitOffset("x", `g${topic % 1000}`, `T${topic}`, 0, 0);
  }
  await offsets.persist();
  const startedMs = performance.now();
  for (let round = 0; round < 10; round++) {
    rig.maxOffsets.set("T5/0", 1000);
    offsets.commitOffset("x", "g5", "T5", 0, round + 1);
    await offsets.persist();
  }
  const elapsedMs = performance.now() - startedMs;
  assertEquals(rig.files.offsets.writes.length, 11);
  assert(elapsedMs < 2_000, `10 writes took ${elapsedMs} ms`);
});

test("lowerToEnds() puts positions beyond the end at it; slaves of a master follow it down", async () => {
  const rig = new ManagerRig(OPTIONS, {
    offsets: '{"offsetTable":{"T@g":{"0":150,"1":40},"T@h":{"0":100}}}',
  });
  const offsets = rig.consumerOffsetManager;
  rig.maxOffsets.set("T/0", 100);
  rig.maxOffsets.set("T/1", 40);
  const before = offsets.dataVersion;
  assertEquals(offsets.lowerToEnds(), 1);
  assertEquals(offsets.queryOffset("g", "T", 0), 100);
  assertEquals(offsets.queryOffset("g", "T", 1), 40);
  assert(offsets.dataVersion.counter > before.counter);
  await offsets.persist();
  const generations = JSON.parse(rig.files.offsets.text!).offsetGenerations;
  assertEquals(Object.keys(generations), ["T@g"]);
  assertEquals(offsets.lowerToEnds(), 0);
});

test("takeEpoch() makes one new version, of that epoch", () => {
  const offsets = new ManagerRig(OPTIONS).consumerOffsetManager;
  offsets.takeEpoch(3);
  const { counter, stateVersion } = offsets.dataVersion;
  assertEquals(stateVersion, 3);
  offsets.takeEpoch(2);
  assertEquals(offsets.dataVersion.counter, counter);
});
