/** POP of the real program: over kill -9, and over the promotion of a slave with thousands in flight. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { eventually } from "../support/eventually.ts";
import { FailoverBroker, inSync } from "../support/failover_site.ts";
import { PocketMQProcess } from "../support/pocketmq_process.ts";
import { ackFields, type Popped, poppedOf } from "../support/popped.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

const TOPIC = "Popped";
const GROUP = "pop-group";
const bytesOf = (body: string) => new TextEncoder().encode(body);

async function send(client: RawClient, from: number, to: number) {
  for (; from < to; from += 100) {
    await Promise.all(Array.from({ length: 100 }, async (_, index) => {
      const text = `m${from + index}`;
      const sent = await client.send(TOPIC, index % 4, bytesOf(text));
      assertEquals(sent.code, 0, sent.remark ?? "");
    }));
  }
}

async function pop(
  client: RawClient,
  invisibleMs: number,
  pollMs = 0,
): Promise<Popped[]> {
  const answer = await client.invoke(RequestCode.POP_MESSAGE, {
    consumerGroup: GROUP,
    topic: TOPIC,
    queueId: "-1",
    maxMsgNums: "32",
    invisibleTime: String(invisibleMs),
    pollTime: String(pollMs),
    bornTime: String(Date.now()),
    initMode: "0",
  });
  assert([0, 210].includes(answer.code), answer.remark ?? "");
  return poppedOf(answer, GROUP);
}

async function ack(client: RawClient, popped: readonly Popped[]) {
  await Promise.all(popped.map(async (it) => {
    const answer = await client.invoke(RequestCode.ACK_MESSAGE, ackFields(it));
    assertEquals(answer.code, 0, answer.remark ?? "");
  }));
}

/** Pops and acknowledges until all of `wanted` came; what came, by text. */
async function drain(
  client: RawClient,
  wanted: number,
): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  await eventually(async () => {
    const popped = await pop(client, 60_000, 500);
    await ack(client, popped);
    for (const { text } of popped) times.set(text, (times.get(text) ?? 0) + 1);
    return times.size >= wanted;
  }, { timeoutMs: 60_000, message: `${wanted} messages come` });
  return times;
}

test("what is popped and not acknowledged comes again over kill -9, what is acknowledged does not", () =>
  withTempDirectory(async (folder) => {
    const broker = new FailoverBroker(folder, "", [
      "flushConsumerOffsetInterval=60000",
    ]);
    const settled = new Set<string>();
    try {
      await broker.start();
      await send(await RawClient.open(broker.address), 0, 400);
      for (let round = 0; round < 3; round++) {
        const client = await RawClient.open(broker.address);
        const popped = [
          ...await pop(client, 2_500),
          ...await pop(client, 2_500),
        ];
        assertEquals(popped.filter((it) => settled.has(it.text)), []);
        const done = popped.filter((_, index) => index % 2 === 0);
        await ack(client, done);
        for (const it of done) settled.add(it.text);
        await broker.kill();
        await broker.start();
      }
      const client = await RawClient.open(broker.address);
      const came = await drain(client, 400 - settled.size);
      assertEquals([...came.keys()].filter((it) => settled.has(it)), []);
      assertEquals([...came].filter(([, times]) => times > 1), []);
      assertEquals((await pop(client, 1_000)).length, 0);
      client.close();
    } finally {
      await broker.process?.stop();
    }
  }));

const IN_FLIGHT = 3_000;

/** Milliseconds of the middle one and of one in a hundred. */
function figures(ms: number[]): string {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)]!;
  return `${at(0.5).toFixed(2)} ms, p99 ${at(0.99).toFixed(2)} ms`;
}

/** Everything is popped, every second message acknowledged. */
async function popAll(client: RawClient, invisibleMs: number) {
  const popMs: number[] = [];
  const ackMs: number[] = [];
  const open: string[] = [];
  for (let count = 0; count < IN_FLIGHT;) {
    const begun = performance.now();
    const popped = await pop(client, invisibleMs);
    popMs.push(performance.now() - begun);
    count += popped.length;
    assert(popped.length > 0);
    for (const [index, it] of popped.entries()) {
      if (index % 2 === 1) open.push(it.text);
    }
    const acked = performance.now();
    await ack(client, popped.filter((_, index) => index % 2 === 0));
    ackMs.push((performance.now() - acked) / Math.ceil(popped.length / 2));
  }
  console.log(
    `${IN_FLIGHT} popped, a POP of 32 took ${
      figures(popMs)
    }; an acknowledgement ${figures(ackMs)}`,
  );
  return open;
}

test("thousands of popped messages go on with the promoted slave: those that were not acknowledged", () =>
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
    const master = new FailoverBroker(`${folder}/a`, namesrv, [
      "brokerRole=SYNC_MASTER",
    ]);
    const slave = new FailoverBroker(`${folder}/b`, namesrv, [
      "brokerRole=SLAVE",
      "brokerId=1",
    ]);
    try {
      await master.start();
      await slave.start();
      await inSync(master);
      const client = await RawClient.open(master.address);
      await send(client, 0, IN_FLIGHT);
      const open = await popAll(client, 6_000);
      client.close();
      await master.kill();
      const promoted = await slave.promote();
      assertEquals(promoted.code, 0, promoted.stderr);
      const reader = await RawClient.open(slave.address);
      const came = await drain(reader, open.length);
      assertEquals([...came.keys()].toSorted(), open.toSorted());
      assertEquals([...came].filter(([, times]) => times > 1), []);
      reader.close();
    } finally {
      await master.process?.stop();
      await slave.process?.stop();
      await server.stop();
    }
  }));
