import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import {
  createRequest,
  createResponse,
} from "../../src/protocol/remoting_command.ts";
import { RemotingClient } from "../../src/remoting/remoting_client.ts";
import {
  RemotingClosedError,
  RemotingConnectError,
} from "../../src/remoting/remoting_errors.ts";
import {
  DEFAULT_REMOTING_CLIENT_OPTIONS,
  DEFAULT_REMOTING_SERVER_OPTIONS,
  type RemotingServerOptions,
} from "../../src/remoting/remoting_options.ts";
import { RemotingServer } from "../../src/remoting/remoting_server.ts";
import {
  HELD,
  type RemotingConnection,
  type RequestProcessor,
} from "../../src/remoting/request_processor.ts";
import { openRuntime } from "#runtime";
import {
  commandsIn,
  concat,
  ListLogger,
  requestFrame,
} from "./remoting_rig.ts";

const LOOPBACK = "127.0.0.1";
const BODY_SIZE = 256 * 1024;

const { network, clock } = openRuntime();

async function start(
  processors: readonly (readonly [number, RequestProcessor])[],
  options: Partial<RemotingServerOptions> = {},
) {
  const logger = new ListLogger();
  const opened: RemotingConnection[] = [];
  const server = new RemotingServer(
    { network, clock, logger },
    { ...DEFAULT_REMOTING_SERVER_OPTIONS, ...options },
    new Map(processors),
    { onOpened: (it) => opened.push(it), onClosed() {} },
  );
  const { port } = await server.listen({ hostname: LOOPBACK, port: 0 });
  const client = new RemotingClient(
    { network, clock, logger },
    DEFAULT_REMOTING_CLIENT_OPTIONS,
    new Map([[307, () => createResponse(0, "from the client")]]),
  );
  return { server, client, opened, port, address: `${LOOPBACK}:${port}` };
}

const echo: RequestProcessor = (_context, request) =>
  createResponse(0, null, request.extFields, request.body.slice());

/** Resolves when `condition` holds; fails after five seconds. */
async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    assert(turn < 1000, "waited too long");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("remoting over real sockets", () => {
  it("exchanges requests in both directions, small and large", async () => {
    const { server, client, opened, address } = await start([[10, echo]]);
    const bodies = [0, 1, 1000, 70_000, 3_000_000].map((size) =>
      new Uint8Array(size).fill(size % 251)
    );
    const answers = await Promise.all(
      bodies.map((body) =>
        client.invoke(address, createRequest(10, {}, body), 5000)
      ),
    );
    assertEquals(answers.map((it) => it.body), bodies);
    const info = await opened[0]!.invoke(createRequest(307), 5000);
    assertEquals(info.remark, "from the client");
    await client.close();
    await until(() => server.connectionCount === 0);
    await server.stop(1000);
  });

  it("says why it cannot connect, and connects once somebody listens", async () => {
    const { server, client, address } = await start([[10, echo]]);
    await server.stop(0);
    const error = await assertRejects(
      () => client.invoke(address, createRequest(10), 5000),
      RemotingConnectError,
    );
    assertEquals(
      error.message,
      `Cannot connect to ${address}: connection refused`,
    );
    await client.close();
  });

  it("rejects what waits when the server stops", async () => {
    const { server, client, address } = await start([[11, () => HELD]]);
    const held = client.invoke(address, createRequest(11), 5000);
    held.catch(() => {});
    await until(() => server.counters.requests.get(11)?.received === 1);
    await server.stop(1000);
    await assertRejects(() => held, RemotingClosedError);
    await client.close();
  });

  it("refuses connections beyond connectionsMax and keeps the others", async () => {
    const { server, client, address } = await start([[10, echo]], {
      connectionsMax: 1,
    });
    await client.invoke(address, createRequest(10), 5000);
    const other = new RemotingClient(
      { network, clock, logger: new ListLogger() },
      DEFAULT_REMOTING_CLIENT_OPTIONS,
    );
    const refused = await other.invoke(address, createRequest(10), 5000).then(
      () => null,
      (error: Error) => error.name,
    );
    assert(refused?.startsWith("Remoting"), `refused by ${refused}`);
    await client.invoke(address, createRequest(10), 5000);
    assertEquals(server.connectionCount, 1);
    await Promise.all([client.close(), other.close()]);
    await server.stop(1000);
  });

  it("stops reading requests of a peer that takes no answers, and goes on", async () => {
    const count = 200;
    let pulls = 0;
    const { server, port } = await start([[11, () => {
      pulls++;
      return createResponse(0, null, {}, new Uint8Array(BODY_SIZE));
    }]], { writeQueueBytesHigh: 2 * BODY_SIZE });
    const received: Uint8Array[] = [];
    const peer = await network.connect({ hostname: LOOPBACK, port }, {
      onData: (bytes) => received.push(bytes.slice()),
      onDrain() {},
      onClose() {},
    });
    peer.pause();
    peer.write(
      concat(Array.from({ length: count }, (_, it) => requestFrame(11, it))),
    );
    let last = -1;
    await until(() => {
      const isSteady = pulls > 0 && pulls === last;
      last = pulls;
      return isSteady;
    });
    assert(pulls < count, `${pulls} of ${count} were served at once`);
    peer.resume();
    const size = () => received.reduce((sum, it) => sum + it.length, 0);
    await until(() => size() > count * BODY_SIZE);
    await until(() => commandsIn(received).length === count);
    assertEquals(
      commandsIn(received).map((it) => it.opaque),
      Array.from({ length: count }, (_, it) => it),
    );
    peer.terminate();
    await server.stop(1000);
  });
});
