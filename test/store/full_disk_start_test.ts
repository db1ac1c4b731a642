import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { MessageStore } from "../../src/store/message_store.ts";
import {
  bytesOf,
  get,
  messagesOf,
  put,
  ROOT,
  StoreSite,
  textOf,
} from "./message_store_fixture.ts";

const OPTIONS = {
  cleanFileForciblyEnable: false,
  diskMaxUsedSpaceRatio: 100,
  diskSpaceWarningLevelRatio: 100,
} as const;
const QUEUES = 4;
const INDEX = `${ROOT}/index`;

/** Sends to several queues until the disk refuses; what was taken. */
function fill(store: MessageStore, capacityReached: () => void): string[][] {
  const sent: string[][] = Array.from({ length: QUEUES }, () => []);
  for (let count = 0; count < 1_000; count++) {
    if (count === 60) capacityReached();
    const text = `m${count}`.padEnd(100);
    const queueId = count % QUEUES;
    const result = put(store, {
      queueId,
      body: bytesOf(text),
      propertiesText: `UNIQ_KEY\u0001K${count}\u0002`,
    });
    if (result.status !== "PUT_OK") return sent;
    sent[queueId]!.push(text);
  }
  throw new Error("The disk was never full");
}

function textsOf(store: MessageStore): string[][] {
  return Array.from({ length: QUEUES }, (_, queueId) => {
    const texts: string[] = [];
    for (let offset = 0;;) {
      const result = get(store, offset, queueId);
      if (result.status !== "FOUND") return texts;
      texts.push(...messagesOf(result).map((it) => textOf(it.body)));
      offset = result.nextBeginOffset;
    }
  });
}

/** A full disk whose process was killed or has stopped, and what the log holds. */
async function fullSite(
  spareBytes: number,
  stop: "kill" | "stop",
): Promise<{ site: StoreSite; sent: string[][] }> {
  const site = new StoreSite();
  const store = await site.open(OPTIONS);
  const { faults } = site.disk;
  const sent = fill(store, () => {
    faults.capacityBytes = site.disk.usedBytes + spareBytes;
  });
  await site.pass(store, 1_000);
  if (stop === "kill") site.disk.kill();
  else {
    faults.capacityBytes = Infinity;
    await store.shutdown();
  }
  faults.capacityBytes = site.disk.usedBytes;
  return { site, sent };
}

for (const spareBytes of [0, 4096, 12_288, 40_960, 90_112]) {
  test(`After kill -9 on a full disk the store serves all it has, ${spareBytes} bytes`, async () => {
    const { site, sent } = await fullSite(spareBytes, "kill");
    for (let start = 1; start <= 3; start++) {
      site.disk.faults.capacityBytes = site.disk.usedBytes;
      const store = await site.open(OPTIONS);
      assertEquals(textsOf(store), sent);
      assertEquals(put(store).status, "SERVICE_NOT_AVAILABLE");
      await site.pass(store, 2_000);
      assertEquals(put(store).status, "SERVICE_NOT_AVAILABLE");
      site.disk.kill();
    }
    const store = await site.open(OPTIONS);
    site.disk.faults.capacityBytes = 1e9;
    await site.pass(store, 3_000);
    assertEquals(store.unwritableReason, null);
    const late = put(store, { queueId: 0, body: bytesOf("late") });
    assertEquals(late.queueOffset, sent[0]!.length);
    sent[0]!.push("late");
    assertEquals(textsOf(store), sent);
    await store.shutdown();
    const again = await site.open(OPTIONS);
    assert(again.lastExitOk);
    assertEquals(textsOf(again), sent);
    await again.shutdown();
  });
}

test("After a clean stop a disk without a free byte serves reads", async () => {
  const { site, sent } = await fullSite(0, "stop");
  const store = await site.open(OPTIONS);
  assertEquals(textsOf(store), sent);
  assertEquals(put(store).status, "SERVICE_NOT_AVAILABLE");
  assert(site.disk.stat(`${ROOT}/abort`) !== undefined, "the name is there");
  await store.shutdown();
});

test("A cut log on a full disk takes writes only once the tables know of the cut", async () => {
  const { site, sent } = await fullSite(0, "kill");
  const store = await site.open(OPTIONS);
  site.disk.kill();
  const last = store.maxPhyOffset - store.maxPhyOffset % 4096;
  const name = String(last).padStart(20, "0");
  site.disk.plant(`${ROOT}/commitlog/${name}`, new Uint8Array(4096));
  for (const { name } of site.disk.list(INDEX)) {
    site.disk.remove(`${INDEX}/${name}`);
  }
  site.disk.faults.capacityBytes = site.disk.usedBytes;
  const again = await site.open(OPTIONS);
  const { unwritableReason } = again;
  assert(
    unwritableReason?.includes("only reads are served"),
    unwritableReason!,
  );
  const kept = textsOf(again);
  kept.forEach((it, queueId) =>
    assertEquals(it, sent[queueId]!.slice(0, it.length))
  );
  site.disk.faults.capacityBytes = 1e9;
  await site.pass(again, 3_000);
  assertEquals(put(again, { queueId: 0 }).queueOffset, kept[0]!.length);
  await again.shutdown();
});
