/** Disks that fill while files are deleted, and more files than may be open (scenarios 82, 87). */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { SimRandom } from "../sim/sim_random.ts";
import { get, messagesOf, put, StoreSite } from "./message_store_fixture.ts";

const MIB = 1_048_576;

test("82: while files are deleted slowly a full disk refuses within a second of crossing the line", async () => {
  const site = new StoreSite();
  const { disk } = site;
  const store = await site.open({
    mappedFileSizeCommitLog: 65_536,
    mappedFileSizeConsumeQueue: 20_000,
    cleanResourceInterval: 200,
    diskSpaceCleanForciblyRatio: 20,
    diskSpaceWarningLevelRatio: 40,
    messageIndexEnable: false,
  });
  const capacityBytes = 8 * MIB;
  disk.faults.capacityBytes = capacityBytes;
  // Each file that goes costs half a minute.
  disk.faults.syncDelayMs = ({ kind, path }) =>
    kind === "directory" && path.endsWith("/commitlog") ? 30_000 : 0;
  let crossedMs = Infinity;
  let refusedMs = Infinity;
  while (refusedMs === Infinity) {
    for (let count = 0; count < 20; count++) {
      if (put(store, { body: new Uint8Array(2_000) }).status !== "PUT_OK") {
        refusedMs = Math.min(refusedMs, site.clock.monotonicMs());
      }
    }
    if (disk.usedBytes > capacityBytes * 0.4) {
      crossedMs = Math.min(crossedMs, site.clock.monotonicMs());
    }
    await site.pass(store, 100);
  }
  assert(refusedMs - crossedMs <= 1_000, `${refusedMs - crossedMs} ms`);
  assert(
    store.unwritableReason?.includes("diskSpaceWarningLevelRatio=40"),
    `${store.unwritableReason}`,
  );
  assert(disk.usedBytes > capacityBytes * 0.4, "so much was deleted at once");
  assert(
    site.logger.lines.includes("info Deleting commit log files") &&
      store.counters.deletedFileCount < 3,
    "nothing was under way",
  );
  // Deletion goes on, and with it the disk takes messages again.
  for (let minutes = 0; minutes < 30 && !store.isWritable; minutes++) {
    await site.pass(store, 60_000);
  }
  assertEquals(put(store).status, "PUT_OK");
  disk.faults.syncDelayMs = () => 0;
  await site.clock.complete(store.shutdown());
});

test("87: old messages of hundreds of files are read with a handful of them open", async () => {
  const site = new StoreSite();
  const storeOpenFilesMax = 12;
  const store = await site.open({
    storeOpenFilesMax,
    hotReadBytesMax: 8_192,
    messageIndexEnable: false,
  });
  const count = 1_000;
  for (let index = 0; index < count; index++) {
    put(store, { body: new Uint8Array(1_500) });
    if (index % 50 === 0) await site.pass(store, 100);
  }
  assert(store.commitLog.mappedFileQueue.files.length > 400);
  const random = new SimRandom(87);
  let openMax = 0;
  for (let reads = 0; reads < 500; reads++) {
    const offset = random.nextInt(count);
    const read = store.getMessage({
      topic: "TopicTest",
      queueId: 3,
      offset,
      maxMsgNums: 4,
      filter: null,
    });
    const found = messagesOf(await read);
    assertEquals(found[0]!.queueOffset, offset);
    openMax = Math.max(openMax, site.disk.openFiles);
  }
  // The lock and the checkpoint are open beside them.
  assert(openMax <= storeOpenFilesMax + 4, `${openMax} files are open`);
  assertEquals(get(store, count - 1).status, "FOUND");
  await store.shutdown();
  assertEquals(site.disk.openFiles, 0);
});
