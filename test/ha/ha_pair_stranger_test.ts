import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { HA_PORT } from "../sim/ha_remoting.ts";
import { MASTER, pairOf, put, SLAVE } from "./ha_pair_fixture.ts";

/** What a probe sees of a master without a log. */
const EMPTY = { maxPhyOffset: 0, minPhyOffset: 0 };

function frameOf(phyOffset: number, bodySize: number): Uint8Array {
  const frame = new Uint8Array(12);
  const view = new DataView(frame.buffer);
  view.setBigInt64(0, BigInt(phyOffset));
  view.setInt32(8, bodySize);
  return frame;
}

test("A fake ack, and the end of its link, never make a send true", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const master = (await pair.master.start())!;
  await pair.slave.start();
  await clock.run(1_000);
  network.link(SLAVE, MASTER).blackhole(); // As SIGSTOP: no ack comes.
  const rogue = network.host("10.0.0.9");
  let closes = 0;
  for (const byte of [0x7f, 0x00]) {
    const fake = new Uint8Array(8).fill(0xff).fill(byte, 0, 2);
    const connection = await clock.complete(rogue.connect(
      { hostname: MASTER, port: HA_PORT },
      { onData() {}, onDrain() {}, onClose: () => void closes++ },
    ));
    connection.write(fake);
    await clock.run(100);
  }
  assertEquals(closes, 2);
  assertEquals(master.service.counters.protocolErrors, 2);
  const answers = Array.from({ length: 10 }, () => put(pair, 100));
  await clock.run(5_000);
  for (const it of answers) {
    assertEquals((await it).status, "FLUSH_SLAVE_TIMEOUT");
  }
  await clock.run(20_000);
  const late = put(pair, 100);
  assertEquals((await late).status, "SLAVE_NOT_AVAILABLE");
  network.link(SLAVE, MASTER).heal();
  await clock.run(10_000);
  const good = put(pair, 100);
  await clock.run(100);
  assertEquals((await good).status, "PUT_OK");
});

test("A slave survives false masters calmly, and finds the true one", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const frames: Record<string, Uint8Array | null> = {
    "closes at accept": null,
    "five bytes of a header": new Uint8Array(5),
    "size 0 elsewhere": frameOf(777, 0),
    "size -1": frameOf(0, -1),
    "size 2^31-1": frameOf(0, 2 ** 31 - 1),
  };
  await pair.slave.start();
  const other = network.host(MASTER);
  for (const [name, frame] of Object.entries(frames)) {
    let accepts = 0;
    const listener = await other.listen(
      { hostname: MASTER, port: HA_PORT },
      (connection) => {
        accepts++;
        if (frame === null) connection.close();
        return {
          onData() {
            connection.write(frame!);
            connection.close();
          },
          onDrain() {},
          onClose() {},
        };
      },
    );
    // The false master answers over remoting like an empty one.
    pair.master.life = { store: EMPTY } as never;
    await clock.run(60_000);
    await listener.close();
    assert(accepts >= 5 && accepts <= 40, `${name}: ${accepts} connects`);
    assertEquals(pair.slave.life!.store.maxPhyOffset, 0, name);
  }
  pair.master.life = null;
  const master = (await pair.master.start())!;
  put(pair, 100);
  await clock.run(10_000);
  assertEquals(
    pair.slave.life!.store.maxPhyOffset,
    master.store.maxPhyOffset,
  );
});

test("Thousands of strangers leave nothing behind, and no slave drops", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const master = (await pair.master.start())!;
  await pair.slave.start();
  await clock.run(1_000);
  const stranger = network.host("10.0.0.9");
  const ignore = { onData() {}, onDrain() {}, onClose() {} };
  for (let round = 0; round < 100; round++) {
    for (let count = 0; count < 20; count++) {
      void stranger.connect({ hostname: MASTER, port: HA_PORT }, ignore)
        .then((it) => {
          it.write(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n."));
          if (count % 2 === 0) it.terminate();
          else it.close();
        });
    }
    await clock.run(10);
  }
  const answer = put(pair, 100);
  await clock.run(100);
  assertEquals((await answer).status, "PUT_OK");
  assertEquals(master.service.counters.accepted, 2_001);
  assertEquals([...master.service.links].length, 1);
  assertEquals(pair.slave.life!.client!.view().reconnects, 0);
});

function reportOf(offset: number): Uint8Array {
  const report = new Uint8Array(8);
  new DataView(report.buffer).setBigInt64(0, BigInt(offset));
  return report;
}

const IGNORE = { onData() {}, onDrain() {}, onClose() {} };

test("A stranger's bytes are named once, and never make the pair diverged", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const master = (await pair.master.start())!;
  const stranger = network.host("10.0.0.9");
  const say = async (...parts: Uint8Array[]) => {
    const at = { hostname: MASTER, port: HA_PORT };
    const connection = await clock.complete(stranger.connect(at, IGNORE));
    for (const it of parts) connection.write(it);
    await clock.run(100);
    return connection;
  };
  const zeros = await say(new Uint8Array(8), new Uint8Array(8));
  const { service } = master;
  assertEquals([...service.links].length, 1);
  assertEquals(service.inSyncSlaveNums, 0, "eight zero bytes are no slave");
  zeros.close();
  await pair.slave.start();
  await clock.run(1_000);
  assertEquals(service.inSyncSlaveNums, 1);
  await clock.complete(put(pair, 100));
  for (let round = 0; round < 3; round++) {
    await say(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
    await say(new TextEncoder().encode("SSH-2.0-OpenSSH_9.6\r\n"));
    await say(reportOf(2 ** 40));
    assertEquals(service.problems(), []);
  }
  for (const what of ["HTTP", "SSH", `reports ${2 ** 40}`]) {
    const told = pair.master.logger.lines.map((it) => it.message)
      .filter((it) => it.includes(what));
    assertEquals(told.length, 1, `${what}: ${told}`);
    assert(told[0]!.includes("10.0.0.9"), told[0]);
  }
});

test("A slave that is longer comes back with the same, and is named", async () => {
  const pair = pairOf();
  const { clock, network } = pair.world;
  const { service } = (await pair.master.start())!;
  const longer = network.host("10.0.0.7");
  const at = { hostname: MASTER, port: HA_PORT };
  const problems: number[] = [];
  for (let round = 0; round < 2; round++) {
    const connection = await clock.complete(longer.connect(at, IGNORE));
    connection.write(reportOf(5_000));
    await clock.run(5_000);
    problems.push(service.problems().length);
  }
  assertEquals(problems, [0, 1]);
  assertEquals(service.problems()[0]!.problem, "diverged");
  // The log grows past that end: what the slave has there is not what is here.
  await clock.complete(put(pair, 10_000));
  const again = await clock.complete(longer.connect(at, IGNORE));
  again.write(reportOf(5_000));
  await clock.run(1_000);
  assertEquals([...service.links].length, 0);
});
