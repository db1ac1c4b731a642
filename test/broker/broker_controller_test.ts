import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { BrokerStartError } from "../../src/broker/broker_start_error.ts";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import { findProperty } from "../../src/model/message_properties.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import { decodeKVTable } from "../../src/protocol/body/kv_table.ts";
import { eventually } from "../support/eventually.ts";
import { RawClient } from "../support/raw_client.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { HEARTBEAT, runtime, startBroker } from "./broker_site.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const bytes = (value: string) => new TextEncoder().encode(value);

test("BrokerController serves a raw client: heartbeat, send, pull, commit, query", () =>
  withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder);
    const client = await RawClient.open(address);
    const beat = await client.invoke(34, {}, HEARTBEAT);
    assertEquals(beat.code, 0);
    const sent = await client.send(
      "T",
      0,
      bytes("hello"),
      "KEYS\u0001k1\u0002",
    );
    assertEquals(sent.code, 0, sent.remark ?? "");
    assertEquals(sent.extFields.queueOffset, "0");
    const empty = await client.send("T", 0, new Uint8Array(0));
    assertEquals([empty.code, empty.extFields.queueOffset], [0, "1"]);

    const pulled = await client.pull("g", "T", 0, 0);
    assertEquals([pulled.code, pulled.remark], [0, "FOUND"]);
    assertEquals(pulled.extFields.nextBeginOffset, "2");
    const first = decodeMessageRecord(pulled.body);
    assertEquals(text(first.body), "hello");
    assertEquals(first.storeHost.port, controller.options.broker.listenPort);

    const key = { topic: "T", key: "k1", maxNum: "32" };
    const span = { beginTimestamp: "0", endTimestamp: String(2 ** 52) };
    const byKey = await client.invoke(12, { ...key, ...span });
    assertEquals(byKey.code, 0, byKey.remark ?? "");
    assertEquals(text(decodeMessageRecord(byKey.body).body), "hello");
    const missing = await client.invoke(12, { ...key, beginTimestamp: "0" });
    assertEquals(missing.code, 1);
    assert(missing.remark!.includes("endTimestamp"), missing.remark!);
    // Names of another tool (scenario 111): told, and no empty success.
    const wrong = await client.invoke(12, { ...key, begin: "0", end: "9" });
    assertEquals([wrong.code, wrong.body.length], [1, 0]);
    assert(wrong.remark!.includes("beginTimestamp"), wrong.remark!);
    // Old and new clients, with and without what they add (scenario 112).
    for (
      const more of [{}, { _UNIQUE_KEY_QUERY: "true" }, { indexType: "K" }]
    ) {
      for (
        const value of ["k1", findProperty(first.propertiesText, "UNIQ_KEY")!]
      ) {
        const found = await client.invoke(12, {
          ...key,
          ...span,
          ...more,
          key: value,
        });
        assertEquals(found.code, 0, `${value}: ${found.remark}`);
        assertEquals(found.body, byKey.body);
      }
    }
    const byId = await client.invoke(33, { offset: String(first.phyOffset) });
    assertEquals(text(decodeMessageRecord(byId.body).body), "hello");
    assertEquals((await client.invoke(33, { offset: "1" })).code, 1);

    const offset = { consumerGroup: "g", topic: "T", queueId: "0" };
    await client.invoke(15, { ...offset, commitOffset: "2" });
    const stored = await client.invoke(14, offset);
    assertEquals([stored.code, stored.extFields.offset], [0, "2"]);
    assertEquals((await client.invoke(9_999)).code, 3);
    client.close();
    await controller.stop();
  }));

test("BrokerController wakes a held pull, also through the VIP port", () =>
  withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder);
    const [, vip] = controller.listeners;
    assertEquals(
      [vip!.name, Number(vip!.bound.split(":")[1])],
      ["vip", controller.options.broker.listenPort - 2],
    );
    const producer = await RawClient.open(address);
    const consumer = await RawClient.open(vip!.bound);
    await producer.send("T", 1, bytes("one"));
    const held = consumer.pull("g", "T", 1, 1, 15_000);
    const moved = await consumer.pull("g", "T", 1, 7, 15_000);
    assertEquals([moved.code, moved.extFields.nextBeginOffset], [21, "1"]);
    assertEquals(controller.parts.pullRequestHoldService.heldCount, 1);
    await producer.send("T", 1, bytes("two"));
    const woken = await held;
    assertEquals(woken.code, 0);
    assertEquals(text(decodeMessageRecord(woken.body).body), "two");
    // A time-out answers 19 with the same place.
    const late = await consumer.pull("g", "T", 1, 2, 150);
    assertEquals([late.code, late.extFields.nextBeginOffset], [19, "2"]);
    // A client that goes takes its pulls along.
    const gone = consumer.pull("g", "T", 1, 2, 15_000);
    const closed = assertRejects(() => gone, Error);
    await consumer.pull("g", "T", 1, 0);
    consumer.close();
    await closed;
    const { pullRequestHoldService } = controller.parts;
    await eventually(() => pullRequestHoldService.heldCount === 0);
    producer.close();
    await controller.stop();
  }));

test("BrokerController keeps topics, groups and positions over a restart", () =>
  withTempDirectory(async (folder) => {
    const first = await startBroker(folder);
    let client = await RawClient.open(first.address);
    await client.invoke(34, {}, HEARTBEAT);
    await client.send("T", 2, bytes("kept"));
    const offset = { consumerGroup: "g", topic: "T", queueId: "2" };
    await client.invoke(15, { ...offset, commitOffset: "1" });
    const held = client.pull("g", "T", 2, 1, 15_000);
    await client.pull("g", "T", 2, 0);
    await first.controller.stop();
    // A stop answers what it holds.
    assertEquals((await held).code, 19);
    client.close();

    const second = await startBroker(folder);
    client = await RawClient.open(second.address);
    const stored = await client.invoke(14, offset);
    assertEquals([stored.code, stored.extFields.offset], [0, "1"]);
    const pulled = await client.pull("g", "T", 2, 0);
    assertEquals(text(decodeMessageRecord(pulled.body).body), "kept");
    const next = await client.send("T", 2, bytes("next"));
    assertEquals(next.extFields.queueOffset, "1");
    client.close();
    await second.controller.stop();
  }));

test("BrokerController waits for the sync of a SYNC_FLUSH send", () =>
  withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder, {}, {
      flushDiskType: "SYNC_FLUSH",
    });
    const client = await RawClient.open(address);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => client.send("T", 0, bytes("x"))),
    );
    assert(answers.every((it) => it.code === 0));
    const { messageStore } = controller;
    assertEquals(messageStore.flushedOffset, messageStore.maxPhyOffset);
    client.close();
    await controller.stop();
  }));

test("BrokerController brings back what a consumer could not consume, and dead-letters what it gives up", () =>
  withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder, {}, {
      messageDelayLevel: "1s",
    });
    const client = await RawClient.open(address);
    await client.invoke(34, {}, HEARTBEAT);
    await client.send("T", 0, bytes("poison"), "DELAY\u00010\u0002");
    const pulled = await client.pull("g", "T", 0, 0);
    const { phyOffset } = decodeMessageRecord(pulled.body);
    const back = { offset: String(phyOffset), group: "g", originTopic: "T" };
    const retried = await client.invoke(36, { ...back, delayLevel: "0" });
    assertEquals(retried.code, 0, retried.remark ?? "");
    const pullRetry = () => client.pull("g", "%RETRY%g", 0, 0, 1_000);
    await eventually(async () => (await pullRetry()).code === 0);
    const again = decodeMessageRecord((await pullRetry()).body);
    assertEquals([text(again.body), again.reconsumeTimes], ["poison", 1]);
    const info = decodeKVTable((await client.invoke(28)).body);
    assertEquals(info.get("scheduleMessageOffset_1"), "1,1");
    const buried = await client.invoke(36, { ...back, delayLevel: "-1" });
    assertEquals(buried.code, 0, buried.remark ?? "");
    const dead = await client.pull("g", "%DLQ%g", 0, 0);
    const record = decodeMessageRecord(dead.body);
    assertEquals(text(record.body), "poison");
    assertEquals(record.reconsumeTimes, 1);
    assert(record.propertiesText.includes("RETRY_TOPIC\u0001T\u0002"));
    client.close();
    await controller.stop();
  }));

test("BrokerController names the port that is taken, and leaves the store alone", () =>
  withTempDirectory(async (folder) => {
    const { controller } = await startBroker(`${folder}/a`);
    const { listenPort } = controller.options.broker;
    const error = await assertRejects(
      () => startBroker(`${folder}/b`, { listenPort }),
      BrokerStartError,
      `127.0.0.1:${listenPort}`,
    );
    assertEquals([error.key, error.value], ["listenPort", String(listenPort)]);
    assertEquals(runtime.fileSystem.stat(`${folder}/b`), undefined);
    await controller.stop();
  }));

test("BrokerController stores batches, filters by tag and answers lite pulls", () =>
  withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder);
    const client = await RawClient.open(address);
    const entry = (body: string, tag: string) => ({
      flag: 0,
      body: bytes(body),
      propertiesText: `TAGS\u0001${tag}\u0002`,
    });
    const sent = await client.invoke(320, {
      a: "p",
      b: "T",
      c: "TBW102",
      d: "4",
      e: "3",
      f: "0",
      g: "1",
      h: "0",
      m: "true",
    }, encodeMessageBatch([entry("1", "A"), entry("2", "B"), entry("3", "A")]));
    assertEquals(sent.code, 0, sent.remark ?? "");
    assertEquals(sent.extFields.msgId!.split(",").length, 3);
    const lite = {
      consumerGroup: "g",
      topic: "T",
      queueId: "3",
      queueOffset: "0",
      maxMsgNums: "32",
      sysFlag: "20",
      commitOffset: "0",
      suspendTimeoutMillis: "0",
      subscription: "B || C",
      subVersion: "0",
    };
    const pulled = await client.invoke(361, lite);
    assertEquals(pulled.code, 0, pulled.remark ?? "");
    assertEquals(text(decodeMessageRecord(pulled.body).body), "2");
    const none = await client.invoke(361, { ...lite, subscription: "C" });
    assertEquals([none.code, none.extFields.nextBeginOffset], [20, "3"]);
    // A held pull sleeps through other tags.
    const held = client.invoke(361, {
      ...lite,
      queueOffset: "3",
      sysFlag: "22",
      suspendTimeoutMillis: "15000",
    });
    await client.send("T", 3, bytes("4"), "TAGS\u0001A\u0002");
    const { pullRequestHoldService } = controller.parts;
    assertEquals(pullRequestHoldService.heldCount, 1);
    await client.send("T", 3, bytes("5"), "TAGS\u0001C\u0002");
    const woken = await held;
    assertEquals(text(decodeMessageRecord(woken.body).body), "5");
    assertEquals(woken.extFields.nextBeginOffset, "5");
    client.close();
    await controller.stop();
  }));

test("BrokerController.stop() answers every send in flight", () =>
  withTempDirectory(async (folder) => {
    const { controller, address } = await startBroker(folder, {}, {
      flushDiskType: "SYNC_FLUSH",
    });
    const client = await RawClient.open(address);
    const answers = Array.from(
      { length: 200 },
      () => client.send("T", 0, bytes("x")),
    );
    await answers[0];
    const startedMs = performance.now();
    await controller.stop();
    const codes = new Set((await Promise.all(answers)).map((it) => it.code));
    assert(codes.has(0));
    for (const code of codes) assert([0, 14, 1500].includes(code), `${code}`);
    assert(performance.now() - startedMs < 3_000, "the stop took too long");
    client.close();
  }));

test("BrokerController brings a topic back that only the store remembers", () =>
  withTempDirectory(async (folder) => {
    const first = await startBroker(folder);
    let client = await RawClient.open(first.address);
    await client.send("T", 3, bytes("still here"));
    client.close();
    await first.controller.stop();
    for (const name of ["topics.json", "topics.json.bak"]) {
      runtime.fileSystem.remove(`${folder}/config/${name}`);
    }
    const second = await startBroker(folder);
    client = await RawClient.open(second.address);
    const pulled = await client.pull("g", "T", 3, 0);
    assertEquals(pulled.code, 0, pulled.remark ?? "");
    assertEquals(text(decodeMessageRecord(pulled.body).body), "still here");
    client.close();
    await second.controller.stop();
  }));

test("BrokerController.start() gives its ports back when the store cannot be opened", () =>
  withTempDirectory(async (folder) => {
    const path = `${folder}/taken`;
    runtime.fileSystem.open(path, "create").close();
    const error = await assertRejects(
      () => startBroker(path),
      BrokerStartError,
    );
    assertEquals([error.key, error.value], ["storePathRootDir", path]);
    const { controller } = await startBroker(`${folder}/free`);
    const { listenPort } = controller.options.broker;
    await controller.stop();
    const again = await startBroker(`${folder}/free`, { listenPort });
    await again.controller.stop();
  }));

test("a broker on a full disk says so in its log", () =>
  withTempDirectory(async (folder) => {
    const { controller, logger } = await startBroker(folder, {}, {
      diskSpaceWarningLevelRatio: 0,
      diskSpaceCleanForciblyRatio: 0,
    });
    try {
      const refusals = () =>
        logger.lines.filter((it) => it.includes("Writes are refused"));
      await eventually(() => refusals().length > 0);
      assert(refusals()[0]!.includes(folder), refusals()[0]);
    } finally {
      await controller.stop();
    }
  }));
