import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { MQClientError } from "../../src/client/mq_client_error.ts";
import {
  DEFAULT_PRODUCER_OPTIONS,
  Producer,
} from "../../src/client/producer.ts";
import { decodeMessageBatch } from "../../src/model/message_batch.ts";
import { decodeProperties } from "../../src/model/message_properties.ts";
import { createResponse } from "../../src/protocol/remoting_command.ts";
import { bytesOf, SimSite, textOf } from "./sim_site.ts";

const SEND = 310;

/** Two brokers with topic T, and a started producer. */
async function site(queueNums = 2, topics = ["T", "TBW102"]) {
  const it = new SimSite();
  await it.namesrv();
  const a = await it.broker("broker-a", "10.0.0.1", topics, queueNums);
  const b = await it.broker("broker-b", "10.0.0.2", topics, queueNums);
  const instance = it.instance();
  const producer = new Producer(instance, {
    ...DEFAULT_PRODUCER_OPTIONS,
    producerGroup: "p",
  });
  producer.start();
  return { ...it, clock: it.clock, it, a, b, producer, instance };
}

test("Producer.send() goes to the queues in turn and says where", async () => {
  const { clock, a, b, producer } = await site();
  const places: string[] = [];
  for (let index = 0; index < 8; index++) {
    const result = await clock.complete(
      producer.send({ topic: "T", body: bytesOf(`m${index}`) }),
    );
    assertEquals(result.sendStatus, "SEND_OK");
    places.push(`${result.queue.brokerName} ${result.queue.queueId}`);
  }
  assertEquals(new Set(places).size, 4);
  assertEquals(places.slice(0, 4), places.slice(4));
  assertEquals([a.queues.get("T 0")?.length, b.queues.get("T 1")?.length], [
    2,
    2,
  ]);
});

test("Producer.send() sends properties and header as a stock client does", async () => {
  const { clock, a, b, producer } = await site(1);
  const result = await clock.complete(producer.send({
    topic: "T",
    body: bytesOf("x"),
    tags: "TagA",
    keys: ["k1", "k2"],
    delayLevel: 3,
    flag: 7,
    properties: { own: "1" },
    queue: { topic: "T", brokerName: "broker-a", queueId: 0 },
  }));
  assertEquals(b.requestsOf(SEND).length, 0);
  const [request] = a.requestsOf(SEND);
  const { i: properties, g: born, ...fields } = request!.extFields;
  assertEquals(fields, {
    a: "p",
    b: "T",
    c: "TBW102",
    d: "4",
    e: "0",
    f: "0",
    h: "7",
    j: "0",
    k: "false",
    m: "false",
  });
  assert(Number(born) >= 1_790_000_000_000);
  assertEquals(Object.fromEntries(decodeProperties(properties!)), {
    own: "1",
    KEYS: "k1 k2",
    TAGS: "TagA",
    DELAY: "3",
    UNIQ_KEY: result.msgId,
    WAIT: "true",
  });
  assert(/^[0-9A-F]{32}$/.test(result.msgId), result.msgId);
});

test("Producer.send() tries another broker after a retriable refusal and after silence", async () => {
  const { clock, it, a, b, producer } = await site();
  a.script.set(SEND, () => createResponse(2, "[TIMEOUT_CLEAN_QUEUE]busy"));
  for (let index = 0; index < 4; index++) {
    const result = await clock.complete(
      producer.send({ topic: "T", body: bytesOf("x") }),
    );
    assertEquals(result.queue.brokerName, "broker-b");
  }
  assert(a.requestsOf(SEND).length > 0);
  a.script.clear();
  it.network.kill("10.0.0.1");
  const sent = b.requestsOf(SEND).length;
  for (let index = 0; index < 4; index++) {
    await clock.complete(producer.send({ topic: "T", body: bytesOf("x") }));
  }
  assertEquals(b.requestsOf(SEND).length, sent + 4);
});

test("Producer.send() throws the broker's words and does not retry what is wrong everywhere", async () => {
  const { clock, a, b, producer } = await site();
  for (const broker of [a, b]) {
    broker.script.set(SEND, () => createResponse(13, "too long"));
  }
  const error = await assertRejects(
    () => clock.complete(producer.send({ topic: "T", body: bytesOf("x") })),
    MQClientError,
    "refused SEND_MESSAGE_V2 with MESSAGE_ILLEGAL (13): too long",
  );
  assertEquals([error.code, error.remark], [13, "too long"]);
  assertEquals(a.requestsOf(SEND).length + b.requestsOf(SEND).length, 1);
  for (const broker of [a, b]) {
    broker.script.set(SEND, () => createResponse(14, "read only"));
  }
  const all = await assertRejects(
    () => clock.complete(producer.send({ topic: "T", body: bytesOf("x") })),
    MQClientError,
    "Cannot send to topic T (3 tries, 3000 ms): 10.0.0.",
  );
  assertEquals(all.code, 14);
  assertEquals(a.requestsOf(SEND).length + b.requestsOf(SEND).length, 4);
});

test("Producer.send() gives up at its time-out", async () => {
  const { clock, it, producer } = await site();
  await clock.complete(producer.send({ topic: "T", body: bytesOf("x") }));
  for (const host of ["10.0.0.1", "10.0.0.2"]) {
    it.network.partition(host, "10.0.5.1");
  }
  const startedMs = clock.monotonicMs();
  await assertRejects(
    () =>
      clock.complete(producer.send({ topic: "T", body: bytesOf("x") }, 1_000)),
    MQClientError,
    "No answer",
  );
  assert(clock.monotonicMs() - startedMs < 1_500);
});

test("Producer.send() names the status of a message that is stored but not safe", async () => {
  const { clock, a, b, producer } = await site();
  const statuses: string[] = [];
  for (const code of [10, 11, 12]) {
    for (const broker of [a, b]) {
      broker.script.set(SEND, () =>
        createResponse(code, "slow", {
          msgId: "ID",
          queueId: "0",
          queueOffset: "5",
        }));
    }
    const result = await clock.complete(
      producer.send({ topic: "T", body: bytesOf("x") }),
    );
    statuses.push(result.sendStatus);
  }
  assertEquals(statuses, [
    "FLUSH_DISK_TIMEOUT",
    "SLAVE_NOT_AVAILABLE",
    "FLUSH_SLAVE_TIMEOUT",
  ]);
});

test("Producer.send() uses the template of a topic that is not there yet", async () => {
  const { clock, it, a, b, producer } = await site(8);
  const places = new Set<string>();
  for (let index = 0; index < 16; index++) {
    const { queue } = await clock.complete(
      producer.send({ topic: "New", body: bytesOf("x") }),
    );
    places.add(`${queue.brokerName} ${queue.queueId}`);
  }
  assertEquals(places.size, 8); // 4 queues on each of 2 brokers.
  await clock.complete(a.register(it.namesrvs[0]!, ["New"], 1));
  await clock.complete(b.register(it.namesrvs[0]!, [], 1));
  await clock.run(2_000);
  const { queue } = await clock.complete(
    producer.send({ topic: "New", body: bytesOf("x") }),
  );
  assertEquals(queue, { topic: "New", brokerName: "broker-a", queueId: 0 });
});

test("Producer.send() says when nobody creates the topic", async () => {
  const { clock, producer } = await site(1, ["T"]);
  await assertRejects(
    () => clock.complete(producer.send({ topic: "None", body: bytesOf("x") })),
    MQClientError,
    "Cannot send to topic None: no name server knows it",
  );
});

test("Producer.send() waits for the first broker of a name server that has just started", async () => {
  const it = new SimSite();
  await it.namesrv();
  const producer = new Producer(it.instance(), {
    ...DEFAULT_PRODUCER_OPTIONS,
    producerGroup: "p",
  });
  producer.start();
  const sending = producer.send({ topic: "T", body: bytesOf("x") });
  await it.clock.run(1_500);
  await it.broker("broker-a", "10.0.0.1", ["T"]);
  assertEquals((await it.clock.complete(sending)).sendStatus, "SEND_OK");
});

test("Producer.sendBatch() and sendOneway() reach the broker", async () => {
  const { clock, a, b, producer } = await site();
  const result = await clock.complete(producer.sendBatch([
    { topic: "T", body: bytesOf("one"), tags: "A" },
    { topic: "T", body: bytesOf("two"), tags: "B" },
  ]));
  const [batch] = [...a.requestsOf(320), ...b.requestsOf(320)];
  assertEquals(batch!.extFields.m, "true");
  const entries = decodeMessageBatch(batch!.body);
  assertEquals(entries.map((it) => textOf(it.body)), ["one", "two"]);
  assertEquals(
    entries.map((it) => decodeProperties(it.propertiesText).get("UNIQ_KEY"))
      .join(","),
    result.msgId,
  );
  await clock.complete(producer.sendOneway({ topic: "T", body: bytesOf("3") }));
  await clock.run(10);
  const [oneway] = [...a.requestsOf(SEND), ...b.requestsOf(SEND)];
  assertEquals(oneway!.flag & 2, 2);
  for (
    const bad of [
      [],
      [{ topic: "T", body: bytesOf("x") }, { topic: "U", body: bytesOf("x") }],
      [{ topic: "T", body: bytesOf("x"), delayLevel: 1 }],
    ]
  ) {
    await assertRejects(
      async () => await producer.sendBatch(bad),
      MQClientError,
    );
  }
});

test("Producer heartbeats to masters and says good-bye", async () => {
  const { clock, a, producer, instance } = await site();
  await clock.complete(producer.send({ topic: "T", body: bytesOf("x") }));
  await clock.run(61_000);
  assertEquals(a.heartbeats.length, 3);
  assertEquals(a.heartbeats[0]!.producerDataSet, [{ groupName: "p" }]);
  await clock.complete(producer.stop());
  const [bye] = a.requestsOf(35);
  assertEquals(bye!.extFields, {
    clientID: instance.clientId,
    producerGroup: "p",
  });
  await clock.complete(instance.stop());
});
