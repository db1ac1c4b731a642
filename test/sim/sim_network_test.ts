import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import { Recorder } from "../support/network_rig.ts";
import { SimClock } from "./sim_clock.ts";
import { SimNetwork } from "./sim_network.ts";

const [A, B] = ["10.0.0.1", "10.0.0.2"];
const PORT = 10911;

/** A connection from host A to host B. */
async function connected() {
  const clock = new SimClock();
  const world = new SimNetwork(clock);
  const [client, server] = [new Recorder(), new Recorder()];
  await world.host(B).listen({ hostname: "0.0.0.0", port: PORT }, (it) => {
    server.connection = it;
    return server;
  });
  const to = { hostname: B, port: PORT };
  const connect = () => world.host(A).connect(to, client);
  client.connection = await clock.complete(connect());
  return { clock, world, client, server, connect };
}

describe("SimNetwork", () => {
  it("delays by its link, one way at a time", async () => {
    const { clock, world, client, server } = await connected();
    world.link(A, B).delayMs = 100;
    const startMs = clock.monotonicMs();
    client.connection.write(new Uint8Array(1));
    await clock.until(() => server.received > 0, 1000);
    assertEquals(clock.monotonicMs() - startMs, 100);
    server.connection.write(new Uint8Array(1));
    await clock.until(() => client.received > 0, 1000);
    assertEquals(clock.monotonicMs() - startMs, 101);
  });

  it("a thin link takes its time and makes the sender queue", async () => {
    const { clock, world, client, server } = await connected();
    world.link(A, B).bytesPerSecond = 100_000;
    const startMs = clock.monotonicMs();
    const queued = client.connection.write(new Uint8Array(1_000_000));
    assert(queued > 500_000);
    await clock.until(() => server.received === 1_000_000, 60_000);
    const tookMs = clock.monotonicMs() - startMs;
    assert(tookMs >= 10_000 && tookMs < 10_100, String(tookMs));
    assertEquals(client.drains, 1);
  });

  it("a partition is silent, and what it held arrives when it heals", async () => {
    const { clock, world, client, server, connect } = await connected();
    world.partition(A, B);
    client.connection.write(new Uint8Array(10));
    let isConnected = false;
    void connect().then(() => isConnected = true);
    await clock.run(60_000);
    assertEquals(server.received, 0);
    assertEquals([...client.reasons, ...server.reasons], []);
    assertEquals(isConnected, false);
    world.heal(A, B);
    await clock.until(() => server.received === 10 && isConnected, 1000);
  });

  it("a cut resets both ends and refuses, until it heals", async () => {
    const { clock, world, client, server, connect } = await connected();
    world.cut(A, B);
    await clock.run(1);
    assertEquals(client.reasons, ["ECONNRESET"]);
    assertEquals(server.reasons, ["ECONNRESET"]);
    await assertRejects(() => clock.complete(connect()), Error, "no route");
    world.heal(A, B);
    await clock.complete(connect());
  });

  it("kill() resets the peers, powerOff() tells nobody", async () => {
    const killed = await connected();
    killed.world.kill(B);
    await killed.clock.run(10);
    assertEquals(killed.client.reasons, ["ECONNRESET"]);
    assertEquals(killed.server.reasons, []);
    await assertRejects(
      () => killed.clock.complete(killed.connect()),
      Error,
      "nobody listens",
    );
    const dark = await connected();
    dark.world.powerOff(B);
    dark.client.connection.write(new Uint8Array(10));
    let hasAnswer = false;
    void dark.connect().finally(() => hasAnswer = true);
    await dark.clock.run(60_000);
    assertEquals(hasAnswer, false);
    assertEquals(dark.client.reasons, []);
    assertEquals(dark.server.received, 0);
  });
});
