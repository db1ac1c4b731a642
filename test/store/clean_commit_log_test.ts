import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import { FileError } from "../../src/io/file_system.ts";
import {
  type CleanFile,
  type CleanOptions,
  type CleanSituation,
  deleteHours,
  planCleanCommitLog,
} from "../../src/store/clean_commit_log_plan.ts";
import { CleanCommitLogService } from "../../src/store/clean_commit_log_service.ts";
import { CleanConsumeQueueService } from "../../src/store/clean_consume_queue_service.ts";
import { MappedFileQueue } from "../../src/store/mapped_file_queue.ts";
import {
  DEFAULT_MESSAGE_STORE_OPTIONS,
  type MessageStoreOptions,
} from "../../src/store/store_options.ts";
import { MemoryFileSystem, MemoryLogger } from "./memory_file_system.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = 1_790_000_000_000;
const LOCAL_HOUR = new Date(NOW_MS).getHours();
const OTHER_HOUR = String((LOCAL_HOUR + 12) % 24);
const OPTIONS: CleanOptions = {
  ...DEFAULT_MESSAGE_STORE_OPTIONS,
  deleteWhen: OTHER_HOUR,
};

/** File n: [100 n, 100 n + 100), `ages[n]` hours old. */
function filesOf(...ages: number[]): CleanFile[] {
  return ages.map((age, index) => ({
    fileFromOffset: index * 100,
    endOffset: index * 100 + 100,
    newestMs: NOW_MS - age * HOUR_MS,
  }));
}

function situation(over: Partial<CleanSituation> = {}): CleanSituation {
  return {
    nowMs: NOW_MS,
    localHour: LOCAL_HOUR,
    isClockTrusted: true,
    diskUsedPercent: 10,
    diskTotalBytes: 1_000,
    isManual: false,
    storedBytes: 350,
    ...over,
  };
}

function plan(
  files: CleanFile[],
  over: Partial<CleanSituation>,
  options: Partial<CleanOptions> = {},
  neededFrom?: number,
) {
  return planCleanCommitLog(
    situation(over),
    files,
    { ...OPTIONS, ...options },
    neededFrom,
  );
}

test("deleteHours() reads a list and leaves nonsense out", () => {
  assertEquals(deleteHours("04"), [4]);
  assertEquals(deleteHours("4; 16;x;99;;-1"), [4, 16]);
  assertEquals(deleteHours(""), []);
});

test("planCleanCommitLog() deletes nothing outside of its hours with space left", () => {
  assertEquals(plan(filesOf(100, 90, 0), {}).count, 0);
});

test("planCleanCommitLog() deletes old files in the hour of deleteWhen, never the last", () => {
  const inHour = { deleteWhen: `99;${LOCAL_HOUR}` };
  const result = plan(filesOf(100, 73, 71, 0), {}, inHour);
  assertEquals([result.count, result.reason], [2, "deleteWhen"]);
  assertEquals(plan(filesOf(100, 100), {}, inHour).count, 1);
  assertEquals(plan(filesOf(100), {}, inHour).count, 0);
  assertEquals(plan([], {}, inHour).count, 0);
});

test("planCleanCommitLog() stops at the first file that is not old", () => {
  assertEquals(plan(filesOf(0, 100, 100), { isManual: true }).count, 0);
});

test("planCleanCommitLog() deletes old files above diskMaxUsedSpaceRatio and by hand", () => {
  const files = filesOf(100, 90, 0);
  assertEquals(
    plan(files, { diskUsedPercent: 76 }).reason,
    "diskMaxUsedSpaceRatio",
  );
  assertEquals(plan(files, { diskUsedPercent: 75 }).count, 0);
  assertEquals(plan(files, { diskUsedPercent: null }).count, 0);
  assertEquals(plan(files, { isManual: true }).reason, "manual");
});

test("planCleanCommitLog() deletes young files above diskSpaceCleanForciblyRatio", () => {
  const files = filesOf(0, 0, 0);
  const result = plan(files, { diskUsedPercent: 86 });
  assertEquals(
    [result.count, result.reason],
    [2, "diskSpaceCleanForciblyRatio"],
  );
  const off = { cleanFileForciblyEnable: false };
  assertEquals(plan(files, { diskUsedPercent: 86 }, off).count, 0);
});

test("planCleanCommitLog() keeps the log below maxStoreBytes", () => {
  const files = filesOf(0, 0, 0, 0);
  const result = plan(files, { storedBytes: 350 }, { maxStoreBytes: 200 });
  assertEquals([result.count, result.reason], [2, "maxStoreBytes"]);
  assertEquals(
    plan(files, { storedBytes: 350 }, { maxStoreBytes: 350 }).count,
    0,
  );
  assertEquals(
    plan(files, { storedBytes: 350 }, { maxStoreBytes: 1 }).count,
    3,
  );
});

test("planCleanCommitLog() obeys deleteFileBatchMax", () => {
  const files = filesOf(...Array.from({ length: 30 }, () => 100));
  assertEquals(plan(files, { isManual: true }).count, 10);
});

test("planCleanCommitLog() takes as many files as size and space ask for", () => {
  const files = filesOf(...Array.from({ length: 300 }, () => 0));
  const bySize = { maxStoreBytes: 500 };
  assertEquals(plan(files, { storedBytes: 29_950 }, bySize).count, 295);
  // 15 of 100 percent of a disk of 20,000 bytes are 30 files.
  const disk = { diskUsedPercent: 100, diskTotalBytes: 20_000 };
  assertEquals(plan(files, disk).count, 30);
});

test("planCleanCommitLog() deletes nothing for its age by a clock that jumped", () => {
  const files = filesOf(100, 100, 0);
  const jumped = { isClockTrusted: false };
  for (const over of [{ isManual: true }, { diskUsedPercent: 76 }]) {
    assertEquals(plan(files, { ...over, ...jumped }).count, 0);
  }
  assertEquals(plan(files, { diskUsedPercent: 86, ...jumped }).count, 2);
});

test("planCleanCommitLog() spares what a slave needs, unless forced, and says so", () => {
  const files = filesOf(100, 100, 100, 0);
  const spared = plan(files, { isManual: true }, {}, 150);
  assertEquals([spared.count, spared.sparedCount], [1, 2]);
  const forced = plan(files, { diskUsedPercent: 99 }, {}, 150);
  assertEquals([forced.count, forced.isAgainstSlave], [3, true]);
  const enough = plan(files, { diskUsedPercent: 99 }, {}, 1_000);
  assertEquals(enough.isAgainstSlave, false);
});

/** A log whose file n begins with a record of store time `times[n]`. */
function logOf(fileSystem: MemoryFileSystem, times: readonly number[]) {
  const logger = new MemoryLogger();
  const queue = new MappedFileQueue({
    fileSystem,
    directory: "/store/commitlog",
    mappedFileSize: 200,
    sizeKey: "mappedFileSizeCommitLog",
    logger,
  });
  for (const time of times) queue.fileForAppend().append(fileOf(time));
  return { queue, logger };
}

/** A file's bytes with a record of that store time at its start. */
function fileOf(time: number): Uint8Array {
  const bytes = new Uint8Array(200);
  const view = new DataView(bytes.buffer);
  view.setInt32(4, 0xdaa320a7 | 0);
  view.setBigInt64(56, BigInt(time));
  return bytes;
}

/** Monotonic time, for a wall clock that the test gives. */
class TwoClocks {
  elapsedMs = 0;

  monotonicMs(): number {
    return this.elapsedMs;
  }
}

function serviceOf(
  times: readonly number[],
  options: Partial<MessageStoreOptions> = {},
  neededFrom?: () => number | undefined,
) {
  const fileSystem = new MemoryFileSystem();
  const { queue, logger } = logOf(fileSystem, times);
  const clock = new TwoClocks();
  const service = new CleanCommitLogService(
    {
      fileSystem,
      clock,
      commitLog: queue,
      logger,
      ...(neededFrom === undefined ? {} : { neededFrom }),
    },
    {
      ...DEFAULT_MESSAGE_STORE_OPTIONS,
      deleteWhen: String(LOCAL_HOUR),
      ...options,
    },
  );
  const run = (nowMs: number) => {
    clock.elapsedMs = nowMs - NOW_MS;
    return service.run(nowMs);
  };
  return { service, queue, fileSystem, logger, clock, run };
}

/** Store time of that many hours before now. */
function ago(hours: number): number {
  return NOW_MS - hours * HOUR_MS;
}

test("CleanCommitLogService deletes by the log's own times, each interval", async () => {
  const { service, run, queue } = serviceOf([
    ago(200),
    ago(100),
    ago(90),
    ago(10),
  ]);
  assertEquals(await run(NOW_MS), 2);
  assertEquals(queue.minOffset, 400);
  assertEquals(service.lastReason, "deleteWhen");
  assertEquals(service.deletedFileCount, 2);
  assertEquals(await run(NOW_MS + 100), 0);
  assertEquals(await run(NOW_MS + 60 * HOUR_MS), 0);
});

test("CleanCommitLogService keeps files whose modification time is young", async () => {
  const { run, fileSystem, queue } = serviceOf([
    ago(200),
    ago(100),
    ago(90),
  ]);
  fileSystem.files.get(queue.files[0]!.path)!.modifiedMs = ago(1);
  assertEquals(await run(NOW_MS), 0);
});

test("CleanCommitLogService survives a clock that was ten years ahead", async () => {
  const ahead = NOW_MS + 87_600 * HOUR_MS;
  const { run } = serviceOf([ago(300), ahead, ago(200), ago(100), ago(1)]);
  // The second file has records of the future, but later files are from the past.
  assertEquals(await run(NOW_MS), 3);
});

test("CleanCommitLogService keeps everything while all records are of the future", async () => {
  const ahead = NOW_MS + 87_600 * HOUR_MS;
  const { run } = serviceOf([ahead, ahead + 1, ahead + 2]);
  assertEquals(await run(NOW_MS), 0);
});

test("CleanCommitLogService runs by hand at any hour, 20 times", async () => {
  const { service, run } = serviceOf([ago(200), ago(100), ago(1)], {
    deleteWhen: OTHER_HOUR,
  });
  assertEquals(await run(NOW_MS), 0);
  service.executeDeleteFilesManually();
  assertEquals(await run(NOW_MS + 1), 1);
});

test("CleanCommitLogService stops as soon as there is space again", async () => {
  const { service, run, fileSystem, queue, logger } = serviceOf(
    [ago(5), ago(4), ago(3), ago(2), ago(1)],
    { deleteWhen: OTHER_HOUR },
    () => 0,
  );
  const used = [86, 86, 86, 84];
  fileSystem.diskSpace = () => ({
    totalBytes: 100,
    freeBytes: 100 - (used[queue.minOffset / 200] ?? 0),
  });
  assertEquals(await run(NOW_MS), 3);
  assertEquals(service.lastReason, "diskSpaceCleanForciblyRatio");
  assertEquals(logger.count("warn"), 3);
});

test("CleanCommitLogService obeys maxStoreBytes and a changed one", async () => {
  const { service, run, queue } = serviceOf(
    [1, 2, 3, 4, 5].map((it) => ago(it)),
    {
      maxStoreBytes: 700,
      deleteWhen: OTHER_HOUR,
    },
  );
  assertEquals(await run(NOW_MS), 2);
  assertEquals(queue.minOffset, 400);
  service.reconfigure({
    ...DEFAULT_MESSAGE_STORE_OPTIONS,
    deleteWhen: OTHER_HOUR,
    maxStoreBytes: 1,
  });
  assertEquals(await run(NOW_MS + 10_000), 2);
  assertEquals(queue.files.length, 1);
});

test("CleanCommitLogService tells how many files wait for a slave", async () => {
  const { service, run } = serviceOf(
    [ago(300), ago(200), ago(100), ago(1)],
    {},
    () => 250,
  );
  assertEquals(await run(NOW_MS), 1);
  assertEquals(service.sparedCount, 1);
});

test("CleanCommitLogService deletes nothing by age for an hour after a jump", async () => {
  const { service, clock, logger, queue } = serviceOf(
    [ago(3), ago(2), ago(1), ago(0)],
    { cleanResourceInterval: 1_000 },
  );
  const dayMs = 24 * HOUR_MS;
  assertEquals(await service.run(NOW_MS), 0);
  // Four days ahead for 2.5 s, at the hour of deleteWhen.
  for (; clock.elapsedMs < 2_500; clock.elapsedMs += 100) {
    assertEquals(await service.run(NOW_MS + 4 * dayMs + clock.elapsedMs), 0);
  }
  service.executeDeleteFilesManually();
  assertEquals(await service.run(NOW_MS + clock.elapsedMs), 0);
  assertEquals(queue.files.length, 4);
  assertEquals(logger.count("warn"), 1);
  // It is set again, and stays: after an hour it counts, and the call by hand still waits.
  const aheadMs = NOW_MS + 10 * dayMs + 12 * HOUR_MS;
  const jumpedMs = clock.elapsedMs += 1_000;
  for (; clock.elapsedMs < jumpedMs + HOUR_MS; clock.elapsedMs += 60_000) {
    assertEquals(await service.run(aheadMs + clock.elapsedMs), 0);
  }
  assertEquals(await service.run(aheadMs + clock.elapsedMs), 3);
  assertEquals(logger.count("warn"), 1);
});

test("CleanCommitLogService keeps what this process wrote, whatever the wall clock says", async () => {
  const { service, clock, queue } = serviceOf([ago(200), ago(1)], {
    cleanResourceInterval: 1_000,
    deleteWhen: `${LOCAL_HOUR};${(LOCAL_HOUR + 1) % 24};${
      (LOCAL_HOUR + 2) % 24
    }`,
  });
  await service.run(NOW_MS);
  for (let file = 0; file < 5; file++) {
    clock.elapsedMs += 100;
    queue.fileForAppend().append(fileOf(NOW_MS + clock.elapsedMs));
    await service.run(NOW_MS + clock.elapsedMs);
  }
  const aheadMs = NOW_MS + 87_600 * HOUR_MS;
  let deleted = 0;
  for (let minute = 0; minute < 70; minute++) {
    clock.elapsedMs += 60_000;
    deleted += await service.run(aheadMs + clock.elapsedMs);
  }
  // Only what was there before the process, and of which nothing else is known.
  assertEquals(deleted, 2);
  clock.elapsedMs += 72 * HOUR_MS;
  assertEquals(await service.run(aheadMs + clock.elapsedMs), 4);
});

test("CleanCommitLogService lets slewing and a long life of drift pass", async () => {
  const { service, clock, logger } = serviceOf([ago(300), ago(200), ago(1)]);
  let slewMs = 0;
  for (let hour = 0; hour < 48; hour++) {
    await service.run(NOW_MS + clock.elapsedMs + slewMs);
    clock.elapsedMs += HOUR_MS;
    slewMs += 60_000;
  }
  assertEquals(service.deletedFileCount, 1);
  assertEquals(logger.count("warn"), 0);
});

test("CleanCommitLogService looks at once when the log is above maxStoreBytes", async () => {
  const { service, queue, clock } = serviceOf([ago(1)], {
    maxStoreBytes: 700,
    deleteWhen: OTHER_HOUR,
  });
  const sizes: number[] = [];
  queue.onFileCreated = () => void service.run(NOW_MS);
  for (let file = 0; file < 100; file++) {
    queue.fileForAppend().append(new Uint8Array(200));
    await new Promise((resolve) => setImmediate(resolve));
    sizes.push(queue.maxOffset - queue.minOffset);
  }
  assertEquals(clock.elapsedMs, 0);
  assert(Math.max(...sizes) <= 900, `${Math.max(...sizes)}`);
});

test("CleanCommitLogService waits for its interval after a failure", async () => {
  const { service, queue, clock, fileSystem } = serviceOf(
    [ago(3), ago(2), ago(1)],
    { maxStoreBytes: 100, deleteWhen: OTHER_HOUR },
  );
  let tries = 0;
  fileSystem.fail = (operation) => {
    if (operation !== "remove") return undefined;
    tries++;
    return new FileError("No", "denied", "/store");
  };
  for (; clock.elapsedMs < 10_000; clock.elapsedMs += 100) {
    await service.run(NOW_MS + clock.elapsedMs).catch(() => {});
  }
  assertEquals(tries, 1);
  fileSystem.fail = null;
  assertEquals(await service.run(NOW_MS + clock.elapsedMs), 2);
  assertEquals(queue.files.length, 1);
});

test("CleanConsumeQueueService works only when the log's start has moved", async () => {
  const calls: number[] = [];
  const service = new CleanConsumeQueueService(
    {
      cleanExpired: (minPhyOffset) => {
        calls.push(minPhyOffset);
        return Promise.resolve(2);
      },
    },
    { deleteExpired: () => Promise.resolve(1) },
  );
  const both = { queueFiles: 2, indexFiles: 1 };
  assertEquals(await service.run(0), both);
  assertEquals((await service.run(0)).queueFiles, 0);
  const [first, second] = await Promise.all([service.run(5), service.run(6)]);
  assertEquals(first, both);
  assertEquals(second.queueFiles, 0);
  assert(calls.length === 2);
});
