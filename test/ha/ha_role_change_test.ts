/** Promotion and demotion of brokers in this process, without a name server. */
import { rmSync } from "node:fs";
import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { RoleChangeRefused } from "../../src/broker/role_change/role_refusal.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
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

const inPair = (
  run: (master: PairNode, slave: PairNode, folder: string) => Promise<void>,
) =>
  withTempDirectory(async (folder) => {
    const broker = { brokerRole: "SYNC_MASTER" } as const;
    const master = await startMaster(`${folder}/a`, { broker });
    const slave = await startSlave(`${folder}/b`, master);
    await eventually(
      () => master.controller.ha.state().state === "healthy",
      { message: "the pair is healthy" },
    );
    await run(master, slave, folder);
  });

const epochs = ({ controller }: PairNode) => [
  controller.parts.topicConfigManager.dataVersion.stateVersion,
  controller.parts.subscriptionGroupManager.dataVersion.stateVersion,
  controller.parts.consumerOffsetManager.dataVersion.stateVersion,
];

test("a slave is promoted once its master is gone, to the role that it had", () =>
  inPair(async (master, slave) => {
    await sends(master, 20);
    await caughtUp(master, slave);
    await eventually(
      () => slave.controller.parts.topicConfigManager.selectTopicConfig("T"),
      { message: "the topic is here" },
    );
    const { roles } = slave.controller;
    const early = await assertRejects(
      () => roles.promote({ force: false }),
      RoleChangeRefused,
      master.address,
    );
    assert(early.isForcible);
    const end = master.controller.messageStore.maxPhyOffset;
    await master.controller.stop();
    const changed = await roles.promote({ force: false });
    assertEquals(
      [changed.role, changed.brokerId, changed.epoch, changed.promotedAtOffset],
      ["SYNC_MASTER", 0, 1, end],
    );
    assertEquals(slave.controller.ha.role, "SYNC_MASTER");
    assertEquals(epochs(slave), [1, 1, 1]);
    // The next offset of the queue follows the last one of the master.
    const client = await RawClient.open(slave.address);
    const sent = await client.send("T", 0, new Uint8Array(10));
    assertEquals([sent.code, sent.extFields.queueOffset], [11, "5"]);
    client.close();
    await assertRejects(
      () => roles.promote({ force: true }),
      RoleChangeRefused,
      "only a SLAVE",
    );
    await stopAll(slave);
  }));

test("a planned swap loses nothing: the master is demoted, then its slave promoted", () =>
  inPair(async (master, slave) => {
    await sends(master, 50);
    await caughtUp(master, slave);
    await eventually(() => master.controller.metadata.hasSlaveInSync, {
      message: "the tables are in sync",
    });
    const demoted = await master.controller.roles.demote({
      force: false,
      haMasterAddress: slave.haAddress,
    });
    // The other one lives as number 1.
    assertEquals([demoted.role, demoted.brokerId], ["SLAVE", 2]);
    const promoted = await slave.controller.roles.promote({ force: false });
    assertEquals([promoted.role, promoted.epoch], ["SYNC_MASTER", 1]);
    await eventually(() => slave.controller.ha.state().state === "healthy", {
      message: "the former master follows",
    });
    const codes = await sends(slave, 20);
    assertEquals(codes, codes.map(() => 0));
    await caughtUp(slave, master);
    assertEquals(logBytes(master), logBytes(slave));
    await eventually(() => epochs(master).every((it) => it === 1), {
      message: "the tables of the new epoch are here",
    });
    // Its own record is older: it tells the epoch that it follows.
    assertEquals([master.controller.haRole?.epoch, master.controller.epoch], [
      0,
      1,
    ]);
    await stopAll(master, slave);
  }));

test("a master without a slave in sync is demoted by force only", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(folder);
    await sends(master, 1);
    const { roles } = master.controller;
    const haMasterAddress = "127.0.0.1:9";
    await assertRejects(
      () => roles.demote({ force: false, haMasterAddress }),
      RoleChangeRefused,
      "No slave is in sync",
    );
    const nowhere = await assertRejects(
      () => roles.demote({ force: true }),
      RoleChangeRefused,
      "--master",
    );
    assertEquals(nowhere.isForcible, false);
    const demoted = await roles.demote({ force: true, haMasterAddress });
    assert(demoted.detail.includes("No slave is in sync"), demoted.detail);
    assertEquals(master.controller.ha.role, "SLAVE");
    assertEquals(master.controller.ha.options.haMasterAddress, haMasterAddress);
    await stopAll(master);
  }));

test("a demoted SYNC_MASTER that never followed anybody is one again when promoted", () =>
  withTempDirectory(async (folder) => {
    const broker = { brokerRole: "SYNC_MASTER" } as const;
    let master = await startMaster(folder, { broker });
    const haMasterAddress = "127.0.0.1:9";
    await master.controller.roles.demote({ force: true, haMasterAddress });
    await stopAll(master);
    master = await startMaster(folder, { broker });
    assertEquals(master.controller.ha.role, "SLAVE");
    const { role } = await master.controller.roles.promote({ force: true });
    assertEquals(role, "SYNC_MASTER");
    await stopAll(master);
  }));

test("a demoted master keeps aside what only it has, and follows", () =>
  inPair(async (master, slave, folder) => {
    await sends(master, 20);
    await caughtUp(master, slave);
    const { storePathRootDir } = master.controller.options.broker;
    // The slave is promoted beside the living master, which takes messages alone meanwhile.
    const promotion = slave.controller.roles.promote({ force: true });
    const codes: number[] = [];
    while (!codes.includes(14)) codes.push(...await sends(master, 1));
    // Stored, and confirmed by nobody.
    assert(codes.includes(11) || codes.includes(12), codes.join());
    const promoted = await promotion;
    assert(promoted.detail.includes("forced"), promoted.detail);
    assertEquals((await sends(slave, 7)).length, 7);
    const demoted = await master.controller.roles.demote({
      force: true,
      haMasterAddress: slave.haAddress,
    });
    assert(
      demoted.detail.includes(`${storePathRootDir}/aside/`),
      demoted.detail,
    );
    assert(storePathRootDir.startsWith(folder));
    await caughtUp(slave, master);
    await eventually(() => slave.controller.ha.state().state === "healthy", {
      message: "the demoted master follows",
    });
    assertEquals(logBytes(master), logBytes(slave));
    await stopAll(master, slave);
  }));

test("a promotion drops what came of a record that is not whole", () =>
  inPair(async (master, slave) => {
    await sends(master, 8);
    await caughtUp(master, slave);
    await master.controller.stop();
    const store = slave.controller.messageStore;
    const end = store.maxPhyOffset;
    const record = await store.selectOneMessageByOffset(0);
    assert(store.appendToCommitLog(end, record!.subarray(0, 60)));
    assertEquals(store.maxPhyOffset, end + 60);
    const { promotedAtOffset } = await slave.controller.roles.promote({
      force: false,
    });
    assertEquals(promotedAtOffset, end);
    const client = await RawClient.open(slave.address);
    const sent = await client.send("T", 0, new Uint8Array(10));
    const place = parseInt(sent.extFields.msgId!.slice(-16), 16);
    assertEquals([place, sent.extFields.queueOffset], [end, "2"]);
    client.close();
    await stopAll(slave);
  }));

test("an overtaken master is demoted without being told whom to follow", () =>
  inPair(async (master, slave) => {
    await sends(master, 10);
    await caughtUp(master, slave);
    await eventually(() => master.controller.fence.peerAddresses.length === 1, {
      message: "each knows where the other lives",
    });
    await slave.controller.roles.promote({ force: true });
    await eventually(() => master.controller.fence.fencedReason !== null, {
      timeoutMs: 15_000,
      message: "the old master knows",
    });
    const demoted = await master.controller.roles.demote({ force: false });
    assertEquals(demoted.haMasterAddress, slave.haAddress);
    await eventually(() => slave.controller.ha.state().state === "healthy", {
      message: "it follows",
    });
    await stopAll(master, slave);
  }));

test("topics that only the log knows come back with a promotion", () =>
  inPair(async (master, first, folder) => {
    await sends(master, 8);
    await caughtUp(master, first);
    await stopAll(master, first);
    // The table never came; the log did.
    for (const name of ["topics.json", "topics.json.bak"]) {
      rmSync(`${folder}/b/config/${name}`, { force: true });
    }
    const slave = await startSlave(`${folder}/b`, master);
    const { controller } = slave;
    const topic = () =>
      controller.parts.topicConfigManager.selectTopicConfig("T");
    assertEquals(topic(), undefined);
    // How far it was behind, nobody can say any more.
    await assertRejects(
      () => controller.roles.promote({ force: false }),
      RoleChangeRefused,
      "is not known",
    );
    const { role } = await controller.roles.promote({ force: true });
    // How many it had is lost as well: clients know it with at most defaultTopicQueueNums.
    assertEquals(topic()?.writeQueueNums, 8);
    // It has not seen its master since its own start, and knows what that was.
    assertEquals(role, "SYNC_MASTER");
    assertEquals(await sends(slave, 1), [11]);
    await stopAll(slave);
  }));

test("a switch between both kinds of master is live", () =>
  inPair(async (master, slave) => {
    const { controller } = master;
    const switchTo = (brokerRole: "ASYNC_MASTER" | "SYNC_MASTER") => {
      const { options } = controller;
      return controller.reconfigure({
        ...options,
        broker: { ...options.broker, brokerRole },
        store: { ...options.store, brokerRole },
      });
    };
    await stopAll(slave);
    assertEquals(await sends(master, 1), [11]);
    await switchTo("ASYNC_MASTER");
    assertEquals([await sends(master, 1), controller.ha.role], [
      [0],
      "ASYNC_MASTER",
    ]);
    await switchTo("SYNC_MASTER");
    assertEquals(await sends(master, 1), [11]);
    await stopAll(master);
  }));

test("a demoted broker does not take its configured id from a broker that has it now", () =>
  inPair(async (master, slave, folder) => {
    const third = await startSlave(`${folder}/c`, master, {
      broker: { brokerId: 2 },
    });
    await sends(master, 4);
    await caughtUp(master, third);
    await eventually(() => master.controller.fence.peerAddresses.length === 2, {
      message: "the master has seen both",
    });
    const { roles } = third.controller;
    // It would be number 2 again, which another one has meanwhile.
    await roles.promote({ force: true });
    const former = await master.controller.roles.demote({
      force: true,
      haMasterAddress: third.haAddress,
    });
    assertEquals(former.brokerId, 2);
    third.controller.fence.remember(slave.address);
    third.controller.fence.remember(master.address);
    const again = await roles.demote({
      force: true,
      haMasterAddress: slave.haAddress,
    });
    assertEquals(again.brokerId, 3);
    await stopAll(master, slave, third);
  }));

test("a slave whose id is taken takes a free one by a demotion, and follows on", () =>
  inPair(async (master, slave, folder) => {
    const twin = await startSlave(`${folder}/c`, master);
    const { fence, roles } = twin.controller;
    await assertRejects(
      () => roles.demote({ force: true }),
      RoleChangeRefused,
      "SLAVE already",
    );
    fence.remember(slave.address);
    const changed = await roles.demote({ force: false });
    assertEquals([changed.brokerId, twin.controller.identity.brokerId], [2, 2]);
    assert(changed.detail.includes("1 was taken"), changed.detail);
    await sends(master, 4);
    await caughtUp(master, twin);
    await stopAll(master, slave, twin);
  }));

test("a slave without a master is told whom to follow; one that follows keeps its master", () =>
  withTempDirectory(async (folder) => {
    const master = await startMaster(`${folder}/a`);
    const slave = await startSlave(`${folder}/b`, master, {
      ha: { haMasterAddress: "127.0.0.1:9" },
    });
    const { roles } = slave.controller;
    const haMasterAddress = master.haAddress;
    const changed = await roles.demote({ force: false, haMasterAddress });
    assert(changed.detail.includes(haMasterAddress), changed.detail);
    assertEquals([changed.role, changed.brokerId], ["SLAVE", 1]);
    await eventually(() => master.controller.ha.state().state === "healthy", {
      message: "it follows",
    });
    await eventually(() => slave.controller.ha.client.isTransferring, {
      message: "the link works",
    });
    await assertRejects(
      () => roles.demote({ force: true, haMasterAddress: "127.0.0.1:9" }),
      RoleChangeRefused,
      "SLAVE already",
    );
    await stopAll(master, slave);
  }));

test("while no name server answers a demoted broker follows the master that it has found", () =>
  withTempDirectory(async (folder) => {
    const broker = { namesrvAddr: "127.0.0.1:9" };
    const master = await startMaster(`${folder}/a`, { broker });
    const slave = await startSlave(`${folder}/b`, master, { broker });
    await sends(master, 4);
    await caughtUp(master, slave);
    await eventually(() => master.controller.fence.peerAddresses.length === 1, {
      message: "the master knows where its slave lives",
    });
    await slave.controller.roles.promote({ force: true });
    const demoted = await master.controller.roles.demote({ force: true });
    assertEquals(
      [demoted.haMasterAddress, demoted.lastMasterAddress],
      [undefined, slave.haAddress],
    );
    await eventually(() => slave.controller.ha.state().state === "healthy", {
      message: "it follows",
    });
    await stopAll(master, slave);
  }));
