/**
 * Resident memory of the program under test: idle, after junk connections, after
 * a burst. TEST_JUNK and TEST_BURST set the sizes (20,000 each by default).
 */
import { assertLessOrEqual } from "@std/assert";
import process from "node:process";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { junkConnections } from "../support/junk_connections.ts";
import { residentBytes, settledBytes } from "../support/process_figures.ts";
import { RawClient } from "../support/raw_client.ts";
import { withSite } from "../support/site.ts";

const MIB = 1024 * 1024;
const JUNK = Number(process.env.TEST_JUNK ?? 20_000);
const BURST = Number(process.env.TEST_BURST ?? 20_000);
const IDLE_BYTES_MAX = 60 * MIB;
/** The promise is the executable's; V8 under Deno breathes more, a leak would show all the same. */
const isExecutable = process.env.TEST_PROGRAM !== "deno";
const JUNK_GROWTH_BYTES_MAX = (isExecutable ? 10 : 32) * MIB;

test(`memory idle, after ${JUNK} junk connections and a burst of ${BURST} messages`, () =>
  withSite(async (site) => {
    const idle = await settledBytes(site.server.pid);
    console.log(`idle ${(idle / MIB).toFixed(1)} MiB`);
    if (isExecutable) assertLessOrEqual(idle, IDLE_BYTES_MAX);

    let before = idle;
    const junkBoth = async (count: number) => {
      for (const name of ["broker", "namesrv"]) {
        await junkConnections(site.server.port(name), count / 2);
      }
    };
    if (!isExecutable) {
      // V8 takes a young generation once and keeps it, whatever comes.
      await junkBoth(JUNK / 2);
      before = await settledBytes(site.server.pid);
    }
    await junkBoth(JUNK);
    const peakOfJunk = residentBytes(site.server.pid);
    const afterJunk = await settledBytes(site.server.pid);
    console.log(
      `after ${JUNK} junk connections ${
        (peakOfJunk / MIB).toFixed(1)
      } MiB, then ${(afterJunk / MIB).toFixed(1)} MiB`,
    );
    assertLessOrEqual(afterJunk - before, JUNK_GROWTH_BYTES_MAX);

    const client = await RawClient.open(site.broker);
    const body = new Uint8Array(1024);
    for (let sent = 0; sent < BURST; sent += 500) {
      await Promise.all(
        Array.from(
          { length: 500 },
          (_, index) => client.send("BurstTopic", index % 4, body),
        ),
      );
    }
    client.close();
    const peak = residentBytes(site.server.pid);
    const startedAt = Date.now();
    await eventually(
      () => residentBytes(site.server.pid) - idle <= 40 * MIB,
      { timeoutMs: 60_000 },
    );
    console.log(
      `after ${BURST} messages ${(peak / MIB).toFixed(1)} MiB, ${
        ((Date.now() - startedAt) / 1000).toFixed(1)
      } s later ${(residentBytes(site.server.pid) / MIB).toFixed(1)} MiB`,
    );
  }));
