import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import {
  createRequest,
  createResponse,
  POCKETMQ_VERSION_ORDINAL,
  type RemotingCommand,
  RPC_ONEWAY,
} from "../../src/protocol/remoting_command.ts";
import { encodeCommand } from "../../src/protocol/remoting_command_codec.ts";
import {
  RemotingClosedError,
  RemotingTimeoutError,
} from "../../src/remoting/remoting_errors.ts";
import {
  HELD,
  type RequestContext,
  type RequestProcessor,
} from "../../src/remoting/request_processor.ts";
import {
  commandsIn,
  concat,
  RemotingRig,
  requestFrame,
  settle,
} from "./remoting_rig.ts";

const echo: RequestProcessor = (_context, request) =>
  createResponse(0, null, request.extFields, request.body.slice());

const NO_TIME = 10_000;

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

describe("RemotingServer", () => {
  it("answers in the opaque and the serialisation of the request", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const peer = await rig.peer();
    for (const serializeType of [0, 1] as const) {
      peer.connection.write(requestFrame(10, 77 + serializeType, {
        serializeType,
        language: "GO",
        version: 3,
        extFields: { a: "b" },
        body: new TextEncoder().encode("body"),
      }));
    }
    await settle();
    const answers = peer.answers();
    assertEquals(answers.map((it) => it.opaque), [77, 78]);
    assertEquals(answers.map((it) => it.serializeType), [0, 1]);
    for (const answer of answers) {
      assertEquals(answer.code, 0);
      assertEquals(answer.flag, 1);
      assertEquals(answer.language, "JAVA");
      assertEquals(answer.version, POCKETMQ_VERSION_ORDINAL);
      assertEquals(answer.extFields, { a: "b" });
      assertEquals(text(answer.body), "body");
    }
  });

  it("writes the answers of one chunk at once, and those of one turn", async () => {
    const promises: PromiseWithResolvers<RemotingCommand>[] = [];
    const rig = await new RemotingRig([
      [10, echo],
      [11, () => {
        promises.push(Promise.withResolvers());
        return promises.at(-1)!.promise;
      }],
    ]).listen();
    const peer = await rig.peer();
    const frames = Array.from({ length: 50 }, (_, it) => requestFrame(10, it));
    peer.connection.write(concat(frames));
    await settle();
    assertEquals(peer.received.length, 1);
    assertEquals(peer.answers().length, 50);
    peer.connection.write(
      concat(Array.from({ length: 50 }, (_, it) => requestFrame(11, it))),
    );
    await settle();
    assertEquals(peer.received.length, 1);
    for (const it of promises) it.resolve(createResponse(0));
    await settle();
    assertEquals(peer.received.length, 2);
    assertEquals(peer.answers().length, 100);
  });

  it("answers 3 to a code without processor and keeps the connection", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const peer = await rig.peer();
    peer.connection.write(requestFrame(30_999, 1));
    peer.connection.write(requestFrame(10, 2));
    await settle();
    const [unknown, known] = peer.answers();
    assertEquals(unknown!.code, 3);
    assertEquals(unknown!.remark, "request code 30999 is not supported");
    assertEquals(known!.code, 0);
    const { counters } = rig.server;
    assertEquals(counters.unknown.received, 1);
    assertEquals(
      [...counters.requests].map(([code, it]) => [code, it.received]),
      [
        [10, 1],
      ],
    );
  });

  it("turns a throw or a rejection into code 1 with the message, logged once", async () => {
    const rig = await new RemotingRig([
      [10, () => {
        throw new Error("the disk is gone");
      }],
      [11, () => Promise.reject(new Error("later, too"))],
      [12, () => createResponse(0, null, {}, new Uint8Array(17 << 20))],
    ]).listen();
    const peer = await rig.peer();
    for (const code of [10, 11, 12, 10, 10]) {
      peer.connection.write(requestFrame(code, code));
    }
    await settle();
    const answers = peer.answers();
    assertEquals(answers.map((it) => it.code), [1, 1, 1, 1, 1]);
    const remarks = new Set(answers.map((it) => it.remark));
    assert(remarks.has("the disk is gone"));
    assert(remarks.has("later, too"));
    assertEquals(rig.server.counters.failedRequests, 5);
    assertEquals(rig.logger.lines.length, 3);
    await rig.pass(10_000);
    peer.connection.write(requestFrame(10, 1));
    await settle();
    assertEquals(rig.logger.lines.at(-1)!.fields["suppressed"], 2);
  });

  it("never answers a oneway request, whatever happens", async () => {
    const rig = await new RemotingRig([
      [10, echo],
      [11, () => {
        throw new Error("x");
      }],
      [12, () => HELD],
      [13, () => Promise.resolve(createResponse(0))],
    ], { inFlightRequestsMax: 4 }).listen();
    const peer = await rig.peer();
    for (let round = 0; round < 5; round++) {
      for (const code of [10, 11, 12, 13, 999]) {
        peer.connection.write(requestFrame(code, code, { flag: RPC_ONEWAY }));
      }
      await settle();
    }
    assertEquals(peer.received.length, 0);
    peer.connection.write(requestFrame(10, 5));
    await settle();
    assertEquals(peer.answers().length, 1);
  });

  it("answers a held request once, later, and drops it when the peer is gone", async () => {
    const held: RequestContext[] = [];
    const hold: RequestProcessor = (context) => {
      held.push(context);
      return HELD;
    };
    const rig = await new RemotingRig([[11, hold]]).listen();
    const peer = await rig.peer();
    peer.connection.write(
      concat([requestFrame(11, 5), requestFrame(11, 6)]),
    );
    await settle();
    assertEquals(peer.received.length, 0);
    assertEquals(held[0]!.receivedMs, rig.clock.nowMs());
    held[1]!.respond(createResponse(19));
    held[1]!.respond(createResponse(20));
    await settle();
    assertEquals(peer.answers().map((it) => [it.opaque, it.code]), [[6, 19]]);
    peer.connection.terminate();
    await settle();
    held[0]!.respond(createResponse(0));
    await settle();
    assertEquals(peer.answers().length, 1);
    assertEquals(rig.closed.length, 1);
    assert(rig.closed[0] === rig.opened[0]);
    assertEquals(rig.server.connectionCount, 0);
  });

  it("gives a held request what was answered before it was returned", async () => {
    const rig = await new RemotingRig([[11, (context) => {
      context.respond(createResponse(19));
      return HELD;
    }]]).listen();
    const peer = await rig.peer();
    peer.connection.write(requestFrame(11, 5));
    await settle();
    assertEquals(peer.answers().map((it) => it.code), [19]);
    await rig.server.stop(NO_TIME);
  });

  it("sends requests to a client and matches their answers", async () => {
    const rig = await new RemotingRig([]).listen();
    const peer = await rig.peer();
    const [connection] = rig.opened;
    const first = connection!.invoke(createRequest(220), 1000);
    const second = connection!.invoke(createRequest(221), 1000);
    connection!.invokeOneway(createRequest(40));
    await settle();
    assertEquals(peer.received.length, 1);
    const [one, two, three] = peer.answers();
    assertEquals([one!.code, two!.code, three!.code], [220, 221, 40]);
    assertEquals([one!.flag, three!.flag], [0, RPC_ONEWAY]);
    const answer = (opaque: number, body: string) =>
      encodeCommand({
        ...createResponse(0, null, {}, new TextEncoder().encode(body)),
        opaque,
      });
    peer.connection.write(answer(two!.opaque, "two"));
    peer.connection.write(answer(one!.opaque, "one"));
    peer.connection.write(answer(9999, "nobody asked"));
    await settle();
    assertEquals(text((await first).body), "one");
    assertEquals(text((await second).body), "two");
  });

  it("ends its requests by deadline and with the connection", async () => {
    const rig = await new RemotingRig([]).listen();
    const peer = await rig.peer();
    const [connection] = rig.opened;
    const early = connection!.invoke(createRequest(307), 1000);
    const late = connection!.invoke(createRequest(307), 5000);
    early.catch(() => {});
    late.catch(() => {});
    await rig.pass(900);
    assertEquals(peer.isClosed, false);
    await rig.pass(100);
    const error = await assertRejects(() => early, RemotingTimeoutError);
    assert(
      /^No answer from 127\.0\.0\.1:\d+ to GET_CONSUMER_RUNNING_INFO within 1000 ms$/
        .test(error.message),
      error.message,
    );
    peer.connection.terminate();
    await assertRejects(() => late, RemotingClosedError, "was closed before");
    await assertRejects(
      () => connection!.invoke(createRequest(307), 1000),
      RemotingClosedError,
    );
  });

  it("drains before it stops, refuses new requests meanwhile", async () => {
    const running = Promise.withResolvers<RemotingCommand>();
    const rig = await new RemotingRig([
      [10, echo],
      [11, () => HELD],
      [12, () => running.promise],
    ]).listen();
    const [busy, holding] = [await rig.peer(), await rig.peer()];
    busy.connection.write(requestFrame(12, 1));
    holding.connection.write(requestFrame(11, 1));
    await settle();
    const stopped = rig.server.stop(NO_TIME);
    busy.connection.write(requestFrame(10, 2));
    const refused = await rig.peer();
    await settle();
    assertEquals(refused.isClosed, true);
    assertEquals(busy.answers().map((it) => it.code), [14]);
    assertEquals(busy.isClosed, false);
    running.resolve(createResponse(0));
    await stopped;
    assertEquals(busy.answers().map((it) => it.code), [14, 0]);
    assertEquals([busy.isClosed, holding.isClosed], [true, true]);
    assertEquals(rig.server.connectionCount, 0);
  });

  it("stops at the deadline although a request is still running", async () => {
    const rig = await new RemotingRig([
      [12, () => new Promise(() => {})],
    ]).listen();
    const peer = await rig.peer();
    peer.connection.write(requestFrame(12, 1));
    await settle();
    const stopped = rig.server.stop(500);
    await rig.pass(400);
    assertEquals(peer.isClosed, false);
    await rig.pass(100);
    await stopped;
    assertEquals(peer.isClosed, true);
  });

  it("knows its peers", async () => {
    const rig = await new RemotingRig([]).listen();
    const peer = await rig.peer();
    const [connection] = rig.opened;
    assertEquals(connection!.remoteAddress, peer.connection.localAddress);
    assertEquals([...connection!.remoteHost.address], [127, 0, 0, 1]);
    assertEquals(connection!.isOpen, true);
    connection!.close();
    assertEquals(connection!.isOpen, false);
    await settle();
    assertEquals(peer.isClosed, true);
  });

  it("sends large bodies without gathering them", async () => {
    const body = new Uint8Array(200_000).fill(7);
    const rig = await new RemotingRig([
      [10, echo],
      [11, () => createResponse(0, null, {}, body)],
    ]).listen();
    const peer = await rig.peer();
    peer.connection.write(
      concat([requestFrame(10, 1), requestFrame(11, 2), requestFrame(10, 3)]),
    );
    await settle();
    const answers = commandsIn(peer.received);
    assertEquals(answers.map((it) => it.opaque), [1, 2, 3]);
    assertEquals(answers[1]!.body, body);
    assertEquals(peer.received.length, 3);
  });
});
