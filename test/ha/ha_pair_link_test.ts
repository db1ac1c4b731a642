import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { brokerInner } from "../model/message_fixture.ts";
import { HANode } from "../sim/ha_node.ts";
import { MASTER, pairOf, put, SLAVE } from "./ha_pair_fixture.ts";

test("A pair at 6 KiB/s, 5 MB behind, catches up without a reconnect", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const master = (await pair.master.start())!;
  for (let count = 0; count < 25; count++) put(pair, 200_000);
  const there = network.link(MASTER, SLAVE);
  there.bytesPerSecond = 6 * 1024;
  network.link(SLAVE, MASTER).bytesPerSecond = 6 * 1024;
  const slave = (await pair.slave.start())!;
  let before = 0;
  const behind = master.store.maxPhyOffset;
  assert(behind > 5_000_000);
  while (slave.store.maxPhyOffset < master.store.maxPhyOffset) {
    await clock.run(10_000);
    const now = slave.store.maxPhyOffset;
    assert(now > before, "no progress in ten seconds");
    before = now;
    assert(clock.monotonicMs() < 1_000_000);
  }
  const ratio = behind / (clock.monotonicMs() / 1000) / 6144;
  assert(ratio > 0.95, `${ratio} of the link`);
  assertEquals(master.service.counters.accepted, 1);
  assertEquals(slave.client!.view().reconnects, 0);
  // What was put last is there within two seconds: nothing queues for long.
  await clock.run(2_000);
  assertEquals(put(pair, 100) instanceof Promise, true);
  await clock.run(2_000);
  assertEquals(slave.store.maxPhyOffset, master.store.maxPhyOffset);
  assertEquals(master.service.inSyncSlaveNums, 1);
});

test("A body of 200 KiB at 2 KiB/s takes a hundred seconds on one link", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const master = (await pair.master.start())!;
  const slave = (await pair.slave.start())!;
  await clock.run(1_000);
  network.link(MASTER, SLAVE).bytesPerSecond = 2048;
  const answer = put(pair, 200 * 1024);
  await clock.run(90_000);
  assert(slave.store.maxPhyOffset > 150_000);
  assert(slave.store.maxPhyOffset < master.store.maxPhyOffset);
  await clock.run(20_000);
  assertEquals(slave.store.maxPhyOffset, master.store.maxPhyOffset);
  assertEquals(master.service.counters.accepted, 1);
  assertEquals((await answer).status, "FLUSH_SLAVE_TIMEOUT");
});

test("A pair that is idle for five minutes never reconnects", async () => {
  const pair = pairOf();
  const { clock } = pair.world;
  const master = (await pair.master.start())!;
  await pair.slave.start();
  put(pair, 100);
  await clock.run(300_000);
  assertEquals(master.service.counters.accepted, 1);
  assertEquals(master.service.inSyncSlaveNums, 1);
  for (let count = 0; count < 20; count++) {
    const answer = put(pair, 100);
    await clock.run(15_000);
    assertEquals((await answer).status, "PUT_OK");
  }
  assertEquals(master.service.counters.accepted, 1);
});

test("Bodies of every size are acknowledged, big ones before small ones", async () => {
  const maxMessageSize = 4 * 1_048_576;
  const pair = pairOf({
    store: { maxMessageSize, mappedFileSizeCommitLog: 16 * 1_048_576 },
  });
  const { clock } = pair.world;
  await pair.master.start();
  await pair.slave.start();
  await clock.run(1_000);
  const sizes = [31, 33, 160, 161, 600].map((kib) => kib * 1024);
  for (const size of [...sizes, maxMessageSize]) {
    const answers = [put(pair, size), put(pair, 10)];
    await clock.run(1_000);
    for (const it of answers) assertEquals((await it).status, "PUT_OK");
  }
});

test("Puts that wait for nothing do not fail those that wait", async () => {
  const pair = pairOf();
  const { clock } = pair.world;
  const master = (await pair.master.start())!;
  await pair.slave.start();
  await clock.run(1_000);
  for (let round = 0; round < 100; round++) {
    for (let count = 0; count < 200; count++) {
      master.puts.putMessage(brokerInner({ waitStoreMsgOk: false }));
    }
    const answer = put(pair, 100);
    await clock.run(10);
    assertEquals((await answer).status, "PUT_OK");
  }
});

test("Two slaves lost in the same moment both stop counting within the interval", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const master = (await pair.master.start())!;
  await pair.slave.start();
  const second = new HANode(pair.world, {
    ...pair.slave.options,
    host: "10.0.0.3",
  });
  await second.start();
  await clock.run(2_000);
  assertEquals(master.service.inSyncSlaveNums, 2);
  network.partition(MASTER, SLAVE);
  network.partition(MASTER, "10.0.0.3");
  await clock.run(20_200);
  assertEquals(master.service.inSyncSlaveNums, 0);
  assertEquals(master.service.replicatedOffset, null);
  assertEquals((await put(pair, 100)).status, "SLAVE_NOT_AVAILABLE");
});

test("A slave that comes back on another link is not two copies", async () => {
  const pair = pairOf({ ha: { inSyncReplicas: 3 } });
  const { clock, network } = pair.world;
  await pair.master.start();
  await pair.slave.start();
  const second = new HANode(pair.world, {
    ...pair.slave.options,
    host: "10.0.0.3",
  });
  await second.start();
  await clock.run(2_000);
  const both = put(pair, 100);
  await clock.run(100);
  assertEquals((await both).status, "PUT_OK");
  network.link("10.0.0.3", MASTER).blackhole();
  const one = put(pair, 100);
  await clock.run(100);
  pair.slave.end(true);
  await pair.slave.start();
  await clock.run(1_000);
  const { service, store } = pair.master.life!;
  assertEquals([...service.links].length, 3);
  assertEquals(pair.slave.life!.store.maxPhyOffset, store.maxPhyOffset);
  await clock.run(3_000);
  assertEquals((await one).status, "FLUSH_SLAVE_TIMEOUT");
});

test("A slave whose next bytes are deleted under it asks again, and says why", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const master = (await pair.master.start())!;
  const slave = (await pair.slave.start())!;
  await clock.run(1_000);
  network.link(MASTER, SLAVE).bytesPerSecond = 10_000;
  for (let count = 0; count < 30; count++) put(pair, 100_000);
  await clock.run(1_000);
  await master.store.commitLog.mappedFileQueue.deleteFirstFiles(2);
  await clock.run(60_000);
  const view = slave.client!.view();
  assertEquals(view.problem, "needs-reseed", view.reason ?? "");
  assert(slave.store.maxPhyOffset < master.store.minPhyOffset);
});

test("A slave that says nothing keeps a stop waiting for no longer than the drain may take", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const master = (await pair.master.start())!;
  await pair.slave.start();
  await clock.run(1_000);
  network.partition(MASTER, SLAVE);
  void put(pair, 100);
  const startedMs = clock.monotonicMs();
  await clock.complete(master.ha.stop(2_000));
  assert(clock.monotonicMs() - startedMs <= 2_100);
});
