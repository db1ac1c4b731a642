/**
 * Delayed and retrying messages, and open transactions, of a master that is killed: the promoted
 * slave delivers each, and repeats no more than what its master delivered within one flush and one
 * metadata-sync interval.
 */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { MessageExt } from "../../src/model/message_ext.ts";
import { decodeMessageId } from "../../src/model/message_id.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { decodeKVTable } from "../../src/protocol/body/kv_table.ts";
import { eventually } from "../support/eventually.ts";
import { FailoverBroker, inSync } from "../support/failover_site.ts";
import { PocketMQProcess } from "../support/pocketmq_process.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import {
  COMMIT,
  type Half,
  ROLLBACK,
  TransactionClient,
} from "../support/transaction_client.ts";

/** Of each kind: delayed, and sent back by a consumer. */
const PENDING = 5_000;
const IN_FLIGHT = 100;
const HALF_MESSAGES = 30;
const FLUSH_MS = 500;
/** A slave of ours asks within a second of a change. */
const METADATA_SYNC_MS = 1_000;
const INTERVAL_MS = FLUSH_MS + METADATA_SYNC_MS;
/** Level 1 is delivered all the while, level 2 waits for the promoted one. */
const SHORT = 1;
const LONG = 2;
/** However slow the machine is; a slave's queues go by its own levels. */
const LEVELS_OF_MASTER = "messageDelayLevel=1s 1h";
const LEVELS_OF_SLAVE = "messageDelayLevel=1s 1s";
const SETTINGS = [
  `flushDelayOffsetInterval=${FLUSH_MS}`,
  "transactionTimeOut=1000",
  "transactionCheckInterval=500",
];
const GROUP = "late-group";
const DELAYED = "Later";
const RETRIES = `%RETRY%${GROUP}`;
const text = new TextDecoder();
const bytesOf = (body: string) => new TextEncoder().encode(body);

/** What a client was told is stored. */
class Sender {
  readonly acknowledged: string[] = [];

  constructor(readonly client: RawClient) {}

  async delay(body: string, level: number): Promise<void> {
    const properties = `DELAY\u0001${level}\u0002`;
    const sent = await this.client.send(DELAYED, 0, bytesOf(body), properties);
    if (sent.code === 0) this.acknowledged.push(body);
  }

  /** Sends a message and, as its consumer, sends it back. */
  async retry(body: string, level: number): Promise<void> {
    const sent = await this.client.send("Origin", 0, bytesOf(body));
    if (sent.code !== 0) return;
    const { phyOffset } = decodeMessageId(sent.extFields.msgId!)!;
    const back = await this.client.invoke(36, {
      offset: String(phyOffset),
      group: GROUP,
      delayLevel: String(level),
      originTopic: "Origin",
      unitMode: "false",
      maxReconsumeTimes: "16",
    });
    if (back.code === 0) this.acknowledged.push(body);
  }
}

/** `PENDING` messages of each kind that wait for long. */
async function sendPending(sender: Sender): Promise<void> {
  for (let from = 0; from < PENDING; from += IN_FLIGHT) {
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, (_, index) => [
        sender.delay(`delayed${from + index}`, LONG),
        sender.retry(`retrying${from + index}`, LONG),
      ]).flat(),
    );
  }
  assertEquals(sender.acknowledged.length, 2 * PENDING);
}

/** Messages that are due soon, one of each kind every few milliseconds, until the connection ends. */
async function trickle(sender: Sender): Promise<void> {
  try {
    for (let number = 0;; number++) {
      await Promise.all([
        sender.delay(`short-delayed${number}`, SHORT),
        sender.retry(`short-retrying${number}`, SHORT),
      ]);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
  } catch {
    // Its master is gone.
  }
}

/** Next offset to deliver and end of a level. */
async function progress(
  client: RawClient,
  level: number,
): Promise<[delivered: number, end: number]> {
  const info = decodeKVTable((await client.invoke(28)).body);
  const [delivered, end] = info.get(`scheduleMessageOffset_${level}`)!
    .split(",").map(Number);
  return [delivered!, end!];
}

async function readQueue(
  client: RawClient,
  topic: string,
): Promise<MessageExt[]> {
  const all: MessageExt[] = [];
  for (;;) {
    const answer = await client.pull("checker", topic, 0, all.length);
    if (answer.code !== 0) return all;
    for (let at = 0; at < answer.body.length;) {
      const record = decodeMessageRecord(answer.body, at);
      all.push({ ...record, body: record.body.slice() });
      at += record.storeSize;
    }
  }
}

/** Half messages, of which every third is committed at once. */
async function openTransactions(address: string): Promise<Half[]> {
  const client = await TransactionClient.open(address);
  const halves: Half[] = [];
  for (let number = 0; number < HALF_MESSAGES; number++) {
    halves.push(await client.send(`tx${number}`));
    if (number % 3 === 0) await client.end(halves[number]!, COMMIT);
  }
  client.close();
  return halves;
}

/** Answers the checks about what was left open, and finds each committed one once. */
async function settleTransactions(address: string): Promise<void> {
  const client = await TransactionClient.open(address);
  const numbers = Array.from({ length: HALF_MESSAGES }, (_, number) => number);
  const open = numbers.filter((it) => it % 3 !== 0);
  await eventually(() => open.every((it) => client.asked(`tx${it}`)), {
    timeoutMs: 30_000,
    message: "every open transaction is asked about",
  });
  for (const number of open) {
    const end = number % 3 === 1 ? COMMIT : ROLLBACK;
    await client.end(client.asked(`tx${number}`)!, end);
  }
  await eventually(() => client.isWorkedOff(), { timeoutMs: 30_000 });
  const settled = numbers.filter((it) => it % 3 === 0);
  assertEquals(settled.filter((it) => client.asked(`tx${it}`)), []);
  assertEquals(
    (await client.delivered()).sort(),
    numbers.filter((it) => it % 3 !== 2).map((it) => `tx${it}`).sort(),
  );
  client.close();
}

/** Waits until the levels are worked off; all deliveries, by body. */
async function deliveries(
  client: RawClient,
): Promise<Map<string, MessageExt[]>> {
  for (const level of [SHORT, LONG]) {
    await eventually(async () => {
      const [delivered, end] = await progress(client, level);
      return delivered === end;
    }, { timeoutMs: 60_000, message: `level ${level} is delivered` });
  }
  const byBody = new Map<string, MessageExt[]>();
  for (const topic of [DELAYED, RETRIES]) {
    for (const it of await readQueue(client, topic)) {
      const body = text.decode(it.body);
      byBody.set(body, [...byBody.get(body) ?? [], it]);
    }
  }
  return byBody;
}

/** Every message is there, and only what was delivered last before the kill is there twice. */
function check(
  byBody: ReadonlyMap<string, MessageExt[]>,
  acknowledged: readonly string[],
  killedAtMs: number,
  diedAtMs: number,
): void {
  assertEquals(acknowledged.filter((it) => !byBody.has(it)), []);
  const ofMaster = [...byBody.values()].flat()
    .filter((it) => it.storeTimestamp <= diedAtMs);
  const late = ofMaster.filter((it) =>
    it.storeTimestamp >= killedAtMs - INTERVAL_MS
  );
  const twice = [...byBody].filter(([, copies]) => copies.length > 1);
  console.log(
    `${byBody.size} delivered, ${ofMaster.length} of them by the killed one, ` +
      `${late.length} within the bound; ${twice.length} twice`,
  );
  // Else whatever is repeated would be within the bound.
  assert(ofMaster.length > late.length + 100, "it delivered for too short");
  assert(twice.length <= late.length);
  for (const [body, [first, ...others]] of twice) {
    assertEquals(others.length, 1, body);
    assert(first!.storeTimestamp <= diedAtMs, body);
    const beforeMs = killedAtMs - first!.storeTimestamp;
    assert(beforeMs <= INTERVAL_MS, `${body}: ${beforeMs} ms before the kill`);
  }
}

/** The master is killed while one level is delivered and the other one waits. */
async function fail(master: FailoverBroker, slave: FailoverBroker) {
  const short = new Sender(await RawClient.open(master.address));
  const trickling = trickle(short);
  const long = new Sender(await RawClient.open(master.address));
  await openTransactions(master.address);
  await sendPending(long);
  const { client } = long;
  await eventually(async () => (await progress(client, SHORT))[0] > 150, {
    timeoutMs: 30_000,
    message: "level 1 is delivered",
  });
  const begun = performance.now();
  await eventually(() => performance.now() - begun > INTERVAL_MS, {
    message: "it delivers for longer than the bound",
  });
  const [delivered, end] = await progress(client, LONG);
  assertEquals([delivered, end], [0, 2 * PENDING], "all are pending");
  const killedAtMs = Date.now();
  await master.kill();
  const diedAtMs = Date.now();
  await trickling;
  client.close();
  const promoted = await slave.promote();
  assertEquals(promoted.code, 0, promoted.stderr);
  return {
    acknowledged: [...short.acknowledged, ...long.acknowledged],
    killedAtMs,
    diedAtMs,
  };
}

test("10,000 delayed and retrying messages and open transactions go on with the promoted slave", () =>
  withTempDirectory(async (folder) => {
    const server = await PocketMQProcess.start([
      "namesrv",
      "--namesrv-port",
      "0",
      "--bind",
      "127.0.0.1",
      "--set",
      `kvConfigPath=${folder}/kvConfig.json`,
    ]);
    const namesrv = server.address("namesrv");
    const a = new FailoverBroker(`${folder}/a`, namesrv, [
      "brokerRole=SYNC_MASTER",
      LEVELS_OF_MASTER,
      ...SETTINGS,
    ]);
    const b = new FailoverBroker(`${folder}/b`, namesrv, [
      "brokerRole=SLAVE",
      "brokerId=1",
      LEVELS_OF_SLAVE,
      ...SETTINGS,
    ]);
    try {
      await a.start();
      await b.start();
      await inSync(a);
      const { acknowledged, killedAtMs, diedAtMs } = await fail(a, b);
      await settleTransactions(b.address);
      const reader = await RawClient.open(b.address);
      const byBody = await deliveries(reader);
      reader.close();
      check(byBody, acknowledged, killedAtMs, diedAtMs);
    } finally {
      await a.process?.stop();
      await b.process?.stop();
      await server.stop();
    }
  }));
