/** Stock Java clients against the executable. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { type Site, withSite } from "../support/site.ts";
import { Member, runDriver } from "./java.ts";
import { ROCKETMQ_VERSIONS } from "./versions.ts";

for (const version of ROCKETMQ_VERSIONS) {
  test(`Java ${version} sends in all four ways and receives exactly that in queue order`, async () => {
    await withSite(async (site) => {
      await site.createTopic("DeliveryTopic");
      const done = await runDriver(version, [
        "delivery",
        `namesrv=${site.namesrv}`,
        "topic=DeliveryTopic",
      ], site.folder);
      assertEquals(done.code, 0, done.output);
      assertEquals(done.result, {
        sent: 10_000,
        received: 10_000,
        placed: 10_000 - 990,
        faults: 0,
      });
    });
  });

  test(`Java ${version} broadcasts to every consumer through a tag filter`, async () => {
    await withSite(async (site) => {
      await site.createTopic("BroadcastTopic");
      const done = await runDriver(version, [
        "broadcast",
        `namesrv=${site.namesrv}`,
        "topic=BroadcastTopic",
      ], site.folder);
      assertEquals(done.code, 0, done.output);
      assertEquals(done.result, {
        first: 200,
        second: 200,
        deliveries: 400,
        faults: 0,
      });
    });
  });

  test(`Java ${version} lite pull assigns, subscribes and goes on after its commit`, async () => {
    await withSite(async (site) => {
      await site.createTopic("LiteTopic");
      const done = await runDriver(version, [
        "litepull",
        `namesrv=${site.namesrv}`,
        "topic=LiteTopic",
      ], site.folder);
      assertEquals(done.code, 0, done.output);
      assertEquals(done.result, {
        byAssign: 500,
        bySubscribe: 500,
        afterCommit: 50,
        faults: 0,
      });
    });
  });

  test(`Java ${version} consumes by SQL92 in all three ways, and is told what cannot be read`, async () => {
    await withSite(async (site) => {
      await site.createTopic("SqlTopic");
      const done = await runDriver(version, [
        "sqlfilter",
        `namesrv=${site.namesrv}`,
        "topic=SqlTopic",
      ], site.folder);
      assertEquals(done.code, 0, done.output);
      assertEquals(done.result, {
        pushed: 50,
        polled: 20,
        pulled: 20,
        refused: 1,
        faults: 0,
      });
    }, ["--set", "enablePropertyFilter=true"]);
  });

  test(`Java ${version} commits, rolls back, and is asked about what it left open`, async () => {
    await withSite(async (site) => {
      await site.createTopic("TransactionTopic");
      const done = await runDriver(version, [
        "transactions",
        `namesrv=${site.namesrv}`,
        "topic=TransactionTopic",
      ], site.folder);
      assertEquals(done.code, 0, done.output);
      assertEquals(done.result, {
        received: 40,
        deliveries: 40,
        checked: 40,
        faults: 0,
      });
    }, [
      "--set",
      "transactionTimeOut=2000",
      "--set",
      "transactionCheckInterval=500",
    ]);
  });

  test(`Java ${version} members share the queues, take over, and keep positions over a restart`, async () => {
    await withSite((site) => shareAndRestart(version, site));
  });
}

async function shareAndRestart(version: string, site: Site): Promise<void> {
  await site.createTopic("ShareTopic");
  const send = async (from: number, count: number) => {
    const done = await runDriver(version, [
      "send",
      `namesrv=${site.namesrv}`,
      "topic=ShareTopic",
      `from=${from}`,
      `count=${count}`,
    ], site.folder);
    assertEquals(done.result, { ok: count, faults: 0 }, done.output);
  };
  const member = (instance: string) =>
    new Member(version, [
      `namesrv=${site.namesrv}`,
      "topic=ShareTopic",
      "group=share-group",
      `instance=${instance}`,
    ], site.folder);
  const first = member("first");
  const second = member("second");
  const received = () => [...first.deliveries, ...second.deliveries];
  const keys = () => new Set(received().map((it) => it.key));
  try {
    await eventually(() => first.started && second.started, {
      timeoutMs: 30_000,
    });
    await eventually(() => membersOf(site), { timeoutMs: 30_000 });
    await send(0, 400);
    await eventually(() => keys().size === 400, { timeoutMs: 40_000 });
    await send(400, 400);
    await eventually(() => keys().size === 800, { timeoutMs: 40_000 });
    const shares = [first, second].map((it) =>
      new Set(
        it.deliveries.filter((d) => Number(d.key.slice(3)) >= 400)
          .map((d) => d.queueId),
      )
    );
    assertEquals(shares[0]!.intersection(shares[1]!).size, 0);
    assertEquals(shares[0]!.size + shares[1]!.size, 8);
    assert(shares[0]!.size === 4, `shared ${shares.map((it) => it.size)}`);
    await second.kill();
    await send(800, 400);
    await eventually(
      () => first.deliveries.length > 0 && keys().size === 1200,
      { timeoutMs: 60_000 },
    );
    assertEquals(await first.leave(), 0);
    await site.restart();
    await send(1200, 100);
    const third = member("third");
    try {
      const got = () => third.deliveries.map((it) => Number(it.key.slice(3)));
      await eventually(() => got().length >= 100, { timeoutMs: 40_000 });
      assertEquals(
        got().sort((a, b) => a - b),
        Array.from({ length: 100 }, (_, index) => 1200 + index),
      );
    } finally {
      await third.kill();
    }
  } finally {
    await first.kill();
    await second.kill();
  }
}

/** True once both members are seen by the broker. */
async function membersOf(site: Site): Promise<boolean> {
  const shown = await site.run("group", "show", "share-group", "--json");
  return (shown.stdout.match(/@/g) ?? []).length >= 2;
}
