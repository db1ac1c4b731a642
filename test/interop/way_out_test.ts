/**
 * The way in and the way out: Apache's master hands over to our slave, ours to Apache's, on
 * Apache's own store. Every message is once in the log, and no position has gone back.
 */
import { assertEquals } from "@std/assert";
import process from "node:process";
import { test } from "node:test";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { ApacheBroker } from "./apache_broker.ts";
import {
  awaitCopy,
  awaitTables,
  createLoadTopics,
  inSync,
  load,
  TABLES_WITHIN_MS,
} from "./ha_pair.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { OurBroker } from "./our_broker.ts";
import {
  assertAllCommitted,
  consumeExactly,
  numbers,
  type Reader,
  startMembers,
} from "./readers.ts";
import { APACHE_SERVER_VERSIONS, driverVersionOf } from "./versions.ts";

/** Messages of each of the three stretches of the way. */
const STRETCH = Number(process.env.INTEROP_MESSAGES ?? 3_000) / 3;
const LAST = 200;
const TOPICS = ["LoadA", "LoadB"];
const RECEIVED_WITHIN_MS = 60_000;

// Both at once: they wait more than they work, and each runs one Apache broker at a time.
test("Apache's brokers of both versions hand over to ours, and take over again on their own store", async () => {
  const ends = await Promise.allSettled(
    APACHE_SERVER_VERSIONS.map((version) =>
      withInteropSite((site) => wayOut(site, version))
    ),
  );
  // Only now: the other one has ended its servers too.
  for (const it of ends) if (it.status === "rejected") throw it.reason;
});

async function wayOut(site: InteropSite, version: string): Promise<void> {
  const namesrv = await startNamesrv(site);
  const driver = driverVersionOf(version);
  const travellers = { group: "travellers", driver, namesrv };
  const sleepers = { group: "sleepers", driver, namesrv };
  const send = (from: number, count: number) =>
    load(site, driver, namesrv, from, count);
  const theirs = (options: { role: "SLAVE" | "ASYNC_MASTER"; port?: number }) =>
    site.own(ApacheBroker.start({
      version,
      folder: `${site.folder}/theirs`,
      namesrv,
      role: options.role,
      ...(options.port === undefined ? {} : { listenPort: options.port }),
    }));

  const master = await theirs({ role: "ASYNC_MASTER" });
  const port = master.listenPort;
  await createLoadTopics(site, namesrv, master);
  const [awake, asleep] = await startMembers(
    site,
    [travellers, sleepers],
    TOPICS,
  );
  await send(0, STRETCH);
  const first = numbers(0, STRETCH);
  await consumeExactly(site, [sleepers], [asleep!], first, RECEIVED_WITHIN_MS);
  const ours = await joined(site, namesrv, master);
  await send(STRETCH, STRETCH);
  await awaitCopy(site, master, ours, 2 * STRETCH);
  await awaitTables(site, master, ours, 15_000);
  await master.stop();

  await promote(site, ours);
  const slave = await theirs({ role: "SLAVE", port });
  await inSync(site, ours, 1);
  await send(2 * STRETCH, STRETCH);
  const all = numbers(0, 3 * STRETCH);
  await consumeExactly(site, [travellers], [awake!], all, RECEIVED_WITHIN_MS);
  await awaitCopy(site, ours, slave, 3 * STRETCH);
  await awaitTables(site, ours, slave, TABLES_WITHIN_MS[version]!);
  await ours.stop();
  await slave.stop();

  const again = await theirs({ role: "ASYNC_MASTER", port });
  await allCommitted(again, travellers);
  await site.registered(namesrv, again.address);
  await send(3 * STRETCH, LAST);
  await receiveRest(site, travellers, numbers(3 * STRETCH, LAST));
  await receiveRest(site, sleepers, numbers(STRETCH, 2 * STRETCH + LAST));
  await again.stop();
  await onceInLog(again.storePath, numbers(0, 3 * STRETCH + LAST));
}

/** Our slave, with everything that the Apache master has. */
async function joined(
  site: InteropSite,
  namesrv: string,
  master: ApacheBroker,
): Promise<OurBroker> {
  const ours = await site.own(OurBroker.start({
    folder: `${site.folder}/ours`,
    namesrv,
    role: "SLAVE",
    settings: { haBootstrap: "min" },
  }));
  const copied = await awaitCopy(site, master, ours, STRETCH);
  assertEquals(copied.minOffset, 0);
  return ours;
}

/** By hand, as the README tells it; a refusal that may be over in a moment is one to repeat. */
async function promote(site: InteropSite, ours: OurBroker): Promise<void> {
  let last = "";
  await site.eventually(async () => {
    const done = await runPocketMQ(["ha", "promote", "--admin", ours.admin]);
    last = done.stdout + done.stderr;
    return done.code === 0;
  }, "a promotion").catch((error) => {
    throw new Error(last, { cause: error });
  });
}

async function allCommitted(at: ApacheBroker, reader: Reader): Promise<void> {
  for (const it of TOPICS) await assertAllCommitted(at.address, [reader], it);
}

async function receiveRest(
  site: InteropSite,
  reader: Reader,
  expected: number[],
): Promise<void> {
  const members = await startMembers(site, [reader], TOPICS);
  await consumeExactly(site, [reader], members, expected, RECEIVED_WITHIN_MS);
}

/** The keys of all records of both topics. */
async function onceInLog(store: string, expected: number[]): Promise<void> {
  const found: number[] = [];
  for (const topic of TOPICS) {
    const flags = ["--json", "--count", "1000000", "--topic", topic];
    const dump = await runPocketMQ(["store", "dump", store, ...flags]);
    assertEquals(dump.code, 0, dump.stderr);
    for (const line of dump.stdout.trim().split("\n")) {
      const { properties } = JSON.parse(line);
      found.push(Number(properties.KEYS.slice(3)));
    }
  }
  assertEquals(found.sort((a, b) => a - b), expected);
}
