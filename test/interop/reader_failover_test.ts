/**
 * Stock push consumers move to our slave when our master is killed, and back: nothing of the
 * backlog is missing, and no position is lost, also not one that was set back on purpose.
 */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { ApacheNamesrv } from "./apache_namesrv.ts";
import { awaitTables, inSync } from "./ha_pair.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { type Member, runDriver } from "./java.ts";
import { OurBroker } from "./our_broker.ts";
import {
  assertAllCommitted,
  consumeExactly,
  numbers,
  positionsAt,
  type Reader,
  startMembers,
} from "./readers.ts";

const BACKLOG = 4_000;
/** Of the backlog, consumed before the master is killed. */
const HELD_AFTER = 300;
/** A client keeps so many messages a queue: the rest of the backlog is still at the broker. */
const CACHE = 100;
const MOVED_WITHIN_MS = 60_000;
/** Stock clients commit first 10 s after their start, then every 5 s. */
const COMMITTED_WITHIN_MS = 25_000;
const TOPICS = ["Backlog", "Again"];

/** A pair that registers with several name servers, and its consumer groups. */
interface Story {
  site: InteropSite;
  namesrv: string;
  master: OurBroker;
  slave: OurBroker;
  readers: Reader[];
}

test("stock push consumers of 4.9 and 5.x move to our slave and back, through our and Apache's name servers", async () => {
  await withInteropSite(async (site) => {
    const story = await openStory(site);
    await send(story, "Backlog", 0, BACKLOG);
    await send(story, "Again", 10_000, 200);
    await backlogAtTheSlave(story);
    await startMaster(story);
    const sentAt = Date.now();
    await send(story, "Backlog", 20_000, 100);
    await onlyNew(story, numbers(20_000, 100));
    await setBackAndMadeAgain(story, sentAt);
  });
});

async function openStory(site: InteropSite): Promise<Story> {
  const namesrv = await startNamesrv(site);
  const [old, young] = await Promise.all(
    ["4.9.7", "5.5.0"].map((version) =>
      site.own(
        ApacheNamesrv.start({
          version,
          folder: `${site.folder}/ns-${version}`,
        }),
      )
    ),
  );
  const readers = [
    { driver: "4.9.8", namesrv },
    { driver: "5.5.0", namesrv },
    { driver: "4.9.8", namesrv: old!.address },
    { driver: "5.5.0", namesrv: young!.address },
  ].map((it, index) => ({ ...it, group: `readers-${index}` }));
  const story = { site, readers, namesrv } as Story;
  await startMaster(story);
  story.slave = await site.own(OurBroker.start({
    folder: `${site.folder}/slave`,
    namesrv: allNamesrvs(story),
    role: "SLAVE",
  }));
  for (const topic of TOPICS) {
    for (const it of new Set(readers.map((it) => it.namesrv))) {
      await site.createTopic(it, topic, "--broker", story.master.address);
    }
  }
  await inSync(site, story.master, 1);
  return story;
}

function allNamesrvs({ readers }: Story): string {
  return [...new Set(readers.map((it) => it.namesrv))].join(";");
}

/** For the first time, or again on the same port. */
async function startMaster(story: Story): Promise<void> {
  const { site } = story;
  const again = story.master !== undefined;
  story.master = await site.own(OurBroker.start({
    folder: `${site.folder}/master`,
    namesrv: allNamesrvs(story),
    role: "SYNC_MASTER",
    ...(again ? { listenPort: story.master.listenPort } : {}),
  }));
  if (again) await inSync(site, story.master, 1);
}

async function send(
  { site, namesrv }: Story,
  topic: string,
  from: number,
  count: number,
): Promise<void> {
  const done = await runDriver("5.5.0", [
    "load",
    `namesrv=${namesrv}`,
    `topics=${topic}`,
    `from=${from}`,
    `count=${count}`,
  ], site.folder);
  assertEquals(done.result, { ok: count, faults: 0 }, done.output);
}

/** The master dies under consumers that have most of the backlog still before them. */
async function backlogAtTheSlave(story: Story): Promise<void> {
  const { site, readers, master, slave } = story;
  const members = await startMembers(
    site,
    readers,
    TOPICS,
    `hold=${HELD_AFTER}`,
    `cache=${CACHE}`,
  );
  await site.eventually(
    () => members.every((it) => it.deliveries.length >= HELD_AFTER - CACHE),
    "some of the backlog",
    60_000,
  );
  const committed = () => readers.map((it) => committedOf(master, it));
  await site.eventually(
    async () => (await Promise.all(committed())).every((it) => it > 0),
    "a commit of every group",
    COMMITTED_WITHIN_MS,
  );
  await master.stop("SIGKILL");
  const killedAt = Date.now();
  for (const it of members) {
    assert(it.deliveries.length < BACKLOG / 2);
    it.goOn();
  }
  const all = [...numbers(0, BACKLOG), ...numbers(10_000, 200)];
  await consumeExactly(site, readers, members, all, MOVED_WITHIN_MS);
  showMoves(readers, members, killedAt);
  for (const it of TOPICS) {
    await assertAllCommitted(slave.address, readers, it);
  }
}

async function committedOf(broker: OurBroker, it: Reader): Promise<number> {
  const { committed } = await positionsAt(broker.address, it.group, "Backlog");
  return committed.reduce((sum, offset) => sum + offset, 0);
}

function showMoves(
  readers: Reader[],
  members: Member[],
  killedAt: number,
): void {
  for (const [index, it] of members.entries()) {
    const seconds = (it.deliveries.at(-1)!.atMs - killedAt) / 1000;
    console.log(
      `${
        readers[index]!.driver
      } client: whole backlog ${seconds} s after the kill`,
    );
  }
}

/** Members that start now receive these and nothing that was consumed before. */
async function onlyNew(story: Story, expected: number[]): Promise<void> {
  const { site, readers } = story;
  const members = await startMembers(site, readers, TOPICS);
  await consumeExactly(site, readers, members, expected, MOVED_WITHIN_MS);
}

/** Both change what a position means; the slave and the master that returns must hold to it. */
async function setBackAndMadeAgain(
  story: Story,
  sentAt: number,
): Promise<void> {
  const { site, namesrv, master, slave, readers } = story;
  for (const { group } of readers) {
    const to = String(sentAt);
    await site.run(
      namesrv,
      ...["group", "reset-offset", group, "--topic", "Backlog", "--to", to],
    );
  }
  const at = ["--broker", master.address];
  await site.run(namesrv, "topic", "delete", "Again", ...at);
  await site.createTopic(namesrv, "Again", ...at);
  await send(story, "Again", 30_000, 50);
  await awaitTables(site, master, slave, 5_000);
  await master.stop("SIGKILL");
  await onlyNew(story, [...numbers(20_000, 100), ...numbers(30_000, 50)]);
  await startMaster(story);
  for (const it of TOPICS) {
    await assertAllCommitted(story.master.address, readers, it);
  }
  await send(story, "Again", 40_000, 20);
  await onlyNew(story, numbers(40_000, 20));
}
