/** Delayed messages under stops, kills and power cuts at random moments. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { SimRandom } from "../sim/sim_random.ts";
import { PERSIST_INTERVAL_MS, ScheduleSite } from "./schedule_site.ts";

const LEVELS = [1, 2];
const END_MS = 12_000;

/** Runs one life; what was acknowledged in it goes into `sent`. */
async function live(
  site: ScheduleSite,
  random: SimRandom,
  sent: string[],
): Promise<void> {
  const steps = 1 + random.nextInt(12);
  for (let step = 0; step < steps; step++) {
    const level = LEVELS[random.nextInt(LEVELS.length)]!;
    for (let count = random.nextInt(40); count > 0; count--) {
      const text = `m${sent.length}`;
      const { status } = await site.send(text, level);
      assertEquals(status, "PUT_OK");
      sent.push(text);
    }
    await site.run(100 * random.nextInt(20));
    if (random.nextInt(6) === 0) {
      site.jumpedMs += 5_000 - random.nextInt(10_000);
    }
    site.failure = random.nextInt(6) === 0 ? "SERVICE_NOT_AVAILABLE" : null;
  }
  site.failure = null;
}

for (let seed = 1; seed <= 12; seed++) {
  test(`ScheduleMessageShell loses nothing that was acknowledged [seed=${seed}]`, async () => {
    const random = new SimRandom(seed);
    const site = new ScheduleSite(seed);
    const sent: string[] = [];
    for (let life = 0; life < 4; life++) {
      await site.start({ flushDiskType: "SYNC_FLUSH" });
      await live(site, random, sent);
      if (random.nextInt(3) === 0) await site.stop();
      else site.die(random.nextInt(2) === 0);
    }
    await site.start({ flushDiskType: "SYNC_FLUSH" });
    await site.run(END_MS);
    assertEquals(new Set(await site.texts()), new Set(sent));
    await site.stop();
  });

  test(`ScheduleMessageShell repeats nothing over clean stops [seed=${seed}]`, async () => {
    const random = new SimRandom(seed);
    const site = new ScheduleSite(seed);
    const sent: string[] = [];
    for (let life = 0; life < 4; life++) {
      await site.start();
      await live(site, random, sent);
      await site.stop();
    }
    await site.start();
    await site.run(END_MS);
    assertEquals((await site.texts()).sort(), [...sent].sort());
    await site.stop();
  });
}

test("ScheduleMessageShell writes no offset whose deliveries a power cut could take", async () => {
  // Under ASYNC_FLUSH the tail of the log is not durable for up to 10 s.
  const site = new ScheduleSite();
  await site.start();
  for (let count = 0; count < 20; count++) await site.send(`m${count}`, 1);
  await site.clock.complete(site.store.delayedMessages.flush());
  await site.run(1_200);
  assertEquals((await site.texts()).length, 20);
  await site.run(PERSIST_INTERVAL_MS);
  assertEquals(site.file.offsets().get(1), 20);
  assert(site.file.deliveredUntil <= site.store.flushedOffset);
  site.die(true);
  await site.start();
  await site.run(2_000);
  assertEquals(new Set(await site.texts()).size, 20);
  await site.stop();
});
