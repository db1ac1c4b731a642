/**
 * Resident memory of the program under test: idle, after junk connections, after
 * a burst. TEST_JUNK and TEST_BURST set the sizes (20,000 each by default).
 */
import { assertLessOrEqual } from "@std/assert";
import process from "node:process";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { junkConnections } from "../support/junk_connections.ts";
import {
  plateauBytes,
  residentBytes,
  settledBytes,
} from "../support/process_figures.ts";
import { RawClient } from "../support/raw_client.ts";
import { withSite } from "../support/site.ts";

const MIB = 1024 * 1024;
const JUNK = Number(process.env.TEST_JUNK ?? 20_000);
const BURST = Number(process.env.TEST_BURST ?? 20_000);
const IDLE_BYTES_MAX = 60 * MIB;
/** The promise is the executable's; V8 under Deno keeps what it took: it must stop taking. */
const isExecutable = process.env.TEST_PROGRAM !== "deno";
const JUNK_GROWTH_BYTES_MAX = 10 * MIB;

test(`memory idle, after ${JUNK} junk connections and a burst of ${BURST} messages`, () =>
  withSite(async (site) => {
    const idle = isExecutable
      ? await settledBytes(site.server.pid)
      : residentBytes(site.server.pid);
    console.log(`idle ${(idle / MIB).toFixed(1)} MiB`);
    if (isExecutable) assertLessOrEqual(idle, IDLE_BYTES_MAX);

    const junk = async () => {
      for (const name of ["broker", "namesrv"]) {
        await junkConnections(site.server.port(name), JUNK / 2);
      }
    };
    const { pid } = site.server;
    let rest = idle;
    if (isExecutable) {
      await junk();
      const peakOfJunk = residentBytes(pid);
      const afterJunk = await settledBytes(pid);
      console.log(
        `after ${JUNK} junk connections ${
          (peakOfJunk / MIB).toFixed(1)
        } MiB, then ${(afterJunk / MIB).toFixed(1)} MiB`,
      );
      assertLessOrEqual(afterJunk - idle, JUNK_GROWTH_BYTES_MAX);
    } else rest = await plateauBytes(pid, JUNK_GROWTH_BYTES_MAX, junk);

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
    const peak = residentBytes(pid);
    const startedAt = Date.now();
    await eventually(
      () => residentBytes(pid) - rest <= 40 * MIB,
      { timeoutMs: 60_000 },
    );
    console.log(
      `after ${BURST} messages ${(peak / MIB).toFixed(1)} MiB, ${
        ((Date.now() - startedAt) / 1000).toFixed(1)
      } s later ${(residentBytes(pid) / MIB).toFixed(1)} MiB`,
    );
  }));
