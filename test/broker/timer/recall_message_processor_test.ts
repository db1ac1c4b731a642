/** RECALL_MESSAGE: what is refused, and with which code (Apache's RecallMessageProcessor). */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { DEFAULT_BROKER_OPTIONS } from "../../../src/broker/broker_options.ts";
import { RecallMessageProcessor } from "../../../src/broker/processor/recall_message_processor.ts";
import type { MessageExtBrokerInner } from "../../../src/model/message_ext.ts";
import { findProperty } from "../../../src/model/message_properties.ts";
import {
  decodeRecallHandle,
  encodeRecallHandle,
} from "../../../src/model/recall_message_handle.ts";
import { parseSocketAddress } from "../../../src/model/socket_address.ts";
import { createRequest } from "../../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../../src/protocol/request_code.ts";
import { FakeClock, fakeContext, topicOf } from "../fakes.ts";

const HOUR_MS = 3_600_000;

function setUp(
  options: Partial<typeof DEFAULT_BROKER_OPTIONS> = {},
  isSlave = false,
) {
  const clock = new FakeClock();
  const stored: MessageExtBrokerInner[] = [];
  const processor = new RecallMessageProcessor({
    store: {
      putMessage: (message) => {
        stored.push(message);
        return {
          status: "PUT_OK",
          phyOffset: 0,
          queueOffset: 0,
          size: 1,
          storeTimestamp: 0,
          messageCount: 1,
        };
      },
    },
    topics: {
      selectTopicConfig: (topic) => topic === "T" ? topicOf("T") : undefined,
    },
    clock,
    storeHost: parseSocketAddress("127.0.0.1:10911")!,
    isSlave: () => isSlave,
  }, {
    ...DEFAULT_BROKER_OPTIONS,
    brokerName: "b",
    recallMessageEnable: true,
    ...options,
  });
  const handle = {
    topic: "T",
    brokerName: "b",
    timestampMs: clock.nowMs() + HOUR_MS,
    uniqKey: "K",
  };
  const recall = (recallHandle: string, topic = "T") =>
    processor.process(
      fakeContext(),
      createRequest(RequestCode.RECALL_MESSAGE, { topic, recallHandle }),
    );
  return { clock, handle, recall, stored };
}

test("a recall is a timer message that comes up with the other one", async () => {
  const { handle, recall, stored } = setUp();
  const answer = await recall(encodeRecallHandle(handle));
  assertEquals([answer.code, answer.extFields.msgId], [0, "K"]);
  const [message] = stored;
  assertEquals(message!.topic, "rmq_sys_wheel_timer");
  const property = (name: string) =>
    findProperty(message!.propertiesText, name);
  assertEquals(property("TIMER_DEL_UNIQKEY"), "T+K");
  assertEquals(property("TIMER_OUT_MS"), String(handle.timestampMs - 1));
});

test("what cannot be recalled is refused with RocketMQ's code", async () => {
  const good = setUp();
  const text = (changes: Partial<typeof good.handle>) =>
    encodeRecallHandle({ ...good.handle, ...changes });
  const nowMs = good.clock.nowMs();
  const cases: [string, string, number][] = [
    ["", "T", 604],
    ["%%%", "T", 604],
    [btoa("v2 T b 1 K"), "T", 604],
    [btoa("v1 T b"), "T", 604],
    [text({ topic: "U" }), "T", 604],
    [text({ brokerName: "c" }), "T", 604],
    [text({ timestampMs: nowMs }), "T", 604],
    [text({ timestampMs: nowMs + 259_200_000 }), "T", 604],
    [btoa("v1 T b soon K"), "T", 604],
    [text({}), "U", 17],
  ];
  for (const [handle, topic, code] of cases) {
    const answer = await good.recall(handle, topic);
    assertEquals(answer.code, code, `${handle} ${answer.remark}`);
    assert(answer.remark!.startsWith("recall failed, "), answer.remark!);
  }
  assertEquals(good.stored, []);
  const others: [Parameters<typeof setUp>, number][] = [
    [[{ recallMessageEnable: false }], 16],
    [[{ timerWheelEnable: false }], 16],
    [[{}, true], 11],
    [[{ startAcceptSendRequestTimeStamp: nowMs * 2 }], 14],
    [
      [{ brokerPermission: 4, allowRecallWhenBrokerNotWriteable: false }],
      14,
    ],
    [[{ brokerPermission: 4 }], 0],
  ];
  for (const [given, code] of others) {
    const site = setUp(...given);
    assertEquals((await site.recall(text({}))).code, code);
  }
});

test("a handle says what was put into it", () => {
  const handle = {
    topic: "%RETRY%g-|",
    brokerName: "b_1",
    timestampMs: 1_700_000_000_001,
    uniqKey: "0A0B??>>",
  };
  assertEquals(decodeRecallHandle(encodeRecallHandle(handle)), handle);
});
