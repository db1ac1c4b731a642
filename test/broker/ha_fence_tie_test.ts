/** Two masters of one epoch: what the verdict's table tests leave. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { FenceSite, PEER, roleOf } from "./ha_fence_site.ts";

/** Promoted with a longer log than the broker of a FenceSite. */
const WINNER = roleOf({ promotedAtOffset: 9_000, haAddress: "10.0.0.6:10912" });

test("a master that loses to one that answers later stays fenced, also after a start at which nobody answers", async () => {
  const site = new FenceSite(1);
  site.peers.remember(PEER);
  void site.fence.start(true);
  assertEquals(await site.after(300), "open");
  site.roles.set(PEER, WINNER);
  assertEquals(await site.after(6_000), "fenced");
  const reason = site.fence.refusal()!;
  for (const part of [PEER, "epoch 1", "keeps the place", "ha demote"]) {
    assert(reason.includes(part), reason);
  }
  await site.fence.stop();
  assertEquals(await new FenceSite(1, site.file).start(), "fenced");
  assertEquals(await new FenceSite(2, site.file).start(), "open");
});

test("a former master that is given the other one's haRole.json loses to it", async () => {
  const site = new FenceSite(0);
  site.peers.remember(PEER);
  site.roles.set(PEER, WINNER);
  assertEquals(await site.start(), "fenced");
  await site.fence.stop();
  const copied = new FenceSite(1, site.file);
  copied.roles.set(PEER, WINNER);
  assertEquals(await copied.start(), "fenced");
});

test("a master that is asked by another one of its epoch looks at once", async () => {
  const site = new FenceSite(1);
  site.peers.remember(PEER);
  assertEquals(await site.start(), "open");
  site.roles.set(PEER, WINNER);
  site.fence.onHint("broker-a", 1);
  assertEquals(await site.after(100), "fenced");
});
