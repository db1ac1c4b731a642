import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { DEFAULT_BROKER_OPTIONS } from "../../src/broker/broker_options.ts";
import { SendMessageProcessor } from "../../src/broker/processor/send_message_processor.ts";
import { encodeMessageBatch } from "../../src/model/message_batch.ts";
import type { MessageExtBrokerInner } from "../../src/model/message_ext.ts";
import {
  encodeProperties,
  findProperty,
} from "../../src/model/message_properties.ts";
import { parseSocketAddress } from "../../src/model/socket_address.ts";
import {
  encodeSendMessageRequestHeader,
  encodeSendMessageRequestHeaderV2,
  type SendMessageRequestHeader,
} from "../../src/protocol/header/send_message_request_header.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import type { PutMessageResult } from "../../src/store/put_message_result.ts";
import {
  FakeClock,
  fakeConnection,
  fakeContext,
  FakeGroups,
  FakeTopics,
  topicOf,
} from "./fakes.ts";

const HEADER: SendMessageRequestHeader = {
  producerGroup: "PG",
  topic: "T",
  defaultTopic: "TBW102",
  defaultTopicQueueNums: 4,
  queueId: 1,
  sysFlag: 0,
  bornTimestamp: 1_790_000_000_000,
  flag: 7,
  properties: "",
  reconsumeTimes: 0,
  unitMode: false,
  maxReconsumeTimes: undefined,
  batch: false,
};

const STORED: PutMessageResult = {
  status: "PUT_OK",
  phyOffset: 4096,
  queueOffset: 5,
  size: 200,
  storeTimestamp: 1,
  messageCount: 1,
};

function setUp(options: Partial<typeof DEFAULT_BROKER_OPTIONS> = {}) {
  const stored: MessageExtBrokerInner[] = [];
  const topics = new FakeTopics();
  topics.table.set("T", topicOf("T"));
  const groups = new FakeGroups();
  const puts: unknown[][] = [];
  const timed: string[] = [];
  const clock = new FakeClock();
  const toDlq: unknown[][] = [];
  const times: number[] = [];
  const site = {
    stored,
    puts,
    timed,
    toDlq,
    times,
    topics,
    groups,
    result: STORED as PutMessageResult | Promise<PutMessageResult>,
    isLockAllExpired: true,
  };
  const put = (message: MessageExtBrokerInner) => {
    stored.push(message);
    return site.result;
  };
  const processor = new SendMessageProcessor({
    store: { putMessage: put, putMessages: put },
    topics,
    groups,
    rebalanceLocks: { isLockAllExpired: () => site.isLockAllExpired },
    clock,
    random: { nextInt: (bound) => bound - 1 },
    uniqIds: { createUniqID: () => "0A0B" },
    storeHost: parseSocketAddress("127.0.0.1:10911")!,
    maxDelayLevel: 18,
    timerMetrics: { onEnqueued: (topic) => void timed.push(topic) },
    stats: {
      onPut: (...put) => puts.push(put),
      onSendToDlq: (...it) => toDlq.push(it),
    },
    putTimes: { add: (elapsedMs) => times.push(elapsedMs) },
  }, { ...DEFAULT_BROKER_OPTIONS, brokerIP1: "127.0.0.1", ...options });
  const send = (
    changes: Partial<SendMessageRequestHeader> = {},
    body: Uint8Array = new Uint8Array([1]),
    code = 310,
    context = fakeContext(),
  ) => {
    const header = { ...HEADER, ...changes };
    const fields = code === 10
      ? encodeSendMessageRequestHeader(header)
      : encodeSendMessageRequestHeaderV2(header);
    return processor.process(context, createRequest(code, fields, body));
  };
  return { ...site, site, clock, processor, send };
}

function now(answer: RemotingCommand | Promise<RemotingCommand>) {
  assert(!(answer instanceof Promise), "the answer is not synchronous");
  return answer;
}

test("SendMessageProcessor stores a message and answers with all fields", () => {
  for (const code of [10, 310]) {
    const { send, stored } = setUp();
    const answer = now(send(
      {
        properties:
          "TAGS\u0001A\u0002UNIQ_KEY\u0001K1\u0002WAIT\u0001true\u0002",
      },
      new Uint8Array([1, 2]),
      code,
    ));
    assertEquals(answer.code, 0);
    assertEquals(answer.extFields, {
      msgId: "7F00000100002A9F0000000000001000",
      queueId: "1",
      queueOffset: "5",
      transactionId: "K1",
      MSG_REGION: "DefaultRegion",
      TRACE_ON: "true",
    });
    const message = stored[0]!;
    assertEquals(
      message.propertiesText,
      "TAGS\u0001A\u0002UNIQ_KEY\u0001K1\u0002CLUSTER\u0001DefaultCluster\u0002MSG_REGION\u0001DefaultRegion\u0002TRACE_ON\u0001true\u0002",
    );
    assertEquals(message.tagsCode, 65);
    assertEquals(message.waitStoreMsgOk, true);
    assertEquals(message.flag, 7);
  }
});

test("SendMessageProcessor adds UNIQ_KEY, replaces CLUSTER and reads WAIT=false", () => {
  const { send, stored } = setUp();
  const answer = now(send({
    properties:
      "CLUSTER\u0001other\u0002MSG_REGION\u0001r\u0002TRACE_ON\u0001x\u0002KEYS\u0001a b\u0002WAIT\u0001false",
  }));
  assertEquals(answer.extFields.transactionId, "0A0B");
  assertEquals(
    stored[0]!.propertiesText,
    "KEYS\u0001a b\u0002UNIQ_KEY\u00010A0B\u0002CLUSTER\u0001DefaultCluster\u0002MSG_REGION\u0001DefaultRegion\u0002TRACE_ON\u0001true\u0002",
  );
  assertEquals(stored[0]!.waitStoreMsgOk, false);
});

test("SendMessageProcessor accepts an empty body and picks a queue for a negative id", () => {
  const { send, stored } = setUp();
  const answer = now(send({ queueId: -1 }, new Uint8Array(0)));
  assertEquals(answer.code, 0);
  assertEquals(answer.extFields.queueId, "3");
  assertEquals(stored[0]!.queueId, 3);
  assertEquals(stored[0]!.body.length, 0);
});

test("SendMessageProcessor sets MULTI_TAGS and the IPv6 bits, whatever the client says", () => {
  const { send, stored, topics } = setUp();
  topics.table.set("M", topicOf("M", { topicFilterType: "MULTI_TAG" }));
  send({ topic: "M", sysFlag: 0x31 });
  assertEquals(stored[0]!.sysFlag, 0x3);
  send(
    {},
    new Uint8Array(1),
    310,
    fakeContext(fakeConnection("[::1]:40002")),
  );
  assertEquals(stored[1]!.sysFlag, 0x10);
});

test("SendMessageProcessor refuses with RocketMQ's codes, in order", () => {
  const long = "t".repeat(128);
  const cases: [Partial<SendMessageRequestHeader>, number, string][] = [
    [{ topic: "a b" }, 29, "illegal characters"],
    [{ topic: " " }, 29, "blank"],
    [{ topic: long }, 29, "127"],
    [{ topic: "SCHEDULE_TOPIC_XXXX" }, 16, "forbidden"],
    [{ queueId: 4 }, 29, "queueId[4]"],
    [{ topic: "%RETRY%nobody", queueId: 0 }, 26, "nobody"],
    [{ properties: "DELAY\u0001x\u0002" }, 13, "DELAY"],
    [{ properties: "DELAY\u00019223372036854775807\u0002" }, 13, "DELAY"],
    [{ properties: "TIMER_DELIVER_MS\u0001-1\u0002" }, 13, "TIMER_DELIVER_MS"],
    [{ properties: "TIMER_DELAY_SEC\u0001x\u0002" }, 13, "TIMER_DELAY_SEC"],
    [
      { properties: "TRAN_MSG\u0001true\u0002TIMER_DELAY_MS\u00013\u0002" },
      13,
      "TIMER_DELAY_MS",
    ],
    [
      { properties: "TRAN_MSG\u0001true\u0002DELAY\u00013\u0002" },
      13,
      "DELAY",
    ],
    [{ sysFlag: 4 }, 13, "TRAN_MSG"],
    [{ sysFlag: 0x80 }, 13, "inner batch"],
    [{ sysFlag: 0x501 }, 13, "compression type of a message is 5"],
  ];
  for (const [changes, code, part] of cases) {
    const { send, stored } = setUp();
    const answer = now(send(changes));
    assertEquals(answer.code, code, JSON.stringify(changes));
    assert(answer.remark!.includes(part), `${answer.remark}`);
    assertEquals(answer.extFields.TRACE_ON, "true");
    assertEquals(stored.length, 0);
  }
});

test("SendMessageProcessor takes nothing for a topic of inner batches, which it only serves", () => {
  const { send, stored, topics } = setUp();
  const attributes = { "queue.type": "BatchCQ" };
  topics.table.set("B", topicOf("B", { attributes }));
  const answer = now(send({ topic: "B" }));
  assertEquals([answer.code, stored.length], [13, 0]);
  assert(answer.remark!.includes("queue.type=BatchCQ"), `${answer.remark}`);
});

test("SendMessageProcessor stores a half message where nobody consumes it", () => {
  const { puts, send, stored } = setUp();
  const properties =
    "TRAN_MSG\u0001true\u0002PGROUP\u0001p\u0002UNIQ_KEY\u0001K1\u0002";
  const answer = now(send({ properties, sysFlag: 4, queueId: 2 }));
  assertEquals([answer.code, answer.extFields.transactionId], [0, "K1"]);
  const [half] = stored;
  assertEquals(
    [half!.topic, half!.queueId, half!.sysFlag],
    ["RMQ_SYS_TRANS_HALF_TOPIC", 0, 0],
  );
  assert(half!.propertiesText.includes("REAL_QID\u00012\u0002"));
  // As in RocketMQ it counts for its topic once it is committed.
  assertEquals(puts.at(-1)!.slice(0, 3), [
    "RMQ_SYS_TRANS_HALF_TOPIC",
    2,
    "transaction",
  ]);
});

test("SendMessageProcessor honours startAcceptSendRequestTimeStamp, perm and rejectTransactionMessage", () => {
  const early = setUp({ startAcceptSendRequestTimeStamp: 2e12 });
  assertEquals(now(early.send()).code, 1);
  const readOnly = setUp({ brokerPermission: 4 });
  readOnly.topics.table.set("O", topicOf("O", { order: true }));
  assertEquals(now(readOnly.send({ topic: "O" })).code, 16);
  assertEquals(now(readOnly.send()).code, 0);
  const strict = setUp({ rejectTransactionMessage: true });
  assertEquals(
    now(strict.send({ properties: "TRAN_MSG\u0001true\u0002" })).code,
    16,
  );
});

test("SendMessageProcessor creates topics, durably before its answer, or answers 17", async () => {
  const { send, topics } = setUp();
  const { promise, resolve } = Promise.withResolvers<void>();
  topics.stored = promise;
  let answers = 0;
  const sent = [send({ topic: "new" }), send({ topic: "new" })].map(
    async (it) => {
      const { code } = await it;
      answers++;
      return code;
    },
  );
  assert(topics.table.has("new"));
  assertEquals(now(send()).code, 0);
  await Promise.resolve();
  assertEquals(answers, 0);
  resolve();
  assertEquals(await Promise.all(sent), [0, 0]);
  await new Promise((done) => setTimeout(done, 0));
  assertEquals(now(send({ topic: "new" })).code, 0);
  topics.stored = Promise.reject(new Error("ENOSPC"));
  assertEquals((await send({ topic: "full" })).code, 0);
  topics.mayCreate = false;
  const answer = now(send({ topic: "newer" }));
  assertEquals(answer.code, 17);
  assertEquals(answer.remark, "topic[newer] not exist, apply first please!");
});

test("SendMessageProcessor sends a message with a delay level by way of SCHEDULE_TOPIC_XXXX", () => {
  const { puts, send, stored } = setUp();
  const levels: [string, string, number][] = [
    ["3", "3", 2],
    ["18", "18", 17],
    ["99", "18", 17],
  ];
  for (const [asked, kept, queueId] of levels) {
    const answer = now(send({
      properties: `UNIQ_KEY\u0001K\u0002DELAY\u0001${asked}\u0002`,
    }));
    assertEquals(answer.code, 0, answer.remark ?? "");
    // The queue of the topic that was sent to, and the offset of the schedule queue.
    assertEquals(answer.extFields.queueId, "1");
    assertEquals(answer.extFields.queueOffset, "5");
    const message = stored.shift()!;
    assertEquals(
      [message.topic, message.queueId],
      ["SCHEDULE_TOPIC_XXXX", queueId],
    );
    const property = (name: string) =>
      findProperty(message.propertiesText, name);
    assertEquals(property("DELAY"), kept);
    assertEquals(property("REAL_TOPIC"), "T");
    assertEquals(property("REAL_QID"), "1");
    assertEquals(property("CLUSTER"), "DefaultCluster");
    assertEquals(puts.shift()!.slice(0, 5), [
      "SCHEDULE_TOPIC_XXXX",
      1,
      "delay",
      1,
      200,
    ]);
  }
  for (const delay of ["0", "-1"]) {
    assertEquals(
      now(send({ properties: `DELAY\u0001${delay}\u0002` })).code,
      0,
    );
    assertEquals(stored.shift()!.topic, "T");
  }
});

test("SendMessageProcessor puts a timer message aside, and tells how to recall it", () => {
  const { send, stored, site } = setUp({ brokerName: "b" });
  const properties = "TIMER_DELAY_MS\u00019\u0002UNIQ_KEY\u0001K\u0002";
  const answer = now(send({ properties }));
  const [message] = stored;
  assertEquals([message!.topic, message!.queueId], ["rmq_sys_wheel_timer", 0]);
  const property = (name: string) =>
    findProperty(message!.propertiesText, name);
  assertEquals([property("REAL_TOPIC"), property("REAL_QID")], ["T", "1"]);
  const dueMs = Number(property("TIMER_OUT_MS")) + 1;
  assertEquals(
    atob(answer.extFields.recallHandle!),
    `v1 T b ${dueMs} K`,
  );
  assertEquals([site.timed, site.puts[0]![0]], [["T"], message!.topic]);
  assertEquals(answer.extFields.queueId, "1");
  // Its time has come.
  const past = now(send({ properties: "TIMER_DELIVER_MS\u00015\u0002" }));
  assertEquals([past.code, past.extFields.recallHandle], [0, undefined]);
  assertEquals(stored[1]!.topic, "T");
  const off = setUp({ timerWheelEnable: false });
  assertEquals(now(off.send({ properties })).code, 1);
  assertEquals(off.stored, []);
});

test("SendMessageProcessor: a delay level beats a timer", () => {
  const { send, stored } = setUp();
  const properties = "TIMER_DELAY_SEC\u00019\u0002DELAY\u00011\u0002";
  assertEquals(now(send({ properties })).code, 0);
  const [message] = stored;
  assertEquals(message!.topic, "SCHEDULE_TOPIC_XXXX");
  assertEquals(
    findProperty(message!.propertiesText, "TIMER_DELAY_SEC"),
    undefined,
  );
});

test("SendMessageProcessor dead-letters what has been retried enough, without its delay", async () => {
  const { send, stored, groups, site } = setUp();
  groups.add("g");
  const delayed = encodeProperties([["DELAY", "19"], ["WAIT", "false"]]);
  const retry = {
    topic: "%RETRY%g",
    queueId: 0,
    properties: delayed,
    maxReconsumeTimes: 16,
  };
  // It makes the retry topic, and waits until that is in its file.
  assertEquals((await send({ ...retry, reconsumeTimes: 16 })).code, 0);
  assertEquals(stored.shift()!.topic, "SCHEDULE_TOPIC_XXXX");
  assertEquals(now(send({ ...retry, reconsumeTimes: 17 })).code, 0);
  assertEquals(stored[0]!.topic, "%DLQ%g");
  assertEquals(stored[0]!.queueId, 0);
  assertEquals(stored[0]!.reconsumeTimes, 17);
  assertEquals(findProperty(stored[0]!.propertiesText, "DELAY"), undefined);
  // An orderly consumer sends back only what it gave up.
  site.isLockAllExpired = false;
  assertEquals(now(send({ ...retry, reconsumeTimes: 1 })).code, 0);
  assertEquals(stored[1]!.topic, "%DLQ%g");
  assertEquals(site.toDlq, [["%RETRY%g", "PG"], ["%RETRY%g", "PG"]]);
});

test("SendMessageProcessor counts what is stored, with its type and the time since its stamp", async () => {
  const { send, site, clock } = setUp();
  const storeTimestamp = clock.nowMs();
  site.result = { ...STORED, storeTimestamp };
  now(send({ properties: "__SHARDINGKEY\u0001s\u0002" }));
  const stored = Promise.withResolvers<PutMessageResult>();
  site.result = stored.promise;
  const answer = send({ queueId: 3 });
  // Another one in between must not change what the first is counted as.
  send({ properties: "__SHARDINGKEY\u0001s\u0002" });
  clock.advance(40);
  stored.resolve({ ...STORED, storeTimestamp, status: "FLUSH_DISK_TIMEOUT" });
  await answer;
  assertEquals(site.puts.slice(0, 2), [
    ["T", 1, "fifo", 1, 200, 0],
    ["T", 3, "normal", 1, 200, 40],
  ]);
  assertEquals(site.times.slice(0, 2), [0, 40]);
  site.result = { ...STORED, status: "SERVICE_NOT_AVAILABLE", phyOffset: -1 };
  const counted = site.puts.length;
  send();
  assertEquals(site.puts.length, counted);
  // A wall clock that is set back makes no negative time.
  site.result = { ...STORED, storeTimestamp: clock.nowMs() + 5_000 };
  send();
  assertEquals(site.times.at(-1), 0);
});

test("SendMessageProcessor stores a batch and lists its ids", () => {
  const { send, stored, site } = setUp();
  site.result = {
    ...STORED,
    messageCount: 2,
    phyOffsets: [4096, 4296],
  };
  const body = encodeMessageBatch([
    {
      flag: 0,
      body: new Uint8Array(3),
      propertiesText: "UNIQ_KEY\u0001A\u0002",
    },
    { flag: 0, body: new Uint8Array(0), propertiesText: "DELAY\u00010\u0002" },
  ]);
  for (const code of [310, 320]) {
    const answer = now(send({ batch: true }, body, code));
    assertEquals(answer.code, 0, answer.remark ?? "");
    assertEquals(
      answer.extFields.msgId,
      "7F00000100002A9F0000000000001000,7F00000100002A9F00000000000010C8",
    );
    assertEquals(answer.extFields.queueOffset, "5");
    assertEquals(answer.extFields.transactionId, "");
  }
  assert("isBatch" in stored[0]!);
});

test("SendMessageProcessor refuses bad batches", () => {
  const { send, stored, groups } = setUp();
  groups.add("g");
  const entry = (propertiesText: string) =>
    encodeMessageBatch([{
      flag: 0,
      body: new Uint8Array(2),
      propertiesText,
    }]);
  const good = entry("");
  const cut = good.slice(0, good.length - 1);
  const bodies: [Uint8Array, string][] = [
    [new Uint8Array(0), "no entry"],
    [cut, "malformed"],
    [entry("KEYS\u0001k\u0002DELAY\u00013\u0002"), "DELAY"],
    [entry("TRAN_MSG\u0001true"), "TRAN_MSG"],
    [entry("TIMER_DELAY_MS\u00015\u0002"), "TIMER_DELAY_MS"],
  ];
  for (const [body, part] of bodies) {
    const answer = now(send({}, body, 320));
    assertEquals(answer.code, 13);
    assert(answer.remark!.includes(part), `${answer.remark}`);
  }
  const isOfBatch = now(
    send({ properties: "DELAY\u00013\u0002" }, good, 320),
  );
  assertEquals([isOfBatch.code, isOfBatch.remark!.includes("DELAY")], [
    13,
    true,
  ]);
  assertEquals(
    now(send({ topic: "%RETRY%g", queueId: 0 }, good, 320)).code,
    13,
  );
  assertEquals(stored.length, 0);
});

test("SendMessageProcessor maps every status of the store, later too", async () => {
  const cases: [PutMessageResult["status"], number, boolean][] = [
    ["FLUSH_DISK_TIMEOUT", 10, true],
    ["SLAVE_NOT_AVAILABLE", 11, true],
    ["FLUSH_SLAVE_TIMEOUT", 12, true],
    ["MESSAGE_ILLEGAL", 13, false],
    ["PROPERTIES_SIZE_EXCEEDED", 13, false],
    ["SERVICE_NOT_AVAILABLE", 14, false],
    ["OS_PAGE_CACHE_BUSY", 2, false],
    ["CREATE_MAPPED_FILE_FAILED", 1, false],
    ["IN_SYNC_REPLICAS_NOT_ENOUGH", 1, false],
    ["UNKNOWN_ERROR", 1, false],
  ];
  const { send, site } = setUp();
  for (const [status, code, isStored] of cases) {
    site.result = Promise.resolve({ ...STORED, status, reason: `why ${code}` });
    const answer = await send();
    assertEquals(answer.code, code);
    assertEquals(answer.remark, `why ${code}`);
    assertEquals(answer.extFields.msgId !== undefined, isStored);
    site.result = { ...STORED, status };
    assert(now(send()).remark !== null);
  }
});
