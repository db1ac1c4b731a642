/** Delayed messages of the executable: from a shell, over a stop, over kill -9. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { type Site, withSite } from "../support/site.ts";

const TOPIC = "DelayTopic";
const COUNT = 2_000;
const IN_FLIGHT = 100;
const ARGS = [
  "--set",
  "messageDelayLevel=1s 2s 1h",
  "--set",
  "flushDelayOffsetInterval=500",
];
const text = new TextDecoder();

interface Delivered {
  readonly body: string;
  readonly bornTimestamp: number;
  readonly storeTimestamp: number;
}

/** Every record of the topic's only queue, in queue order. */
async function delivered(site: Site): Promise<Delivered[]> {
  const client = await RawClient.open(site.broker);
  const all: Delivered[] = [];
  try {
    for (;;) {
      const answer = await client.pull("checker", TOPIC, 0, all.length);
      if (answer.code !== 0) return all;
      for (let at = 0; at < answer.body.length;) {
        const record = decodeMessageRecord(answer.body, at);
        all.push({ ...record, body: text.decode(record.body) });
        at += record.storeSize;
      }
    }
  } finally {
    client.close();
  }
}

/** Sends bodies `from` to `from + COUNT - 1` with a level. */
async function sendAll(site: Site, from: number, level: number): Promise<void> {
  const client = await RawClient.open(site.broker);
  const bytes = new TextEncoder();
  for (let sent = 0; sent < COUNT; sent += IN_FLIGHT) {
    const answers = await Promise.all(
      Array.from({ length: IN_FLIGHT }, (_, index) =>
        client.send(
          TOPIC,
          0,
          bytes.encode(`m${from + sent + index}`),
          `DELAY\u0001${level}\u0002`,
        )),
    );
    assertEquals(answers.filter((it) => it.code !== 0), []);
  }
  client.close();
}

const bodiesOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `m${from + index}`);

test("produce --delay-level, a stop and kill -9: each message when it is due, none lost", async () => {
  await withSite(async (site) => {
    const made = await site.run("topic", "create", TOPIC, "--queues", "1");
    assertEquals(made.code, 0, made.stderr);
    const far = await site.run("produce", TOPIC, "far", "--delay-level", "3");
    assertEquals(far.code, 0, far.stderr);

    // A clean stop, while some are due and some are not: none twice, in order.
    await sendAll(site, 0, 1);
    await site.restart();
    const firstDone = async () => (await delivered(site)).length >= COUNT;
    await eventually(firstDone, { timeoutMs: 20_000 });
    const first = await delivered(site);
    assertEquals(first.map((it) => it.body), bodiesOf(0, COUNT));

    // kill -9 in the middle: none lost, and no more than an interval's twice.
    await sendAll(site, COUNT, 2);
    const isBegun = async () => (await delivered(site)).length > COUNT;
    await eventually(isBegun, { timeoutMs: 20_000 });
    await site.restart("SIGKILL");
    const all = new Set(bodiesOf(0, 2 * COUNT));
    const isDone = async () =>
      new Set((await delivered(site)).map((it) => it.body)).size === all.size;
    await eventually(isDone, { timeoutMs: 20_000 });
    const bodies = (await delivered(site)).map((it) => it.body);
    assertEquals(new Set(bodies), all);
    assert(bodies.length <= 3 * COUNT, `${bodies.length}`);

    const sent = await site.run("produce", TOPIC, "cli", "--delay-level", "1");
    assertEquals(sent.code, 0, sent.stderr);
    const isThere = async () => (await delivered(site)).at(-1)!.body === "cli";
    await eventually(isThere, { timeoutMs: 20_000 });
    const last = (await delivered(site)).at(-1)!;
    assert(last.storeTimestamp - last.bornTimestamp >= 1_000);
    assert(!bodies.includes("far"));
  }, ARGS);
});
