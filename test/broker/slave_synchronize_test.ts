import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import { createRequest } from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { topicOf } from "./fakes.ts";
import { MetadataPair, settle } from "./fake_master.ts";
import { ManagerRig } from "./manager_rig.ts";

const names = (rig: ManagerRig) =>
  [...rig.topicConfigManager.allTopics().keys()].sort();

/** A pair that has had its first round. */
async function syncedPair(): Promise<MetadataPair> {
  const pair = new MetadataPair();
  const { topicConfigManager, subscriptionGroupManager } = pair.master.rig;
  topicConfigManager.updateTopicConfig(topicOf("T"));
  subscriptionGroupManager.updateSubscriptionGroupConfig(
    createSubscriptionGroupConfig("g", { retryMaxTimes: 3 }),
  );
  await pair.advance(1_000);
  return pair;
}

function commit(rig: ManagerRig, offset: number, topic = "T"): void {
  rig.maxOffsets.set(`${topic}/0`, 1_000);
  rig.consumerOffsetManager.commitOffset("x", "g", topic, 0, offset);
}

const position = (rig: ManagerRig, topic = "T") =>
  rig.consumerOffsetManager.queryOffset("g", topic, 0);

test("all four sets are taken over within 1 s of one of our masters, versions too", async () => {
  const pair = await syncedPair();
  const { master, slave, sync } = pair;
  commit(master.rig, 70);
  await pair.advance(1_000);
  assertEquals(names(slave), names(master.rig));
  assertEquals(slave.topicConfigManager.selectTopicConfig("T"), topicOf("T"));
  assertEquals(
    slave.subscriptionGroupManager.getSubscriptionGroupConfig("g")
      ?.retryMaxTimes,
    3,
  );
  assertEquals(position(slave), 70);
  for (
    const manager of [
      "topicConfigManager",
      "subscriptionGroupManager",
      "consumerOffsetManager",
      "delayOffsetFile",
    ] as const
  ) {
    assertEquals(
      slave[manager].dataVersion,
      master.rig[manager].dataVersion,
      manager,
    );
  }
  for (const it of Object.values(sync.status())) {
    assertEquals([it.inSync, it.error], [true, null]);
    assert(it.lastSyncAt !== null);
  }
  assert(sync.isMasterAlive);
});

test("a master knows which slaves may be read, and forgets them", async () => {
  const pair = await syncedPair();
  const { wait } = pair.master;
  assert(wait.hasReadableSlave(1));
  assert(!wait.hasReadableSlave(2));
  await pair.advance(60_000);
  assert(wait.hasReadableSlave(1));
  pair.readableBrokerId = 0;
  await pair.advance(6_000);
  assert(!wait.hasReadableSlave(1));
  pair.readableBrokerId = 1;
  await pair.advance(6_000);
  pair.sync.stop();
  await pair.advance(15_000);
  assert(!wait.hasReadableSlave(1));
});

test("41: an idle pair moves under 1 KiB per round, and files are not written again", async () => {
  const pair = await syncedPair();
  await pair.advance(10_000);
  const { master, slave } = pair;
  const { bytes } = master;
  const writes = slave.files.topics.writes.length;
  await pair.advance(300_000);
  assert(master.bytes - bytes < 30 * 1_024 * 3, `${master.bytes - bytes}`);
  assertEquals(slave.files.topics.writes.length, writes);
  const asked = new Set(master.codes.slice(-20));
  assertEquals([...asked], [31_001]);
});

test("39: the slave's tables never shrink while they change 50 times", async () => {
  const pair = await syncedPair();
  const { master, slave } = pair;
  let least = names(slave).length;
  for (let round = 0; round < 50; round++) {
    master.rig.topicConfigManager.updateTopicConfig(topicOf(`T${round}`));
    await pair.advance(500, () => {
      const now = names(slave).length;
      assert(now >= least, `${now} topics after ${least}`);
      least = now;
      assert(slave.topicConfigManager.selectTopicConfig("T"));
      assert(slave.subscriptionGroupManager.containsSubscriptionGroup("g"));
    });
  }
  await pair.advance(1_000);
  assertEquals(names(slave), names(master.rig));
});

test("a table is durable before it holds; a disk that fails changes nothing", async () => {
  const pair = await syncedPair();
  const { master, slave, sync } = pair;
  const { dataVersion } = slave.topicConfigManager;
  slave.files.topics.failure = Object.assign(new Error("the disk is full"), {
    name: "FileError",
  });
  master.rig.topicConfigManager.updateTopicConfig(topicOf("New"));
  await pair.advance(2_000);
  assertEquals(slave.topicConfigManager.selectTopicConfig("New"), undefined);
  assertEquals(slave.topicConfigManager.dataVersion, dataVersion);
  assertEquals(sync.status().topics.inSync, false);
  assertStringIncludes(sync.status().topics.error!, "the disk is full");
  assertEquals(sync.status().subscriptionGroups.inSync, true);
  const asked = master.codes.length;
  await pair.advance(5_000);
  assert(master.codes.length - asked < 10, "it asks again without end");
  slave.files.topics.failure = undefined;
  await pair.advance(10_000);
  assert(slave.topicConfigManager.selectTopicConfig("New"));
  const written = JSON.parse(slave.files.topics.text!);
  assert(written.topicConfigTable.New);
  assertEquals(
    written.dataVersion.counter,
    slave.topicConfigManager.dataVersion.counter,
  );
});

for (const count of [2_001, 4_000, 10_000]) {
  test(`42: ${count} topics reach the slave, in one answer and so of one version`, async () => {
    const pair = await syncedPair();
    const { master, slave } = pair;
    master.rig.topicConfigManager.updateTopicConfigs(
      Array.from({ length: count }, (_, index) => topicOf(`T${index}`)),
    );
    const before = master.codes.length;
    await pair.advance(1_000);
    assertEquals(names(slave), names(master.rig));
    const asked = master.codes.slice(before);
    const { GET_ALL_TOPIC_CONFIG } = RequestCode;
    assertEquals(asked.filter((it) => it === GET_ALL_TOPIC_CONFIG).length, 1);
  });
}

test("45: a topic goes from the slave with its queues and offsets, and comes back empty", async () => {
  const pair = await syncedPair();
  const { master, slave } = pair;
  commit(master.rig, 500);
  await pair.advance(1_000);
  assertEquals(position(slave), 500);
  master.rig.logEnd = 4_711;
  master.rig.topicConfigManager.deleteTopicConfig("T");
  master.rig.consumerOffsetManager.cleanOffsetByTopic("T");
  await pair.advance(1_000);
  assertEquals(slave.topicConfigManager.selectTopicConfig("T"), undefined);
  assert(slave.topicConfigManager.isDeletedTopic("T"));
  assertEquals(pair.cleaned, [["T", 4_711]]);
  assertEquals(pair.deletedTopics, []);
  assertEquals(position(slave), -1);
  master.rig.topicConfigManager.updateTopicConfig(topicOf("T"));
  commit(master.rig, 2);
  await pair.advance(1_000);
  assertEquals(position(slave), 2);
});

test("32: a topic deleted and made again while the slave was away is known as such", async () => {
  const pair = await syncedPair();
  const { master, slave, sync } = pair;
  master.isDown = true;
  sync.onConnectionClosed(sync.address!);
  master.rig.logEnd = 9;
  master.rig.topicConfigManager.deleteTopicConfig("T");
  master.rig.topicConfigManager.updateTopicConfig(topicOf("T"));
  master.isDown = false;
  await pair.advance(5_000);
  assertEquals(pair.cleaned, [["T", 9]]);
  const again = new ManagerRig(slave.brokerOptions, {
    topics: slave.files.topics.text!,
  });
  assertEquals([...again.topicConfigManager.deletions.entries()], [["T", 9]]);
});

test("a topic that an Apache master deleted goes at once", async () => {
  const pair = new MetadataPair();
  pair.master.isApache = true;
  const body = (topics: string) =>
    pair.master.bodies.set(
      RequestCode.GET_ALL_TOPIC_CONFIG,
      `{"dataVersion":{"counter":${topics.length}},"topicConfigTable":{${topics}}}`,
    );
  body('"A":{},"B":{}');
  await pair.advance(4_000);
  body('"A":{}');
  await pair.advance(10_000);
  assertEquals(names(pair.slave), ["A"]);
  // Not those that only a broker of ours has from its start.
  assertEquals(pair.deletedTopics, ["B"]);
});

test("40: with the master gone the tables stay, and a new group obeys the auto-create setting", async () => {
  const pair = await syncedPair();
  const { master, slave, sync } = pair;
  master.isDown = true;
  sync.onConnectionClosed(sync.address!);
  await pair.advance(30_000);
  assert(!sync.isMasterAlive);
  assertEquals(sync.status().topics.inSync, null);
  assertStringIncludes(sync.status().topics.error!, "connection refused");
  assert(slave.topicConfigManager.selectTopicConfig("T"));
  const groups = slave.subscriptionGroupManager;
  assert(groups.findSubscriptionGroupConfig("fresh"));
  const { dataVersion } = groups;
  master.isDown = false;
  await pair.advance(7_000);
  assertEquals(groups.dataVersion, dataVersion);
  master.rig.subscriptionGroupManager.findSubscriptionGroupConfig("other");
  await pair.advance(1_000);
  assert(groups.containsSubscriptionGroup("other"));
  assert(groups.containsSubscriptionGroup("fresh"), "its consumer lives here");
  slave.brokerOptions = {
    ...slave.brokerOptions,
    autoCreateSubscriptionGroup: false,
  };
  groups.reconfigure(slave.brokerOptions);
  assertEquals(groups.findSubscriptionGroupConfig("no"), undefined);
  const warnings = slave.logger.lines.filter((it) => it.startsWith("warn"));
  assertEquals(warnings.length, 1);
});

test("the master may be known later, and may move", async () => {
  const pair = new MetadataPair();
  pair.masterAddress = null;
  await pair.advance(1_000);
  assertEquals(pair.master.codes, []);
  pair.masterAddress = "10.0.0.9:10911";
  await pair.advance(3_000);
  assertStringIncludes(pair.sync.status().topics.error!, "10.0.0.9:10911");
  pair.masterAddress = "10.0.0.1:10911";
  await pair.advance(500);
  assertEquals(pair.sync.status().topics.inSync, true);
});

test("a master whose log differs is not followed, and the reason is shown", async () => {
  const pair = await syncedPair();
  pair.refusal = "The logs differ at 4711.";
  pair.master.rig.topicConfigManager.deleteTopicConfig("T");
  await pair.advance(20_000);
  assert(pair.slave.topicConfigManager.selectTopicConfig("T"));
  assertEquals(pair.sync.status().topics.error, "The logs differ at 4711.");
  assertEquals(pair.deletedTopics, []);
});

test("an answer that comes after the link to the master has ended is not taken", async () => {
  const pair = await syncedPair();
  pair.master.rig.topicConfigManager.deleteTopicConfig("T");
  pair.master.onRequest = (code) => {
    if (code === 21) pair.refusal = "The link has ended.";
  };
  await pair.advance(20_000);
  assert(pair.master.codes.includes(21));
  assert(pair.slave.topicConfigManager.selectTopicConfig("T"));
  assertEquals(pair.deletedTopics, []);
  pair.master.onRequest = () => {};
  pair.refusal = null;
  await pair.advance(1_000);
  assertEquals(pair.slave.topicConfigManager.selectTopicConfig("T"), undefined);
});

test("44: an unknown topic triggers a round at once, but only one between two regular ones", async () => {
  const pair = new MetadataPair();
  pair.master.isApache = true;
  await pair.advance(4_000);
  const rounds = () =>
    pair.master.codes.filter((it) => it === RequestCode.GET_ALL_TOPIC_CONFIG)
      .length;
  assertEquals(rounds(), 1);
  pair.master.rig.topicConfigManager.updateTopicConfig(topicOf("Late"));
  pair.sync.onUnknownTopic("Late");
  await pair.advance(200);
  assert(pair.slave.topicConfigManager.selectTopicConfig("Late"));
  for (let tenth = 0; tenth < 50; tenth++) {
    pair.sync.onUnknownTopic("Gone");
    await pair.advance(100);
  }
  assertEquals(rounds(), 3);
});

test("Apache's master: first after 3 s, then every 10 s; 4.9 and 5.x bodies, other keys kept", async () => {
  const pair = new MetadataPair();
  const { master, slave } = pair;
  master.isApache = true;
  master.bodies.set(
    RequestCode.GET_ALL_TOPIC_CONFIG,
    `{"dataVersion":{"counter":3,"timestamp":1700000000000},"topicConfigTable":{
      "T":{"order":false,"perm":6,"readQueueNums":4,"topicFilterType":"SINGLE_TAG",
        "topicName":"T","topicSysFlag":0,"writeQueueNums":4,"later":{"a":1}}}}`,
  );
  master.bodies.set(
    RequestCode.GET_ALL_CONSUMER_OFFSET,
    '{"offsetTable":{"T@g":{0:7,1:9}}}',
  );
  master.bodies.set(
    RequestCode.GET_ALL_DELAY_OFFSET,
    '{"offsetTable":{3:12}}',
  );
  master.bodies.set(
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    `{"dataVersion":{"counter":5,"stateVersion":0,"timestamp":1700000000001},
      "forbiddenTable":{"g":{"T":1}},
      "subscriptionGroupTable":{"g":{"groupName":"g","retryMaxTimes":9,"later":2}}}`,
  );
  await pair.advance(2_900);
  assertEquals(slave.topicConfigManager.selectTopicConfig("T"), undefined);
  await pair.advance(300);
  assertEquals(names(slave), ["T"]);
  assertEquals(slave.topicConfigManager.dataVersion, {
    counter: 3,
    stateVersion: 0,
    timestamp: 1_700_000_000_000,
  });
  assertStringIncludes(slave.files.topics.text!, '"later":{\n');
  assertStringIncludes(slave.files.groups.text!, '"later":2');
  assertEquals(slave.subscriptionGroupManager.getForbidden("g", "T"), 1);
  assertEquals(position(slave), 7);
  assertEquals([...slave.delayOffsetFile.offsets()], [[3, 12]]);
  assertStringIncludes(slave.files.delayOffsets.text!, '"3":12');
  const rounds = master.codes.length;
  await pair.advance(10_000);
  assertEquals(master.codes.slice(rounds), [21, 201, 402, 43, 45, 60, 61]);
  // A slave that starts again keeps exactly what it followed.
  const again = new ManagerRig(slave.brokerOptions, {
    topics: slave.files.topics.text!,
    groups: slave.files.groups.text!,
  });
  assertEquals(names(again), ["T"]);
  assertEquals(
    again.topicConfigManager.dataVersion,
    slave.topicConfigManager.dataVersion,
  );
});

test("54: POP's modes pass through, also through a restart; a 4.9 master knows none", async () => {
  const pair = new MetadataPair();
  const { master, slave } = pair;
  master.isApache = true;
  const modes =
    '{"messageRequestModeMap":{"T":{"g":{"consumerGroup":"g","mode":"POP","popShareQueueNum":8,"topic":"T"}}}}';
  master.bodies.set(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE, modes);
  await pair.advance(4_000);
  const again = new ManagerRig(slave.brokerOptions, {
    modes: slave.files.modes.text!,
  });
  assertEquals(again.messageRequestModeFile.encode(), modes);
  master.bodies.set(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE, "{}");
  await pair.advance(10_000);
  assertEquals(slave.messageRequestModeFile.encode(), modes);
  const { subscriptionGroups } = pair.sync.status();
  assert(subscriptionGroups.error!.includes("messageRequestModeMap"));
});

test("55: a master without the optional sets costs no line in 5 minutes", async () => {
  for (const isApache of [false, true]) {
    const pair = new MetadataPair();
    pair.master.isApache = isApache;
    pair.master.unknownCodes.add(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE);
    if (isApache) {
      pair.master.bodies.set(RequestCode.GET_ALL_CONSUMER_OFFSET, "");
      pair.master.bodies.set(RequestCode.GET_ALL_DELAY_OFFSET, "");
    }
    await pair.advance(300_000);
    const lines = pair.slave.logger.lines.filter((it) =>
      !it.startsWith("info")
    );
    assertEquals(lines, []);
    assertEquals(pair.sync.status().subscriptionGroups.inSync, true);
  }
});

test("junk and refusals of one set leave it as it is; the others go on", async () => {
  const pair = await syncedPair();
  const { master, slave, sync } = pair;
  const before = names(slave);
  const bodies = ["", "null", "{broken", "[]", '{"topicConfigTable":{}}'];
  for (const body of bodies) {
    master.bodies.set(RequestCode.GET_ALL_TOPIC_CONFIG, body);
    master.rig.topicConfigManager.updateTopicConfig(topicOf(`X${body.length}`));
    commit(master.rig, 10 + body.length);
    await pair.advance(11_000);
    assertEquals(names(slave), before, body);
    assertEquals(sync.status().topics.inSync, false);
    assert(sync.status().topics.error !== null);
    assertEquals(position(slave), 10 + body.length);
  }
  master.bodies.clear();
  await pair.advance(11_000);
  assertEquals(names(slave), names(master.rig));
});

test("59: forward() gives the master's answer, and undefined without a master", async () => {
  const pair = await syncedPair();
  const request = {
    consumerGroup: "g",
    topic: "T",
    queueId: "0",
    commitOffset: "5",
  };
  pair.master.rig.maxOffsets.set("T/0", 10);
  const forward = () => pair.sync.forward(createRequest(15, request));
  assertEquals((await forward())?.code, 0);
  assertEquals(position(pair.master.rig), 5);
  pair.master.isDown = true;
  assertEquals(await forward(), undefined);
  assert(!pair.sync.isMasterAlive);
  pair.sync.stop();
  await settle();
});
