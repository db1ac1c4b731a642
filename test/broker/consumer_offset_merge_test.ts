/** Offsets of a pair: forward for plain commits, never over a reset (scenarios 49, 50, 59). */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import type { BrokerOptions } from "../../src/broker/broker_options.ts";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { MASTER, MetadataPair } from "./fake_master.ts";
import { topicOf } from "./fakes.ts";
import { ManagerRig, OPTIONS } from "./manager_rig.ts";

const SLAVE: BrokerOptions = { ...OPTIONS, brokerRole: "SLAVE" };

function commit(rig: ManagerRig, offset: number, group = "g"): void {
  rig.maxOffsets.set("T/0", 1_000);
  rig.consumerOffsetManager.commitOffset("x", group, "T", 0, offset);
}

const position = (rig: ManagerRig, group = "g") =>
  rig.consumerOffsetManager.queryOffset(group, "T", 0);

/** A pair with topic T and group g, in sync at 100. */
async function pairAt100(isApache = false): Promise<MetadataPair> {
  const pair = new MetadataPair();
  pair.master.isApache = isApache;
  const { topicConfigManager, subscriptionGroupManager } = pair.master.rig;
  topicConfigManager.updateTopicConfig(topicOf("T"));
  subscriptionGroupManager.updateSubscriptionGroupConfig(
    createSubscriptionGroupConfig("g"),
  );
  commit(pair.master.rig, 100);
  await pair.advance(isApache ? 4_000 : 1_000);
  assertEquals(position(pair.slave), 100);
  return pair;
}

function stopMaster(pair: MetadataPair): void {
  pair.master.isDown = true;
  pair.sync.onConnectionClosed(MASTER);
}

/** What an Apache broker makes of its 43: no keys of ours. */
function apacheText(text: string): string {
  const { offsetTable } = JSON.parse(text);
  return JSON.stringify({ offsetTable });
}

for (const isApache of [false, true]) {
  const whose = isApache ? "Apache's master" : "our master";
  test(`49: commits made while ${whose} was away win over its old ones`, async () => {
    const pair = await pairAt100(isApache);
    stopMaster(pair);
    await pair.advance(1_000);
    commit(pair.slave, 200);
    await pair.advance(1_000);
    pair.master.isDown = false;
    await pair.advance(20_000);
    assertEquals(position(pair.slave), 200);
    assertEquals(position(pair.master.rig), 200);
    assert(!pair.slave.consumerOffsetManager.hasOwn);
    assertEquals(pair.sync.status().consumerOffsets.inSync, true);
  });

  test(`a reset on ${whose} reaches the slave, and is not undone`, async () => {
    const pair = await pairAt100(isApache);
    commit(pair.master.rig, 20);
    await pair.advance(11_000);
    assertEquals(position(pair.slave), 20);
    assertEquals(position(pair.master.rig), 20);
  });

  test(`commits of a slave that started again reach ${whose}`, async () => {
    const pair = await pairAt100(isApache);
    stopMaster(pair);
    commit(pair.slave, 150);
    await pair.slave.persisted();
    const again = new ManagerRig(SLAVE, {
      topics: pair.slave.files.topics.text!,
      groups: pair.slave.files.groups.text!,
      offsets: pair.slave.files.offsets.text!,
    });
    assertEquals(position(again), 150);
    assert(again.consumerOffsetManager.hasOwn);
    const sync = pair.follow(again);
    pair.master.isDown = false;
    for (let tenth = 0; tenth < 100; tenth++) {
      sync.tick();
      await pair.advance(100);
    }
    assertEquals(position(pair.master.rig), 150);
    assertEquals(position(again), 150);
  });
}

test("a reset on the master that the slave never saw wins over commits on the slave", async () => {
  const pair = await pairAt100();
  stopMaster(pair);
  commit(pair.master.rig, 10);
  commit(pair.slave, 300);
  pair.master.isDown = false;
  await pair.advance(10_000);
  assertEquals(position(pair.slave), 10);
  assertEquals(position(pair.master.rig), 10);
});

test("a reset on the slave while the master is away wins, whatever the clocks say", async () => {
  const pair = await pairAt100();
  stopMaster(pair);
  pair.slave.clock.now += 3_600_000;
  commit(pair.slave, 30);
  commit(pair.slave, 40);
  pair.master.isDown = false;
  await pair.advance(10_000);
  assertEquals(position(pair.slave), 40);
  assertEquals(position(pair.master.rig), 40);
  commit(pair.master.rig, 60);
  await pair.advance(1_000);
  assertEquals(position(pair.slave), 60);
  assertEquals(position(pair.master.rig), 60);
});

test("a deleted group and a recreated topic do not get their old offsets back", async () => {
  const pair = await pairAt100();
  stopMaster(pair);
  commit(pair.slave, 400);
  pair.master.rig.consumerOffsetManager.removeOffset("g");
  pair.master.isDown = false;
  await pair.advance(10_000);
  assertEquals(position(pair.master.rig), -1);
  assertEquals(position(pair.slave), -1);
  commit(pair.master.rig, 1);
  await pair.advance(1_000);
  assertEquals(position(pair.slave), 1);
});

test("50: a master that lost its last commits gets them back from the slave", async () => {
  const pair = await pairAt100();
  const old = pair.master.rig.consumerOffsetManager.encode()
    .replace('"0":100', '"0":60');
  const master = new ManagerRig(OPTIONS, { offsets: old });
  master.maxOffsets.set("T/0", 1_000);
  const merge = master.consumerOffsetManager.mergeForward(
    pair.slave.consumerOffsetManager.encode(),
    () => true,
  );
  assert(merge.isChanged);
  assertEquals(position(master), 100);
});

test("mergeForward() keeps resets, unknown topics away, and positions within the queue", () => {
  const master = new ManagerRig();
  const slave = new ManagerRig(SLAVE);
  const offsets = master.consumerOffsetManager;
  commit(master, 500);
  commit(master, 50);
  commit(slave, 500);
  commit(slave, 700, "fresh");
  slave.consumerOffsetManager.commitOffset("x", "g", "Gone", 0, 9);
  master.maxOffsets.set("T/0", 600);
  for (const isApache of [false, true]) {
    const text = slave.consumerOffsetManager.encode();
    offsets.mergeForward(
      isApache ? apacheText(text) : text,
      (topic) => topic === "T",
    );
    assertEquals(position(master), 50, "a reset is not undone");
    assertEquals(position(master, "fresh"), 600, "what is beyond was lost");
    assertEquals(offsets.queryOffset("g", "Gone", 0), -1);
  }
  // A reset that only the slave saw.
  slave.brokerOptions = OPTIONS;
  slave.consumerOffsetManager.reconfigure(OPTIONS);
  slave.clock.advance(1);
  commit(slave, 5);
  offsets.mergeForward(slave.consumerOffsetManager.encode(), () => true);
  assertEquals(position(master), 5);
});

for (const how of ["live", "by a restart"]) {
  test(`a slave promoted ${how}: its resets are its own; a demoted master follows`, async () => {
    const pair = await pairAt100();
    stopMaster(pair);
    commit(pair.slave, 30);
    await pair.slave.persisted();
    let promoted = pair.slave;
    if (how === "live") promoted.consumerOffsetManager.reconfigure(OPTIONS);
    else {
      promoted = new ManagerRig(OPTIONS, {
        offsets: pair.slave.files.offsets.text!,
      });
    }
    assert(!promoted.consumerOffsetManager.hasOwn);
    const demoted = pair.master.rig.consumerOffsetManager;
    demoted.reconfigure(SLAVE);
    const merge = demoted.followMaster(
      promoted.consumerOffsetManager.encode(),
      null,
    );
    assertEquals(merge.ahead, []);
    assertEquals(position(pair.master.rig), 30);
  });
}

test("an Apache master that lost its table does not take ours with it", async () => {
  const pair = await pairAt100(true);
  pair.master.bodies.set(
    RequestCode.GET_ALL_CONSUMER_OFFSET,
    '{"offsetTable":{}}',
  );
  await pair.advance(20_000);
  assertEquals(position(pair.slave), 100);
});

test("a plain commit leaves no key of ours in the file", async () => {
  const rig = new ManagerRig();
  commit(rig, 1);
  commit(rig, 2);
  await rig.persisted();
  const keys = () => Object.keys(JSON.parse(rig.files.offsets.text!));
  assertEquals(keys(), ["dataVersion", "offsetTable"]);
  commit(rig, 1);
  await rig.persisted();
  assertEquals(keys(), ["dataVersion", "offsetGenerations", "offsetTable"]);
  const again = new ManagerRig(OPTIONS, { offsets: rig.files.offsets.text! });
  await again.consumerOffsetManager.persist();
  assertEquals(
    JSON.parse(again.consumerOffsetManager.encode()).offsetGenerations,
    { "T@g": rig.clock.nowMs() },
  );
});

test("51: a position that the master has not taken yet is not shown as in sync", async () => {
  const pair = await pairAt100();
  stopMaster(pair);
  await pair.advance(100);
  assertEquals(pair.sync.status().consumerOffsets.inSync, null);
  const groups = pair.slave.subscriptionGroupManager;
  groups.findSubscriptionGroupConfig("new");
  commit(pair.slave, 5, "new");
  pair.master.isDown = false;
  await pair.advance(7_000);
  assertEquals(pair.sync.status().consumerOffsets.inSync, false);
  assertEquals(position(pair.slave, "new"), 5);
  // Its members tell the master of the group.
  pair.master.rig.subscriptionGroupManager.findSubscriptionGroupConfig("new");
  await pair.advance(11_000);
  assertEquals(pair.sync.status().consumerOffsets.inSync, true);
  assertEquals(position(pair.master.rig, "new"), 5);
});
