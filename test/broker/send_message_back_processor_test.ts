import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { DEFAULT_BROKER_OPTIONS } from "../../src/broker/broker_options.ts";
import { SendMessageBackProcessor } from "../../src/broker/processor/send_message_back_processor.ts";
import type { MessageExtBrokerInner } from "../../src/model/message_ext.ts";
import { decodeProperties } from "../../src/model/message_properties.ts";
import { parseSocketAddress } from "../../src/model/socket_address.ts";
import { encodeConsumerSendMsgBackRequestHeader } from "../../src/protocol/header/consumer_send_msg_back_request_header.ts";
import { createRequest } from "../../src/protocol/remoting_command.ts";
import type { PutMessageResult } from "../../src/store/put_message_result.ts";
import { brokerInner, encodeRecord } from "../model/message_fixture.ts";
import { fakeContext, FakeGroups, FakeTopics, topicOf } from "./fakes.ts";

const STORED: PutMessageResult = {
  status: "PUT_OK",
  phyOffset: 4_096,
  queueOffset: 5,
  size: 200,
  storeTimestamp: 1,
  messageCount: 1,
};

function setUp(message: Partial<MessageExtBrokerInner> = {}) {
  const stored: MessageExtBrokerInner[] = [];
  const topics = new FakeTopics();
  const groups = new FakeGroups();
  groups.add("g", { retryQueueNums: 3 });
  const backs: string[][] = [];
  const toDlq: string[][] = [];
  const dead: string[][] = [];
  const site = {
    result: STORED,
    record: encodeRecord(
      brokerInner({
        topic: "T",
        propertiesText: "TAGS\u0001A\u0002",
        ...message,
      }),
      7,
      1_000,
      1_700_000_000_000,
    ) as Uint8Array | undefined,
  };
  const processor = new SendMessageBackProcessor({
    store: {
      putMessage: (it) => {
        stored.push(it);
        return site.result;
      },
      selectOneMessageByOffset: (offset) =>
        Promise.resolve(offset === 1_000 ? site.record : undefined),
    },
    topics,
    groups,
    rebalanceLocks: { isLockAllExpired: () => true },
    random: { nextInt: (bound) => bound - 1 },
    storeHost: parseSocketAddress("127.0.0.1:10911")!,
    maxDelayLevel: 18,
    stats: {
      onSendBack: (topic, group) => void backs.push([topic, group]),
      onSendToDlq: (...it) => void toDlq.push(it),
      onDeadLetter: (...it) => void dead.push(it),
    },
  }, { ...DEFAULT_BROKER_OPTIONS, brokerIP1: "127.0.0.1" });
  const back = (
    changes: {
      group?: string;
      offset?: number;
      delayLevel?: number;
      maxReconsumeTimes?: number;
    } = {},
    version = 493,
  ) => {
    const fields = encodeConsumerSendMsgBackRequestHeader({
      offset: 1_000,
      group: "g",
      delayLevel: 0,
      originMsgId: undefined,
      originTopic: "T",
      maxReconsumeTimes: undefined,
      unitMode: false,
      ...changes,
    });
    const request = createRequest(36, fields);
    request.version = version;
    return processor.process(fakeContext(), request);
  };
  return { back, backs, dead, groups, toDlq, site, stored, topics };
}

test("36 sends a message to the retry topic, by the level of its retry", async () => {
  const levels: [number, number, string, number][] = [
    [0, 0, "3", 2],
    [0, 4, "7", 6],
    [0, 15, "18", 17],
    [0, 15, "18", 17],
    [1, 4, "1", 0],
    [99, 0, "18", 17],
  ];
  for (const [delayLevel, reconsumeTimes, kept, queueId] of levels) {
    const { back, backs, stored, topics } = setUp({ reconsumeTimes });
    assertEquals((await back({ delayLevel })).code, 0);
    const [message] = stored;
    assertEquals(
      [message!.topic, message!.queueId, message!.reconsumeTimes],
      ["SCHEDULE_TOPIC_XXXX", queueId, reconsumeTimes + 1],
    );
    assertEquals(
      Object.fromEntries(decodeProperties(message!.propertiesText)),
      {
        TAGS: "A",
        RETRY_TOPIC: "T",
        ORIGIN_MESSAGE_ID: "0A00000200002A9F00000000000003E8",
        DELAY: kept,
        REAL_TOPIC: "%RETRY%g",
        REAL_QID: "2",
      },
    );
    assertEquals(topics.table.get("%RETRY%g")!.writeQueueNums, 3);
    assertEquals(backs, [["T", "g"]]);
  }
});

test("36 keeps the first topic and id of a message that was retried before", async () => {
  const { back, backs, stored } = setUp({
    topic: "%RETRY%g",
    reconsumeTimes: 1,
    propertiesText:
      "RETRY_TOPIC\u0001T\u0002ORIGIN_MESSAGE_ID\u0001X\u0002DELAY\u00013\u0002REAL_TOPIC\u0001%RETRY%g\u0002REAL_QID\u00010\u0002",
  });
  assertEquals((await back()).code, 0);
  assertEquals(
    Object.fromEntries(decodeProperties(stored[0]!.propertiesText)),
    {
      RETRY_TOPIC: "T",
      ORIGIN_MESSAGE_ID: "X",
      DELAY: "4",
      REAL_TOPIC: "%RETRY%g",
      REAL_QID: "2",
    },
  );
  assertEquals(backs, [["T", "g"]]);
});

test("36 dead-letters by the limit of header or group, and on demand", async () => {
  const cases: [
    Parameters<ReturnType<typeof setUp>["back"]>,
    number,
    boolean,
  ][] = [
    [[{}], 15, false],
    [[{}], 16, true],
    [[{ maxReconsumeTimes: 2 }], 1, false],
    [[{ maxReconsumeTimes: 2 }], 2, true],
    // Clients before 3.4.9 have no such field.
    [[{ maxReconsumeTimes: 2 }, 100], 2, false],
    [[{ delayLevel: -1 }], 0, true],
  ];
  for (const [request, reconsumeTimes, isDead] of cases) {
    const { back, dead, stored, toDlq } = setUp({ reconsumeTimes });
    assertEquals((await back(...request)).code, 0);
    const [message] = stored;
    assertEquals(dead, isDead ? [["T", "g"]] : []);
    assertEquals(toDlq, dead);
    assertEquals(message!.topic === "%DLQ%g", isDead);
    if (!isDead) continue;
    assertEquals(message!.queueId, 0);
    assertEquals(message!.reconsumeTimes, reconsumeTimes + 1);
    assertEquals(decodeProperties(message!.propertiesText).has("DELAY"), false);
  }
});

test("36 counts as done whatever is stored: a client that hears an error sends again", async () => {
  const { back, site } = setUp();
  const cases: [PutMessageResult["status"], number][] = [
    ["SLAVE_NOT_AVAILABLE", 0],
    ["FLUSH_SLAVE_TIMEOUT", 0],
    ["FLUSH_DISK_TIMEOUT", 0],
    ["SERVICE_NOT_AVAILABLE", 14],
    ["OS_PAGE_CACHE_BUSY", 2],
  ];
  for (const [status, code] of cases) {
    site.result = { ...STORED, status };
    assertEquals((await back()).code, code, status);
  }
});

test("36 refuses unknown groups and records, and topics that may not be written", async () => {
  const { back, groups, stored, topics } = setUp();
  assertEquals((await back({ group: "nobody" })).code, 26);
  assertEquals((await back({ offset: 5 })).code, 1);
  topics.table.set("%RETRY%g", topicOf("%RETRY%g", { perm: 4 }));
  assertEquals((await back()).code, 16);
  groups.add("g", { retryQueueNums: 0 });
  assertEquals((await back()).code, 0);
  assertEquals(stored, []);
});
