import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { Consumer } from "../../src/client/consumer.ts";
import {
  type ConsumerOptions,
  DEFAULT_CONSUMER_OPTIONS,
  type MessageListener,
} from "../../src/client/consumer_options.ts";
import { MQClientError } from "../../src/client/mq_client_error.ts";
import { decodeCheckClientRequestBody } from "../../src/protocol/body/check_client_body.ts";
import { createResponse } from "../../src/protocol/remoting_command.ts";
import type { FakeBroker } from "./fake_broker.ts";
import { bytesOf, SimSite, textOf } from "./sim_site.ts";

const PULL = 11;

/** One broker with two queues of T, and a way to make consumers. */
async function site(queueNums = 2) {
  const it = new SimSite();
  await it.namesrv();
  const topics = ["T", "TBW102", "%RETRY%g"];
  const broker = await it.broker("broker-a", "10.0.0.1", topics, queueNums);
  const seen: string[] = [];
  const consumer = (
    options: Partial<ConsumerOptions> = {},
    listener: MessageListener = (messages) => {
      seen.push(...messages.map((message) => textOf(message.body)));
    },
  ) => {
    const instance = it.instance();
    const made = new Consumer(instance, {
      ...DEFAULT_CONSUMER_OPTIONS,
      consumerGroup: "g",
      consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET",
      subscriptions: [{ topic: "T", expression: "*", expressionType: "TAG" }],
      ...options,
    }, listener);
    return { consumer: made, instance };
  };
  return { it, clock: it.clock, broker, consumer, seen };
}

const put = (broker: FakeBroker, count: number, queueId = 0) => {
  for (let index = 0; index < count; index++) {
    broker.put("T", queueId, `q${queueId}-${index}`);
  }
};
const numbers = (queueId: number, from: number, to: number) =>
  Array.from(
    { length: to - from },
    (_, index) => `q${queueId}-${from + index}`,
  );

test("Consumer delivers what is there and what comes, and commits it", async () => {
  const { clock, broker, consumer, seen } = await site();
  put(broker, 10);
  const { consumer: it, instance } = consumer();
  await clock.complete(it.start());
  await clock.run(50);
  assertEquals(seen, numbers(0, 0, 10));
  broker.put("T", 1, "late");
  await clock.run(5);
  assertEquals(seen.at(-1), "late");
  assertEquals(broker.offsets.get("g T 0"), undefined);
  await clock.run(5_100);
  assertEquals([
    broker.offsets.get("g T 0"),
    broker.offsets.get("g T 1"),
  ], [10, 1]);
  broker.put("T", 1, "later");
  await clock.run(5);
  await clock.complete(it.stop());
  assertEquals(broker.offsets.get("g T 1"), 2);
  assertEquals(broker.members.get("g")!.size, 0);
  broker.put("T", 1, "too late");
  await clock.run(1_000);
  assertEquals(seen.at(-1), "later");
  await clock.complete(instance.stop());
});

test("Consumer says in its heartbeat what it wants, the retry topic too", async () => {
  const { clock, broker, consumer } = await site();
  const { consumer: it, instance } = consumer({
    subscriptions: [{
      topic: "T",
      expression: "TagA || TagB",
      expressionType: "TAG",
    }],
  });
  await clock.complete(it.start());
  const [heartbeat] = broker.heartbeats;
  assertEquals(heartbeat!.clientID, instance.clientId);
  const [data] = heartbeat!.consumerDataSet;
  assertEquals(
    data!.subscriptionDataSet.map((subscription) => [
      subscription.topic,
      subscription.subString,
      subscription.tagsSet,
    ]),
    [["T", "TagA || TagB", ["TagA", "TagB"]], ["%RETRY%g", "*", []]],
  );
  await clock.run(60_500);
  assertEquals(broker.heartbeats.length, 3);
});

test("Consumer compares the text of tags: brokers compare hashes", async () => {
  const { clock, broker, consumer, seen } = await site(1);
  broker.put("T", 0, "no tag");
  broker.put("T", 0, "collides", "BB");
  broker.put("T", 0, "wanted", "Aa"); // The same hash as BB.
  const { consumer: it } = consumer({
    subscriptions: [{ topic: "T", expression: "Aa", expressionType: "TAG" }],
  });
  await clock.complete(it.start());
  await clock.run(20);
  assertEquals(seen, ["wanted"]);
  await clock.complete(it.stop());
  assertEquals(broker.offsets.get("g T 0"), 3);
});

test("Consumer commits only what the listener finished", async () => {
  const { clock, broker, consumer } = await site(1);
  put(broker, 10);
  const seen: string[] = [];
  const { consumer: it } = consumer({}, (messages) => {
    const left = 6 - seen.length;
    const taken = messages.slice(0, left);
    seen.push(...taken.map((message) => textOf(message.body)));
    if (seen.length === 6) void it.stop();
    return taken.length;
  });
  await clock.complete(it.start());
  await clock.run(50);
  assertEquals(seen, numbers(0, 0, 6));
  assertEquals(broker.offsets.get("g T 0"), 6);
  const rest: string[] = [];
  const { consumer: next } = consumer({}, (messages) => {
    rest.push(...messages.map((message) => textOf(message.body)));
  });
  await clock.complete(next.start());
  await clock.run(50);
  assertEquals(rest, numbers(0, 6, 10));
});

test("Consumer brings messages again when the listener throws, and waits for slow ones", async () => {
  const { clock, broker, consumer } = await site(1);
  put(broker, 4);
  const calls: string[] = [];
  const { consumer: it } = consumer({}, async (messages) => {
    calls.push(messages.map((message) => textOf(message.body)).join(" "));
    if (calls.length === 1) throw new Error("not now");
    if (calls.length === 2) return 1;
    await new Promise<void>((resolve) => clock.after(500, resolve));
    return undefined;
  });
  await clock.complete(it.start());
  await clock.run(1_200);
  assertEquals(calls, [
    "q0-0 q0-1 q0-2 q0-3",
    "q0-0 q0-1 q0-2 q0-3",
    "q0-1 q0-2 q0-3",
  ]);
  const stopping = it.stop();
  await clock.complete(stopping);
  assertEquals(broker.offsets.get("g T 0"), 4);
});

test("Consumer begins where it is told when the group has no offset", async () => {
  const starts: [Partial<ConsumerOptions>, string[]][] = [
    [{ consumeFromWhere: "CONSUME_FROM_LAST_OFFSET" }, []],
    [
      { consumeFromWhere: "CONSUME_FROM_TIMESTAMP", consumeTimestampMs: 5 },
      numbers(0, 1, 3), // The fake broker finds offset 1 for any time.
    ],
    [{ consumeFromWhere: "CONSUME_FROM_FIRST_OFFSET" }, numbers(0, 0, 3)],
  ];
  for (const [options, expected] of starts) {
    const { clock, broker, consumer, seen } = await site(1);
    put(broker, 3);
    const { consumer: it } = consumer(options);
    await clock.complete(it.start());
    await clock.run(20);
    assertEquals(seen, expected);
    broker.put("T", 0, "new");
    await clock.run(20);
    assertEquals(seen, [...expected, "new"]);
  }
});

test("Consumers of a group share the queues, hand them over and take over from the dead", async () => {
  const { it: sim, clock, broker, consumer, seen } = await site(4);
  for (let queueId = 0; queueId < 4; queueId++) put(broker, 5, queueId);
  const { consumer: first } = consumer();
  await clock.complete(first.start());
  await clock.run(50);
  assertEquals(seen.length, 20);
  const others: string[] = [];
  const { consumer: second } = consumer({}, (messages) => {
    others.push(...messages.map((message) => textOf(message.body)));
  });
  await clock.complete(second.start());
  await clock.run(1_000);
  const queuesOf = (it: Consumer) =>
    it.assignment.filter((queue) => queue.topic === "T").map((queue) =>
      queue.queueId
    );
  const shares = [queuesOf(first), queuesOf(second)];
  assertEquals(shares.map((it) => it.length), [2, 2]);
  assertEquals(shares.flat().sort(), [0, 1, 2, 3]);
  assertEquals(others, []); // Nothing twice: the offsets were handed over.
  sim.network.kill("10.0.5.1");
  await clock.run(1_500);
  assertEquals(queuesOf(second), [0, 1, 2, 3]);
  for (let queueId = 0; queueId < 4; queueId++) {
    broker.put("T", queueId, `after-${queueId}`);
  }
  await clock.run(50);
  assertEquals(others.length, 4);
});

test("Consumer follows a moved offset and a reset by the broker", async () => {
  const { clock, broker, consumer, seen } = await site(1);
  put(broker, 5);
  broker.offsets.set("g T 0", 99);
  const { consumer: it } = consumer();
  await clock.complete(it.start());
  await clock.run(20);
  assertEquals(seen, []);
  broker.put("T", 0, "new");
  await clock.run(20);
  assertEquals(seen, ["new"]);
  const [connection] = broker.members.get("g")!.values();
  connection!.invokeOneway({
    ...createResponse(0),
    flag: 0,
    code: 220,
    extFields: { topic: "T", group: "g", timestamp: "0", isForce: "true" },
    body: bytesOf(
      '{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:3}}',
    ),
  });
  await clock.run(16_000);
  assertEquals(seen, ["new", "q0-3", "q0-4", "new"]);
});

test("Consumer heartbeats again when the broker forgot it", async () => {
  const { clock, broker, consumer, seen } = await site(1);
  const { consumer: it } = consumer();
  await clock.complete(it.start());
  await clock.run(2_000);
  const before = broker.heartbeats.length;
  let refusals = 1;
  broker.script.set(
    PULL,
    () => refusals-- > 0 ? createResponse(24, "no subscription") : undefined,
  );
  broker.put("T", 0, "x");
  await clock.run(16_000);
  assert(broker.heartbeats.length > before);
  broker.put("T", 0, "y");
  await clock.run(16_000);
  assertEquals(seen, ["x", "y"]);
});

test("Consumer survives a broker that restarts and a name server that is gone", async () => {
  const { it: sim, clock, broker, consumer, seen } = await site(1);
  const { consumer: it } = consumer();
  await clock.complete(it.start());
  sim.network.cut("10.0.5.1", "10.0.9.1");
  sim.network.cut("10.0.5.1", "10.0.0.1");
  await clock.run(3_000);
  sim.network.heal("10.0.5.1", "10.0.0.1");
  await clock.run(3_000);
  broker.put("T", 0, "x");
  await clock.run(20_000);
  assertEquals(seen, ["x"]);
});

test("Consumer waits for a topic that is not there yet", async () => {
  const { it: sim, clock, broker, consumer, seen } = await site(1);
  const { consumer: it } = consumer({
    subscriptions: [{ topic: "New", expression: "*", expressionType: "TAG" }],
  });
  await clock.complete(it.start());
  await clock.run(5_000);
  await clock.complete(broker.register(sim.namesrvs[0]!, ["New"], 1));
  broker.put("New", 0, "x");
  await clock.run(2_500);
  assertEquals(seen, ["x"]);
});

for (
  const [code, remark, isPermanent] of [
    [
      1,
      "The broker does not support consumer to filter message by SQL92",
      true,
    ],
    [3, "", true],
    [16, "the topic is not readable", true],
    [23, "parse the consumer's subscription failed", true],
    [29, "queueId 9 is illegal", true],
    [1, "store getMessage return null", false],
    [2, "busy", false],
    [14, "not now", false],
    [24, "the group is unknown", false],
  ] as const
) {
  test(`Consumer.onRefused ${isPermanent ? "takes" : "leaves"} ${code} ${remark}`, async () => {
    const { it: sim, clock, broker, consumer } = await site();
    broker.script.set(PULL, () => createResponse(code, remark));
    const { consumer: it } = consumer();
    const refused: MQClientError[] = [];
    it.onRefused = (error) => void refused.push(error);
    await clock.complete(it.start());
    await clock.run(5_000);
    const pulls = broker.requests.filter((it) =>
      it.code === PULL && it.extFields.topic === "T"
    );
    // Two queues: no try after a refusal that stays, and no warning.
    assertEquals(pulls.length === 2, isPermanent, `${pulls.length} pulls`);
    const warnings = sim.logger.lines.filter((it) => it.level === "warn");
    assertEquals(warnings.length === 0, isPermanent);
    assertEquals(refused.length > 0, isPermanent);
    for (const error of refused) assertEquals(error.code, code);
    await clock.complete(it.stop());
  });
}

test("Consumer.start() asks whether SQL92 is read, and says what the broker says", async () => {
  const { clock, broker, consumer } = await site();
  const subscriptions = [
    { topic: "T", expression: "a >", expressionType: "SQL92" as const },
  ];
  const checks = () => broker.requestsOf(46);
  broker.script.set(46, () => createResponse(23, "wrong at position 4"));
  const { consumer: it } = consumer({ subscriptions });
  const error = await clock.complete(it.start().then(() => null, (it) => it));
  assert(error instanceof MQClientError);
  assertEquals([error.code, error.remark], [23, "wrong at position 4"]);
  assertEquals(checks().length, 1);
  assertEquals(broker.heartbeats.length, 0);
  const asked = decodeCheckClientRequestBody(checks()[0]!.body);
  assertEquals(asked.subscriptionData!.subString, "a >");
  // Whoever does not know the question is not asked again.
  broker.script.set(46, () => createResponse(3, "not supported"));
  const { consumer: other } = consumer({ subscriptions });
  await clock.complete(other.start());
  await clock.run(60_000);
  assertEquals(checks().length, 2);
  assert(broker.heartbeats.length > 1);
  await clock.complete(other.stop());
});

test("Consumer.start() says when there is no name server, and what no broker takes", async () => {
  const sim = new SimSite();
  sim.namesrvs.push("10.0.9.9:9876");
  const options = { ...DEFAULT_CONSUMER_OPTIONS, consumerGroup: "g" };
  const subscriptions = [{
    topic: "T",
    expression: "*",
    expressionType: "TAG" as const,
  }];
  const it = new Consumer(
    sim.instance(),
    { ...options, subscriptions },
    () => {},
  );
  await assertRejects(
    () => sim.clock.complete(it.start()),
    MQClientError,
    "No name server of 10.0.9.9:9876 answers",
  );
  await assertRejects(
    // deno-lint-ignore require-await -- the constructor throws
    async () =>
      new Consumer(
        sim.instance(),
        { ...options, consumerGroup: "a b" },
        () => {},
      ),
    MQClientError,
  );
});
