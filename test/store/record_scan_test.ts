import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { findNextRecord } from "../../src/store/record_search.ts";
import { RecordScan } from "../../src/store/record_scan.ts";
import { SimRandom } from "../sim/sim_random.ts";
import { put, StoreSite } from "./message_store_fixture.ts";

/** A log of 1 MiB files with records up to 400 KB, and where they lie. */
async function bigLog() {
  const site = new StoreSite();
  const store = await site.open({
    mappedFileSizeCommitLog: 1_048_576,
    maxMessageSize: 1_000_000,
  });
  const random = new SimRandom(20_281);
  const places = Array.from({ length: 40 }, () => {
    const size = random.oneIn(3) ? random.nextInt(400_000) : 100;
    return put(store, { body: random.bytes(size) });
  });
  return { store, places, random };
}

test("RecordScan walks records of any size and stops where it is told", async () => {
  const { store, places } = await bigLog();
  const log = store.commitLog;
  const walk = (from: number, end: number) => {
    const scan = new RecordScan(log, from);
    const found: number[] = [];
    for (;;) {
      const step = scan.step(end, true);
      if (step.kind === "blank") scan.offset = log.nextFileOffset(scan.offset);
      else if (step.kind === "record") {
        found.push(scan.offset);
        scan.offset += step.size;
      } else return { found, kind: step.kind };
    }
  };
  const offsets = places.map((it) => it.phyOffset);
  assert(log.maxOffset > 2 * 1_048_576);
  assertEquals(walk(0, log.maxOffset), { found: offsets, kind: "end" });
  const last = offsets.at(-1)!;
  for (const short of [1, 7, 8, 50]) {
    assertEquals(walk(last, last + short), { found: [], kind: "incomplete" });
  }
  assertEquals(walk(offsets[3]! + 1, log.maxOffset).kind, "corrupt");
  await store.shutdown();
});

test("findNextRecord() finds the record behind any broken one, and no accident", async () => {
  const { store, places, random } = await bigLog();
  const log = store.commitLog;
  for (let index = 0; index < places.length - 1; index++) {
    const { phyOffset, size } = places[index]!;
    const broken = phyOffset + random.nextInt(size);
    const next = places[index + 1]!.phyOffset;
    assertEquals(findNextRecord(log, broken, log.maxOffset), next);
  }
  const last = places.at(-1)!.phyOffset;
  assertEquals(findNextRecord(log, last, log.maxOffset), undefined);
  assertEquals(findNextRecord(log, 0, places[1]!.phyOffset), undefined);
  // A copy of a record elsewhere is no record.
  const copy = new Uint8Array(places[0]!.size);
  log.readAt(places[0]!.phyOffset, copy);
  const carrier = put(store, { body: copy });
  assertEquals(
    findNextRecord(log, carrier.phyOffset, log.maxOffset),
    undefined,
  );
  await store.shutdown();
});
