/**
 * Resident memory of the program under test: idle, after junk connections, after
 * a burst. TEST_JUNK and TEST_BURST set the sizes (20,000 each by default).
 */
import { assertLessOrEqual } from "@std/assert";
import { connect } from "node:net";
import process from "node:process";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { residentBytes } from "../support/process_figures.ts";
import { RawClient } from "../support/raw_client.ts";
import { type Site, withSite } from "../support/site.ts";

const MIB = 1024 * 1024;
const JUNK = Number(process.env.TEST_JUNK ?? 20_000);
const BURST = Number(process.env.TEST_BURST ?? 20_000);
const IDLE_BYTES_MAX = 60 * MIB;
/** The promise is the executable's; V8 under Deno breathes more, a leak would show all the same. */
const isExecutable = process.env.TEST_PROGRAM !== "deno";
const JUNK_GROWTH_BYTES_MAX = (isExecutable ? 10 : 32) * MIB;

/** Connects from anywhere in 127/8, writes junk or nothing, and resets. */
function junkConnect(port: number, number: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({
      host: "127.0.0.1",
      port,
      localAddress: `127.${number % 200}.${number % 251}.${1 + number % 253}`,
    }, () => {
      if (number % 2 === 0) socket.write("GET / HTTP/1.1\r\n\r\n");
      socket.resetAndDestroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}

async function junk(port: number, count: number): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    await Promise.all(
      Array.from(
        { length: 100 },
        (_, index) => junkConnect(port, from + index),
      ),
    );
  }
}

/**
 * Resident bytes once they have stayed within 2 MiB for two of the program's own looks at
 * whether it is idle (10 s each): neither before nor in the moment of giving memory back.
 */
async function settled(site: Site): Promise<number> {
  let since = Date.now();
  let bytes = residentBytes(site.server.pid);
  await eventually(() => {
    const now = residentBytes(site.server.pid);
    if (Math.abs(now - bytes) > 2 * MIB) {
      bytes = now;
      since = Date.now();
    }
    return Date.now() - since >= 21_000;
  }, { timeoutMs: 120_000 });
  return bytes;
}

test(`memory idle, after ${JUNK} junk connections and a burst of ${BURST} messages`, () =>
  withSite(async (site) => {
    const idle = await settled(site);
    console.log(`idle ${(idle / MIB).toFixed(1)} MiB`);
    if (isExecutable) assertLessOrEqual(idle, IDLE_BYTES_MAX);

    let before = idle;
    const junkBoth = async (count: number) => {
      for (const name of ["broker", "namesrv"]) {
        await junk(site.server.port(name), count / 2);
      }
    };
    if (!isExecutable) {
      // V8 takes a young generation once and keeps it, whatever comes.
      await junkBoth(JUNK / 2);
      before = await settled(site);
    }
    await junkBoth(JUNK);
    const peakOfJunk = residentBytes(site.server.pid);
    const afterJunk = await settled(site);
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
