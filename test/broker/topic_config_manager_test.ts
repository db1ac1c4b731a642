import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { test } from "node:test";
import type { TopicConfig } from "../../src/model/topic_config.ts";
import { topicOf } from "./fakes.ts";
import { ManagerRig, OPTIONS } from "./manager_rig.ts";

/** As a 5.x broker wrote it, with a key that only another version knows. */
const APACHE_FILE = `{
	"dataVersion":{
		"counter":3,
		"stateVersion":0,
		"timestamp":1700000000123
	},
	"futureTable":{
		"big":9223372036854775807
	},
	"topicConfigTable":{
		"TopicTest":{
			"attributes":{
				"message.type":"FIFO"
			},
			"futureKey":[
				1,
				2
			],
			"order":true,
			"perm":6,
			"readQueueNums":4,
			"topicFilterType":"MULTI_TAG",
			"topicName":"TopicTest",
			"topicSysFlag":1,
			"writeQueueNums":3
		}
	}
}`;

const VERSION = /"counter":\d+,\n\t\t"stateVersion":0,\n\t\t"timestamp":\d+/;

/** The file without the system topics, which come behind what it held. */
function encodedLike(text: string, rig: ManagerRig): string {
  const { topicConfigManager: topics } = rig;
  const encoded = topics.encode().replace(VERSION, VERSION.exec(text)![0]);
  const end = encoded.indexOf(',\n\t\t"SELF_TEST_TOPIC"');
  return encoded.slice(0, end) + "\n\t}\n}";
}

test("TopicConfigManager writes what Apache wrote, byte for byte, unknown keys too", () => {
  const rig = new ManagerRig(OPTIONS, { topics: APACHE_FILE });
  assertEquals(rig.topicConfigManager.selectTopicConfig("TopicTest"), {
    topicName: "TopicTest",
    readQueueNums: 4,
    writeQueueNums: 3,
    perm: 6,
    topicFilterType: "MULTI_TAG",
    topicSysFlag: 1,
    order: true,
    attributes: { "message.type": "FIFO" },
  });
  assertEquals(encodedLike(APACHE_FILE, rig), APACHE_FILE);
});

test("TopicConfigManager reads a file of 4.9: no stateVersion, no attributes", () => {
  const rig = new ManagerRig(OPTIONS, {
    topics: `{"dataVersion":{"counter":2,"timestamp":5},
      "topicConfigTable":{"T":{"order":false,"perm":6,"readQueueNums":8,
      "topicFilterType":"SINGLE_TAG","topicName":"T","topicSysFlag":0,
      "writeQueueNums":8}}}`,
  });
  assertEquals(
    rig.topicConfigManager.selectTopicConfig("T"),
    topicOf("T", { readQueueNums: 8, writeQueueNums: 8 }),
  );
  assertEquals(rig.topicConfigManager.dataVersion.counter, 3);
});

test("TopicConfigManager creates the system topics of reference 3.8", async () => {
  const rig = await new ManagerRig().persisted();
  const shape = Object.fromEntries(
    [...rig.topicConfigManager.allTopics().values()].map((it) => [
      it.topicName,
      [it.readQueueNums, it.writeQueueNums, it.perm],
    ]),
  );
  assertEquals(shape, {
    SELF_TEST_TOPIC: [1, 1, 6],
    BenchmarkTest: [1024, 1024, 6],
    DefaultCluster: [16, 16, 7],
    "broker-a": [1, 1, 7],
    OFFSET_MOVED_EVENT: [1, 1, 6],
    SCHEDULE_TOPIC_XXXX: [18, 18, 6],
    DefaultCluster_REPLY_TOPIC: [1, 1, 6],
    rmq_sys_REVIVE_LOG_DefaultCluster: [8, 8, 6],
    "rmq_sys_SYNC_BROKER_MEMBER_broker-a": [1, 1, 1],
    RMQ_SYS_TRANS_HALF_TOPIC: [1, 1, 6],
    RMQ_SYS_TRANS_OP_HALF_TOPIC: [1, 1, 6],
    rmq_sys_wheel_timer: [1, 1, 6],
    TBW102: [8, 8, 7],
  });
  assertEquals(rig.files.topics.writes.length, 1);
  assert(rig.topicConfigManager.isSystemTopic("broker-a"));
  assert(rig.topicConfigManager.systemTopicList().includes("CHECKPOINT_TOPIC"));
});

test("TopicConfigManager drops TBW102 where auto-creation is off, also from the file", () => {
  const rig = new ManagerRig(
    { ...OPTIONS, autoCreateTopicEnable: false },
    { topics: new ManagerRig().topicConfigManager.encode() },
  );
  const topics = rig.topicConfigManager;
  assertEquals(topics.selectTopicConfig("TBW102"), undefined);
  assertEquals(
    topics.createTopicInSendMessageMethod("T", "TBW102", "x", 4, 0),
    undefined,
  );
  topics.reconfigure(OPTIONS);
  assert(topics.createTopicInSendMessageMethod("T", "TBW102", "x", 4, 0));
});

test("createTopicInSendMessageMethod() follows the template", () => {
  const { topicConfigManager: topics } = new ManagerRig();
  const before = topics.dataVersion;
  const changes: (TopicConfig | undefined)[] = [];
  topics.onChanged = (topic) => changes.push(topic);
  const created = topics.createTopicInSendMessageMethod(
    "T",
    "TBW102",
    "10.0.0.1:1",
    4,
    1,
  );
  assertEquals(created, topicOf("T", { topicSysFlag: 1 }));
  assertEquals(changes, [created]);
  assertEquals(topics.dataVersion.counter, before.counter + 1);
  const wide = topics.createTopicInSendMessageMethod("W", "TBW102", "x", 99, 0);
  assertEquals(wide?.writeQueueNums, 8);
  for (const queueNums of [0, -4]) {
    assertEquals(
      topics.createTopicInSendMessageMethod("N", "TBW102", "x", queueNums, 0),
      undefined,
    );
  }
  assertEquals(
    topics.createTopicInSendMessageMethod("X", "T", "x", 4, 0),
    undefined,
  );
  assertEquals(
    topics.createTopicInSendMessageMethod("a b", "TBW102", "x", 4, 0),
    undefined,
  );
});

test("createTopicInSendMessageMethod() stops at topicMax and says so once", () => {
  const rig = new ManagerRig({ ...OPTIONS, topicMax: 14 });
  const { topicConfigManager: topics } = rig;
  const create = (topic: string) =>
    topics.createTopicInSendMessageMethod(topic, "TBW102", "x", 4, 0);
  assert(create("T1"));
  assertEquals(create("T2"), undefined);
  assertEquals(create("T3"), undefined);
  const warnings = rig.logger.lines.filter((it) => it.startsWith("warn"));
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings[0]!, "topicMax is 14");
});

test("createTopicInSendMessageBackMethod() creates, and follows the order flag", () => {
  const { topicConfigManager: topics } = new ManagerRig();
  const plain = topics.createTopicInSendMessageBackMethod("%RETRY%g", 1, 6, 0);
  assertEquals(
    plain,
    topicOf("%RETRY%g", { readQueueNums: 1, writeQueueNums: 1 }),
  );
  topics.createTopicInSendMessageBackMethod("%RETRY%g", 1, 6, 0, true);
  assertEquals(topics.isOrderTopic("%RETRY%g"), true);
});

test("updateOrderTopics() marks known topics with one new version", () => {
  const { topicConfigManager: topics } = new ManagerRig();
  topics.updateTopicConfigs([topicOf("A"), topicOf("B")]);
  const { counter } = topics.dataVersion;
  topics.updateOrderTopics(["A", "B", "unknown"]);
  topics.updateOrderTopics(["A"]);
  assertEquals(topics.dataVersion.counter, counter + 1);
  assertEquals(topics.isOrderTopic("B"), true);
});

test("persist() writes a change and its version together, bursts once", async () => {
  const rig = await new ManagerRig().persisted();
  const { topicConfigManager: topics, files } = rig;
  const before = files.topics.writes.length;
  for (let index = 0; index < 100; index++) {
    topics.updateTopicConfig(topicOf(`T${index}`));
  }
  await topics.persist();
  assertEquals(files.topics.writes.length, before + 2);
  const last = JSON.parse(files.topics.text!);
  assertEquals(last.dataVersion.counter, topics.dataVersion.counter);
  assert("T99" in last.topicConfigTable);
});

test("a failed write is told to who waits, owed, and tried again", async () => {
  const rig = await new ManagerRig().persisted();
  const { topicConfigManager: topics, files } = rig;
  files.topics.failure = new Error("disk full");
  topics.updateTopicConfig(topicOf("T"));
  await assertRejects(() => topics.persist(), Error, "disk full");
  files.topics.failure = undefined;
  rig.clock.jump(-86_400_000);
  rig.clock.advance(5_000);
  topics.tick(rig.clock.monotonicMs());
  await topics.persist();
  assertStringIncludes(files.topics.text!, '"T":{');
});

test("an entry of no use is left out with a warning, the rest is served", () => {
  const rig = new ManagerRig(OPTIONS, {
    topics: `{"topicConfigTable":{"bad":null,"odd":{"perm":"x"},
      "good":{"perm":4},"__proto__":{"perm":2}}}`,
  });
  const { topicConfigManager: topics } = rig;
  assertEquals(topics.selectTopicConfig("bad"), undefined);
  assertEquals(topics.selectTopicConfig("odd"), undefined);
  assertEquals(topics.selectTopicConfig("good")?.perm, 4);
  assertEquals(topics.selectTopicConfig("__proto__")?.perm, 2);
  assertEquals(
    rig.logger.lines.filter((it) => it.startsWith("warn")).length,
    2,
  );
  assertStringIncludes(topics.encode(), '"__proto__":{');
});

test("recoverTopic() serves what only the store knows", () => {
  const { topicConfigManager: topics } = new ManagerRig();
  assertEquals(
    topics.recoverTopic("Lost", 3),
    topicOf("Lost", { readQueueNums: 3, writeQueueNums: 3 }),
  );
  assertEquals(topics.recoverTopic("TBW102", 99)?.readQueueNums, 8);
});

test("a deleted topic is not recovered, also after a restart, unless created again", async () => {
  const rig = new ManagerRig();
  rig.topicConfigManager.updateTopicConfigs([topicOf("A"), topicOf("B")]);
  rig.topicConfigManager.deleteTopicConfig("A");
  rig.topicConfigManager.deleteTopicConfig("B");
  rig.topicConfigManager.updateTopicConfig(topicOf("B"));
  await rig.persisted();
  const topics = new ManagerRig(OPTIONS, { topics: rig.files.topics.text! })
    .topicConfigManager;
  assertEquals(topics.isDeletedTopic("A"), true);
  assertEquals(topics.isDeletedTopic("B"), false);
  assertEquals(topics.recoverTopic("A", 1), undefined);
  const deletedAt = topics.deletions.get("A")!;
  assertEquals(topics.recoverTopic("A", 1, deletedAt), undefined);
  // A send made it again, and the end came before topics.json said so.
  assertEquals(topics.recoverTopic("A", 1, deletedAt + 1)?.topicName, "A");
  assert(!topics.encode().includes("deletedTopics"));
});

test("deleted topics are remembered up to a thousand", () => {
  const { topicConfigManager: topics } = new ManagerRig();
  const names = Array.from({ length: 1_001 }, (_, index) => `T${index}`);
  topics.updateTopicConfigs(names.map((it) => topicOf(it)));
  for (const name of names) topics.deleteTopicConfig(name);
  assertEquals(topics.isDeletedTopic("T0"), false);
  assertEquals(topics.isDeletedTopic("T1"), true);
});
