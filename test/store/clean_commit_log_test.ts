import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
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
    diskUsedPercent: 10,
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
  for (const time of times) {
    const bytes = new Uint8Array(200);
    const view = new DataView(bytes.buffer);
    view.setInt32(4, 0xdaa320a7 | 0);
    view.setBigInt64(56, BigInt(time));
    queue.fileForAppend().append(bytes);
  }
  return { queue, logger };
}

function serviceOf(
  times: readonly number[],
  options: Partial<MessageStoreOptions> = {},
  neededFrom?: () => number | undefined,
) {
  const fileSystem = new MemoryFileSystem();
  const { queue, logger } = logOf(fileSystem, times);
  const service = new CleanCommitLogService(
    {
      fileSystem,
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
  return { service, queue, fileSystem, logger };
}

/** Store time of that many hours before now. */
function ago(hours: number): number {
  return NOW_MS - hours * HOUR_MS;
}

test("CleanCommitLogService deletes by the log's own times, each interval", async () => {
  const { service, queue } = serviceOf([
    ago(200),
    ago(100),
    ago(90),
    ago(10),
  ]);
  assertEquals(await service.run(NOW_MS), 2);
  assertEquals(queue.minOffset, 400);
  assertEquals(service.lastReason, "deleteWhen");
  assertEquals(service.deletedFileCount, 2);
  assertEquals(await service.run(NOW_MS + 100), 0);
  assertEquals(await service.run(NOW_MS + 60 * HOUR_MS), 0);
});

test("CleanCommitLogService keeps files whose modification time is young", async () => {
  const { service, fileSystem, queue } = serviceOf([
    ago(200),
    ago(100),
    ago(90),
  ]);
  fileSystem.files.get(queue.files[0]!.path)!.modifiedMs = ago(1);
  assertEquals(await service.run(NOW_MS), 0);
});

test("CleanCommitLogService survives a clock that was ten years ahead", async () => {
  const ahead = NOW_MS + 87_600 * HOUR_MS;
  const { service } = serviceOf([ago(300), ahead, ago(200), ago(100), ago(1)]);
  // The second file has records of the future, but later files are from the past.
  assertEquals(await service.run(NOW_MS), 3);
});

test("CleanCommitLogService keeps everything while all records are of the future", async () => {
  const ahead = NOW_MS + 87_600 * HOUR_MS;
  const { service } = serviceOf([ahead, ahead + 1, ahead + 2]);
  assertEquals(await service.run(NOW_MS), 0);
});

test("CleanCommitLogService runs by hand at any hour, 20 times", async () => {
  const { service } = serviceOf([ago(200), ago(100), ago(1)], {
    deleteWhen: OTHER_HOUR,
  });
  assertEquals(await service.run(NOW_MS), 0);
  service.executeDeleteFilesManually();
  assertEquals(await service.run(NOW_MS + 1), 1);
});

test("CleanCommitLogService stops as soon as there is space again", async () => {
  const { service, fileSystem, queue, logger } = serviceOf(
    [ago(5), ago(4), ago(3), ago(2), ago(1)],
    { deleteWhen: OTHER_HOUR },
    () => 0,
  );
  const used = [86, 86, 86, 84];
  fileSystem.diskSpace = () => ({
    totalBytes: 100,
    freeBytes: 100 - (used[queue.minOffset / 200] ?? 0),
  });
  assertEquals(await service.run(NOW_MS), 3);
  assertEquals(service.lastReason, "diskSpaceCleanForciblyRatio");
  assertEquals(logger.count("warn"), 3);
});

test("CleanCommitLogService obeys maxStoreBytes and a changed one", async () => {
  const { service, queue } = serviceOf([1, 2, 3, 4, 5].map((it) => ago(it)), {
    maxStoreBytes: 700,
    deleteWhen: OTHER_HOUR,
  });
  assertEquals(await service.run(NOW_MS), 2);
  assertEquals(queue.minOffset, 400);
  service.reconfigure({
    ...DEFAULT_MESSAGE_STORE_OPTIONS,
    deleteWhen: OTHER_HOUR,
    maxStoreBytes: 1,
  });
  assertEquals(await service.run(NOW_MS + 10_000), 2);
  assertEquals(queue.files.length, 1);
});

test("CleanCommitLogService tells how many files wait for a slave", async () => {
  const { service } = serviceOf(
    [ago(300), ago(200), ago(100), ago(1)],
    {},
    () => 250,
  );
  assertEquals(await service.run(NOW_MS), 1);
  assertEquals(service.sparedCount, 1);
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
