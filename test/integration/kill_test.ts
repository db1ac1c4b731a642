/**
 * kill -9 at random under a SYNC_FLUSH load: every acknowledged message is
 * there, queue offsets are dense and unique, and the queues are what the log says.
 * TEST_KILL_ROUNDS sets the number of rounds (5 by default).
 */
import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { test } from "node:test";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { runPocketMQ } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { type Site, withSite } from "../support/site.ts";

const ROUNDS = Number(process.env.TEST_KILL_ROUNDS ?? 5);
const TOPIC = "KillTopic";
const QUEUES = 4;
const SENDERS = 4;
const IN_FLIGHT = 8;
const text = new TextDecoder();

/** Acknowledged bodies by `queueId@queueOffset`. */
type Acknowledged = Map<string, string>;

/** Small generator with a printed seed, so that a failing round can be told apart. */
function xorshift(seed: number): (bound: number) => number {
  let state = seed | 0 || 1;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}

/** Sends until the connection breaks; returns how many were acknowledged. */
async function sendUntilKilled(
  site: Site,
  sender: string,
  random: (bound: number) => number,
  acknowledged: Acknowledged,
): Promise<void> {
  const client = await RawClient.open(site.broker);
  let number = 0;
  const lane = async () => {
    for (;;) {
      const body = `${sender}-${number++}-${"x".repeat(random(3_000))}`;
      const answer = await client.send(
        TOPIC,
        random(QUEUES),
        new TextEncoder().encode(body),
      );
      assertEquals(answer.code, 0, answer.remark ?? "");
      const place =
        `${answer.extFields.queueId}@${answer.extFields.queueOffset}`;
      assert(!acknowledged.has(place), `${place} was given twice`);
      acknowledged.set(place, body);
    }
  };
  await Promise.all(
    Array.from(
      { length: IN_FLIGHT },
      () =>
        lane().catch((error) => {
          if (!String(error).includes("connection was closed")) throw error;
        }),
    ),
  );
}

/** Every record of one queue, in queue order. */
async function readQueue(
  client: RawClient,
  queueId: number,
): Promise<string[]> {
  const bodies: string[] = [];
  for (;;) {
    const answer = await client.pull("checker", TOPIC, queueId, bodies.length);
    if (answer.code !== 0) {
      assert([19, 21].includes(answer.code), `${answer.code} ${answer.remark}`);
      return bodies;
    }
    for (let at = 0; at < answer.body.length;) {
      const record = decodeMessageRecord(answer.body, at);
      assertEquals(record.queueOffset, bodies.length);
      bodies.push(text.decode(record.body));
      at += record.storeSize;
    }
  }
}

test(`kill -9 under a SYNC_FLUSH load loses nothing [rounds=${ROUNDS}]`, async () => {
  const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
  console.log(`seed=${seed}`);
  const random = xorshift(seed);
  const acknowledged: Acknowledged = new Map();
  await withSite(async (site) => {
    assertEquals(
      (await site.run("topic", "create", TOPIC, "--queues", String(QUEUES)))
        .code,
      0,
    );
    for (let round = 1; round <= ROUNDS; round++) {
      const before = acknowledged.size;
      const load = Promise.all(
        Array.from(
          { length: SENDERS },
          (_, index) =>
            sendUntilKilled(site, `r${round}s${index}`, random, acknowledged),
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 200 + random(1_000)));
      await site.restart("SIGKILL");
      await load;
      assert(acknowledged.size > before, "nothing was acknowledged");
      const client = await RawClient.open(site.broker);
      let stored = 0;
      for (let queueId = 0; queueId < QUEUES; queueId++) {
        const bodies = await readQueue(client, queueId);
        assertEquals(new Set(bodies).size, bodies.length, "a body came twice");
        stored += bodies.length;
        for (const [place, body] of acknowledged) {
          const [queue, offset] = place.split("@").map(Number);
          if (queue === queueId) {
            assertEquals(bodies[offset!], body, `seed=${seed} ${place}`);
          }
        }
      }
      client.close();
      console.log(
        `round ${round}: ${acknowledged.size} acknowledged, ${stored} stored`,
      );
    }
    assertEquals(await site.server.stop(), 0);
    const verified = await runPocketMQ(["store", "verify", site.storePath]);
    assertEquals(verified.code, 0, verified.stdout + verified.stderr);
  }, [
    "--set",
    "flushDiskType=SYNC_FLUSH",
    "--set",
    "mappedFileSizeCommitLog=4194304",
    "--set",
    "maxMessageSize=65536",
  ]);
});
