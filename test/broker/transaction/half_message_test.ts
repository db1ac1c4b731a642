import { assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  decideHalf,
  isBeyondImmunity,
} from "../../../src/broker/transaction/half_decision.ts";
import {
  halfMessageOf,
  opOffsetsOf,
  realTargetOf,
} from "../../../src/broker/transaction/half_message.ts";
import type { MessageExt } from "../../../src/model/message_ext.ts";
import {
  decodeProperties,
  encodeProperties,
} from "../../../src/model/message_properties.ts";
import { brokerInner } from "../../model/message_fixture.ts";

function stored(
  properties: Record<string, string>,
  changes: Partial<MessageExt> = {},
): MessageExt {
  return {
    ...brokerInner({
      propertiesText: encodeProperties(Object.entries(properties)),
    }),
    queueOffset: 5,
    phyOffset: 50,
    storeSize: 100,
    bodyCrc: 0,
    storeTimestamp: 0,
    bornTimestamp: 0,
    ...changes,
  };
}

test("halfMessageOf() hides a message in the half topic and says where it belongs", () => {
  const half = halfMessageOf(
    brokerInner({
      sysFlag: 0x7,
      propertiesText: "A\u00011\u0002REAL_TOPIC\u0001forged\u0002",
    }),
    "K1",
  );
  assertEquals(
    [half.topic, half.queueId, half.sysFlag],
    ["RMQ_SYS_TRANS_HALF_TOPIC", 0, 0x3],
  );
  assertEquals(Object.fromEntries(decodeProperties(half.propertiesText)), {
    A: "1",
    REAL_TOPIC: "TopicTest",
    REAL_QID: "3",
    __transactionId__: "K1",
  });
});

test("realTargetOf() takes nothing by halves", () => {
  const whole = { REAL_TOPIC: "T", REAL_QID: "3", PGROUP: "p" };
  assertEquals(realTargetOf(stored(whole)), {
    topic: "T",
    queueId: 3,
    producerGroup: "p",
  });
  for (const name of Object.keys(whole)) {
    const { [name as "PGROUP"]: _, ...rest } = whole;
    assertEquals(realTargetOf(stored(rest as never)), undefined);
  }
  for (const REAL_QID of ["-1", "x", "9999999999"]) {
    assertEquals(realTargetOf(stored({ ...whole, REAL_QID })), undefined);
  }
});

test("opOffsetsOf() reads op messages of 4.9 and 5.x", () => {
  const of = (text: string, TAGS = "d") =>
    opOffsetsOf(stored({ TAGS }, { body: new TextEncoder().encode(text) }));
  assertEquals(of("17"), [17]);
  assertEquals(of("17,18,"), [17, 18]);
  assertEquals(of("x,18,-1,"), [18]);
  assertEquals(of(""), []);
  assertEquals(of("17", "other"), []);
});

test("decideHalf() waits, asks, and gives up", () => {
  const options = { transactionTimeOut: 6_000, transactionCheckMax: 15 };
  const decide = (
    ageMs: number,
    properties: Record<string, string> = {},
    hasProducer = true,
  ) =>
    decideHalf(stored(properties), ageMs, hasProducer, options, 72 * 3_600_000);
  assertEquals([0, 6_000, 6_001].map((it) => decide(it)), [
    "keep",
    "keep",
    "check",
  ]);
  // A clock that was set back.
  assertEquals(decide(-1), "check");
  assertEquals(decide(6_001, {}, false), "keep");
  assertEquals(decide(72 * 3_600_000 + 1, {}, false), "discard");
  assertEquals(decide(7_000, { TRANSACTION_CHECK_TIMES: "14" }), "check");
  assertEquals(decide(7_000, { TRANSACTION_CHECK_TIMES: "15" }), "discard");
  const immune = { CHECK_IMMUNITY_TIME_IN_SECONDS: "60" };
  assertEquals([60_000, 60_001].map((it) => decide(it, immune)), [
    "keep",
    "check",
  ]);
  const late = (properties: Record<string, string>, ageMs: number) =>
    isBeyondImmunity(stored(properties), ageMs, 6_000);
  assertEquals([late(immune, 60_000), late(immune, 60_001)], [false, true]);
  assertEquals(late({}, 1e9), false);
});
