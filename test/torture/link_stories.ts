/** Thin, idle and capped links, in real time. */
import { assert } from "@std/assert";
import type { PocketMQProcess } from "../support/pocketmq_process.ts";
import {
  assertNeverReconnected,
  caughtUp,
  endsOf,
  fill,
  sendOne,
  sleep,
  type Story,
  type Wire,
  withSlave,
  withWire,
} from "./story.ts";

const THIN_BYTES_PER_SECOND = 6 * 1024;
const THIN_BEHIND_BYTES = 5_000_000;
/** Between two looks there must have been progress. */
const THIN_LOOK_MS = 10_000;
const THIN_MAX_MS = 1_200_000;

/** 5 MB behind on 6 KiB/s, with default heartbeats. */
export const thinStory: Story = {
  name: "thin",
  promise: "5 MB behind on 6 KiB/s: steady progress on one connection",
  isQuiet: true,
  run: () =>
    withWire([], async (wire) => {
      wire.link.bytesPerSecond = THIN_BYTES_PER_SECOND;
      await fill(wire.master, THIN_BEHIND_BYTES);
      return await withSlave(wire, (slave) => thin(wire, slave));
    }),
};

async function thin(wire: Wire, slave: PocketMQProcess): Promise<string> {
  const { master, link } = wire;
  const startedAt = Date.now();
  let least = Infinity;
  let before = 0;
  for (;;) {
    await sleep(THIN_LOOK_MS);
    const ends = await endsOf(master, slave);
    if (ends.slave === ends.master) break;
    least = Math.min(least, ends.slave - before);
    assert(ends.slave > before, `no progress in 10 s at ${ends.slave}`);
    before = ends.slave;
    await assertNeverReconnected(link, slave);
    assert(Date.now() - startedAt < THIN_MAX_MS, `only ${ends.slave} so far`);
  }
  const seconds = (Date.now() - startedAt) / 1000;
  const sentAt = Date.now();
  await sendOne(master);
  await caughtUp(master, slave);
  const freshMs = Date.now() - sentAt;
  await assertNeverReconnected(link, slave);
  const { bytesFromTarget } = link;
  const share = bytesFromTarget / seconds / THIN_BYTES_PER_SECOND;
  return `${bytesFromTarget} bytes in ${seconds.toFixed(0)} s (${
    (share * 100).toFixed(0)
  } % of the link), at least ${least} bytes in 10 s, 0 reconnects, ` +
    `a new message after ${freshMs} ms`;
}

const IDLE_MS = 300_000;
const SELDOM_MS = 15_000;

/** Nothing is sent for five minutes. */
export const idleStory: Story = {
  name: "idle",
  promise: "nothing to do for 5 minutes: no reconnect",
  isQuiet: true,
  run: () => idle(IDLE_MS),
};

/** One message every 15 s for five minutes. */
export const seldomStory: Story = {
  name: "seldom",
  promise: "one message each 15 s for 5 minutes: no reconnect",
  isQuiet: true,
  run: () => idle(SELDOM_MS),
};

function idle(everyMs: number): Promise<string> {
  return withWire([], (wire) =>
    withSlave(wire, async (slave) => {
      const { master, link } = wire;
      await sendOne(master);
      await caughtUp(master, slave);
      for (let passedMs = 0; passedMs < IDLE_MS; passedMs += everyMs) {
        await sleep(everyMs);
        await sendOne(master);
        await caughtUp(master, slave);
      }
      await assertNeverReconnected(link, slave);
      return `0 reconnects, ${link.bytesFromTarget} bytes from the master, ` +
        `${link.bytesToTarget} from the slave`;
    }));
}

const CAP_BYTES_PER_SECOND = 2_000_000;
const CAP_BEHIND_BYTES = 100_000_000;
const CAP_MEASURE_MS = 10_000;

/** A cap on catch-up that is changed while it runs. */
export const capStory: Story = {
  name: "cap",
  promise:
    "maxHaTransferByteInSecond holds within 10 %, also when changed meanwhile",
  isQuiet: true,
  run: () =>
    withWire([
      "haFlowControlEnable=true",
      `maxHaTransferByteInSecond=${CAP_BYTES_PER_SECOND}`,
    ], async (wire) => {
      await fill(wire.master, CAP_BEHIND_BYTES);
      return await withSlave(wire, () => capped(wire));
    }),
};

async function capped(wire: Wire): Promise<string> {
  const rates: string[] = [];
  for (const factor of [1, 2]) {
    const cap = factor * CAP_BYTES_PER_SECOND;
    await setCap(wire.master, cap);
    await sleep(2_000); // What was allowed before is used up.
    const { bytesFromTarget: before } = wire.link;
    const startedAt = performance.now();
    let slowestMs = 0;
    while (performance.now() - startedAt < CAP_MEASURE_MS) {
      const sentAt = performance.now();
      await sendOne(wire.master);
      slowestMs = Math.max(slowestMs, performance.now() - sentAt);
      await sleep(200);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = (wire.link.bytesFromTarget - before) / seconds;
    assert(
      Math.abs(rate - cap) <= cap / 10,
      `${rate.toFixed(0)} bytes/s with a cap of ${cap}`,
    );
    rates.push(
      `${(rate / 1e6).toFixed(2)} of ${cap / 1e6} MB/s (slowest send ${
        slowestMs.toFixed(0)
      } ms)`,
    );
  }
  return rates.join(", then ");
}

async function setCap(master: PocketMQProcess, bytes: number): Promise<void> {
  const answer = await fetch(`http://${master.address("admin")}/admin/config`, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ maxHaTransferByteInSecond: String(bytes) }),
  });
  assert(answer.ok, await answer.text());
}
