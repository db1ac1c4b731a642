// What only real sockets can show.
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { withoutOpenSockets } from "../support/leak_check.ts";
import { Recorder, runtimeRig } from "../support/network_rig.ts";

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
});
