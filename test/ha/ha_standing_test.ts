/** What a slave knows of its place when its master has gone: a promotion depends on it. */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { pairOf, put } from "./ha_pair_fixture.ts";

test("a slave knows its place also when its master answered no more before it went", async () => {
  let isMute = false;
  const pair = pairOf({ isMute: () => isMute });
  const { clock } = pair.world;
  const master = (await pair.master.start())!;
  const slave = (await pair.slave.start())!;
  put(pair, 1_000);
  await clock.run(5_000);
  assertEquals(slave.store.maxPhyOffset, master.store.maxPhyOffset);
  // A broker that stops closes its remoting port first.
  isMute = true;
  put(pair, 1_000);
  await clock.run(5_000);
  assertEquals(slave.store.maxPhyOffset, master.store.maxPhyOffset);
  assertEquals(slave.client!.view().masterMaxOffset, null);
  pair.master.end(false);
  await clock.run(5_000);
  assertEquals(slave.client!.standing, {
    kind: "follows",
    behindBytes: 0,
    behindMs: 0,
  });
});
