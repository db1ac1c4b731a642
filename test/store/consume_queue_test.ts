import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { test } from "node:test";
import { FileError } from "../../src/io/file_system.ts";
import { ConsumeQueueStore } from "../../src/store/consume_queue_store.ts";
import { offsetInQueueByTime } from "../../src/store/consume_queue_time.ts";
import {
  CONSUME_QUEUE_UNIT_SIZE,
  isFillerUnit,
} from "../../src/store/consume_queue_unit.ts";
import { DescriptorCache } from "../../src/store/descriptor_cache.ts";
import { MemoryFileSystem, MemoryLogger } from "./memory_file_system.ts";
import { dispatchRequest } from "./store_support.ts";

const FILE_UNITS = 10;
const QUEUE_DIRECTORY = "/store/consumequeue/T/0";

function open(fileSystem: MemoryFileSystem, cache?: DescriptorCache) {
  const logger = new MemoryLogger();
  const store = new ConsumeQueueStore(
    fileSystem,
    {
      storePathRootDir: "/store",
      // Rounded up to 10 units.
      mappedFileSizeConsumeQueue: FILE_UNITS * CONSUME_QUEUE_UNIT_SIZE - 7,
    },
    logger,
    cache,
  );
  return { store, logger };
}

/** Puts units of 100-byte records; unit n points at n * 100. */
function put(store: ConsumeQueueStore, from: number, count: number): void {
  for (let n = from; n < from + count; n++) {
    store.putMessagePosition(
      dispatchRequest({ queueOffset: n, phyOffset: n * 100, tagsCode: n }),
    );
  }
  store.endBatch();
}

function reopen(fileSystem: MemoryFileSystem, lastExitOk: boolean) {
  const opened = open(fileSystem);
  opened.store.load();
  const { store } = opened;
  store.recover(lastExitOk);
  const recovery = {
    maxPhyOffset: store.maxPhyOffset(),
    queueOffsetSum: store.queueOffsetSum(),
  };
  return { ...opened, recovery };
}

function fileOf(offset: number): string {
  return `${QUEUE_DIRECTORY}/${String(offset).padStart(20, "0")}`;
}

test("ConsumeQueue writes the unit of the reference's test vector", () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem);
  store.putMessagePosition(
    dispatchRequest({ phyOffset: 1024, size: 125, tagsCode: 2598919 }),
  );
  store.endBatch();
  const unit = fileSystem.bytes(fileOf(0)).subarray(0, 20);
  const hex = [...unit].map((it) => it.toString(16).padStart(2, "0")).join("");
  assertEquals(hex, "00000000000004000000007d000000000027a807");
  assertEquals(fileSystem.stat(fileOf(0))?.size, 200);
});

test("ConsumeQueue gives a negative tags code back as two halves", () => {
  const { store } = open(new MemoryFileSystem());
  store.putMessagePosition(dispatchRequest({ tagsCode: -5 }));
  assertEquals(store.get("T", 0)?.unit(0), {
    phyOffset: 0,
    size: 100,
    tagsCodeHigh: -1,
    tagsCodeLow: -5,
  });
});

test("ConsumeQueue reads units of the running batch and of files alike", async () => {
  const { store } = open(new MemoryFileSystem());
  put(store, 0, 15);
  for (let n = 15; n < 18; n++) {
    store.putMessagePosition(
      dispatchRequest({ queueOffset: n, phyOffset: n * 100, tagsCode: n }),
    );
  }
  const queue = store.get("T", 0)!;
  assertEquals(queue.maxOffsetInQueue, 18);
  const target = new Uint8Array(20 * 20);
  const check = (read: number) => {
    assertEquals(read, 13);
    const view = new DataView(target.buffer);
    for (let index = 0; index < 13; index++) {
      assertEquals(view.getInt32(index * 20 + 16), 5 + index);
    }
    target.fill(0);
  };
  check(queue.readUnits(5, target));
  check(await queue.readUnitsAsync(5, target));
  assertEquals(queue.readUnits(18, target), 0);
  assertEquals(queue.readUnits(-1, target), 0);
  assertEquals(queue.unit(17)?.phyOffset, 1700);
});

test("ConsumeQueue skips units that it has", () => {
  const { store } = open(new MemoryFileSystem());
  put(store, 0, 12);
  put(store, 0, 14);
  assertEquals(store.get("T", 0)?.maxOffsetInQueue, 14);
  assertEquals(store.takeGaps(), []);
});

test("ConsumeQueue begins with fillers when its first unit is not the first of a file", () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem);
  put(store, 25, 2);
  const queue = store.get("T", 0)!;
  assertEquals(queue.minOffsetInQueue, 25);
  assertEquals(queue.maxOffsetInQueue, 27);
  assertEquals(fileSystem.list(QUEUE_DIRECTORY).length, 1);
  const view = new DataView(fileSystem.bytes(fileOf(400)).buffer);
  assertEquals(view.getInt32(8), 0x7fff_ffff);
  assert(isFillerUnit(view, 4 * 20));
  assert(!isFillerUnit(view, 5 * 20));
  assertEquals(store.takeGaps(), []);
  const again = reopen(fileSystem, true);
  again.store.correctMinOffset(0);
  assertEquals(again.store.get("T", 0)?.minOffsetInQueue, 25);
  assertEquals(again.store.get("T", 0)?.maxOffsetInQueue, 27);
});

test("ConsumeQueue fills a gap, tells of it, and keeps later units in place", () => {
  const { store, logger } = open(new MemoryFileSystem());
  put(store, 0, 3);
  put(store, 8, 5);
  assertEquals(store.takeGaps(), [{ topic: "T", queueId: 0, from: 3, to: 8 }]);
  assertEquals(store.takeGaps(), []);
  assertEquals(logger.count("warn"), 1);
  const queue = store.get("T", 0)!;
  assertEquals(queue.unit(8)?.phyOffset, 800);
  assertEquals(queue.unit(4)?.size, 0x7fff_ffff);
  store.correctMinOffset(250);
  assertEquals(queue.minOffsetInQueue, 8);
});

test("ConsumeQueue begins anew behind a gap of many files", () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem);
  put(store, 0, 3);
  put(store, 1005, 2);
  const queue = store.get("T", 0)!;
  assertEquals(queue.minOffsetInQueue, 1005);
  assertEquals(queue.unit(1006)?.phyOffset, 100600);
  assertEquals(fileSystem.list(QUEUE_DIRECTORY).length, 1);
});

test("ConsumeQueueStore.resetQueue() lets dispatch build the queue again", async () => {
  const { store } = open(new MemoryFileSystem());
  put(store, 5, 3);
  await store.resetQueue("T", 0);
  put(store, 0, 8);
  assertEquals(store.get("T", 0)?.minOffsetInQueue, 0);
  assertEquals(store.get("T", 0)?.maxOffsetInQueue, 8);
});

for (const lastExitOk of [true, false]) {
  test(`ConsumeQueueStore.recover(${lastExitOk}) finds the end in a file, at its end and behind it`, () => {
    for (const count of [1, 9, 10, 11, 20, 34]) {
      const fileSystem = new MemoryFileSystem();
      put(open(fileSystem).store, 0, count);
      const { store, recovery } = reopen(fileSystem, lastExitOk);
      assertEquals(recovery, {
        maxPhyOffset: count * 100,
        queueOffsetSum: count,
      });
      put(store, 0, count + 1);
      assertEquals(store.get("T", 0)?.unit(count)?.phyOffset, count * 100);
    }
  });
}

test("ConsumeQueueStore.recover() is -1 without queues", () => {
  const { recovery } = reopen(new MemoryFileSystem(), true);
  assertEquals(recovery, { maxPhyOffset: -1, queueOffsetSum: 0 });
});

test("ConsumeQueueStore.recover(false) zeroes units behind a hole and cuts stale ones", () => {
  const fileSystem = new MemoryFileSystem();
  put(open(fileSystem).store, 0, 9);
  const bytes = fileSystem.bytes(fileOf(0));
  bytes.fill(0, 4 * 20, 5 * 20);
  fileSystem.put(fileOf(0), bytes);
  const { store } = reopen(fileSystem, false);
  assertEquals(store.get("T", 0)?.maxOffsetInQueue, 4);
  assert(fileSystem.bytes(fileOf(0)).subarray(80).every((it) => it === 0));
  // A unit that points back into earlier records is stale.
  put(store, 4, 3);
  const stale = fileSystem.bytes(fileOf(0));
  stale.copyWithin(7 * 20, 20, 40);
  fileSystem.put(fileOf(0), stale);
  assertEquals(
    reopen(fileSystem, false).store.get("T", 0)?.maxOffsetInQueue,
    7,
  );
});

test("ConsumeQueueStore.recover(false) syncs what only the page cache had", async () => {
  const fileSystem = new MemoryFileSystem();
  put(open(fileSystem).store, 0, 15);
  const { store } = reopen(fileSystem, false);
  await store.flush();
  assert(fileSystem.events.includes(`sync ${fileOf(0)}`));
  assert(fileSystem.events.includes(`sync ${fileOf(200)}`));
});

test("ConsumeQueueStore.truncateDirty() cuts units at and beyond the log's end", async () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem);
  put(store, 0, 25);
  await store.truncateDirty(1234);
  const queue = store.get("T", 0)!;
  assertEquals(queue.maxOffsetInQueue, 13);
  assertEquals(queue.maxPhyOffset, 1300);
  assertEquals(fileSystem.list(QUEUE_DIRECTORY).length, 2);
  await store.truncateDirty(1300);
  assertEquals(queue.maxOffsetInQueue, 13);
  put(store, 13, 2);
  assertEquals(queue.maxOffsetInQueue, 15);
  assertEquals(reopen(fileSystem, false).recovery.maxPhyOffset, 1500);
});

test("ConsumeQueueStore.truncateDirty() of everything behind fillers frees the queue", async () => {
  const { store } = open(new MemoryFileSystem());
  put(store, 25, 4);
  await store.truncateDirty(100);
  put(store, 3, 2);
  assertEquals(store.get("T", 0)?.minOffsetInQueue, 3);
  assertEquals(store.get("T", 0)?.maxOffsetInQueue, 5);
});

test("ConsumeQueue.minOffsetInQueue follows the log, and equals max when all is gone", () => {
  const { store } = open(new MemoryFileSystem());
  put(store, 0, 25);
  const queue = store.get("T", 0)!;
  assertEquals(queue.minOffsetInQueue, 0);
  store.correctMinOffset(701);
  assertEquals(queue.minOffsetInQueue, 8);
  store.correctMinOffset(2500);
  assertEquals(queue.minOffsetInQueue, 25);
  assertEquals(queue.maxOffsetInQueue, 25);
});

test("ConsumeQueueStore.cleanExpired() removes whole files below the log's start, never the last", async () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem);
  put(store, 0, 25);
  assertEquals(await store.cleanExpired(900), 0);
  assertEquals(await store.cleanExpired(950), 1);
  const queue = store.get("T", 0)!;
  assertEquals(queue.minOffsetInQueue, 10);
  assertEquals(await store.cleanExpired(9_000), 1);
  assertEquals(queue.minOffsetInQueue, 25);
  assertEquals(queue.unit(5), undefined);
  assertEquals(queue.unit(24)?.phyOffset, 2400);
  assertEquals(fileSystem.list(QUEUE_DIRECTORY).length, 1);
  const again = reopen(fileSystem, true);
  again.store.correctMinOffset(9_000);
  assertEquals(again.store.get("T", 0)?.minOffsetInQueue, 25);
});

test("ConsumeQueueStore.deleteTopic() removes its folder and forgets it", async () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem);
  put(store, 0, 12);
  store.putMessagePosition(dispatchRequest({ topic: "U", queueId: 3 }));
  store.putMessagePosition(
    dispatchRequest({ queueOffset: 12, phyOffset: 5_000 }),
  );
  await store.deleteTopic("T");
  store.endBatch();
  assertEquals(store.topics(), ["U"]);
  assertEquals(store.queueIds("U"), [3]);
  assertEquals(fileSystem.stat("/store/consumequeue/T"), undefined);
  assertEquals(store.get("T", 0), undefined);
  await store.flush();
});

test("ConsumeQueueStore.endBatch() keeps units on a full disk and writes them later", () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem);
  put(store, 0, 2);
  fileSystem.fail = (operation, path) =>
    operation === "writeAt"
      ? new FileError("No space", "no-space", path)
      : undefined;
  store.putMessagePosition(dispatchRequest({ queueOffset: 2, phyOffset: 200 }));
  store.putMessagePosition(dispatchRequest({ topic: "U", phyOffset: 300 }));
  let failures = 0;
  for (let round = 0; round < 2; round++) {
    try {
      store.endBatch();
    } catch (error) {
      assert(error instanceof FileError);
      failures += 1;
    }
  }
  assertEquals(failures, 2);
  assertEquals(store.get("T", 0)?.maxOffsetInQueue, 3);
  fileSystem.fail = null;
  store.endBatch();
  const { recovery } = reopen(fileSystem, true);
  assertEquals(recovery, { maxPhyOffset: 400, queueOffsetSum: 4 });
});

test("ConsumeQueueStore.putMessagePosition() refuses units when the batch is full and the disk too", () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem);
  fileSystem.fail = (operation, path) =>
    operation === "writeAt"
      ? new FileError("No space", "no-space", path)
      : undefined;
  let taken = 0;
  try {
    for (; taken < 1_000; taken++) {
      store.putMessagePosition(
        dispatchRequest({ queueOffset: taken, phyOffset: taken * 100 }),
      );
    }
  } catch (error) {
    assert(error instanceof FileError);
  }
  assert(taken < 1_000);
  fileSystem.fail = null;
  put(store, taken, 5);
  assertEquals(store.get("T", 0)?.maxOffsetInQueue, taken + 5);
  assertEquals(store.get("T", 0)?.unit(taken)?.phyOffset, taken * 100);
});

test("ConsumeQueueStore.flush() rejects when a sync fails and keeps the queue dirty", async () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem);
  put(store, 0, 2);
  fileSystem.fail = (operation, path) =>
    operation === "syncEnd" ? new FileError("EIO", "io", path) : undefined;
  await assertRejects(() => store.flush(), FileError);
  await assertRejects(() => store.flush(), FileError);
});

test("ConsumeQueueStore.load() ignores foreign files with one warning", () => {
  const fileSystem = new MemoryFileSystem();
  put(open(fileSystem).store, 0, 2);
  fileSystem.put("/store/consumequeue/.DS_Store", "");
  fileSystem.put("/store/consumequeue/T/readme.txt", "");
  fileSystem.createDirectory("/store/consumequeue/T/lost+found");
  const { store, logger, recovery } = reopen(fileSystem, true);
  assertEquals(recovery.queueOffsetSum, 2);
  assertEquals(store.queueIds("T"), [0]);
  assertEquals(logger.count("warn"), 1);
});

test("ConsumeQueueStore gives no folder to a topic that is none", () => {
  const fileSystem = new MemoryFileSystem();
  const { store, logger } = open(fileSystem);
  for (const topic of ["../../etc", "a/b", "..", "", "x".repeat(300)]) {
    store.putMessagePosition(dispatchRequest({ topic }));
    store.putMessagePosition(dispatchRequest({ topic, queueId: 1 }));
  }
  store.endBatch();
  assertEquals(store.topics(), []);
  assertEquals(fileSystem.files.size, 0);
  assertEquals(logger.count("warn"), 5);
});

test("ConsumeQueueStore holds 20,000 queues with 64 descriptors", async () => {
  const fileSystem = new MemoryFileSystem();
  const { store } = open(fileSystem, new DescriptorCache(64));
  for (let topic = 0; topic < 2_500; topic++) {
    for (let queueId = 0; queueId < 8; queueId++) {
      const phyOffset = (topic * 8 + queueId) * 100;
      store.putMessagePosition(
        dispatchRequest({ topic: `T${topic}`, queueId, phyOffset }),
      );
    }
    store.endBatch();
  }
  await store.flush();
  assertEquals(store.queueCount, 20_000);
  assert(fileSystem.openCountMax <= 64, `${fileSystem.openCountMax}`);
  store.close();
  assertEquals(fileSystem.openCount, 0);
});

test("offsetInQueueByTime() finds lower and upper boundary (reference 9.7)", async () => {
  const { store } = open(new MemoryFileSystem());
  put(store, 0, 30);
  const queue = store.get("T", 0)!;
  // Unit n was stored at 10 * floor(n / 3).
  const timeOf = (phyOffset: number) => 10 * Math.floor(phyOffset / 300);
  const find = (time: number, boundary: "lower" | "upper") =>
    offsetInQueueByTime(queue, time, boundary, timeOf);
  assertEquals(await find(20, "lower"), 6);
  assertEquals(await find(20, "upper"), 8);
  assertEquals(await find(21, "lower"), 9);
  assertEquals(await find(21, "upper"), 8);
  assertEquals(await find(-1, "lower"), 0);
  assertEquals(await find(-1, "upper"), 0);
  assertEquals(await find(1_000, "lower"), 30);
  assertEquals(await find(1_000, "upper"), 29);
  store.correctMinOffset(1_000);
  assertEquals(await find(0, "lower"), 10);
});

test("ConsumeQueue begins anew when a younger record has an older queue offset", () => {
  const fileSystem = new MemoryFileSystem();
  const { store, logger } = open(fileSystem);
  put(store, 0, 25);
  // The topic was deleted and made again; then dispatch reads the whole log once more.
  for (let n = 0; n < 3; n++) {
    store.putMessagePosition(
      dispatchRequest({ queueOffset: n, phyOffset: 5_000 + n * 100 }),
    );
  }
  store.endBatch();
  put(store, 0, 25);
  const queue = store.get("T", 0)!;
  assertEquals(queue.maxOffsetInQueue, 3);
  assertEquals(queue.unit(0)?.phyOffset, 5_000);
  assertEquals(fileSystem.list(QUEUE_DIRECTORY).length, 1);
  assertEquals(logger.count("info"), 1);
  assertEquals(reopen(fileSystem, false).recovery.maxPhyOffset, 5_300);
});

type Step =
  | { kind: "put"; skip: number; size: number }
  | { kind: "again" }
  | { kind: "recreate" }
  | { kind: "endBatch" }
  | { kind: "cut"; at: number }
  | { kind: "expire"; at: number }
  | { kind: "restart"; ok: boolean };

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      skip: fc.integer({ min: 0, max: 300 }),
      size: fc.integer({ min: 1, max: 200 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "again" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "recreate" as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: "endBatch" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("cut" as const),
      at: fc.double({ min: 0.5, max: 1, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("expire" as const),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("restart" as const),
      ok: fc.boolean(),
    }),
  },
);

/** What the queue must be: offsets and sizes in an array, and where the log begins and ends. */
class QueueModel {
  units: { phyOffset: number; size: number }[] = [];
  logEnd = 0;
  logStart = 0;

  min(): number {
    const first = this.units.findIndex((it) => it.phyOffset >= this.logStart);
    return first < 0 ? this.units.length : first;
  }
}

async function runStep(
  fileSystem: MemoryFileSystem,
  store: ConsumeQueueStore,
  model: QueueModel,
  step: Step,
): Promise<ConsumeQueueStore> {
  switch (step.kind) {
    case "put": {
      const phyOffset = model.logEnd + step.skip;
      const unit = { phyOffset, size: step.size };
      const queueOffset = model.units.length;
      store.putMessagePosition(dispatchRequest({ ...unit, queueOffset }));
      model.units.push(unit);
      model.logEnd = phyOffset + step.size;
      return store;
    }
    case "again":
      model.units.slice(-5).forEach((unit, index, last) => {
        const queueOffset = model.units.length - last.length + index;
        store.putMessagePosition(dispatchRequest({ ...unit, queueOffset }));
      });
      return store;
    case "recreate":
      model.units = [];
      return await runStep(fileSystem, store, model, {
        kind: "put",
        skip: 0,
        size: 100,
      });
    case "endBatch":
      store.endBatch();
      return store;
    case "cut": {
      const at = Math.max(model.logStart, Math.floor(model.logEnd * step.at));
      await store.truncateDirty(at);
      model.units = model.units.filter((it) => it.phyOffset < at);
      const last = model.units.at(-1);
      model.logEnd = Math.max(
        at,
        last === undefined ? 0 : last.phyOffset + last.size,
      );
      return store;
    }
    case "expire":
      model.logStart = Math.max(
        model.logStart,
        Math.floor(model.logEnd * step.at),
      );
      await store.cleanExpired(model.logStart);
      return store;
    case "restart": {
      store.endBatch();
      await store.flush();
      store.close();
      const { store: next } = reopen(fileSystem, step.ok);
      next.correctMinOffset(model.logStart);
      return next;
    }
  }
}

test("ConsumeQueue agrees with an array whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(stepArbitrary, { minLength: 1, maxLength: 60 }),
      async (steps) => {
        const fileSystem = new MemoryFileSystem();
        const model = new QueueModel();
        let { store } = open(fileSystem, new DescriptorCache(2));
        for (const step of steps) {
          store = await runStep(fileSystem, store, model, step);
          const queue = store.get("T", 0);
          if (queue === undefined) continue;
          assertEquals(queue.maxOffsetInQueue, model.units.length);
          assertEquals(queue.minOffsetInQueue, model.min());
          for (let at = queue.minOffsetInQueue; at < model.units.length; at++) {
            const { phyOffset, size } = model.units[at]!;
            const unit = queue.unit(at);
            assertEquals(unit?.phyOffset, phyOffset);
            assertEquals(unit?.size, size);
          }
        }
        store.close();
        assertEquals(fileSystem.openCount, 0);
      },
    ),
    { numRuns: 150 },
  );
});
