import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { DelayOffsetCopy } from "../../src/broker/delay_offset_copy.ts";
import { DelayOffsetFile } from "../../src/broker/delay_offset_file.ts";
import { FakeClock } from "./fakes.ts";
import { MemoryFile } from "./manager_rig.ts";

function setUp() {
  const file = new DelayOffsetFile(new MemoryFile(), new FakeClock());
  const log = {
    maxOffset: 1_000,
    flushedOffset: 0,
    flush: () => {
      log.flushedOffset = log.maxOffset;
      return Promise.resolve();
    },
  };
  const copy = new DelayOffsetCopy(file, log);
  let masterEnd = 0;
  return {
    file,
    log,
    setMasterEnd: (end: number) => void (masterEnd = end),
    take: (offset: number, until?: number, master = "m") =>
      copy.take(
        master,
        JSON.stringify({
          offsetTable: { 3: offset },
          ...(until === undefined ? {} : { deliveredUntil: until }),
        }),
        () => Promise.resolve(masterEnd),
      ),
    level3: () => file.offsets().get(3),
  };
}

test("DelayOffsetCopy takes a table once the log holds what it calls delivered, durably", async () => {
  const { level3, log, take } = setUp();
  await take(5, 1_000);
  assertEquals([level3(), log.flushedOffset], [5, 1_000]);
  await take(9, 1_001);
  assertEquals(level3(), 5);
  log.maxOffset = 1_001;
  await take(9, 1_001);
  assertEquals([level3(), log.flushedOffset], [9, 1_001]);
});

test("DelayOffsetCopy takes the answer before, when an Apache master is always ahead", async () => {
  const { level3, log, setMasterEnd, take } = setUp();
  setMasterEnd(1_100);
  await take(5);
  assertEquals(level3(), undefined);
  log.maxOffset = 1_150;
  setMasterEnd(1_200);
  await take(7);
  assertEquals(level3(), 5);
  log.maxOffset = 1_200;
  await take(8);
  assertEquals(level3(), 8);
});

test("DelayOffsetCopy forgets the answer of another master", async () => {
  const { level3, log, take } = setUp();
  await take(5, 2_000, "a");
  log.maxOffset = 2_500;
  await take(7, 3_000, "b");
  assertEquals(level3(), undefined);
});
