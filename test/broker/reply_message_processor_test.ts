import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { DEFAULT_BROKER_OPTIONS } from "../../src/broker/broker_options.ts";
import { ReplyMessageProcessor } from "../../src/broker/processor/reply_message_processor.ts";
import type { MessageExtBrokerInner } from "../../src/model/message_ext.ts";
import { findProperty } from "../../src/model/message_properties.ts";
import { parseSocketAddress } from "../../src/model/socket_address.ts";
import { encodeSendMessageRequestHeaderV2 } from "../../src/protocol/header/send_message_request_header.ts";
import {
  createRequest,
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import type { PutMessageResult } from "../../src/store/put_message_result.ts";
import {
  FakeClock,
  fakeConnection,
  fakeContext,
  FakeGroups,
  FakeLogger,
  FakeTopics,
  topicOf,
} from "./fakes.ts";

const TOPIC = "DefaultCluster_REPLY_TOPIC";
const PROPERTIES =
  "MSG_TYPE\u0001reply\u0002CORRELATION_ID\u0001c-1\u0002REPLY_TO_CLIENT\u0001asker@1\u0002TTL\u00013000\u0002";
const STORED: PutMessageResult = {
  status: "PUT_OK",
  phyOffset: 4096,
  queueOffset: 5,
  size: 200,
  storeTimestamp: 1,
  messageCount: 1,
};

function setUp(options: Partial<typeof DEFAULT_BROKER_OPTIONS> = {}) {
  const topics = new FakeTopics();
  topics.table.set(TOPIC, topicOf(TOPIC));
  const pushed: RemotingCommand[] = [];
  const stored: MessageExtBrokerInner[] = [];
  const counted: unknown[][] = [];
  const logger = new FakeLogger();
  const site = {
    answer: (): Promise<RemotingCommand> => Promise.resolve(createResponse(0)),
    result: STORED,
    isOpen: true,
  };
  const asker = {
    ...fakeConnection(),
    get isOpen() {
      return site.isOpen;
    },
    invoke: (request: RemotingCommand) => {
      pushed.push({ ...request, body: request.body.slice() });
      return site.answer();
    },
  };
  const processor = new ReplyMessageProcessor({
    store: {
      putMessage: (message) => {
        stored.push({ ...message, body: message.body.slice() });
        return site.result;
      },
    },
    topics,
    groups: new FakeGroups(),
    rebalanceLocks: { isLockAllExpired: () => true },
    clock: new FakeClock(),
    random: { nextInt: (bound) => bound - 1 },
    storeHost: parseSocketAddress("127.0.0.1:10911")!,
    stats: { onPut: (...put) => void counted.push(put) },
    producers: {
      findClient: (id) => id === "asker@1" ? { connection: asker } : undefined,
    },
    logger,
  }, { ...DEFAULT_BROKER_OPTIONS, ...options });
  const reply = (properties = PROPERTIES, topic = TOPIC, sysFlag = 0) => {
    const body = new Uint8Array([1, 2, 3]);
    const fields = encodeSendMessageRequestHeaderV2({
      producerGroup: "repliers",
      topic,
      defaultTopic: "TBW102",
      defaultTopicQueueNums: 4,
      queueId: -1,
      sysFlag,
      bornTimestamp: 1_790_000_000_000,
      flag: 7,
      properties,
      reconsumeTimes: 0,
      unitMode: false,
      maxReconsumeTimes: undefined,
      batch: false,
    });
    const answer = processor.process(
      fakeContext(),
      createRequest(325, fields, body),
    );
    // The receive buffer is another frame's from here on.
    body.fill(9);
    return answer;
  };
  return { counted, logger, pushed, reply, site, stored };
}

test("A reply goes to the client that it names, and into the reply topic", async () => {
  const { counted, pushed, reply, stored } = setUp();
  const answer = await reply(PROPERTIES, TOPIC, 0x201);
  assertEquals([answer.code, answer.extFields], [0, {
    msgId: "7F00000100002A9F0000000000001000",
    queueId: "3",
    queueOffset: "5",
    MSG_REGION: "DefaultRegion",
    TRACE_ON: "true",
  }]);
  const [push] = pushed;
  assertEquals([push!.code, [...push!.body]], [326, [1, 2, 3]]);
  const { properties, ...fields } = push!.extFields;
  assertEquals(fields, {
    producerGroup: "repliers",
    topic: TOPIC,
    defaultTopic: "TBW102",
    defaultTopicQueueNums: "4",
    queueId: "-1",
    sysFlag: "513",
    bornTimestamp: "1790000000000",
    flag: "7",
    reconsumeTimes: "0",
    unitMode: "false",
    bornHost: "127.0.0.1:40001",
    storeHost: "127.0.0.1:10911",
    storeTimestamp: "1790000000000",
  });
  assertEquals(findProperty(properties!, "CORRELATION_ID"), "c-1");
  assertEquals(findProperty(properties!, "PUSH_REPLY_TIME"), "1790000000000");
  const [kept] = stored;
  assertEquals([kept!.topic, kept!.queueId, kept!.sysFlag], [TOPIC, 3, 0x201]);
  assertEquals([[...kept!.body], kept!.propertiesText], [
    [1, 2, 3],
    PROPERTIES,
  ]);
  assertEquals(counted.length, 1);
});

test("A reply that nobody can get is refused with what is wrong, and kept", async () => {
  const { reply, site, stored } = setUp();
  const refusal = async (properties = PROPERTIES) => {
    const { code, remark } = await reply(properties);
    assertEquals(code, 1);
    return remark!;
  };
  assert((await refusal("TTL\u000110\u0002")).includes("REPLY_TO_CLIENT"));
  const stranger = "REPLY_TO_CLIENT\u0001stranger@2\u0002";
  assert((await refusal(stranger)).includes("channel of <stranger@2> not"));
  site.isOpen = false;
  assert((await refusal()).includes("channel of <asker@1> not found"));
  site.isOpen = true;
  site.answer = () => Promise.resolve(createResponse(1, "no such request"));
  assert((await refusal()).includes("fail: no such request"));
  site.answer = () => Promise.reject(new Error("no answer in time"));
  assert((await refusal()).includes("fail: no answer in time"));
  assertEquals(stored.length, 5);
});

test("storeReplyMessageEnable=false only pushes; a full store does not fail a push", async () => {
  const off = setUp({ storeReplyMessageEnable: false });
  const answer = await off.reply();
  assertEquals([answer.code, answer.extFields.msgId], [0, "0"]);
  assertEquals(off.stored, []);
  const full = setUp();
  full.site.result = { ...STORED, status: "SERVICE_NOT_AVAILABLE" };
  assertEquals((await full.reply()).code, 0);
  assertEquals(full.counted, []);
  assertEquals(full.logger.lines.length, 1);
});

test("A reply to a topic that may not be sent to is refused as a send", async () => {
  const { pushed, reply } = setUp();
  assertEquals((await reply(PROPERTIES, "SCHEDULE_TOPIC_XXXX")).code, 16);
  assertEquals((await reply(PROPERTIES, "bad topic")).code, 29);
  assertEquals(pushed, []);
});

test("A reply of an unknown compression type is refused: its consumer could not read it", async () => {
  const { pushed, reply, stored } = setUp();
  const answer = await reply(PROPERTIES, TOPIC, 0x401);
  assertEquals(answer.code, 13);
  assert(answer.remark!.includes("compression type of a message is 4"));
  assertEquals([...pushed, ...stored], []);
});
