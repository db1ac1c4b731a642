/**
 * Stores change hands: what Apache's broker wrote is opened by ours, and the other way round,
 * after a clean stop, after kill -9, and without queues and index.
 */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { readdirSync, readFileSync } from "node:fs";
import { RawClient } from "../support/raw_client.ts";
import {
  checkDamages,
  checkDeletedBeginning,
} from "../support/store_damage.ts";
import { ApacheBroker, SMALL_FILES } from "./apache_broker.ts";
import {
  type InteropSite,
  startNamesrv,
  withInteropSite,
} from "./interop_site.ts";
import { type MetadataTables, metadataTables } from "./metadata_tables.ts";
import { OurBroker } from "./our_broker.ts";
import { compareStores } from "./store_compare.ts";
import { StoreContent } from "../support/store_content.ts";
import {
  apacheKeys,
  copyStore,
  queueFileDifferences,
  removeDerived,
  verifySound,
} from "./store_copy.ts";
import { checkStore } from "./store_readback.ts";
import { readByStockClient } from "./store_stock_client.ts";
import { APACHE_SERVER_VERSIONS, driverVersionOf } from "./versions.ts";

const CLEAN_COUNT = 2_400;
/** More than the rest of a file holds: Apache has made the next one ahead then. */
const KILLED_COUNT = 2_400;
/** Index files roll too. */
const FILE_SIZES = {
  ...SMALL_FILES,
  maxHashSlotNum: "1000",
  maxIndexNum: "4000",
};
/** Queues, index and checkpoint are made durable so often, and not once a minute. */
const OFTEN = { flushConsumeQueueThoroughInterval: "500" };

/** A store that nobody has open, and what must be in it. */
interface WrittenStore {
  path: string;
  content: StoreContent;
  tables: MetadataTables;
  /** Of the broker that wrote it: offset ids name it. */
  listenPort: number;
}

type Broker = ApacheBroker | OurBroker;

// Two at a time: each starts one Apache broker after the other, and these wait more than they work.
const [OLD, NEW] = APACHE_SERVER_VERSIONS;
test("stores of Apache's brokers and of ours are opened by the other, clean and after kill -9", async () => {
  await withInteropSite(async (site) => {
    const ends = await Promise.allSettled([
      apacheToOurs(site, OLD).then(() => oursToApache(site, NEW)),
      apacheToOurs(site, NEW).then(() => oursToApache(site, OLD)),
    ]);
    // Only now: the other one has ended its servers too.
    for (const it of ends) if (it.status === "rejected") throw it.reason;
  });
});

async function apacheToOurs(site: InteropSite, version: string) {
  const folder = `${site.folder}/apache-${version}`;
  const start = () =>
    site.own(
      ApacheBroker.start({
        version,
        folder,
        namesrv: "",
        fileSizes: FILE_SIZES,
      }),
    );
  const clean = await writeClean(site, await start(), folder);
  const [killed] = await Promise.all([
    start().then((it) => writeKilled(site, it, folder, clean)),
    opensAtOurs(site, `${folder}-clean`, clean),
    ourRebuild(site, folder, clean),
    verifyFinds(clean),
  ]);
  await opensAtOurs(site, `${folder}-killed`, killed);
}

async function oursToApache(site: InteropSite, version: string) {
  const folder = `${site.folder}/ours-${version}`;
  const start = (settings = {}) =>
    site.own(
      OurBroker.start({
        folder,
        namesrv: "",
        fileSizes: FILE_SIZES,
        settings,
      }),
    );
  const clean = await writeClean(site, await start(), folder);
  const killed = await writeKilled(site, await start(OFTEN), folder, clean);
  await opensAtApache(site, version, `${folder}-clean`, clean, true);
  await opensAtApache(site, version, `${folder}-killed`, killed, false);
  await apacheRebuild(site, version, folder, clean);
}

/** Everything a store can hold, and a clean stop. */
async function writeClean(
  site: InteropSite,
  broker: Broker,
  folder: string,
): Promise<WrittenStore> {
  const client = await RawClient.open(broker.address);
  const content = new StoreContent();
  await content.createTables(client);
  await content.send(client, CLEAN_COUNT);
  await content.sendBatch(client);
  await content.sendTransaction(client);
  if (broker instanceof ApacheBroker) await content.sendDelayed(client);
  await content.commit(client);
  const tables = await metadataTables(broker.address);
  client.close();
  const code = await broker.stop();
  if (broker instanceof OurBroker) assertEquals(code, 0);
  const { storePath, listenPort } = broker;
  const path = copyStore(storePath, `${folder}-clean-copy`);
  const found = await verifySound(path);
  assert(found >= content.messages.length, `${path}: ${found}`);
  assert(readdirSync(`${path}/index`).length > 1, "one index file only");
  assertEquals(compareStores(storePath, path).differences, [], site.folder);
  return { path, content: content.copy(), tables, listenPort };
}

/** More messages, and kill -9 in the middle of them. */
async function writeKilled(
  site: InteropSite,
  broker: Broker,
  folder: string,
  { content: before, tables, listenPort }: WrittenStore,
): Promise<WrittenStore> {
  const client = await RawClient.open(broker.address);
  const content = before.copy();
  if (broker instanceof OurBroker) {
    await untilCheckpointed(
      site,
      broker.storePath,
      () => content.send(client, 1),
    );
  }
  await content.sendUntilKilled(
    client,
    KILLED_COUNT,
    () => broker.stop("SIGKILL"),
  );
  client.close();
  const path = copyStore(broker.storePath, `${folder}-killed-copy`);
  await verifySound(path);
  return { path, content, tables, listenPort };
}

/**
 * Sends until what the store had at its start lies before the checkpoint, less its margin of 3 s:
 * the start after the kill believes queues and index up to there.
 */
async function untilCheckpointed(
  site: InteropSite,
  store: string,
  send: () => Promise<void>,
): Promise<void> {
  const startedAt = Date.now();
  await site.eventually(async () => {
    await send();
    const checkpoint = readFileSync(`${store}/checkpoint`);
    return [0, 8].every((at) =>
      Number(checkpoint.readBigInt64BE(at)) - 3_000 > startedAt
    );
  }, "a checkpoint of this run");
}

/** Whatever is wrong with a store of Apache's, and only that. */
async function verifyFinds({ path, content }: WrittenStore): Promise<void> {
  await checkDamages(path, content.of("Spread", 1)[5]!);
  await checkDeletedBeginning(path);
}

/** With no sizes given: those of the store. */
async function opensAtOurs(
  site: InteropSite,
  folder: string,
  { path, content, tables }: WrittenStore,
) {
  const store = copyStore(path, folder);
  const broker = await site.own(
    OurBroker.start({ folder, namesrv: "", fileSizes: {} }),
  );
  await checkStore(broker.address, content, tables);
  assertEquals(await broker.stop(), 0);
  await verifySound(store);
}

/** Apache's queues and index are what ours makes of the same log. */
async function ourRebuild(
  site: InteropSite,
  folder: string,
  { path }: WrittenStore,
) {
  const store = copyStore(path, `${folder}-rebuilt`);
  removeDerived(store);
  // Nothing is left that tells the sizes of queues and index.
  const broker = await site.own(
    OurBroker.start({
      folder: `${folder}-rebuilt`,
      namesrv: "",
      fileSizes: FILE_SIZES,
    }),
  );
  assertEquals(await broker.stop(), 0);
  assertEquals(derivedDifferences(path, store), []);
}

/** With the keys that `store inspect` prints, and a new root folder, nothing else of the store. */
async function opensAtApache(
  site: InteropSite,
  version: string,
  folder: string,
  { path, content, tables, listenPort }: WrittenStore,
  isClean: boolean,
) {
  const store = copyStore(path, folder);
  const settings = await apacheKeys(store);
  assertEquals(settings.storePathCommitLog, `${store}/commitlog`);
  const namesrv = isClean ? await startNamesrv(site) : "";
  const broker = await site.own(
    ApacheBroker.start({
      version,
      folder,
      namesrv,
      // Ids of messages name the broker that wrote them.
      ...(isClean ? { listenPort } : {}),
      fileSizes: {},
      settings,
    }),
  );
  if (isClean) {
    await site.registered(namesrv, broker.address);
    const driver = driverVersionOf(version);
    await readByStockClient(driver, namesrv, folder, content);
  }
  await checkStore(broker.address, content, tables);
  await broker.stop("SIGKILL");
  await verifySound(store);
}

/** Our queues and index are what Apache's broker makes of the same log. */
async function apacheRebuild(
  site: InteropSite,
  version: string,
  folder: string,
  { path }: WrittenStore,
) {
  const home = `${folder}-rebuilt`;
  const store = copyStore(path, home);
  const settings = await apacheKeys(store);
  removeDerived(store);
  const broker = await site.own(
    ApacheBroker.start({
      version,
      folder: home,
      namesrv: "",
      fileSizes: {},
      settings,
    }),
  );
  let last: string[] = [];
  try {
    await site.eventually(() => {
      last = derivedDifferences(path, store);
      return last.length === 0;
    }, "queues and index as they were");
  } catch (error) {
    throw new Error(`${version}: ${last.slice(0, 10)}`, { cause: error });
  }
  await broker.stop("SIGKILL");
}

/** Queues byte by byte, index entries as sets. */
function derivedDifferences(left: string, right: string): string[] {
  return [
    ...queueFileDifferences(left, right),
    ...compareStores(left, right).differences,
  ];
}
