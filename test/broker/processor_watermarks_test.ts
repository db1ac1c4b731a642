import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { watermarksOf } from "../../src/broker/processor_watermarks.ts";
import { RpcStats } from "../../src/remoting/rpc_stats.ts";

function stats(received: number, answered: number, held = 0): RpcStats {
  return Object.assign(new RpcStats(), { received, answered, held });
}

test("watermarksOf() counts requests in progress for the processor that Apache has", () => {
  const marks = watermarksOf(
    new Map([
      [310, stats(9, 5)],
      [36, stats(1, 0)],
      [11, stats(7, 2, 5)],
      [361, stats(3, 1)],
      [34, stats(2, 1)],
      [28, stats(4, 3)],
      [31_001, stats(6, 4)],
    ]),
  );
  assertEquals(Object.fromEntries([...marks].filter(([, it]) => it > 0)), {
    send: 5,
    lite_pull: 2,
    heartbeat: 1,
    admin: 3,
  });
  assertEquals([marks.get("pull"), marks.get("ack"), marks.size], [0, 0, 11]);
});
