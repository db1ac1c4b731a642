/** One broker with very many topics, groups, connections and held pulls, and what it costs. */
import { assert, assertEquals } from "@std/assert";
import { readdirSync, readlinkSync } from "node:fs";
import { encodeHeartbeatData } from "../../src/protocol/body/heartbeat_body.ts";
import { Latencies } from "../bench/latencies.ts";
import { startBrokerProcess } from "../support/broker_process.ts";
import { eventually } from "../support/eventually.ts";
import type { PocketMQProcess } from "../support/pocketmq_process.ts";
import { residentBytes } from "../support/process_figures.ts";
import { RawClient } from "../support/raw_client.ts";

export const QUEUES = 8;
const SENDERS = 8;
const SENDS_AT_ONCE = 64;
const LATENCY_SAMPLES = 4_000;
const HELD_MS = 600_000;
const HEART_BEAT = 34;
const UPDATE_CONSUMER_OFFSET = 15;
const BODY = new Uint8Array(100);

/** How much of everything there is. */
export interface GrowthSize {
  readonly topics: number;
  readonly groups: number;
  /** Each with a group member and a held pull. */
  readonly connections: number;
}

/** What it costs; milliseconds and bytes. */
export interface GrowthFigures {
  readonly emptyStartMs: number;
  /** One message for each queue of topics that are not there. */
  readonly createMs: number;
  /** The same when they are. */
  readonly writeMs: number;
  readonly killedStartMs: number;
  readonly cleanStartMs: number;
  readonly stopMs: number;
  readonly residentBytes: number;
  readonly storeFiles: number;
  readonly sockets: number;
  readonly sendP50: number;
  readonly sendP99: number;
  readonly pullP50: number;
  readonly pullP99: number;
  /** The slowest send while topics, groups and metrics are listed, and the listings. */
  readonly sendMaxWhileListed: number;
  readonly topicsMs: number;
  readonly groupsMs: number;
  readonly metricsMs: number;
}

/** Everything of `size` in one store under `folder`, killed once and stopped once. */
export async function growthFigures(
  folder: string,
  size: GrowthSize,
): Promise<GrowthFigures> {
  const start = () =>
    startBrokerProcess(
      folder,
      "mappedFileSizeCommitLog=64M",
      "autoCreateSubscriptionGroup=true",
    );
  let broker = await start();
  const held: RawClient[] = [];
  try {
    const emptyStartMs = broker.ready.ms;
    const createMs = await writeEveryQueue(broker, size);
    held.push(...await join(broker, size));
    const figures = await measure(broker, size);
    // What is killed has just been written, all over.
    const writeMs = await writeEveryQueue(broker, size);
    await broker.stop("SIGKILL");
    broker = await start();
    const killedStartMs = broker.ready.ms;
    await checkEnds(broker, size, 2);
    const stoppedAt = performance.now();
    assertEquals(await broker.stop("SIGTERM"), 0, broker.stderr);
    const stopMs = performance.now() - stoppedAt;
    broker = await start();
    await checkEnds(broker, size, 2);
    return {
      emptyStartMs,
      createMs,
      writeMs,
      killedStartMs,
      cleanStartMs: broker.ready.ms,
      stopMs,
      ...figures,
    };
  } finally {
    for (const it of held) it.close();
    await broker.stop("SIGKILL");
  }
}

function topicOf(number: number): string {
  return `growth-${number}`;
}

/** One message for each queue of each topic; one that is not there is made. Milliseconds. */
async function writeEveryQueue(
  broker: PocketMQProcess,
  { topics }: GrowthSize,
): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  const work = async (client: RawClient) => {
    while (next < topics * QUEUES) {
      const numbers: number[] = [];
      while (numbers.length < SENDS_AT_ONCE && next < topics * QUEUES) {
        numbers.push(next++);
      }
      const answers = await Promise.all(
        numbers.map((it) =>
          client.send(topicOf(it % topics), Math.floor(it / topics), BODY)
        ),
      );
      for (const it of answers) assertEquals(it.code, 0, it.remark ?? "");
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, async () => {
    const client = await RawClient.open(broker.address("broker"));
    await work(client);
    client.close();
  }));
  return performance.now() - startedAt;
}

/** Groups with a position in each queue, and members that wait at the end of a queue. */
async function join(
  broker: PocketMQProcess,
  { topics, groups, connections }: GrowthSize,
): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  for (let number = 0; number < Math.max(groups, connections); number++) {
    const topic = topicOf(number % topics);
    const group = `growth-readers-${number % groups}`;
    if (number < connections) {
      const client = await RawClient.open(broker.address("broker"));
      clients.push(client);
      await beat(client, `client-${number}`, group, topic);
      // Answered when a message comes, or with the end of the connection.
      client.pull(group, topic, 0, 1, HELD_MS).catch(() => {});
    }
    const client = clients[number % clients.length]!;
    if (number >= groups) continue;
    await Promise.all(
      Array.from(
        { length: QUEUES },
        (_, queueId) =>
          client.invoke(UPDATE_CONSUMER_OFFSET, {
            consumerGroup: group,
            topic,
            queueId: String(queueId),
            commitOffset: "1",
          }),
      ),
    );
  }
  return clients;
}

async function beat(
  client: RawClient,
  clientID: string,
  groupName: string,
  topic: string,
): Promise<void> {
  const answer = await client.invoke(
    HEART_BEAT,
    {},
    encodeHeartbeatData({
      clientID,
      heartbeatFingerprint: 0,
      withoutSub: false,
      producerDataSet: [],
      consumerDataSet: [{
        groupName,
        consumeType: "CONSUME_PASSIVELY",
        messageModel: "CLUSTERING",
        consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
        unitMode: false,
        subscriptionDataSet: [{
          topic,
          subString: "*",
          tagsSet: [],
          codeSet: [],
          subVersion: 1,
          expressionType: "TAG",
          classFilterMode: false,
        }],
      }],
    }),
  );
  assertEquals(answer.code, 0, answer.remark ?? "");
}

async function measure(broker: PocketMQProcess, size: GrowthSize) {
  await eventually(
    async () => await metric(broker, "pocketmq_held_pulls") >= size.connections,
    { timeoutMs: 30_000, message: "every pull is held" },
  );
  const client = await RawClient.open(broker.address("broker"));
  let number = 0;
  // Never queue 0: there somebody waits.
  const place = () => {
    number += 7_919;
    return {
      topic: topicOf(number % size.topics),
      queueId: 1 + number % (QUEUES - 1),
    };
  };
  const send = async () => {
    const { topic, queueId } = place();
    const startedAt = performance.now();
    const { code, remark } = await client.send(topic, queueId, BODY);
    assertEquals(code, 0, remark ?? "");
    return performance.now() - startedAt;
  };
  const pull = async () => {
    const { topic, queueId } = place();
    const startedAt = performance.now();
    const { code, remark } = await client.pull(
      "growth-readers-0",
      topic,
      queueId,
      0,
    );
    assertEquals(code, 0, remark ?? "");
    return performance.now() - startedAt;
  };
  const sends = await latenciesOf(send);
  const pulls = await latenciesOf(pull);
  const { files, sockets } = descriptorsOf(broker.pid);
  const figures = {
    residentBytes: residentBytes(broker.pid),
    storeFiles: files,
    sockets,
    sendP50: sends.p50,
    sendP99: sends.p99,
    pullP50: pulls.p50,
    pullP99: pulls.p99,
    ...await listed(broker, send),
  };
  client.close();
  return figures;
}

async function latenciesOf(request: () => Promise<number>) {
  const latencies = new Latencies();
  for (let count = 0; count < LATENCY_SAMPLES; count++) {
    latencies.add(await request());
  }
  return latencies.percentiles();
}

/** How long the listings take, and a send that meets one. */
async function listed(broker: PocketMQProcess, send: () => Promise<number>) {
  let slowest = 0;
  let isOver = false;
  const sending = (async () => {
    while (!isOver) slowest = Math.max(slowest, await send());
  })();
  const times: number[] = [];
  for (const path of ["/admin/topics", "/admin/groups", "/metrics"]) {
    const startedAt = performance.now();
    const answer = await fetch(`http://${broker.address("admin")}${path}`);
    assertEquals(answer.status, 200, await answer.text());
    times.push(performance.now() - startedAt);
  }
  isOver = true;
  await sending;
  const [topicsMs, groupsMs, metricsMs] = times as [number, number, number];
  return { sendMaxWhileListed: slowest, topicsMs, groupsMs, metricsMs };
}

/** Nothing is missing: the last queue of every hundredth topic ends where it should at least. */
async function checkEnds(
  broker: PocketMQProcess,
  { topics }: GrowthSize,
  endMin: number,
): Promise<void> {
  const client = await RawClient.open(broker.address("broker"));
  for (let number = 0; number < topics; number += 100) {
    for (let queueId = 0; queueId < QUEUES; queueId++) {
      const answer = await client.pull(
        "growth-readers-0",
        topicOf(number),
        queueId,
        endMin - 1,
      );
      assertEquals(
        answer.code,
        0,
        `${topicOf(number)} ${queueId}: ${answer.remark}`,
      );
    }
  }
  client.close();
}

async function metric(broker: PocketMQProcess, name: string): Promise<number> {
  const answer = await fetch(`http://${broker.address("admin")}/metrics`);
  const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m")
    .exec(await answer.text());
  assert(line !== null, `no metric ${name}`);
  return Number(line[1]);
}

function descriptorsOf(pid: number): { files: number; sockets: number } {
  let files = 0;
  let sockets = 0;
  for (const it of readdirSync(`/proc/${pid}/fd`)) {
    let target = "";
    try {
      target = readlinkSync(`/proc/${pid}/fd/${it}`);
    } catch {
      // Closed meanwhile.
    }
    if (target.startsWith("socket:")) sockets++;
    else if (/\/(?:commitlog|consumequeue|index)\//.test(target)) files++;
  }
  return { files, sockets };
}
