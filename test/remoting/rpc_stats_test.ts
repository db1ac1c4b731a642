import { assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  createResponse,
  RPC_ONEWAY,
} from "../../src/protocol/remoting_command.ts";
import {
  HELD,
  type RequestContext,
  type RequestProcessor,
} from "../../src/remoting/request_processor.ts";
import type { RpcStats } from "../../src/remoting/rpc_stats.ts";
import { concat, RemotingRig, requestFrame, settle } from "./remoting_rig.ts";

const answers: RequestProcessor = () => createResponse(0);

/** Code of the answer, long polling, result; then the counts of the buckets. */
function shown(stats: RpcStats): unknown[] {
  return stats.outcomes.map((it) => [
    it.responseCode,
    it.isLongPolling,
    it.result,
    [...it.latencyMs.counts],
  ]);
}

const NONE = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const bucket = (at: number, count: number) => NONE.with(at, count);

test("RpcStats gives all answers of one turn the time that the turn took", async () => {
  const rig = new RemotingRig([[10, () => {
    rig.clock.advance(2);
    return createResponse(0);
  }]]);
  await rig.listen();
  const peer = await rig.peer();
  peer.connection.write(concat([1, 2, 3].map((it) => requestFrame(10, it))));
  await settle();
  const stats = rig.server.counters.requests.get(10)!;
  assertEquals(shown(stats), [[0, false, "success", bucket(3, 3)]]);
  assertEquals(stats.outcomes[0]!.latencyMs.sum, 18);
  assertEquals([stats.received, stats.answered, stats.inProgress], [3, 3, 0]);
});

test("RpcStats measures later answers one by one, held ones apart", async () => {
  const later: PromiseWithResolvers<ReturnType<typeof createResponse>>[] = [];
  const held: RequestContext[] = [];
  const rig = await new RemotingRig([
    [10, () => {
      later.push(Promise.withResolvers());
      return later.at(-1)!.promise;
    }],
    [11, (context) => {
      held.push(context);
      return HELD;
    }],
  ]).listen();
  const peer = await rig.peer();
  peer.connection.write(
    concat([requestFrame(10, 1), requestFrame(10, 2), requestFrame(11, 3)]),
  );
  await settle();
  const sends = rig.server.counters.requests.get(10)!;
  const pulls = rig.server.counters.requests.get(11)!;
  assertEquals([sends.inProgress, pulls.inProgress, pulls.held], [2, 0, 1]);
  rig.clock.advance(20);
  later[0]!.resolve(createResponse(0));
  await settle();
  rig.clock.advance(1_000);
  later[1]!.resolve(createResponse(12));
  held[0]!.respond(createResponse(19));
  await settle();
  assertEquals(shown(sends), [
    [0, false, "success", bucket(5, 1)],
    [12, false, "success", bucket(7, 1)],
  ]);
  assertEquals(shown(pulls), [[19, true, "success", bucket(7, 1)]]);
  assertEquals([sends.inProgress, pulls.held], [0, 0]);
});

test("RpcStats tells oneway requests and lost peers from the rest", async () => {
  const held: RequestContext[] = [];
  const rig = await new RemotingRig([
    [15, answers],
    [11, (context) => {
      held.push(context);
      return HELD;
    }],
  ]).listen();
  const peer = await rig.peer();
  peer.connection.write(concat([
    requestFrame(15, 1, { flag: RPC_ONEWAY }),
    requestFrame(11, 2),
    requestFrame(30_999, 3),
    requestFrame(30_998, 4),
  ]));
  await settle();
  peer.connection.terminate();
  await settle();
  held[0]!.respond(createResponse(0));
  const { requests, unknown } = rig.server.counters;
  assertEquals(shown(requests.get(15)!), [
    [0, false, "oneway", bucket(0, 1)],
  ]);
  assertEquals(shown(requests.get(11)!), [
    [0, true, "write_channel_failed", bucket(0, 1)],
  ]);
  // However many codes a peer invents, they are one.
  assertEquals(shown(unknown), [[3, false, "success", bucket(0, 2)]]);
  assertEquals([...requests.keys()], [15, 11]);
});
