import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import {
  createRequest,
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import type { RequestProcessor } from "../../src/remoting/request_processor.ts";
import { concat, RemotingRig, requestFrame, settle } from "./remoting_rig.ts";

const MIB = 1024 * 1024;
const echo: RequestProcessor = () => createResponse(0);

function requests(code: number, count: number): Uint8Array {
  return concat(
    Array.from({ length: count }, (_, it) => requestFrame(code, it)),
  );
}

describe("remoting limits", () => {
  it("stops reading at the in-flight limit, in the middle of a chunk, and goes on", async () => {
    const running: PromiseWithResolvers<RemotingCommand>[] = [];
    const rig = await new RemotingRig([[10, () => {
      running.push(Promise.withResolvers());
      return running.at(-1)!.promise;
    }]], { inFlightRequestsMax: 10 }).listen();
    const peer = await rig.peer();
    const [server] = rig.network.accepted;
    peer.connection.write(requests(10, 35));
    await settle();
    assertEquals(running.length, 10);
    assertEquals(server!.isPaused, true);
    for (let done = 0; done < 35; done++) {
      running[done]!.resolve(createResponse(0));
      await settle();
      assert(running.length - done - 1 <= 10, "never more than 10 in flight");
    }
    assertEquals(running.length, 35);
    assertEquals(server!.isPaused, false);
    assertEquals(
      peer.answers().map((it) => it.opaque),
      Array.from({ length: 35 }, (_, it) => it),
    );
  });

  it("reads no more requests of a peer that takes no answers", async () => {
    let pulls = 0;
    const rig = await new RemotingRig([[11, () => {
      pulls++;
      return createResponse(0, null, {}, new Uint8Array(MIB));
    }]], { writeQueueBytesHigh: 4 * MIB }).listen();
    const peer = await rig.peer();
    peer.connection.isDeaf = true;
    peer.connection.write(requests(11, 100));
    await settle();
    assertEquals(pulls, 4);
    assertEquals(rig.network.accepted[0]!.isPaused, true);
    peer.connection.isDeaf = false;
    peer.connection.pump();
    for (let turn = 0; turn < 100 && pulls < 100; turn++) await settle();
    await settle();
    assertEquals(pulls, 100);
    assertEquals(peer.answers().length, 100);
    assertEquals(peer.isClosed, false);
  });

  it("closes a peer for which too much waits", async () => {
    const running: PromiseWithResolvers<RemotingCommand>[] = [];
    const rig = await new RemotingRig([[11, () => {
      running.push(Promise.withResolvers());
      return running.at(-1)!.promise;
    }]], { writeQueueBytesMax: 8 * MIB }).listen();
    const peer = await rig.peer();
    peer.connection.isDeaf = true;
    peer.connection.write(requests(11, 20));
    await settle();
    for (const it of running) {
      it.resolve(createResponse(0, null, {}, new Uint8Array(MIB)));
    }
    await settle();
    assertEquals(peer.isClosed, true);
    assertEquals(rig.closed.length, 1);
    assert(rig.logger.lines[0]!.message.includes("reads too slowly"));
  });

  it("closes a peer that takes nothing for writeStallMs, not one that is slow", async () => {
    const rig = await new RemotingRig([[
      11,
      () => createResponse(0, null, {}, new Uint8Array(MIB)),
    ]]).listen();
    const [stalled, slow] = [await rig.peer(), await rig.peer()];
    for (const peer of [stalled, slow]) {
      peer.connection.isDeaf = true;
      peer.connection.write(requests(11, 3));
    }
    await settle();
    for (let round = 0; round < 3; round++) {
      await rig.pass(25_000);
      // One more answer is taken, then the peer is deaf again.
      slow.connection.isDeaf = false;
      slow.connection.write(requestFrame(11, 9));
      slow.connection.pump();
      slow.connection.isDeaf = true;
      await settle();
    }
    assertEquals(stalled.isClosed, true);
    assertEquals(slow.isClosed, false);
    assertEquals(rig.logger.lines.length, 1);
    assert(rig.logger.lines[0]!.message.includes("took none of"));
  });

  it("closes idle connections after 120 s, silent or not", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const [silent, active] = [await rig.peer(), await rig.peer()];
    active.connection.write(requestFrame(10, 1));
    await rig.pass(60_000);
    active.connection.write(requestFrame(10, 1));
    await settle();
    await rig.pass(59_900);
    assertEquals(silent.isClosed, false);
    await rig.pass(100);
    assertEquals([silent.isClosed, active.isClosed], [true, false]);
    await rig.pass(60_000);
    assertEquals(active.isClosed, true);
    assertEquals(rig.logger.lines.length, 0);
  });

  it("takes writes to a silent peer for no sign of life", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const peer = await rig.peer();
    for (let round = 0; round < 12; round++) {
      assertEquals(peer.isClosed, false);
      rig.opened[0]!.invokeOneway(createRequest(40));
      await rig.pass(10_000);
    }
    assertEquals(peer.isClosed, true);
  });

  it("closes a first frame that dribbles after 30 s, a later one after 120 s", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const [slow, steady] = [await rig.peer(), await rig.peer()];
    const frame = requestFrame(10, 1, { extFields: { a: "x".repeat(99) } });
    steady.connection.write(frame);
    await settle();
    for (let second = 0; second < 119; second++) {
      for (const peer of [slow, steady]) {
        peer.connection.write(frame.slice(second, second + 1));
      }
      await settle();
      await rig.pass(1000);
      assertEquals(slow.isClosed, second >= 29, `second ${second}`);
    }
    assertEquals(steady.isClosed, false);
    await rig.pass(1000);
    assertEquals(steady.isClosed, true);
    assert(rig.logger.lines[0]!.message.includes("first frame"));
    assertEquals(rig.server.counters.timeoutCloses, 2);
  });

  it("gives a large first frame on a slow link the longer time", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const peer = await rig.peer();
    const frame = requestFrame(10, 1, { body: new Uint8Array(MIB) });
    for (let second = 0; second < 100; second++) {
      const size = Math.ceil(frame.length / 100);
      peer.connection.write(frame.slice(second * size, (second + 1) * size));
      await settle();
      await rig.pass(1000);
    }
    assertEquals(peer.answers().length, 1);
  });

  it("closes the connection that holds most when all together hold too much", async () => {
    const rig = await new RemotingRig([[10, echo]], {
      bufferedBytesMax: 4 * MIB,
    }).listen();
    const peers = [];
    for (const size of [0.5, 1.5, 1, 0.8]) {
      const peer = await rig.peer();
      const body = new Uint8Array(2 * MIB);
      peer.connection.write(
        requestFrame(10, 1, { body }).slice(0, size * MIB),
      );
      await settle();
      peers.push(peer);
    }
    assertEquals(peers.map((it) => it.isClosed), [false, false, false, false]);
    assertEquals(rig.server.bufferedBytes, Math.floor(3.8 * MIB));
    peers[3]!.connection.write(new Uint8Array(0.5 * MIB));
    await settle();
    assertEquals(peers.map((it) => it.isClosed), [false, true, false, false]);
    assert(rig.logger.lines[0]!.message.includes("bufferedBytesMax"));
    for (const peer of peers) peer.connection.terminate();
    await settle();
    assertEquals(rig.server.bufferedBytes, 0);
  });

  it("closes as many as it takes, before their ends are told", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const peers = [];
    for (const size of [1, 1.1, 1.2, 1.3, 0.1]) {
      const peer = await rig.peer();
      const body = new Uint8Array(2 * MIB);
      peer.connection.write(
        requestFrame(10, 1, { body }).slice(0, size * MIB),
      );
      await settle();
      peers.push(peer);
    }
    rig.server.reconfigure({
      ...rig.server.options,
      bufferedBytesMax: 1.2 * MIB,
    });
    // One chunk: what the server holds is within the limit in the same turn.
    peers[4]!.connection.peer.events.onData(new Uint8Array(1000));
    assert(rig.server.bufferedBytes <= 1.2 * MIB);
    await settle();
    assertEquals(
      peers.map((it) => it.isClosed),
      [false, true, true, true, false],
    );
    assertEquals(rig.server.bufferedBytes, Math.floor(1.1 * MIB) + 1000);
  });

  it("refuses connections beyond connectionsMax", async () => {
    const rig = await new RemotingRig([[10, echo]], { connectionsMax: 2 })
      .listen();
    const peers = [await rig.peer(), await rig.peer(), await rig.peer()];
    await settle();
    assertEquals(peers.map((it) => it.isClosed), [false, false, true]);
    assertEquals(rig.server.connectionCount, 2);
    assertEquals(rig.server.counters.connectionsRefused, 1);
    peers[0]!.connection.terminate();
    await settle();
    const next = await rig.peer();
    next.connection.write(requestFrame(10, 1));
    await settle();
    assertEquals(next.answers().length, 1);
  });

  it("keeps its limits across a jump of the wall clock", async () => {
    const rig = await new RemotingRig([[10, echo]]).listen();
    const peer = await rig.peer();
    rig.server.tick(rig.clock.nowMs() + 3_600_000);
    await settle();
    assertEquals(peer.isClosed, false);
  });
});
