// What only real sockets can show.
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { withoutOpenSockets } from "../support/leak_check.ts";
import { connectPair, Recorder, runtimeRig } from "../support/network_rig.ts";

const JUNK_CONNECTIONS = 300;

describe("Network on real sockets", () => {
  it("writes IPv6 in brackets and mapped IPv4 as IPv4", async () => {
    const { network, until } = runtimeRig();
    const seen: string[] = [];
    const listener = await network.listen(
      { hostname: "::", port: 0 },
      (connection) => {
        seen.push(connection.localAddress);
        return new Recorder();
      },
    );
    for (const hostname of ["127.0.0.1", "::1"]) {
      const before = seen.length;
      const to = { hostname, port: listener.port };
      const connection = await network.connect(to, new Recorder());
      await until(() => seen.length > before);
      assertEquals(seen.at(-1), connection.remoteAddress);
    }
    assertEquals(seen, [
      `127.0.0.1:${listener.port}`,
      `[::1]:${listener.port}`,
    ]);
    await listener.close();
  });

  it("survives peers that are gone before they are accepted", async () => {
    const { network, hostname, until } = runtimeRig();
    await withoutOpenSockets(hostname, async () => {
      let opened = 0;
      let closed = 0;
      const listener = await network.listen({ hostname, port: 0 }, () => {
        opened++;
        const recorder = new Recorder();
        recorder.onClose = () => void closed++;
        return recorder;
      });
      const gone = Array.from(
        { length: JUNK_CONNECTIONS },
        () =>
          new Promise<void>((resolve) => {
            const socket = connect(listener.port, hostname, () => {
              socket.resetAndDestroy();
            });
            socket.on("error", () => {});
            socket.on("close", () => resolve());
          }),
      );
      await Promise.all(gone);
      const last = new Recorder();
      const to = { hostname, port: listener.port };
      const connection = await network.connect(to, last);
      connection.close();
      await until(() => last.reasons.length === 1);
      await until(() => opened > 0 && closed === opened);
      await listener.close();
    });
  });

  it("connect() names a host that cannot be resolved", async () => {
    const { network } = runtimeRig();
    const to = { hostname: "no-such-host.invalid", port: 1 };
    const error = await assertRejects(
      () => network.connect(to, new Recorder()),
      Error,
      "no-such-host.invalid:1",
    );
    assertEquals((error as Error & { code?: string }).code, "ENOTFOUND");
    assertStringIncludes(error.message, "cannot be resolved");
  });

  it("holds no small write back until an earlier one is acknowledged (scenario 180)", async () => {
    const rig = runtimeRig();
    const { client, listener, server } = await connectPair(rig);
    const part = new Uint8Array(10);
    const both = async (from: Recorder) => {
      from.connection.write(part);
      await new Promise((resolve) => setImmediate(resolve));
      from.connection.write(part);
    };
    const lastMs: number[] = [];
    for (let round = 1; round <= 60; round++) {
      const startedMs = performance.now();
      await both(client);
      await rig.until(() => server.received === round * 20);
      await both(server);
      await rig.until(() => client.received === round * 20);
      // A fresh connection is acknowledged at once: only later rounds would show it.
      if (round > 30) lastMs.push(performance.now() - startedMs);
    }
    const median = lastMs.sort((a, b) => a - b)[15]!;
    assert(median < 35, `${median} ms a round, a delayed ack takes 40`);
    await listener.close();
  });
});
