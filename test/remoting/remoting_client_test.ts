import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import {
  createRequest,
  createResponse,
} from "../../src/protocol/remoting_command.ts";
import {
  RemotingClosedError,
  RemotingConnectError,
  RemotingTimeoutError,
  RemotingTooMuchRequestError,
} from "../../src/remoting/remoting_errors.ts";
import {
  HELD,
  type RequestProcessor,
} from "../../src/remoting/request_processor.ts";
import { RemotingRig, settle } from "./remoting_rig.ts";

const echo: RequestProcessor = (_context, request) =>
  createResponse(0, null, request.extFields, request.body.slice());

describe("RemotingClient", () => {
  it("keeps one connection per address, made when first needed", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const client = rig.client();
    assertEquals(client.connectionCount, 0);
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        (_, it) =>
          client.invoke(rig.address, createRequest(10, { n: String(it) }), 500),
      ),
    );
    assertEquals(answers.map((it) => Number(it.extFields["n"])), [
      ...Array(20).keys(),
    ]);
    await client.invokeOneway(rig.address, createRequest(10));
    assertEquals(client.connectionCount, 1);
    assertEquals(rig.opened.length, 1);
    await client.close();
    await settle();
    assertEquals(rig.closed.length, 1);
  });

  it("says in a sentence why it cannot connect", async () => {
    const rig = new RemotingRig([]);
    const client = rig.client();
    const error = await assertRejects(
      () => client.invoke("127.0.0.1:9876", createRequest(105), 1000),
      RemotingConnectError,
    );
    assertEquals(
      error.message,
      "Cannot connect to 127.0.0.1:9876: connection refused",
    );
    for (const address of ["", "nohost", "a:b", ":1", "a:70000", "a:0"]) {
      await assertRejects(
        () => client.invoke(address, createRequest(105), 1000),
        RemotingConnectError,
        "host:port",
      );
    }
  });

  it("connects again after a refusal and after a close", async () => {
    const rig = new RemotingRig([[10, echo]]);
    const client = rig.client();
    const closed: string[] = [];
    client.onClosed = (address) => closed.push(address);
    await assertRejects(
      () => client.invoke(rig.address, createRequest(10), 1000),
      RemotingConnectError,
    );
    await rig.listen();
    assertEquals(
      (await client.invoke(rig.address, createRequest(10), 1)).code,
      0,
    );
    rig.network.accepted[0]!.terminate();
    await settle();
    assertEquals(closed, [rig.address]);
    assertEquals(
      (await client.invoke(rig.address, createRequest(10), 1)).code,
      0,
    );
    assertEquals(client.connectionCount, 1);
  });

  it("gives up a connection that is not made in time", async () => {
    const rig = new RemotingRig([]);
    rig.network.isBlackHole = true;
    const client = rig.client({ connectTimeoutMs: 3000 });
    const invoked = client.invoke(rig.address, createRequest(10), 10_000);
    const oneway = client.invokeOneway(rig.address, createRequest(10));
    for (const it of [invoked, oneway]) it.catch(() => {});
    rig.clock.advance(2900);
    client.tick(rig.clock.nowMs());
    rig.clock.advance(100);
    client.tick(rig.clock.nowMs());
    for (const it of [invoked, oneway]) {
      await assertRejects(() => it, RemotingConnectError, "timed out");
    }
  });

  it("ends a request by its own deadline while the connection is still being made", async () => {
    const rig = new RemotingRig([]);
    rig.network.isBlackHole = true;
    const client = rig.client({ connectTimeoutMs: 3000 });
    const invoked = client.invoke(rig.address, createRequest(10), 500);
    invoked.catch(() => {});
    rig.clock.advance(500);
    client.tick(rig.clock.nowMs());
    await assertRejects(() => invoked, RemotingTimeoutError, "within 500 ms");
    await client.close();
  });

  it("rejects by deadline, and drops the late answer", async () => {
    const answers: (() => void)[] = [];
    const rig = await new RemotingRig([[10, echo], [11, (context) => {
      answers.push(() => context.respond(createResponse(0)));
      return HELD;
    }]]).listen();
    const client = rig.client();
    const invoked = client.invoke(rig.address, createRequest(11), 1000);
    invoked.catch(() => {});
    await settle();
    rig.clock.advance(1000);
    await client.invoke(rig.address, createRequest(10), 1000);
    client.tick(rig.clock.nowMs());
    await assertRejects(
      () => invoked,
      RemotingTimeoutError,
      "No answer from 127.0.0.1:10911 to PULL_MESSAGE within 1000 ms",
    );
    answers[0]!();
    await settle();
    const next = client.invoke(rig.address, createRequest(11), 1000);
    await settle();
    answers[1]!();
    assertEquals((await next).code, 0);
  });

  it("drops a connection over which nothing came since a request timed out", async () => {
    const rig = await new RemotingRig([[10, echo], [11, () => HELD]]).listen();
    const client = rig.client();
    await client.invoke(rig.address, createRequest(10), 1000);
    rig.clock.advance(1);
    const invoked = client.invoke(rig.address, createRequest(11), 1000);
    const other = client.invoke(rig.address, createRequest(11), 9000);
    for (const it of [invoked, other]) it.catch(() => {});
    await settle();
    rig.clock.advance(1000);
    client.tick(rig.clock.nowMs());
    await assertRejects(() => invoked, RemotingTimeoutError);
    await assertRejects(() => other, RemotingClosedError);
    const next = await client.invoke(rig.address, createRequest(10), 1000);
    assertEquals(next.code, 0);
    assertEquals(rig.opened.length, 2);
  });

  it("rejects what waits when the connection ends or the client closes", async () => {
    const rig = await new RemotingRig([[11, () => HELD]]).listen();
    const client = rig.client();
    const first = client.invoke(rig.address, createRequest(11), 9000);
    first.catch(() => {});
    await settle();
    rig.network.accepted[0]!.terminate();
    await assertRejects(
      () => first,
      RemotingClosedError,
      "was closed before it answered PULL_MESSAGE",
    );
    const second = client.invoke(rig.address, createRequest(11), 9000);
    second.catch(() => {});
    await settle();
    await client.close();
    await assertRejects(() => second, RemotingClosedError);
    await assertRejects(
      () => client.invoke(rig.address, createRequest(11), 9000),
      RemotingConnectError,
      "the client is closed",
    );
  });

  it("answers requests that the peer sends", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const notified: string[] = [];
    const client = rig.client(
      {},
      new Map<number, RequestProcessor>([
        [40, (_context, request) => {
          notified.push(request.extFields["consumerGroup"]!);
          return createResponse(0);
        }],
        [307, () => Promise.resolve(createResponse(0, "running"))],
      ]),
    );
    await client.invoke(rig.address, createRequest(10), 1000);
    const [connection] = rig.opened;
    connection!.invokeOneway(createRequest(40, { consumerGroup: "g" }));
    const info = await connection!.invoke(createRequest(307), 1000);
    assertEquals(notified, ["g"]);
    assertEquals(info.remark, "running");
    assertEquals((await connection!.invoke(createRequest(999), 1000)).code, 3);
  });

  it("bounds what waits for one peer", async () => {
    const rig = await new RemotingRig([[11, () => HELD], [10, echo]]).listen();
    const client = rig.client({
      outgoingRequestsMax: 2,
      writeQueueBytesMax: 1000,
    });
    const invoke = () => client.invoke(rig.address, createRequest(11), 9000);
    const waiting = [invoke(), invoke()];
    for (const it of waiting) it.catch(() => {});
    await settle();
    await assertRejects(invoke, RemotingTooMuchRequestError, "2 requests wait");
    await client.close();
    const other = rig.client({ writeQueueBytesMax: 1000 });
    await other.invoke(rig.address, createRequest(10), 1000);
    const server = rig.network.accepted.at(-1)!;
    server.isDeaf = true;
    const large = createRequest(10, {}, new Uint8Array(5000));
    await other.invokeOneway(rig.address, large);
    await settle();
    await assertRejects(
      () => other.invokeOneway(rig.address, large),
      RemotingTooMuchRequestError,
      "bytes wait to be sent",
    );
    assertEquals(other.connectionCount, 1);
  });

  it("closes idle connections and makes them again", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const client = rig.client({ channelMaxIdleTimeMs: 5000 });
    await client.invoke(rig.address, createRequest(10), 1000);
    rig.clock.advance(4999);
    client.tick(rig.clock.nowMs());
    assertEquals(client.connectionCount, 1);
    rig.clock.advance(1);
    client.tick(rig.clock.nowMs());
    await settle();
    assertEquals(client.connectionCount, 0);
    assertEquals(
      (await client.invoke(rig.address, createRequest(10), 1)).code,
      0,
    );
  });

  it("refuses to send a frame that is too large", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const client = rig.client();
    const body = new Uint8Array(16 * 1024 * 1024);
    await assertRejects(
      () => client.invoke(rig.address, createRequest(10, {}, body), 1000),
      RangeError,
    );
    assertEquals(
      (await client.invoke(rig.address, createRequest(10), 1)).code,
      0,
    );
    assert(rig.logger.lines.length === 0);
  });
});
