// No bytes and no moment of a peer's going may cost more than its own connection: what the
// runtimes' TLS throws beside its events would end the process, and the test with it.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { connect, type Socket } from "node:net";
import process from "node:process";
import { describe, it } from "node:test";
import type { Listener } from "../../src/io/network.ts";
import type { HandshakeEvents, SecuredConnection } from "../../src/io/tls.ts";
import { withoutOpenSockets } from "../support/leak_check.ts";
import {
  type NetworkRig,
  Recorder,
  runtimeRig,
} from "../support/network_rig.ts";
import { openRuntime } from "#runtime";

const { openTls } = openRuntime();
const tls = await openTls();
const server = tls.openServer({
  identity: null,
  clientAuth: "none",
  clientTrust: null,
});
const client = tls.openClient({
  identity: null,
  verifiesServer: false,
  serverTrust: null,
});

/** A hello names ciphers, curves and versions: it is never smaller. */
const HELLO_SIZE_MIN = 100;

interface HostileRig {
  readonly net: NetworkRig;
  readonly listener: Listener;
  readonly accepted: SecuredConnection[];
  readonly closed: (string | null)[];
  readonly failures: string[];
}

async function listen(
  onAccepted: (it: SecuredConnection) => void = () => {},
): Promise<HostileRig> {
  const net = runtimeRig();
  const accepted: SecuredConnection[] = [];
  const closed: (string | null)[] = [];
  const failures: string[] = [];
  const handshake: HandshakeEvents = {
    onSecured() {},
    onFailed: (why) => failures.push(why),
  };
  const listener = await net.network.listen(
    { hostname: net.hostname, port: 0 },
    (plain) => {
      const recorder = new Recorder();
      recorder.onClose = (reason) => closed.push(reason);
      const secured = server.secure(plain, recorder, handshake);
      accepted.push(secured);
      onAccepted(secured);
      return secured.plainEvents;
    },
  );
  return { net, listener, accepted, closed, failures };
}

function dial({ listener, net }: HostileRig): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(listener.port, net.hostname, () => resolve(socket));
    socket.on("error", () => {});
    socket.resume();
  });
}

/** What a real client says first. */
async function realHello(): Promise<Uint8Array> {
  const net = runtimeRig();
  const heard: Uint8Array[] = [];
  const listener = await net.network.listen(
    { hostname: net.hostname, port: 0 },
    () => {
      const recorder = new Recorder();
      recorder.onData = (bytes) => void heard.push(bytes.slice());
      return recorder;
    },
  );
  let secured: SecuredConnection | null = null;
  const plain = await net.network.connect(
    { hostname: net.hostname, port: listener.port },
    {
      onData: (bytes) => secured!.plainEvents.onData(bytes),
      onDrain: () => secured!.plainEvents.onDrain(),
      onClose: (reason) => secured!.plainEvents.onClose(reason),
    },
  );
  secured = client.secure(plain, new Recorder(), {
    onSecured() {},
    onFailed() {},
  });
  await net.until(() => (heard[0]?.length ?? 0) > HELLO_SIZE_MIN);
  secured.terminate();
  await listener.close();
  return heard[0]!;
}

describe("Tls and hostile peers", () => {
  it("a hello that is none ends its connection, told once", async () => {
    const rig = await listen();
    await withoutOpenSockets(rig.net.hostname, async () => {
      const bad = [
        [0x16, 3, 1, 0, 9, 1, 0, 0, 5, 3, 3, 1, 2, 3],
        [0x16, 3, 3, 0xff, 0xff],
        Array<number>(64).fill(0x16),
      ];
      for (const [count, bytes] of bad.entries()) {
        const socket = await dial(rig);
        socket.write(Uint8Array.from(bytes));
        if (count === 1) socket.destroy(); // Its record is not complete.
        await rig.net.until(() => rig.closed.length === count + 1);
        socket.destroy();
      }
      // One of them waits for a record that cannot come, where its length is not looked at.
      assert([2, 3].includes(rig.failures.length), rig.failures.join());
      await rig.listener.close();
    });
  });

  it("a real hello with any byte turned, cut anywhere, costs its connection only", async () => {
    const hello = await realHello();
    const rig = await listen();
    await withoutOpenSockets(rig.net.hostname, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.nat(hello.length - 1),
          fc.integer({ min: 1, max: 255 }),
          fc.nat(hello.length),
          fc.boolean(),
          async (at, mask, cut, isReset) => {
            const socket = await dial(rig);
            const bytes = hello.slice();
            bytes[at]! ^= mask;
            await new Promise((done) =>
              socket.write(bytes.subarray(0, cut), done)
            );
            if (isReset) socket.resetAndDestroy();
            else socket.destroy();
          },
        ),
        { numRuns: Number(process.env.TLS_RUNS ?? 60) },
      );
      const last = await dial(rig);
      last.end(Uint8Array.of(0x16, 3));
      await new Promise((done) => last.once("close", done));
      await rig.net.until(() => rig.closed.length === rig.accepted.length);
      await rig.listener.close();
    });
  });

  it("a connection may be ended in the turn that made it, and at every later one", async () => {
    const hello = await realHello();
    for (const end of ["close", "terminate"] as const) {
      for (let turn = 0; turn < 8; turn++) {
        const rig = await listen((secured) => {
          const wait = (left: number) => {
            if (left === 0) secured[end]();
            else setImmediate(() => wait(left - 1));
          };
          wait(turn);
        });
        await withoutOpenSockets(rig.net.hostname, async () => {
          const socket = await dial(rig);
          socket.write(hello);
          await rig.net.until(() => rig.closed.length === 1);
          socket.destroy();
          await rig.listener.close();
        });
        assertEquals(rig.closed, [null]);
        assertEquals(rig.failures, []);
      }
    }
  });

  it("what is no TLS on the other side is said, and does not hang", async () => {
    const net = runtimeRig();
    const listener = await net.network.listen(
      { hostname: net.hostname, port: 0 },
      (connection) => {
        const recorder = new Recorder();
        recorder.onData = () => {
          connection.write(new TextEncoder().encode("HTTP/1.1 400 \r\n\r\n"));
        };
        return recorder;
      },
    );
    const recorder = new Recorder();
    const failures: string[] = [];
    let secured: SecuredConnection | null = null;
    const plain = await net.network.connect(
      { hostname: net.hostname, port: listener.port },
      {
        onData: (bytes) => secured!.plainEvents.onData(bytes),
        onDrain: () => secured!.plainEvents.onDrain(),
        onClose: (reason) => secured!.plainEvents.onClose(reason),
      },
    );
    secured = client.secure(plain, recorder, {
      onSecured: () => failures.push("secured"),
      onFailed: (why) => failures.push(`failed ${why}`),
    });
    await net.until(() => recorder.reasons.length === 1);
    assertEquals(failures.length, 1);
    assertStringIncludes(failures[0]!, "failed ");
    await listener.close();
  });
});
