import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { FileError } from "../../src/io/file_system.ts";
import type { MessageStore } from "../../src/store/message_store.ts";
import { cutLog } from "../../src/store/log_cut.ts";
import { listAsideFolders } from "../../src/store/store_aside.ts";
import { dumpStore } from "../../src/store/store_dump.ts";
import type { PutMessageResult } from "../../src/store/put_message_result.ts";
import { StoreFileError } from "../../src/store/store_file_error.ts";
import { inspectStore } from "../../src/store/store_inspect.ts";
import { readStoreCheckpoint } from "../../src/store/store_checkpoint.ts";
import { StoreStartError } from "../../src/store/store_start_error.ts";
import type { SyncCall } from "../sim/sim_faults.ts";
import { brokerInner, encodeRecord } from "../model/message_fixture.ts";
import {
  bytesOf,
  put,
  ROOT,
  SMALL,
  StoreSite,
  textOf,
} from "./message_store_fixture.ts";

const REASON = "a test cuts it";
const COUNT = 40;
const FILE_SIZE = SMALL.mappedFileSizeCommitLog;

/** A stopped store with bodies `m0`, `m1`, …; returns where each record begins, and the end. */
async function filled(site: StoreSite, count = COUNT): Promise<number[]> {
  const store = await site.open();
  const offsets: number[] = [];
  for (let n = 0; n < count; n++) {
    site.clock.advance(1_000);
    offsets.push(offsetOf(put(store, { body: bytesOf(`m${n}`) })));
  }
  offsets.push(store.maxPhyOffset);
  await site.clock.complete(store.shutdown());
  return offsets;
}

function offsetOf(result: PutMessageResult): number {
  assert(result.status === "PUT_OK", result.status);
  return result.phyOffset;
}

function cut(site: StoreSite, offset: number) {
  const { disk: fileSystem, clock, logger } = site;
  return cutLog({ fileSystem, clock, logger }, SMALL, offset, REASON);
}

async function bodiesIn(site: StoreSite, path: string): Promise<string[]> {
  const bodies: string[] = [];
  for await (const item of dumpStore(site.disk, path)) {
    assertEquals(item.kind, "record", JSON.stringify(item));
    if (item.kind === "record") bodies.push(textOf(item.message.body));
  }
  return bodies;
}

function names(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, n) => `m${from + n}`);
}

/** Log, queue and index agree, and end where the cut was. */
async function checkEnd(store: MessageStore, kept: number, offset: number) {
  assertEquals(store.maxPhyOffset, offset);
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), kept);
  const found = await store.queryMessage("TopicTest", "no-key", 10, 0, 2e12);
  assert(found.indexLastUpdatePhyoffset <= offset);
}

for (const kept of [39, 25, 3]) {
  test(`A log is cut behind ${kept} of ${COUNT} records, the others are kept aside`, async () => {
    const site = new StoreSite();
    const offsets = await filled(site);
    const offset = offsets[kept]!;
    const report = await site.clock.complete(cut(site, offset));
    assertEquals(report.offset, offset);
    assertEquals(report.endOffset, offsets[COUNT]);
    const told = site.logger.lines.filter((line) =>
      line.includes(` in ${report.asideDirectory}`)
    );
    assertEquals(told.length, 1);
    site.disk.crash();
    assertEquals(
      await bodiesIn(site, report.asideDirectory!),
      names(kept, COUNT),
    );
    const { commitLog, findings } = await inspectStore(
      site.disk,
      report.asideDirectory!,
    );
    assertEquals(findings, []);
    assertEquals(commitLog.minOffset, offset);
    assertEquals(await bodiesIn(site, ROOT), names(0, kept));
    const [folder] = listAsideFolders(site.disk, SMALL);
    assertEquals(folder?.path, report.asideDirectory);
    assertEquals(folder?.note?.kind, "cut");
    assertEquals(folder?.note?.minOffset, offset);
    assertEquals(folder?.note?.maxOffset, report.endOffset);
    const store = await site.clock.complete(site.open());
    await checkEnd(store, kept, offset);
    assertEquals(offsetOf(put(store, { body: bytesOf("new") })), offset);
    await site.clock.complete(store.shutdown());
    assertEquals(await bodiesIn(site, ROOT), [...names(0, kept), "new"]);
  });
}

test("A cut at the boundary of two files leaves whole files", async () => {
  const site = new StoreSite();
  const offsets = await filled(site);
  const kept = offsets.findIndex((it) => it === FILE_SIZE);
  const report = await site.clock.complete(cut(site, FILE_SIZE));
  assertEquals(
    await bodiesIn(site, report.asideDirectory!),
    names(kept, COUNT),
  );
  assertEquals(site.disk.list(`${ROOT}/commitlog`).length, 1);
  const store = await site.clock.complete(site.open());
  assertEquals(store.getMaxOffsetInQueue("TopicTest", 3), kept);
  await site.clock.complete(store.shutdown());
});

test("A cut at the end of the log keeps nothing aside", async () => {
  const site = new StoreSite();
  const offsets = await filled(site);
  const report = await site.clock.complete(cut(site, offsets[COUNT]!));
  assertEquals(report, {
    offset: offsets[COUNT]!,
    endOffset: offsets[COUNT]!,
    asideDirectory: null,
  });
  assertEquals(listAsideFolders(site.disk, SMALL), []);
  assertEquals(await bodiesIn(site, ROOT), names(0, COUNT));
});

test("A cut that would leave nothing is refused", async () => {
  const site = new StoreSite();
  await filled(site);
  await assertRejects(() => cut(site, 0), StoreFileError, "nothing would");
  assertEquals(await bodiesIn(site, ROOT), names(0, COUNT));
});

test("A store in use is not cut", async () => {
  const site = new StoreSite();
  const store = await site.open();
  await assertRejects(() => cut(site, 100), StoreStartError, "in use");
  await store.shutdown();
});

test("Without room for the copy nothing is cut", async () => {
  const site = new StoreSite();
  const offsets = await filled(site);
  site.disk.faults.capacityBytes = site.disk.usedBytes + 4096;
  await assertRejects(
    () => site.clock.complete(cut(site, offsets[3]!)),
    FileError,
  );
  site.disk.faults.capacityBytes = Infinity;
  assertEquals(listAsideFolders(site.disk, SMALL), []);
  assertEquals(await bodiesIn(site, ROOT), names(0, COUNT));
});

test("Records that come after a cut do not count as durable because cut ones were", async () => {
  const site = new StoreSite();
  const offsets = await filled(site);
  await site.clock.complete(cut(site, offsets[25]!));
  const kept = (await recordAt(site, offsets[24]!))!;
  const claimed = readStoreCheckpoint(site.disk, `${ROOT}/checkpoint`)!;
  // Less its margin of 3 s, as recovery reads it.
  assert(claimed.logicsMsgTimestamp - 3_000 <= kept.storeTimestamp);
  assert(claimed.indexMsgTimestamp - 3_000 <= kept.storeTimestamp);
  assertEquals(claimed.cleanMaxPhyOffset, 0);
  const store = await site.clock.complete(
    site.open({ brokerRole: "SLAVE", brokerId: 1 }),
  );
  // The new master's records are older than those that were cut.
  const { storeTimestamp } = kept;
  let at = store.maxPhyOffset;
  const other: string[] = [];
  for (let n = 0; n < 12; n++) {
    const body = bytesOf(`n${n}`);
    const size = encodeRecord(brokerInner({ body }), 25 + n, at, 0).length;
    if (at % FILE_SIZE + size + 8 > FILE_SIZE) break;
    const record = encodeRecord(
      brokerInner({ body }),
      25 + n,
      at,
      storeTimestamp + n,
    );
    store.appendToCommitLog(at, record);
    at += record.length;
    other.push(`n${n}`);
  }
  await site.clock.complete(store.replicaLog.flush());
  site.disk.kill();
  const again = await site.clock.complete(
    site.open({ brokerRole: "SLAVE", brokerId: 1 }),
  );
  await checkEnd(again, 25 + other.length, at);
  await site.clock.complete(again.shutdown());
});

async function recordAt(site: StoreSite, fromOffset: number) {
  for await (const item of dumpStore(site.disk, ROOT, { fromOffset })) {
    if (item.kind === "record") return item.message;
  }
  return undefined;
}

/** Cuts and loses power after `ms`; says whether the cut was done when the store opened. */
async function crashAfter(
  seed: number,
  ms: number,
  dropSync?: (call: SyncCall) => boolean,
): Promise<boolean> {
  const site = new StoreSite(seed);
  const offsets = await filled(site);
  const kept = 3 + site.random.nextInt(COUNT - 4);
  site.disk.faults.syncDelayMs = () => 1;
  site.disk.faults.dropSync = dropSync;
  let isDone = false;
  cut(site, offsets[kept]!).then(() => isDone = true, () => undefined);
  await site.clock.run(ms);
  if (site.random.oneIn(3)) site.disk.kill();
  else site.disk.crash();
  site.clock.cancelAll();
  const store = await site.clock.complete(site.open());
  const isCut = store.maxPhyOffset === offsets[kept];
  assert(!isDone || isCut, "it was done, and is undone");
  if (isCut) {
    await checkEnd(store, kept, offsets[kept]!);
    const [folder] = listAsideFolders(site.disk, SMALL);
    assertEquals(await bodiesIn(site, folder!.path), names(kept, COUNT));
  } else await checkEnd(store, COUNT, offsets[COUNT]!);
  await site.clock.complete(store.shutdown());
  assertEquals(await bodiesIn(site, ROOT), names(0, isCut ? kept : COUNT));
  return isCut;
}

test("A cut that loses power at any moment is undone or finished, and loses nothing", async () => {
  let cutCount = 0;
  let wholeCount = 0;
  for (let seed = 1; seed <= 80; seed++) {
    const isCut = await crashAfter(seed, seed % 40).catch((error) => {
      throw new Error(`${error.message} [seed=${seed}]`, { cause: error });
    });
    if (isCut) cutCount++;
    else wholeCount++;
  }
  assert(cutCount > 10 && wholeCount > 10, `${cutCount}, ${wholeCount}`);
});

for (
  const [what, isDropped] of [
    [
      "the kept bytes",
      (it) => it.kind === "file" && it.path.includes("/aside/"),
    ],
    [
      "the folder of the kept bytes",
      (it) => it.kind === "directory" && it.path.includes("/aside"),
    ],
    [
      "the zeros",
      (it) => it.kind === "file" && it.path.includes(`${ROOT}/commitlog`),
    ],
  ] as [string, (call: SyncCall) => boolean][]
) {
  test(`A cut needs the sync of ${what}`, async () => {
    let failedCount = 0;
    for (let seed = 1; seed <= 60 && failedCount === 0; seed++) {
      await crashAfter(seed, 10 + seed % 30, isDropped)
        .catch(() => failedCount++);
    }
    assert(failedCount > 0);
  });
}
