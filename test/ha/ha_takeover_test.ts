/** A slave's store becomes the master's: offsets, topics, positions and logs go on (scenarios 22, 46, 47, 51). */
import { cpSync } from "node:fs";
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { HEARTBEAT } from "../broker/broker_site.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { TcpLink } from "../support/tcp_link.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  caughtUp,
  logBytes,
  type PairNode,
  sends,
  startMaster,
  startSlave,
  stopAll,
} from "./pair_site.ts";

const QUEUES = 4;
const QUEUE = { consumerGroup: "g", topic: "T", queueId: "0" };

/** Queue offsets that `count` sends per queue get. */
async function queueOffsets(node: PairNode, count: number): Promise<number[]> {
  const client = await RawClient.open(node.address);
  const offsets: number[] = [];
  for (let index = 0; index < count * QUEUES; index++) {
    const sent = await client.send("T", index % QUEUES, new Uint8Array(10));
    assertEquals(sent.code, 0, sent.remark ?? "");
    offsets.push(Number(sent.extFields.queueOffset));
  }
  client.close();
  return offsets;
}

for (const how of ["was stopped", "was killed"]) {
  test(`47: queue offsets go on without a gap on a slave that ${how} and leads now`, () =>
    withTempDirectory(async (folder) => {
      const master = await startMaster(`${folder}/m`);
      const slave = await startSlave(`${folder}/s`, master);
      const codes = await sends(master, 1_000, 100);
      assert(codes.every((it) => it === 0));
      await caughtUp(master, slave);
      const killed = `${folder}/killed`;
      cpSync(slave.folder, killed, { recursive: true });
      await stopAll(master, slave);
      const leader = await startMaster(
        how === "was killed" ? killed : slave.folder,
      );
      const first = 1_000 / QUEUES;
      const expected = Array.from(
        { length: 3 * QUEUES },
        (_, index) => first + Math.floor(index / QUEUES),
      );
      assertEquals(await queueOffsets(leader, 3), expected);
      await stopAll(leader);
    }));
}

/** Creates a topic and sends to it. */
async function createTopic(client: RawClient, topic: string): Promise<void> {
  const made = await client.invoke(17, {
    topic,
    defaultTopic: "TBW102",
    readQueueNums: "2",
    writeQueueNums: "2",
    perm: "6",
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: "0",
    order: "false",
  });
  assertEquals(made.code, 0, made.remark ?? "");
}

async function send(client: RawClient, topic: string): Promise<void> {
  const sent = await client.send(topic, 0, new Uint8Array(10));
  assertEquals(sent.code, 0, sent.remark ?? "");
}

async function position(client: RawClient): Promise<string | undefined> {
  return (await client.invoke(14, QUEUE)).extFields.offset;
}

/** What both have to be before roles are swapped by hand. */
async function inSync(master: PairNode, slave: PairNode): Promise<void> {
  await caughtUp(master, slave);
  const tables = ({ controller: { parts } }: PairNode) =>
    JSON.stringify([
      [...parts.topicConfigManager.allTopics().keys()].sort(),
      parts.consumerOffsetManager.queryOffset("g", "T", 0),
    ]);
  await eventually(() =>
    tables(master) === tables(slave) &&
    Object.values(slave.controller.metadata.status()!).every((it) => it.inSync)
  );
}

/** One turn of a broker that leads: everything of the turns before is here, and more is added. */
async function lead(master: PairNode, turn: number): Promise<void> {
  const client = await RawClient.open(master.address);
  await client.invoke(34, {}, HEARTBEAT);
  const { topicConfigManager } = master.controller.parts;
  for (let earlier = 0; earlier < turn; earlier++) {
    for (const topic of [`T${earlier}`, `Empty${earlier}`]) {
      assert(topicConfigManager.selectTopicConfig(topic), topic);
    }
    await send(client, `T${earlier}`);
  }
  if (turn > 0) assertEquals(await position(client), String(turn));
  await createTopic(client, `T${turn}`);
  await createTopic(client, `Empty${turn}`);
  await send(client, `T${turn}`);
  await send(client, "T");
  const committed = await client.invoke(15, {
    ...QUEUE,
    commitOffset: String(turn + 1),
  });
  assertEquals(committed.code, 0, committed.remark ?? "");
  client.close();
}

/** After `turns` turns. */
function hasEverything({ controller }: PairNode, turns: number): void {
  const { messageStore, parts } = controller;
  for (let turn = 0; turn < turns; turn++) {
    assertEquals(messageStore.getMaxOffsetInQueue(`T${turn}`, 0), turns - turn);
    const empty = `Empty${turn}`;
    assert(parts.topicConfigManager.selectTopicConfig(empty), empty);
  }
  assertEquals(messageStore.getMaxOffsetInQueue("T", 0), turns);
}

test("51: swaps of the roles by configuration lose no topic, no message and no position", () =>
  withTempDirectory(async (folder) => {
    const turns = 4;
    let [leads, follows] = [`${folder}/a`, `${folder}/b`];
    for (let turn = 0; turn < turns; turn++) {
      const master = await startMaster(leads);
      const slave = await startSlave(follows, master);
      await lead(master, turn);
      await inSync(master, slave);
      await stopAll(master, slave);
      [leads, follows] = [follows, leads];
    }
    const last = await startMaster(leads);
    hasEverything(last, turns);
    await stopAll(last);
  }));

test("46: twenty swaps of the roles of running brokers lose no topic, no message and no position", () =>
  withTempDirectory(async (folder) => {
    const turns = 20;
    let master = await startMaster(`${folder}/a`);
    let slave = await startSlave(`${folder}/b`, master);
    for (let turn = 0; turn < turns; turn++) {
      await lead(master, turn);
      await inSync(master, slave);
      await eventually(() => master.controller.metadata.hasSlaveInSync);
      await master.controller.roles.demote({
        force: false,
        haMasterAddress: slave.haAddress,
      });
      await slave.controller.roles.promote({ force: false });
      [master, slave] = [slave, master];
    }
    hasEverything(master, turns);
    await eventually(() => slave.controller.ha.state().state === "healthy");
    await caughtUp(master, slave);
    assertEquals(Buffer.compare(logBytes(master), logBytes(slave)), 0);
    await stopAll(slave, master);
  }));

/** Topics, positions and messages without end; what was acknowledged of them. */
class Load {
  readonly topics: string[] = [];
  position = 0;
  messages = 0;
  #isOver = false;
  readonly #lanes: Promise<void>[];
  readonly #client: RawClient;

  constructor(client: RawClient) {
    this.#client = client;
    const lanes = [this.#topic, this.#commit, this.#send];
    this.#lanes = lanes.map((it) => this.#lane(it));
  }

  /** The broker has gone: nothing more comes. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#client.close();
    await Promise.all(this.#lanes);
  }

  async #lane(run: (index: number) => Promise<void>): Promise<void> {
    for (let index = 1; !this.#isOver; index++) {
      try {
        await run(index);
      } catch {
        return; // The connection ended, or an answer was a refusal.
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  readonly #topic = async (index: number) => {
    await createTopic(this.#client, `Load${index}`);
    this.topics.push(`Load${index}`);
  };

  readonly #commit = async (commitOffset: number) => {
    const fields = { ...QUEUE, commitOffset: String(commitOffset) };
    const { code } = await this.#client.invoke(15, fields);
    assertEquals(code, 0);
    this.position = commitOffset;
  };

  readonly #send = async () => {
    await send(this.#client, "Messages");
    this.messages++;
  };
}

test("46, 51: a planned swap under load is not refused, and loses nothing that was acknowledged", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/a`);
    const slave = await startSlave(`${folder}/b`, master);
    assert((await sends(master, 2_000 * QUEUES, 20)).every((it) => it === 0));
    const client = await RawClient.open(master.address);
    await client.invoke(34, {}, HEARTBEAT);
    const load = new Load(client);
    await eventually(() => load.topics.length >= 10 && load.position >= 10);
    await master.controller.roles.demote({
      force: false,
      haMasterAddress: slave.haAddress,
    });
    await load.end();
    await slave.controller.roles.promote({ force: false });
    const { messageStore, parts } = slave.controller;
    for (const it of load.topics) {
      assert(parts.topicConfigManager.selectTopicConfig(it), it);
    }
    const position = parts.consumerOffsetManager.queryOffset("g", "T", 0);
    assert(position >= load.position, `${position} after ${load.position}`);
    const end = messageStore.getMaxOffsetInQueue("Messages", 0);
    assert(end >= load.messages, `${end} of ${load.messages} messages`);
    await eventually(() => master.controller.ha.state().state === "healthy");
    await stopAll(slave, master);
  }));

test("22: of two slaves the longer one leads, and the shorter one becomes its equal", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/m`);
    const link = await TcpLink.open(master.haAddress);
    const longer = await startSlave(`${folder}/longer`, master);
    const shorter = await startSlave(`${folder}/shorter`, master, {
      broker: { brokerId: 2 },
      ha: { haMasterAddress: link.address, masterAddress: master.address },
    });
    await sends(master, 20);
    await caughtUp(master, longer);
    await caughtUp(master, shorter);
    link.blackhole();
    await sends(master, 300);
    await caughtUp(master, longer);
    await stopAll(shorter, longer);
    await link.close();
    await stopAll(master);
    const leader = await startMaster(longer.folder);
    const follower = await startSlave(shorter.folder, leader);
    await sends(leader, 10);
    await caughtUp(leader, follower);
    assertEquals(Buffer.compare(logBytes(leader), logBytes(follower)), 0);
    await stopAll(follower, leader);
    // The other way round something would have to be dropped: that is refused and named.
    const wrong = await startMaster(`${folder}/m`);
    await sends(wrong, 10);
    await stopAll(wrong);
    const short = await startMaster(follower.folder);
    const long = await startSlave(`${folder}/m`, short);
    await eventually(() => long.controller.ha.state().state === "diverged");
    await stopAll(long, short);
  }));
