/** Where groups stand, whatever happens to the broker, over real sockets (scenarios 91, 94 to 96, 105, 106). */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { cpSync } from "node:fs";
import { test } from "node:test";
import { decodeConsumeStats } from "../../src/protocol/body/consume_stats_body.ts";
import type { RemotingCommand } from "../../src/protocol/remoting_command.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { HEARTBEAT, startBroker } from "./broker_site.ts";

const QUEUE = { consumerGroup: "g", topic: "T", queueId: "0" };
const COPY = { recursive: true, force: true };

/** A broker, and a client of it that is a member of group g. */
async function join(folder: string, options = {}, store = {}) {
  const { address, controller, logger } = await startBroker(
    folder,
    options,
    store,
  );
  const client = await RawClient.open(address);
  const beat = await client.invoke(34, {}, HEARTBEAT);
  assertEquals(beat.code, 0, beat.remark ?? "");
  const end = async () => {
    client.close();
    await controller.stop();
  };
  return { address, client, controller, logger, end };
}

async function send(client: RawClient, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const sent = await client.send("T", 0, new Uint8Array(100));
    assertEquals(sent.code, 0, sent.remark ?? "");
  }
}

function commit(client: RawClient, offset: number): Promise<RemotingCommand> {
  return client.invoke(15, { ...QUEUE, commitOffset: String(offset) });
}

async function position(client: RawClient): Promise<number | undefined> {
  const { extFields } = await client.invoke(14, QUEUE);
  return extFields.offset === undefined ? undefined : Number(extFields.offset);
}

/** Code and next offset of a pull. */
async function pull(client: RawClient, offset: number): Promise<number[]> {
  const { code, extFields } = await client.pull("g", "T", 0, offset);
  return [code, Number(extFields.nextBeginOffset)];
}

/** What the group lacks in all queues, as tools see it. */
async function lag(client: RawClient): Promise<number> {
  const { body } = await client.invoke(208, { consumerGroup: "g" });
  return decodeConsumeStats(body).offsets.reduce(
    (sum, it) => sum + it.brokerOffset - it.consumerOffset,
    0,
  );
}

function reset(client: RawClient, timestamp: number) {
  return client.invoke(222, {
    topic: "T",
    group: "g",
    timestamp: String(timestamp),
    isForce: "true",
  });
}

test("91, 96: after a power cut that took the last message nobody is put to 0, and its offset is not skipped", () =>
  withTempDirectory(async (folder) => {
    const first = await join(`${folder}/a`);
    await send(first.client, 9);
    // What the disk will hold of the store: all but the last message.
    cpSync(`${folder}/a`, `${folder}/cut`, COPY);
    await send(first.client, 1);
    assertEquals((await commit(first.client, 10)).code, 0);
    await first.end();
    cpSync(`${folder}/a/config`, `${folder}/cut/config`, COPY);

    const { client, end, logger } = await join(`${folder}/cut`);
    // A reader that lived on is told the end.
    assertEquals(await pull(client, 10), [21, 9]);
    assertEquals(await pull(client, 11), [21, 9]);
    assertEquals(await lag(client), 0);
    // One that starts again does not miss what takes the free offset.
    assertEquals(await position(client), 9);
    assert(
      logger.lines.some((it) => it.includes("beyond the end of their queues")),
    );
    await send(client, 1);
    assertEquals(await pull(client, 9), [0, 10]);
    assertEquals(await lag(client), 1);
    await end();
  }));

test("94: whoever is answered first while a broker starts is answered with the stored offset", () =>
  withTempDirectory(async (folder) => {
    const small = { mappedFileSizeCommitLog: 16_384, maxMessageSize: 8_192 };
    const first = await join(`${folder}/a`, {}, small);
    const body = new Uint8Array(2_000);
    for (let file = 0; file < 60; file++) {
      const sent = Array.from(
        { length: 7 },
        () => first.client.send("T", 0, body),
      );
      await Promise.all(sent);
    }
    assert(
      first.controller.messageStore.commitLog.mappedFileQueue
        .files.length >= 60,
    );
    assertEquals((await commit(first.client, 400)).code, 0);
    await first.controller.parts.consumerOffsetManager.persist();
    // As kill -9 leaves it: the next start scans.
    cpSync(`${folder}/a`, `${folder}/killed`, COPY);
    const { listenPort } = first.controller.options.broker;
    await first.end();

    let refusedCount = 0;
    const answers = new Set<string>();
    let isOver = false;
    const hammer = async () => {
      while (!isOver) {
        try {
          const client = await RawClient.open(`127.0.0.1:${listenPort}`);
          const [offset, pulled] = await Promise.all([
            position(client),
            pull(client, 400),
          ]);
          answers.add(`${offset}, code ${pulled[0]}`);
          client.close();
        } catch {
          refusedCount++;
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    const hammers = [hammer(), hammer(), hammer()];
    const second = await join(`${folder}/killed`, { listenPort }, small);
    while (answers.size === 0) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    isOver = true;
    await Promise.all(hammers);
    assert(refusedCount > 0, "nobody came before the broker was ready");
    assertEquals([...answers], ["400, code 0"]);
    await second.end();
  }));

test("95: offset -1 of a reader that has no lock moves nothing, whichever way it comes", () =>
  withTempDirectory(async (folder) => {
    const first = await join(folder);
    await send(first.client, 5);
    assertEquals((await commit(first.client, 3)).code, 0);
    assertEquals((await commit(first.client, -1)).code, 29);
    // A pull that commits, as push consumers do.
    const pulled = await first.client.invoke(11, {
      ...QUEUE,
      queueOffset: "-1",
      maxMsgNums: "32",
      sysFlag: "5",
      commitOffset: "-1",
      suspendTimeoutMillis: "0",
      subscription: "*",
      subVersion: "0",
    });
    assertEquals([pulled.code, pulled.extFields.nextBeginOffset], [21, "0"]);
    assertEquals(await position(first.client), 3);
    const other = { ...QUEUE, consumerGroup: "nobody", commitOffset: "1" };
    assertEquals((await first.client.invoke(15, other)).code, 26);
    await first.end();

    const second = await join(folder);
    const lock = new TextEncoder().encode(JSON.stringify({
      consumerGroup: "g",
      clientId: "127.0.0.1@1",
      mqSet: [{ topic: "T", brokerName: "broker-a", queueId: 0 }],
    }));
    const locked = await second.client.invoke(41, {}, lock);
    assertStringIncludes(new TextDecoder().decode(locked.body), '"queueId":0');
    assertEquals(await position(second.client), 3);
    await second.end();
  }));

test("96: a topic that is made again begins without the offsets of the old one", () =>
  withTempDirectory(async (folder) => {
    const { client, end } = await join(folder);
    await send(client, 20);
    await commit(client, 20);
    const beyond = await commit(client, 1_020);
    assertEquals(beyond.code, 29);
    assertEquals([await position(client), await lag(client)], [20, 0]);
    assertEquals((await client.invoke(215, { topic: "T" })).code, 0);
    await send(client, 2);
    assertEquals(await position(client), 0);
    assertEquals(await pull(client, 0), [0, 2]);
    assertEquals((await commit(client, 2)).code, 0);
    assertEquals(await lag(client), 0);
    await end();
  }));

test("105: a reset to now, or to the end, leaves nothing to read", () =>
  withTempDirectory(async (folder) => {
    const { client, controller, end } = await join(folder);
    await send(client, 7);
    await commit(client, 2);
    const { messageStore } = controller;
    const lastMs = await messageStore.getMessageStoreTimeStamp("T", 0, 6);
    for (const timestamp of [lastMs + 1, Date.now() + 1, -1]) {
      await reset(client, 0);
      assertEquals(await position(client), 0);
      assertEquals((await reset(client, timestamp)).code, 0);
      assertEquals([await position(client), await lag(client)], [7, 0]);
    }
    await end();
  }));

for (const timestamp of [0, -1]) {
  test(`106: a reset to ${timestamp} of a group that is off line outlives the broker's next moment`, () =>
    withTempDirectory(async (folder) => {
      const first = await join(`${folder}/a`);
      await send(first.client, 10);
      await commit(first.client, 4);
      const group = { clientID: "127.0.0.1@1", consumerGroup: "g" };
      assertEquals((await first.client.invoke(35, group)).code, 0);
      assertEquals((await reset(first.client, timestamp)).code, 0);
      // kill -9, as soon as the answer is there.
      cpSync(`${folder}/a`, `${folder}/killed`, COPY);
      await first.end();
      const { client, end } = await join(`${folder}/killed`);
      assertEquals(await position(client), timestamp === 0 ? 0 : 10);
      await end();
    }));
}
