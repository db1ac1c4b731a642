/** What a store with ten times as many queues costs, counted in calls of the disk. */
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { test } from "node:test";
import { MessageStore } from "../../src/store/message_store.ts";
import type { MessageStoreOptions } from "../../src/store/store_options.ts";
import { CountingFileSystem, DiskCounts } from "./counting_file_system.ts";
import { put, SMALL, StoreSite } from "./message_store_fixture.ts";

const FEW = 40;
const MANY = 400;
const TENFOLD = MANY / FEW;
const QUEUES_PER_TOPIC = 8;
const OPEN_FILES_MAX = 24;
/** As Apache's: reading one whole for each queue would take minutes. */
const QUEUE_FILE_SIZE = 6_000_000;
const READ_BYTES_PER_QUEUE_MAX = 200_000;

/** Calls of the disk for one thing each. */
interface Costs {
  readonly killedStart: DiskCounts;
  readonly put: DiskCounts;
  readonly idle: DiskCounts;
  readonly stop: DiskCounts;
  readonly cleanStart: DiskCounts;
  readonly pull: DiskCounts;
}

/** A store with `queueCount` queues, killed once and stopped once. */
async function costsOf(queueCount: number): Promise<Costs> {
  const site = new StoreSite();
  const disk = new CountingFileSystem(site.disk);
  const options: MessageStoreOptions = {
    ...SMALL,
    mappedFileSizeCommitLog: 1_048_576,
    mappedFileSizeConsumeQueue: QUEUE_FILE_SIZE,
    storeOpenFilesMax: OPEN_FILES_MAX,
  };
  const create = () => new MessageStore({ ...site, fileSystem: disk }, options);
  const counted = async (run: () => Promise<unknown>): Promise<DiskCounts> => {
    disk.counts = new DiskCounts();
    await run();
    return disk.counts;
  };
  const start = async (store: MessageStore) => {
    await store.load();
    await store.start();
    assertLessOrEqual(site.disk.openFiles, OPEN_FILES_MAX + 2);
  };

  const first = create();
  await start(first);
  writeEvery(first, queueCount);
  await site.pass(first, 200);
  site.disk.kill();
  site.clock.cancelAll();

  const second = create();
  const killedStart = await counted(() => start(second));
  assertEquals(second.getMaxOffsetInQueue("T0", 0), 2);
  await site.pass(second, 300);
  const idle = await counted(() => site.pass(second, 3_000));
  const putCounts = await counted(async () => {
    put(second, { topic: "T1", queueId: 3 });
    await site.pass(second, 100);
  });
  const stop = await counted(() => second.shutdown());

  const third = create();
  const cleanStart = await counted(() => start(third));
  const pull = await counted(async () => {
    await third.getMessage({
      topic: "T1",
      queueId: 3,
      offset: 1,
      maxMsgNums: 32,
      filter: null,
    });
  });
  assertEquals(third.getMaxOffsetInQueue("T1", 3), 3);
  await third.shutdown();
  return { killedStart, put: putCounts, idle, stop, cleanStart, pull };
}

/** Two messages for every queue. */
function writeEvery(store: MessageStore, queueCount: number): void {
  for (let number = 0; number < 2 * queueCount; number++) {
    const queue = number % queueCount;
    put(store, {
      topic: `T${Math.floor(queue / QUEUES_PER_TOPIC)}`,
      queueId: queue % QUEUES_PER_TOPIC,
    });
  }
}

test("MessageStore with ten times as many queues costs ten times as much where it must, and else nothing more", async () => {
  const few = await costsOf(FEW);
  const many = await costsOf(MANY);
  const growth = (cost: keyof Costs) => many[cost].all / few[cost].all;
  const told = JSON.stringify(
    { few, many },
    (_, value) =>
      value instanceof Map ? Object.fromEntries(value) : value as unknown,
  );
  for (const it of ["killedStart", "stop", "cleanStart"] as const) {
    assertLessOrEqual(growth(it), TENFOLD, `${it} ${told}`);
  }
  // A start makes nothing durable that the checkpoint does not claim.
  for (const it of ["killedStart", "cleanStart"] as const) {
    assertEquals(
      many[it].of("sync", "syncDirectory"),
      few[it].of("sync", "syncDirectory"),
      `${it} ${told}`,
    );
    assertLessOrEqual(
      many[it].readBytes / MANY,
      READ_BYTES_PER_QUEUE_MAX,
      `${it} ${told}`,
    );
  }
  for (const it of ["put", "pull"] as const) {
    assert(few[it].all > 0, it);
    assertEquals(growth(it), 1, `${it} ${told}`);
  }
  assertEquals(many.idle.all, few.idle.all, told);
});
