import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import type { BrokerManagerPorts } from "../../src/broker/config_manager.ts";
import { ConsumerOffsetManager } from "../../src/broker/consumer_offset_manager.ts";
import { SubscriptionGroupManager } from "../../src/broker/subscription_group_manager.ts";
import { TopicConfigManager } from "../../src/broker/topic_config_manager.ts";
import type { FileSystem } from "../../src/io/file_system.ts";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import { JsonFile } from "../../src/store/json_file.ts";
import { SimFileSystem } from "../sim/sim_file_system.ts";
import { forSeeds, type SimRandom } from "../sim/sim_random.ts";
import { FakeClock, FakeLogger, topicOf } from "./fakes.ts";
import { OPTIONS } from "./manager_rig.ts";

const CONFIG = "/store/config";
const NAMES = ["topics.json", "subscriptionGroup.json", "consumerOffset.json"];

/** The disk as one process sees it; once it is dead, what it had begun goes nowhere. */
function mortal(disk: SimFileSystem): { view: FileSystem; die(): void } {
  let isDead = false;
  const view = new Proxy<FileSystem>(disk, {
    get(_target, name: keyof FileSystem) {
      if (isDead) throw new Error("this process is dead");
      return disk[name].bind(disk);
    },
  });
  return { view, die: () => void (isDead = true) };
}

/** What one process holds. */
function boot(fileSystem: FileSystem, logger = new FakeLogger()) {
  const ports = (name: string): BrokerManagerPorts => ({
    clock: new FakeClock(),
    logger,
    file: new JsonFile(fileSystem, `${CONFIG}/${name}`, logger),
  });
  const topics = new TopicConfigManager(ports(NAMES[0]!), OPTIONS, () => 0);
  const groups = new SubscriptionGroupManager(ports(NAMES[1]!), OPTIONS);
  const offsets = new ConsumerOffsetManager(ports(NAMES[2]!), OPTIONS, null);
  topics.load();
  groups.load();
  offsets.load();
  return { topics, groups, offsets, logger };
}

type Booted = ReturnType<typeof boot>;

async function persistAll({ topics, groups, offsets }: Booted): Promise<void> {
  await Promise.all([topics.persist(), groups.persist(), offsets.persist()]);
}

/** A disk on which three topics, groups and offsets are stored, twice. */
async function filledDisk(random?: SimRandom): Promise<SimFileSystem> {
  const fileSystem = new SimFileSystem(random ? { random } : {});
  const booted = boot(fileSystem);
  for (const name of ["a", "b", "c"]) {
    booted.topics.updateTopicConfig(topicOf(name));
    booted.groups.findSubscriptionGroupConfig(name);
    booted.offsets.commitOffset("x", name, name, 0, 42);
    await persistAll(booted);
  }
  return fileSystem;
}

test("power may go at any moment: what was answered is there, with its version", async () => {
  await forSeeds(100, async (random) => {
    const fileSystem = new SimFileSystem({ random });
    const acked = new Map<string, number>();
    let process = mortal(fileSystem);
    let booted = boot(process.view);
    let lastVersion = 0;
    for (let round = 0; round < 3; round++) {
      for (let step = 0; step < 6; step++) {
        const topic = `T${round}_${step}`;
        booted.topics.updateTopicConfig(topicOf(topic));
        booted.offsets.commitOffset("x", "g", topic, 0, step);
        const persisted = persistAll(booted);
        if (random.oneIn(4)) {
          persisted.catch(() => {});
          break;
        }
        await persisted;
        acked.set(topic, step);
        lastVersion = booted.topics.dataVersion.counter;
      }
      for (let turns = random.nextInt(12); turns > 0; turns--) {
        await Promise.resolve();
      }
      process.die();
      fileSystem.crash();
      process = mortal(fileSystem);
      booted = boot(process.view);
      for (const [topic, offset] of acked) {
        assert(booted.topics.selectTopicConfig(topic), `${topic} is lost`);
        assertEquals(booted.offsets.queryOffset("g", topic, 0), offset);
      }
      assert(booted.topics.dataVersion.counter >= lastVersion);
      await persistAll(booted);
      lastVersion = booted.topics.dataVersion.counter;
    }
  });
});

test("taking out a sync loses what was answered", async () => {
  let lost = 0;
  await forSeeds(60, async (random) => {
    const fileSystem = await filledDisk(random);
    fileSystem.faults.dropSync = () => true;
    const booted = boot(fileSystem);
    booted.topics.updateTopicConfig(topicOf("late"));
    await persistAll(booted);
    fileSystem.crash();
    if (!boot(fileSystem).topics.selectTopicConfig("late")) lost++;
  });
  assert(lost > 0, "the simulated disk forgets nothing");
});

const USELESS: Record<string, string> = {
  "0 bytes": "",
  "null": "null",
  "an array": "[]",
  "a text": '"<nil>"',
  "bare <nil>": "<nil>",
  "another object": '{"x":1}',
  "a table of no use": '{"topicConfigTable":[],"subscriptionGroupTable":1}',
  "cut": '{"topicConfigTable":{"a":{"pe',
  "junk behind": '{"topicConfigTable":{}} "tail":{}}',
};

for (const [what, text] of Object.entries(USELESS)) {
  test(`a main file of ${what}: the backup is served and the main file made whole`, async () => {
    const fileSystem = await filledDisk();
    for (const name of NAMES) truncateTo(fileSystem, `${CONFIG}/${name}`, text);
    const booted = boot(fileSystem);
    // The backup is the file before the last write: "c" came with that one.
    assert(booted.topics.selectTopicConfig("b"));
    assert(booted.groups.containsSubscriptionGroup("b"));
    assertEquals(booted.offsets.queryOffset("b", "b", 0), 42);
    for (const name of NAMES) {
      assertStringIncludes(booted.logger.lines.join("\n"), name);
    }
    await persistAll(booted);
    const again = boot(fileSystem);
    assertEquals(again.logger.lines, []);
    assert(again.topics.selectTopicConfig("b"));
    assertEquals(again.offsets.queryOffset("b", "b", 0), 42);
  });

  test(`main and backup of ${what}: the broker starts with what every broker has`, async () => {
    const fileSystem = await filledDisk();
    for (const name of NAMES) {
      truncateTo(fileSystem, `${CONFIG}/${name}`, text);
      truncateTo(fileSystem, `${CONFIG}/${name}.bak`, text);
    }
    const booted = boot(fileSystem);
    assert(booted.topics.selectTopicConfig("TBW102"));
    assert(booted.groups.containsSubscriptionGroup("TOOLS_CONSUMER"));
    await persistAll(booted);
    assertEquals(boot(fileSystem).logger.lines, []);
  });
}

test("a shorter table leaves no tail of the longer one", async () => {
  const fileSystem = new SimFileSystem();
  const booted = boot(fileSystem);
  const configs = Array.from(
    { length: 500 },
    (_, index) => createSubscriptionGroupConfig(`group_${index}`),
  );
  booted.groups.updateSubscriptionGroupConfigs(configs);
  await persistAll(booted);
  for (const it of configs.slice(50)) {
    booted.groups.deleteSubscriptionGroupConfig(it.groupName);
  }
  await persistAll(booted);
  const path = `${CONFIG}/subscriptionGroup.json`;
  const text = new TextDecoder().decode(fileSystem.readFile(path));
  const table = JSON.parse(text).subscriptionGroupTable;
  assertEquals(Object.keys(table).length, 58);
});

test("a corrupt main file never becomes the backup", async () => {
  const fileSystem = await filledDisk();
  const path = `${CONFIG}/topics.json`;
  truncateTo(fileSystem, path, "{broken");
  const booted = boot(fileSystem);
  await booted.topics.persist();
  fileSystem.kill();
  truncateTo(fileSystem, path, "{broken");
  assert(boot(fileSystem).topics.selectTopicConfig("b"));
});

test("a full disk: the change holds in memory, the old file stays, later it is written", async () => {
  const fileSystem = await filledDisk();
  const clock = new FakeClock();
  const logger = new FakeLogger();
  const topics = new TopicConfigManager(
    {
      clock,
      logger,
      file: new JsonFile(fileSystem, `${CONFIG}/topics.json`, logger),
    },
    OPTIONS,
    () => 0,
  );
  topics.load();
  fileSystem.faults.capacityBytes = 0;
  topics.updateTopicConfig(topicOf("d"));
  let failure = "";
  await topics.persist().catch((error) => failure = String(error));
  assertStringIncludes(failure, "FileError");
  assert(topics.selectTopicConfig("d"));
  assert(boot(fileSystem).topics.selectTopicConfig("c"));
  fileSystem.faults.capacityBytes = Infinity;
  clock.advance(5_000);
  topics.tick(clock.monotonicMs());
  await topics.persist();
  assert(boot(fileSystem).topics.selectTopicConfig("d"));
});

function truncateTo(
  fileSystem: SimFileSystem,
  path: string,
  text: string,
): void {
  const handle = fileSystem.open(path, "create");
  handle.truncate(0);
  handle.writeAt(0, new TextEncoder().encode(text));
  handle.close();
}
