/** A slave far behind: how fast it catches up, and what that costs (scenarios 34, 37). */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { DEFAULT_HA_OPTIONS } from "../../src/ha/ha_options.ts";
import type { Connection } from "../../src/io/network.ts";
import { MASTER, type Pair, pairOf, put, SLAVE } from "./ha_pair_fixture.ts";

const MIB = 1_048_576;

/** A pair, and the bytes that its master has written to slaves. */
function countedPair(): Pair & { readonly sent: { bytes: number } } {
  const sent = { bytes: 0 };
  const wrapConnection = (inner: Connection): Connection =>
    new Proxy(inner, {
      get(target, name) {
        if (name === "write") {
          return (bytes: Uint8Array) => {
            sent.bytes += bytes.length;
            return target.write(bytes);
          };
        }
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  return Object.assign(pairOf({ wrapConnection }), { sent });
}

test("34: a cap set at run time holds within a tenth, can be changed, and costs no sender time", async () => {
  const pair = countedPair();
  const { clock } = pair.world;
  const { service, store, puts } = (await pair.master.start())!;
  puts.isSync = false;
  for (let count = 0; count < 200; count++) put(pair, 500_000);
  const cap = (maxHaTransferByteInSecond: number) =>
    service.reconfigure({
      ...DEFAULT_HA_OPTIONS,
      haFlowControlEnable: true,
      maxHaTransferByteInSecond,
    });
  cap(MIB);
  const slave = (await pair.slave.start())!;
  await clock.run(2_000);
  for (const mib of [1, 4, 2]) {
    cap(mib * MIB);
    await clock.run(1_000);
    for (let window = 0; window < 2; window++) {
      const before = pair.sent.bytes;
      for (let tenth = 0; tenth < 50; tenth++) {
        assert(!(put(pair, 1_000) instanceof Promise), "a sender waits");
        await clock.run(100);
      }
      const ratio = (pair.sent.bytes - before) / (5 * mib * MIB);
      assert(ratio > 0.9 && ratio < 1.1, `${ratio} of ${mib} MiB/s`);
    }
  }
  assert(slave.store.maxPhyOffset < store.maxPhyOffset - 4 * MIB);
  service.reconfigure(DEFAULT_HA_OPTIONS);
  await clock.run(5_000);
  assertEquals(slave.store.maxPhyOffset, store.maxPhyOffset);
  assertEquals(service.counters.accepted, 1);
  // Under the cap and no longer behind, what is put is there within a second.
  cap(MIB);
  for (let count = 0; count < 10; count++) {
    put(pair, 10_000);
    await clock.run(1_000);
    assertEquals(slave.store.maxPhyOffset, store.maxPhyOffset);
  }
});

for (const [how, seconds] of [["cut", 600], ["partition", 60]] as const) {
  test(`37: after ${seconds} s of ${how} the backlog goes once, at the speed of the link, and live data with it`, async () => {
    const pair = countedPair();
    const { clock, network } = pair.world;
    const { store, puts } = (await pair.master.start())!;
    puts.isSync = false;
    const slave = (await pair.slave.start())!;
    await clock.run(1_000);
    network[how](MASTER, SLAVE);
    /** 100 messages a second. */
    const live = async (seconds: number) => {
      for (let tenth = 0; tenth < seconds * 10; tenth++) {
        for (let count = 0; count < 10; count++) put(pair, 500);
        await clock.run(100);
      }
    };
    await live(seconds);
    const behind = store.maxPhyOffset - slave.store.maxPhyOffset;
    assert(behind > seconds * 50_000, `${behind}`);
    const before = pair.sent.bytes;
    const bytesPerSecond = 2 * MIB;
    network.link(MASTER, SLAVE).bytesPerSecond = bytesPerSecond;
    network.heal(MASTER, SLAVE);
    let drainSeconds = 0;
    const lag = () => store.maxPhyOffset - slave.store.maxPhyOffset;
    while (lag() > 100_000) {
      await live(1);
      drainSeconds++;
      assert(drainSeconds < 60, `${lag()} bytes behind`);
    }
    // The link at its speed, and at most six seconds until it is tried again.
    const drained = behind + drainSeconds * 70_000;
    const most = drained / bytesPerSecond * 1.1 + 6;
    assert(drainSeconds <= most, `${drainSeconds} s`);
    await clock.run(1_000);
    assertEquals(lag(), 0);
    const sent = pair.sent.bytes - before;
    const needed = store.maxPhyOffset;
    assert(sent < needed * 1.02 + MIB, `${sent} bytes for ${needed}`);
    const queues = [store, slave.store].map((it) =>
      it.getMaxOffsetInQueue("TopicTest", 3)
    );
    assertEquals(queues[1], queues[0]);
    await live(5);
    await clock.run(300);
    assertEquals(lag(), 0);
  });
}
