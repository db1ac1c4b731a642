import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { HAMasterWatch } from "../../src/broker/ha_master_watch.ts";
import { FakeClock } from "./fakes.ts";
import { PEER, roleOf, settle } from "./ha_fence_site.ts";

/** A slave that ends at 2,000, as its master does. */
class WatchSite {
  readonly clock = new FakeClock();
  master: string | null = PEER;
  masterMaxOffset = 2_000;
  readonly watch = new HAMasterWatch({
    clock: this.clock,
    followedMaster: () => this.master,
    askOne: (address) =>
      Promise.resolve({
        ...roleOf({ maxOffset: this.masterMaxOffset, slaves: ["s:1"] }),
        address,
      }),
    onAnswer() {},
    maxOffset: () => 2_000,
  });

  async after(ms: number): Promise<boolean> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.clock.advance(100);
      this.watch.tick();
      await settle();
    }
    return this.watch.hasStoodStill;
  }
}

test("HAMasterWatch keeps what the master said last, its slaves too", async () => {
  const site = new WatchSite();
  assertEquals(await site.after(200), false);
  site.master = null;
  assertEquals(await site.after(60_000), false);
  assertEquals(site.watch.last?.slaves, ["s:1"]);
});

test("HAMasterWatch knows a standstill at once, until the master is caught up with", async () => {
  const site = new WatchSite();
  await site.after(200);
  site.master = null;
  site.clock.advance(3_200);
  // A request may come before the first tick.
  assertEquals(site.watch.hasStoodStill, true);
  assertEquals(await site.after(60_000), true);
  site.master = PEER;
  site.masterMaxOffset = 2_000 + 65_537;
  assertEquals(await site.after(6_000), true);
  site.masterMaxOffset = 2_000 + 65_536;
  assertEquals(await site.after(600), false);
});
