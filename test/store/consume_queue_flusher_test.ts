import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { FileError, type FileSystemSync } from "../../src/io/file_system.ts";
import { ConsumeQueueStore } from "../../src/store/consume_queue_store.ts";
import { MemoryFileSystem, MemoryLogger } from "./memory_file_system.ts";
import { dispatchRequest } from "./store_support.ts";

const UNIT_SIZE = 20;
const FILES_MIN = 4;

/** Notes its calls among the others of the disk; `answers` are given in turn, then true. */
class Whole implements FileSystemSync {
  readonly filesMin = FILES_MIN;
  /** Runs while a sync is under way. */
  onSync: (() => void) | undefined;
  isOpen = true;

  constructor(
    private readonly events: string[],
    private readonly answers: boolean[] = [],
    private readonly strangers: string[] = [],
  ) {}

  holds(path: string): boolean {
    return !this.strangers.includes(path);
  }
  async sync(): Promise<boolean> {
    this.events.push("sync all");
    await Promise.resolve();
    this.onSync?.();
    return this.answers.shift() ?? true;
  }
  close(): void {
    this.isOpen = false;
  }
}

function open(fileSystem: MemoryFileSystem, fileUnits = 10): ConsumeQueueStore {
  const store = new ConsumeQueueStore(
    fileSystem,
    {
      storePathRootDir: "/store",
      mappedFileSizeConsumeQueue: fileUnits * UNIT_SIZE,
    },
    new MemoryLogger(),
  );
  store.load();
  return store;
}

/** One unit more for each of `count` queues, eight a topic. */
function put(store: ConsumeQueueStore, count: number, queueOffset = 0): void {
  for (let number = 0; number < count; number++) {
    store.putMessagePosition(dispatchRequest({
      topic: `T${number >> 3}`,
      queueId: number & 7,
      queueOffset,
      phyOffset: (queueOffset * count + number) * 100,
    }));
  }
}

function syncsOf(fileSystem: MemoryFileSystem): string[] {
  return fileSystem.events.splice(0);
}

function rig(answers: boolean[] = [], strangers: string[] = []) {
  const fileSystem = new MemoryFileSystem();
  const whole = new Whole(fileSystem.events, answers, strangers);
  fileSystem.whole = whole;
  return { fileSystem, whole };
}

test("ConsumeQueueStore.flush() makes many queues durable by one call and the sync of one file", async () => {
  const { fileSystem, whole } = rig();
  const store = open(fileSystem);
  put(store, 20);
  await store.flush();
  assertEquals(syncsOf(fileSystem), [
    "sync all",
    "sync /store/consumequeue/T0/0/00000000000000000000",
    "syncDirectory /store/consumequeue/T0/0",
  ]);
  await store.flush();
  assertEquals(syncsOf(fileSystem), []);
  store.close();
  assert(!whole.isOpen);
});

test("ConsumeQueueStore.flush() syncs few queues one by one, and each folder above them once", async () => {
  const { fileSystem } = rig();
  const store = open(fileSystem);
  put(store, FILES_MIN - 1);
  await store.flush();
  const syncs = syncsOf(fileSystem);
  assertEquals(syncs.filter((it) => it.startsWith("sync ")).length, 3);
  assertEquals(syncs.filter((it) => /consumequeue\/T0$/.test(it)).length, 1);
  assertEquals(syncs.filter((it) => /consumequeue$/.test(it)).length, 1);
  assertEquals(syncs.length, new Set(syncs).size);
});

test("ConsumeQueueStore.flush() syncs every file and folder where the one call has failed", async () => {
  const { fileSystem } = rig([false]);
  const store = open(fileSystem);
  put(store, 20);
  await store.flush();
  const syncs = new Set(syncsOf(fileSystem));
  assertEquals([...syncs].filter((it) => it.startsWith("sync /")).length, 20);
  // Of 20 queues, of 3 topics, of consumequeue and of the folder that it is in.
  assertEquals(
    [...syncs].filter((it) => it.startsWith("syncDirectory")).length,
    20 + 3 + 1 + 2,
  );
});

test("ConsumeQueueStore.flush() does not count what is written while the call is under way", async () => {
  const { fileSystem, whole } = rig([true, false]);
  const store = open(fileSystem);
  put(store, 20);
  whole.onSync = () => {
    put(store, 20, 1);
    store.endBatch();
  };
  await store.flush();
  whole.onSync = undefined;
  assertEquals(syncsOf(fileSystem).filter((it) => it === "sync all").length, 1);
  await store.flush();
  // The first queue was synced by itself, after that.
  const syncs = syncsOf(fileSystem);
  assertEquals(syncs.filter((it) => it.startsWith("sync /")).length, 19);
});

test("ConsumeQueueStore.flush() rejects for ever once a file has failed, whatever the call says", async () => {
  const { fileSystem } = rig([false]);
  const store = open(fileSystem);
  put(store, 20);
  const failing = "/store/consumequeue/T1/3/00000000000000000000";
  fileSystem.fail = (operation, path) =>
    operation === "syncEnd" && path === failing
      ? new FileError("no", "io", path)
      : undefined;
  await assertRejects(() => store.flush(), FileError);
  fileSystem.fail = null;
  put(store, 20, 1);
  await assertRejects(() => store.flush(), FileError);
});

test("ConsumeQueueStore.flush() never asks for all where a topic is on another disk", async () => {
  const { fileSystem } = rig();
  put(open(fileSystem), 20);
  const first = open(fileSystem);
  put(first, 20);
  await first.flush();
  syncsOf(fileSystem);
  fileSystem.whole = new Whole(fileSystem.events, [], [
    "/store/consumequeue/T1",
  ]);
  const store = open(fileSystem);
  store.recover(false);
  await store.flush();
  const syncs = syncsOf(fileSystem);
  assert(!syncs.includes("sync all"), syncs.join());
  assertEquals(syncs.filter((it) => it.startsWith("sync /")).length, 20);
});

test("ConsumeQueueStore.putMessagePosition() keeps what waits for the end of a batch below a bound", () => {
  const { fileSystem } = rig();
  const store = open(fileSystem, 1_000);
  const count = 7_000;
  let written = 0;
  for (let queueOffset = 0; queueOffset < 140; queueOffset++) {
    put(store, count, queueOffset);
    written ||= fileSystem.files.size > 0 ? queueOffset : 0;
  }
  // Buffers of 256 units for each queue would be 36 MiB.
  assert(written > 100 && written < 140, String(written));
  store.endBatch();
  for (const number of [0, 4_321, count - 1]) {
    const queue = store.get(`T${number >> 3}`, number & 7)!;
    assertEquals(queue.maxOffsetInQueue, 140);
    assertEquals(queue.unit(139)?.phyOffset, (139 * count + number) * 100);
  }
});

test("ConsumeQueueStore.recover(false) leaves no stale unit that a queue could grow into", async () => {
  const fileSystem = new MemoryFileSystem();
  const fileUnits = 10_000;
  const put = (store: ConsumeQueueStore, from: number, to: number) => {
    for (let n = from; n < to; n++) {
      store.putMessagePosition(
        dispatchRequest({ queueOffset: n, phyOffset: n * 100 }),
      );
    }
    store.endBatch();
  };
  const reopen = (lastExitOk: boolean) => {
    const store = open(fileSystem, fileUnits);
    store.recover(lastExitOk);
    return store;
  };
  put(open(fileSystem, fileUnits), 0, 9_000);
  // A power cut took the pages between; the later ones had reached the disk.
  const path = "/store/consumequeue/T/0/00000000000000000000";
  const bytes = fileSystem.bytes(path);
  bytes.fill(0, 10 * UNIT_SIZE, 240 * UNIT_SIZE);
  fileSystem.put(path, bytes);
  const store = reopen(false);
  assertEquals(store.get("T", 0)?.maxOffsetInQueue, 10);
  put(store, 10, 190);
  assertEquals(reopen(true).get("T", 0)?.maxOffsetInQueue, 190);
  put(store, 190, 230);
  await store.flush();
  assertEquals(reopen(true).get("T", 0)?.maxOffsetInQueue, 230);
  assertEquals(reopen(false).get("T", 0)?.maxOffsetInQueue, 230);
});
