import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import type { SyncCall } from "../sim/sim_faults.ts";
import { brokerInner, encodeRecord } from "../model/message_fixture.ts";
import { listAsideFolders, wasReseeded } from "../../src/store/store_aside.ts";
import { FileError } from "../../src/io/file_system.ts";
import { dumpStore } from "../../src/store/store_dump.ts";
import { setStoreAside } from "../../src/store/store_reseed.ts";
import { readStoreCheckpoint } from "../../src/store/store_checkpoint.ts";
import { StoreStartError } from "../../src/store/store_start_error.ts";
import { inspectStore } from "../../src/store/store_inspect.ts";
import {
  bytesOf,
  put,
  ROOT,
  SMALL,
  StoreSite,
  textOf,
} from "./message_store_fixture.ts";

const SLAVE = { brokerRole: "SLAVE", brokerId: 1 } as const;
const COUNT = 30;
const BODIES = Array.from({ length: COUNT }, (_, n) => `m${n}`);
const CONFIG = `${ROOT}/config/topics.json`;

/** A stopped store with `BODIES`, and a table. Returns the end of its log. */
async function filled(site: StoreSite): Promise<number> {
  site.disk.plant(CONFIG, bytesOf("{}"));
  const store = await site.clock.complete(site.open());
  for (const it of BODIES) put(store, { body: bytesOf(it) });
  const { maxPhyOffset } = store;
  await site.clock.complete(store.shutdown());
  return maxPhyOffset;
}

function aside(site: StoreSite, maxOffset: number, isDiscarded = false) {
  const { disk: fileSystem, clock, logger } = site;
  return setStoreAside({ fileSystem, clock, logger }, SMALL, {
    reason: "a test moves it",
    maxOffset,
    isDiscarded,
  });
}

async function bodiesIn(site: StoreSite, path: string): Promise<string[]> {
  const bodies: string[] = [];
  for await (const item of dumpStore(site.disk, path)) {
    if (item.kind === "record") bodies.push(textOf(item.message.body));
  }
  return bodies;
}

test("A store is moved aside whole, and the next one is empty", async () => {
  const site = new StoreSite();
  const end = await filled(site);
  const report = await site.clock.complete(aside(site, end));
  site.disk.crash();
  const directory = report.asideDirectory!;
  assertEquals(await bodiesIn(site, directory), BODIES);
  const { commitLog, consumeQueue, findings } = await inspectStore(
    site.disk,
    directory,
  );
  assertEquals([commitLog.minOffset, commitLog.maxOffset], [0, end]);
  assertEquals(consumeQueue.topics.length, 1);
  assertEquals(findings, []);
  assertEquals(listAsideFolders(site.disk, SMALL)[0]?.note?.maxOffset, end);
  assert(wasReseeded(site.disk, SMALL));
  assert(site.disk.stat(CONFIG) !== undefined);
  const store = await site.clock.complete(site.open(SLAVE));
  assertEquals(store.maxPhyOffset, 0);
  assertEquals(store.topics(), []);
  assert(store.replicaLog.isEmpty);
  await site.clock.complete(store.shutdown());
});

test("Two stores moved in the same second do not meet", async () => {
  const site = new StoreSite();
  const paths: (string | null)[] = [];
  for (let n = 0; n < 2; n++) {
    const end = await filled(site);
    paths.push((await site.clock.complete(aside(site, end))).asideDirectory);
  }
  assertEquals(paths[1], `${paths[0]}-2`);
  assertEquals(await bodiesIn(site, paths[0]!), BODIES);
  assertEquals(await bodiesIn(site, paths[1]!), BODIES);
});

test("An empty store has nothing to move, a discarded one leaves nothing", async () => {
  const site = new StoreSite();
  const empty = await site.clock.complete(aside(site, 0));
  assertEquals(empty.asideDirectory, null);
  const end = await filled(site);
  const report = await site.clock.complete(aside(site, end, true));
  assertEquals(report, { asideDirectory: null, minOffset: 0, maxOffset: end });
  assertEquals(site.disk.list(`${ROOT}/aside`), []);
  assertEquals(site.disk.list(`${ROOT}/commitlog`), []);
});

test("A store in use, or one that cannot be moved, stays as it is", async () => {
  const site = new StoreSite();
  const end = await filled(site);
  const store = await site.clock.complete(site.open());
  await assertRejects(() => aside(site, end), StoreStartError, "in use");
  await site.clock.complete(store.shutdown());
  const { disk } = site;
  const rename = disk.rename.bind(disk);
  disk.rename = (from, to) => {
    if (!from.endsWith("/commitlog")) return rename(from, to);
    throw new FileError("Cannot rename", "other", from, { errno: "EXDEV" });
  };
  await assertRejects(() => site.clock.complete(aside(site, end)), FileError);
  assertEquals(await bodiesIn(site, ROOT), BODIES);
  assertEquals(disk.list(`${ROOT}/consumequeue`).length, 1);
  assert(!wasReseeded(disk, SMALL));
});

/** Moves the store and loses power after `ms`; says whether the store was empty then. */
async function crashAfter(
  seed: number,
  ms: number,
  dropSync?: (call: SyncCall) => boolean,
): Promise<boolean> {
  const site = new StoreSite(seed);
  const { disk, clock } = site;
  const end = await filled(site);
  disk.faults.syncDelayMs = () => 1;
  site.disk.faults.dropSync = dropSync;
  let isDone = false;
  aside(site, end).then(() => isDone = true, () => undefined);
  await clock.run(ms);
  if (site.random.oneIn(3)) disk.kill();
  else disk.crash();
  clock.cancelAll();
  const store = await clock.complete(site.open(SLAVE));
  const isMoved = store.replicaLog.isEmpty;
  assert(!isDone || isMoved, "it was done, and is undone");
  assertEquals(store.maxPhyOffset, isMoved ? 0 : end);
  assertEquals(
    store.getMaxOffsetInQueue("TopicTest", 3),
    isMoved ? 0 : COUNT,
  );
  await clock.complete(store.shutdown());
  assertEquals(wasReseeded(disk, SMALL), isMoved);
  const path = isMoved ? listAsideFolders(disk, SMALL)[0]!.path : ROOT;
  assertEquals(await bodiesIn(site, path), BODIES);
  return isMoved;
}

test("A move that loses power at any moment is undone or finished, and loses nothing", async () => {
  let movedCount = 0;
  let wholeCount = 0;
  for (let seed = 1; seed <= 80; seed++) {
    const isMoved = await crashAfter(seed, seed % 20).catch((error) => {
      throw new Error(`${error.message} [seed=${seed}]`, { cause: error });
    });
    if (isMoved) movedCount++;
    else wholeCount++;
  }
  assert(movedCount > 10 && wholeCount > 10, `${movedCount}, ${wholeCount}`);
});

test("A move needs the sync of its folders", async () => {
  let failedCount = 0;
  for (let seed = 1; seed <= 60 && failedCount === 0; seed++) {
    await crashAfter(seed, seed % 20, (it) => it.kind === "directory")
      .catch(() => failedCount++);
  }
  assert(failedCount > 0);
});

test("A checkpoint of the old log does not speak for the new one (scenario 14)", async () => {
  const site = new StoreSite();
  const { disk, clock } = site;
  const end = await filled(site);
  const { asideDirectory } = await clock.complete(aside(site, end));
  // Somebody copies the old files back, the new log begins behind the old one's end.
  disk.plant(
    `${ROOT}/checkpoint`,
    disk.readFile(`${asideDirectory}/checkpoint`),
  );
  const store = await clock.complete(site.open(SLAVE));
  const claimed = readStoreCheckpoint(disk, `${ROOT}/checkpoint`)!;
  assertEquals(claimed.physicMsgTimestamp, 0);
  assertEquals(claimed.cleanMaxPhyOffset, 0);
  const begin = 5 * SMALL.mappedFileSizeCommitLog;
  const first = encodeRecord(brokerInner(), 7, begin, 1_700_000_000_000);
  assert(store.appendToCommitLog(begin, first));
  const at = begin + first.length;
  const second = encodeRecord(brokerInner(), 8, at, 1_700_000_000_001);
  assert(store.appendToCommitLog(at, second));
  await clock.complete(store.replicaLog.flush());
  disk.kill();
  const linesBefore = site.logger.lines.length;
  const again = await clock.complete(site.open(SLAVE));
  assertEquals(again.minPhyOffset, begin);
  assertEquals(again.maxPhyOffset, at + second.length);
  assertEquals(again.confirmOffset, at + second.length);
  assertEquals(again.dispatchBehindBytes, 0);
  assertEquals(again.getMaxOffsetInQueue("TopicTest", 3), 9);
  await site.pass(again, 3_000);
  const warnings = site.logger.lines.slice(linesBefore)
    .filter((it) => !it.startsWith("info"));
  assert(warnings.length <= 1, warnings.join("\n"));
  await clock.complete(again.shutdown());
});

test("What an interrupted move has left goes with the next one, nothing else does", async () => {
  const site = new StoreSite();
  const end = await filled(site);
  const root = `${ROOT}/aside`;
  const note = (kind: string, maxOffset: number) =>
    bytesOf(JSON.stringify({ kind, minOffset: 0, maxOffset }));
  site.disk.plant(
    `${root}/20260101T000000Z-reseed/aside.json.tmp`,
    bytesOf("x"),
  );
  site.disk.plant(`${root}/20260102T000000Z-cut/aside.json`, note("cut", 0));
  site.disk.plant(`${root}/20260102T000000Z-cut/commitlog/0`, bytesOf("half"));
  site.disk.plant(`${root}/20260103T000000Z-cut/aside.json`, note("cut", 9));
  site.disk.plant(`${root}/20260103T000000Z-cut/commitlog/0`, bytesOf("whole"));
  site.disk.plant(`${root}/mine/notes`, bytesOf("of the operator"));
  const { asideDirectory } = await site.clock.complete(aside(site, end));
  assertEquals(site.disk.list(root).map((it) => it.name), [
    "20260103T000000Z-cut",
    asideDirectory!.slice(root.length + 1),
    "mine",
  ]);
});
