/** A pair through random commits, resets, deletions and outages: both halves end equal, and nothing is lost on the way. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import { forSeeds, type SimRandom } from "../sim/sim_random.ts";
import { MASTER, MetadataPair } from "./fake_master.ts";
import { topicOf } from "./fakes.ts";
import type { ManagerRig } from "./manager_rig.ts";

const GROUPS = ["g1", "g2"];
const TOPICS = ["A", "B", "C"];
const OFFSET_MAX = 1_000;

class Story {
  readonly pair = new MetadataPair();
  /** The last commit of each position; none after a deletion. */
  readonly expected = new Map<string, number>();
  readonly hits = new Map<string, number>();

  constructor(readonly random: SimRandom, readonly isApache: boolean) {
    const { master, slave } = this.pair;
    master.isApache = isApache;
    for (const topic of TOPICS) {
      master.rig.topicConfigManager.updateTopicConfig(topicOf(topic));
      for (const rig of [master.rig, slave]) {
        rig.maxOffsets.set(`${topic}/0`, OFFSET_MAX);
      }
    }
    for (const group of GROUPS) {
      master.rig.subscriptionGroupManager.updateSubscriptionGroupConfig(
        createSubscriptionGroupConfig(group),
      );
    }
  }

  async run(): Promise<void> {
    await this.pair.advance(4_000);
    for (let step = 0; step < 40; step++) {
      await this.#step();
      await this.pair.advance(this.random.nextInt(4) * 100);
      this.#checkTopics();
    }
    this.pair.master.isDown = false;
    await this.pair.advance(40_000);
    this.#checkEqual();
  }

  async #step(): Promise<void> {
    const { master, slave, sync } = this.pair;
    const group = GROUPS[this.random.nextInt(GROUPS.length)]!;
    const topic = TOPICS[this.random.nextInt(TOPICS.length)]!;
    // Readers are on the slave only while the master is away.
    const rig = master.isDown ? slave : master.rig;
    switch (this.random.nextInt(8)) {
      case 0:
        this.#hit(master.isDown ? "heal" : "outage");
        if (!master.isDown) {
          await this.pair.advance(this.isApache ? 11_000 : 1_500);
          assertEquals(positions(slave), positions(master.rig));
        }
        master.isDown = !master.isDown;
        if (master.isDown) sync.onConnectionClosed(MASTER);
        // A group goes on where it stood: it asks before it commits.
        else await this.pair.advance(this.isApache ? 15_000 : 7_000);
        break;
      case 1:
        this.#commit(rig, group, topic, this.random.nextInt(5), "reset");
        break;
      case 2:
        if (master.isDown || this.isApache) break;
        this.#hit("deleted topic");
        master.rig.topicConfigManager.deleteTopicConfig(topic);
        master.rig.consumerOffsetManager.cleanOffsetByTopic(topic);
        for (const it of GROUPS) this.expected.delete(`${topic}@${it}`);
        master.rig.topicConfigManager.updateTopicConfig(topicOf(topic));
        break;
      default: {
        const at = rig.consumerOffsetManager.queryOffset(group, topic, 0);
        const next = Math.max(0, at) + 1 + this.random.nextInt(9);
        this.#commit(rig, group, topic, next, "commit");
      }
    }
  }

  #commit(
    rig: ManagerRig,
    group: string,
    topic: string,
    offset: number,
    kind: "commit" | "reset",
  ): void {
    const key = `${topic}@${group}`;
    const at = rig.consumerOffsetManager.queryOffset(group, topic, 0);
    if (kind === "reset" && offset >= at) return;
    this.#hit(`${kind} on ${rig === this.pair.slave ? "slave" : "master"}`);
    rig.consumerOffsetManager.commitOffset("x", group, topic, 0, offset);
    this.expected.set(key, offset);
  }

  #checkTopics(): void {
    const { slave } = this.pair;
    assert(slave.topicConfigManager.allTopics().size > 0);
    for (const group of GROUPS) {
      assert(slave.subscriptionGroupManager.containsSubscriptionGroup(group));
    }
  }

  #checkEqual(): void {
    const { master, slave, sync } = this.pair;
    assertEquals(positions(slave), positions(master.rig));
    for (const [key, offset] of this.expected) {
      assertEquals(positions(slave).get(key), offset, key);
    }
    assertEquals(
      [...slave.topicConfigManager.allTopics().keys()].sort(),
      [...master.rig.topicConfigManager.allTopics().keys()].sort(),
    );
    assert(!slave.consumerOffsetManager.hasOwn);
    for (const it of Object.values(sync.status())) {
      assertEquals([it.inSync, it.error], [true, null]);
    }
  }

  #hit(kind: string): void {
    this.hits.set(kind, (this.hits.get(kind) ?? 0) + 1);
  }
}

function positions(rig: ManagerRig): Map<string, number> {
  const found = new Map<string, number>();
  for (const group of GROUPS) {
    for (const topic of TOPICS) {
      const at = rig.consumerOffsetManager.queryOffset(group, topic, 0);
      found.set(`${topic}@${group}`, at);
    }
  }
  return found;
}

for (const isApache of [false, true]) {
  const whose = isApache ? "an Apache master" : "our master";
  test(`tables and positions of a pair with ${whose} end equal, and where the last commit was`, async () => {
    const hits = new Map<string, number>();
    await forSeeds(isApache ? 6 : 8, async (random) => {
      const story = new Story(random, isApache);
      await story.run();
      for (const [kind, count] of story.hits) {
        hits.set(kind, (hits.get(kind) ?? 0) + count);
      }
    });
    for (
      const kind of [
        "outage",
        "heal",
        "commit on master",
        "commit on slave",
        "reset on master",
        "reset on slave",
      ]
    ) {
      assert((hits.get(kind) ?? 0) > 0, kind);
    }
  });
}
