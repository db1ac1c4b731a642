/** Replication with Apache's brokers in both directions, and between our own. */
import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { test } from "node:test";
import { ApacheBroker } from "./apache_broker.ts";
import { writeDelayed } from "./delayed_messages.ts";
import {
  ATTRIBUTED,
  awaitCopy,
  awaitTables,
  changeTables,
  createLoadTopics,
  follows,
  haStatus,
  inSync,
  load,
  namesFileSize,
  type Node,
  OTHER_FILE_SIZE,
  TABLES_WITHIN_MS,
} from "./ha_pair.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { runDriver } from "./java.ts";
import { metadataTables } from "./metadata_tables.ts";
import { writeInnerBatches, writeLongTopic } from "./modern_records.ts";
import { OurBroker, type OurBrokerOptions } from "./our_broker.ts";
import { logEndOf } from "./store_compare.ts";
import {
  APACHE_SERVER_VERSIONS,
  ATTRIBUTES_TROUBLED_VERSION,
  driverVersionOf,
} from "./versions.ts";

/** INTEROP_MESSAGES=100000 runs the same stories at full length. */
const COUNT = Number(process.env.INTEROP_MESSAGES ?? 8_000);
const MORE = 2_000;
const DELAYED_COUNT = 40;
/** About 1 KiB a message and 1 MiB a file. */
const FILE_COUNT_MIN = 8;
for (const version of APACHE_SERVER_VERSIONS) {
  const driver = driverVersionOf(version);

  test(`Apache ${version} slave follows our SYNC_MASTER`, async () => {
    await withInteropSite(async (site) => {
      const namesrv = await startNamesrv(site);
      const options = {
        folder: `${site.folder}/master`,
        namesrv,
        role: "SYNC_MASTER" as const,
      };
      const killed = await site.own(OurBroker.start(options));
      await createLoadTopics(site, namesrv, killed);
      const slave = await site.own(ApacheBroker.start({
        version,
        folder: `${site.folder}/slave`,
        namesrv,
        role: "SLAVE",
      }));
      const others = isModern(version)
        ? [await attributesTroubled(site, namesrv)]
        : [];
      const slaveCount = 1 + others.length;
      await inSync(site, killed, slaveCount);
      await writeDelayed(killed, "LoadA", DELAYED_COUNT);
      await load(site, driver, namesrv, 0, COUNT);
      await killed.stop("SIGKILL");
      const { listenPort } = killed;
      const master = await site.own(
        OurBroker.start({ ...options, listenPort }),
      );
      await inSync(site, master, slaveCount);
      await load(site, driver, namesrv, COUNT, MORE);
      if (isModern(version)) await writeLongTopic(master);
      await changeTables(site, namesrv, master, isModern(version));
      const copied = await awaitCopy(site, master, slave, COUNT + MORE);
      assertEquals(copied.minOffset, 0);
      assert(copied.fileCount >= FILE_COUNT_MIN, JSON.stringify(copied));
      assertEquals(copied.v2RecordCount, isModern(version) ? 1 : 0);
      const within = TABLES_WITHIN_MS[version]!;
      await awaitTables(site, master, slave, within, true);
      const delayed = (await metadataTables(master.address)).delayOffsets;
      const half = DELAYED_COUNT / 2;
      assertEquals(delayed, { "1": half, "2": half });
      for (const it of others) await losesTopics(site, master, it);
    });
  });

  test(`our slaves follow Apache ${version}'s SYNC_MASTER`, async () => {
    await withInteropSite(async (site) => {
      const namesrv = await startNamesrv(site);
      const master = await site.own(ApacheBroker.start({
        version,
        folder: `${site.folder}/master`,
        namesrv,
        role: "SYNC_MASTER",
        // 5.x waits for its slaves only when asked to.
        settings: { inSyncReplicas: "2" },
      }));
      await slavesFollow(site, driver, namesrv, master, {
        tablesWithinMs: 15_000,
        beforeLoad: async () => {
          await specials(site, version, namesrv);
          if (isModern(version)) await writeInnerBatches(master, 5);
        },
      });
    });
  });
}

test("our slaves follow our SYNC_MASTER", async () => {
  await withInteropSite(async (site) => {
    const namesrv = await startNamesrv(site);
    const master = await site.own(OurBroker.start({
      folder: `${site.folder}/master`,
      namesrv,
      role: "SYNC_MASTER",
    }));
    await slavesFollow(site, "5.5.0", namesrv, master, {
      tablesWithinMs: 1_000,
    });
  });
});

/** Takes attributes of topics, names of more than 127 bytes and inner batches. */
function isModern(version: string): boolean {
  return version !== "4.9.7";
}

/** A slave of the one version that cannot take topics with attributes. */
function attributesTroubled(
  site: InteropSite,
  namesrv: string,
): Promise<ApacheBroker> {
  return site.own(ApacheBroker.start({
    version: ATTRIBUTES_TROUBLED_VERSION,
    folder: `${site.folder}/troubled`,
    namesrv,
    role: "SLAVE",
    brokerId: 2,
  }));
}

/**
 * Documents 5.3.3: it deletes its topics at each round and adds those of the master one by one
 * up to the first with attributes. The log it has whole.
 */
async function losesTopics(
  site: InteropSite,
  master: Node,
  slave: ApacheBroker,
): Promise<void> {
  const topics = async () => (await metadataTables(slave.address)).topics;
  await site.eventually(
    // Its own, which the master does not have: gone once it has begun to copy.
    async () => !("RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC" in await topics()),
    "a round of the slave's",
    TABLES_WITHIN_MS["5.5.0"]!,
  );
  assert(!(ATTRIBUTED in await topics()), "topics with attributes are taken");
  await awaitCopy(site, master, slave, COUNT + MORE);
}

/** All ways in which a slave of ours joins, with load before, while and after. */
async function slavesFollow(
  site: InteropSite,
  driver: string,
  namesrv: string,
  master: Node,
  story: { tablesWithinMs: number; beforeLoad?: () => Promise<void> },
): Promise<void> {
  const slave = (options: Partial<OurBrokerOptions> & { brokerId: number }) =>
    site.own(OurBroker.start({
      folder: `${site.folder}/slave-${options.brokerId}`,
      namesrv: "",
      role: "SLAVE",
      ...options,
    }));
  const byAddress = { haMasterAddress: master.haAddress };
  await createLoadTopics(site, namesrv, master);
  const first = await slave({ brokerId: 1, namesrv });
  await follows(site, first);
  await story.beforeLoad?.();
  await load(site, driver, namesrv, 0, COUNT);
  const oldest = { ...byAddress, haBootstrap: "min" };
  const second = await slave({ brokerId: 2, settings: oldest });
  const third = await slave({ brokerId: 3, settings: byAddress });
  const whole = await awaitCopy(site, master, second, COUNT);
  assertEquals(whole.minOffset, 0);
  await awaitCopy(site, master, third, 1);
  await second.stop("SIGKILL");
  await load(site, driver, namesrv, COUNT, MORE);
  const restarted = await slave({ brokerId: 2, settings: oldest });
  for (const it of [first, restarted]) {
    const copied = await awaitCopy(site, master, it, COUNT + MORE);
    assert(copied.fileCount >= FILE_COUNT_MIN, JSON.stringify(copied));
  }
  const late = await awaitCopy(site, master, third, 1);
  assert(late.minOffset > 0, "an empty slave begins at the newest file");
  await changeTables(site, namesrv, master, driver !== "4.9.8");
  await awaitTables(site, master, first, story.tablesWithinMs);
  await awaitTables(site, master, third, story.tablesWithinMs);
  await refusesOtherFileSize(
    site,
    await slave({
      brokerId: 4,
      settings: { ...byAddress, ...OTHER_FILE_SIZE },
    }),
  );
}

/**
 * What an Apache master writes by itself: delayed messages, half messages and
 * what ends them, and timers. 4.9 does not list the topics of transactions.
 */
async function specials(
  site: InteropSite,
  version: string,
  namesrv: string,
): Promise<void> {
  const timers = version === "5.5.0" ? 1 : 0;
  const done = await runDriver(driverVersionOf(version), [
    "specials",
    `namesrv=${namesrv}`,
    "topic=LoadA",
    "count=20",
    `timers=${timers}`,
  ], site.folder);
  assertEquals(done.result, { ok: 40 + timers * 20, faults: 0 }, done.output);
}

async function refusesOtherFileSize(
  site: InteropSite,
  slave: OurBroker,
): Promise<void> {
  await site.eventually(
    async () => namesFileSize((await haStatus(slave)).reason),
    "a reason that names the file size",
  );
  const status = await haStatus(slave);
  assert(status.state !== "healthy", JSON.stringify(status));
  assertEquals(logEndOf(slave.storePath), 0);
}
