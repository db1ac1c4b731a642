import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { ColdReader } from "../../src/store/cold_reader.ts";
import { DelayLevelTable } from "../../src/store/delay_level_table.ts";
import { GroupCommitService } from "../../src/store/group_commit_service.ts";
import { QueueOffsetTable } from "../../src/store/queue_offset_table.ts";
import { RunningFlags } from "../../src/store/running_flags.ts";
import { DEFAULT_MESSAGE_STORE_OPTIONS } from "../../src/store/store_options.ts";

test("DelayLevelTable knows the delays and bounds the level", () => {
  const table = new DelayLevelTable(
    DEFAULT_MESSAGE_STORE_OPTIONS.messageDelayLevel,
  );
  assertEquals(table.maxDelayLevel, 18);
  assertEquals(table.deliverTimestamp(1, 1000), 2000);
  assertEquals(table.deliverTimestamp(18, 0), 7_200_000);
  assertEquals(table.deliverTimestamp(19, 1000), 2000);
  const due = (level: string) =>
    table.scheduleTagsCode(`DELAY\u0001${level}\u0002`, 10);
  assertEquals(due("3"), 10_010);
  assertEquals(due("99"), 7_200_010);
  assertEquals([due("0"), due("x")], [undefined, undefined]);
});

test("RunningFlags is writable without a cause, and never forgets a failed sync", () => {
  const flags = new RunningFlags();
  assert(flags.isWritable);
  flags.set("disk-full", "full");
  flags.set("slave", "a slave");
  assertEquals(flags.unwritableReason, "full");
  flags.clear("disk-full");
  assertEquals(flags.unwritableReason, "a slave");
  flags.set("sync-failed", "broken");
  flags.clear("slave");
  flags.clear("sync-failed");
  assertEquals(flags.unwritableReason, "broken");
});

test("QueueOffsetTable raises and deletes", () => {
  const table = new QueueOffsetTable();
  assertEquals(table.next("T", 1), 0);
  table.set("T", 1, 5);
  table.raise("T", 1, 3);
  table.raise("T", 2, 7);
  assertEquals([table.next("T", 1), table.next("T", 2)], [5, 7]);
  table.deleteTopic("T");
  assertEquals(table.next("T", 1), 0);
});

test("ColdReader runs a few reads at a time, in order, and survives failures", async () => {
  const reader = new ColdReader(2);
  const order: number[] = [];
  let running = 0;
  const ends: (() => void)[] = [];
  const results = [0, 1, 2, 3].map((it) =>
    reader.read(async () => {
      order.push(it);
      running++;
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
      if (it === 0) throw new Error("broken");
    }).then(() => "read", (error: Error) => error.message)
  );
  assertEquals([running, reader.pendingCount], [2, 4]);
  while (ends.length > 0) {
    ends.shift()!();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    assert(running <= 2);
  }
  assertEquals(await Promise.all(results), ["broken", "read", "read", "read"]);
  assertEquals(order, [0, 1, 2, 3]);
  assertEquals(reader.pendingCount, 0);
});

test("GroupCommitService shares one sync per turn and fails for good", async () => {
  const log = { flushedOffset: 0, maxOffset: 0, syncs: 0, broken: false };
  const failures: unknown[] = [];
  const service = new GroupCommitService(
    {
      get flushedOffset() {
        return log.flushedOffset;
      },
      flush() {
        log.syncs++;
        const end = log.maxOffset;
        if (log.broken) return Promise.reject(new Error("EIO"));
        return Promise.resolve().then(() => void (log.flushedOffset = end));
      },
    },
    () => {},
    (error) => void failures.push(error),
  );
  log.maxOffset = 30;
  const first = [10, 20, 30].map((it) => service.request(it, 1_000));
  assertEquals(log.syncs, 0, "not before the turn ends");
  assertEquals(await Promise.all(first), ["PUT_OK", "PUT_OK", "PUT_OK"]);
  assertEquals(log.syncs, 1);
  log.broken = true;
  const last = [service.request(40, 1_000), service.request(50, 1_000)];
  assertEquals(await Promise.all(last), [
    "FLUSH_DISK_TIMEOUT",
    "FLUSH_DISK_TIMEOUT",
  ]);
  log.broken = false;
  assertEquals(await service.request(60, 1_000), "FLUSH_DISK_TIMEOUT");
  assertEquals([log.syncs, failures.length], [2, 1]);
});
