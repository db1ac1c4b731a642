import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { test } from "node:test";
import { deflate } from "../../src/base/zlib.ts";
import { allocateMessageQueueAveragely } from "../../src/client/allocate_message_queue_averagely.ts";
import { namesrvAddrsOf } from "../../src/client/client_options.ts";
import {
  ConsumedMessage,
  decodeRecords,
} from "../../src/client/consumed_message.ts";
import {
  MessagePropertyError,
  propertiesTextOf,
} from "../../src/client/message.ts";
import { refusedBy } from "../../src/client/mq_client_error.ts";
import {
  publishQueues,
  routeOfTemplate,
  subscribeQueues,
} from "../../src/client/route_queues.ts";
import type { TopicRouteData } from "../../src/protocol/body/topic_route_data.ts";
import { createResponse } from "../../src/protocol/remoting_command.ts";
import { brokerInner, encodeRecord } from "../model/message_fixture.ts";
import { bytesOf, textOf } from "./sim_site.ts";

test("allocateMessageQueueAveragely() matches Java's examples", () => {
  const queues = [0, 1, 2, 3, 4, 5, 6, 7];
  const of = (me: string, ...members: string[]) =>
    allocateMessageQueueAveragely(queues, members, me);
  assertEquals(of("a", "a", "b", "c"), [0, 1, 2]);
  assertEquals(of("b", "a", "b", "c"), [3, 4, 5]);
  assertEquals(of("c", "a", "b", "c"), [6, 7]);
  assertEquals(of("x", "a", "b"), []);
});

test("allocateMessageQueueAveragely() gives every queue to exactly one member", () => {
  fc.assert(fc.property(fc.nat(60), fc.integer({ min: 1, max: 20 }), (q, m) => {
    const queues = Array.from({ length: q }, (_, index) => index);
    const members = Array.from({ length: m }, (_, index) => `c${index}`);
    const shares = members.map((it) =>
      allocateMessageQueueAveragely(queues, members, it)
    );
    assertEquals(shares.flat(), queues);
    const sizes = shares.map((it) => it.length);
    assert(Math.max(...sizes) - Math.min(...sizes) <= 1);
  }));
});

function route(
  brokers: [string, number, number[]][],
  orderTopicConf: string | null = null,
): TopicRouteData {
  return {
    orderTopicConf,
    queueDatas: brokers.map(([brokerName, perm]) => ({
      brokerName,
      readQueueNums: 2,
      writeQueueNums: 1,
      perm,
      topicSysFlag: 0,
    })),
    brokerDatas: brokers.map(([brokerName, , ids]) => ({
      cluster: "c",
      brokerName,
      brokerAddrs: new Map(ids.map((id) => [id, `${brokerName}:${id}`])),
      enableActingMaster: false,
      zoneName: null,
    })),
    filterServerTable: new Map(),
  };
}

test("publishQueues() wants the write bit and a master, subscribeQueues() the read bit", () => {
  const it = route([["b", 6, [0]], ["a", 6, [0, 1]], ["s", 6, [1]], [
    "r",
    4,
    [0],
  ], ["w", 2, [0]]]);
  const named = (queues: { brokerName: string; queueId: number }[]) =>
    queues.map((queue) => `${queue.brokerName}${queue.queueId}`).join(" ");
  assertEquals(named(publishQueues("T", it)), "a0 b0 w0");
  assertEquals(
    named(subscribeQueues("T", it)),
    "a0 a1 b0 b1 r0 r1 s0 s1",
  );
  const ordered = route([["a", 6, [0]]], "a:2;b:1");
  assertEquals(named(publishQueues("T", ordered)), "a0 a1 b0");
});

test("routeOfTemplate() leaves brokers whose template inherits", () => {
  const it = routeOfTemplate(route([["a", 7, [0]], ["b", 6, [0]]]), 1);
  assertEquals(publishQueues("T", it), [
    { topic: "T", brokerName: "a", queueId: 0 },
  ]);
});

test("propertiesTextOf() refuses what the wire cannot carry", () => {
  const send = (properties: Record<string, string>) => () =>
    propertiesTextOf({ topic: "T", body: bytesOf(""), properties }, "ID");
  assertThrows(send({ "a\u0001": "x" }), MessagePropertyError);
  assertThrows(send({ a: "\u0002" }), MessagePropertyError);
  assertThrows(send({ "": "x" }), MessagePropertyError);
  for (const keys of [["a b"], ["a", ""], ["a\t"]]) {
    assertThrows(
      () => propertiesTextOf({ topic: "T", body: bytesOf(""), keys }, "ID"),
      MessagePropertyError,
      "Cannot send the key",
    );
  }
  assertEquals(
    send({ a: "b" })(),
    "a\u0001b\u0002UNIQ_KEY\u0001ID\u0002WAIT\u0001true\u0002",
  );
});

test("ConsumedMessage inflates bodies and shows the original topic", () => {
  const message = brokerInner({
    topic: "%RETRY%g",
    sysFlag: 0x1,
    body: deflate(bytesOf("hello"), 5),
    propertiesText: "RETRY_TOPIC\u0001T\u0002KEYS\u0001a b\u0002",
  });
  const bytes = encodeRecord(message, 7, 1024, 5);
  const lz4 = encodeRecord({ ...message, sysFlag: 0x101 }, 8, 2048, 5);
  const broken = encodeRecord({ ...message, body: bytesOf("x") }, 9, 4096, 5);
  const all = new Uint8Array([...bytes, ...lz4, ...broken]);
  const [it, packed, bad] = decodeRecords(all).map((record) =>
    new ConsumedMessage(record)
  );
  assertEquals([textOf(it!.body), it!.topic, it!.keys, it!.queueOffset], [
    "hello",
    "T",
    ["a", "b"],
    7,
  ]);
  assertEquals(it!.msgId, "0A00000200002A9F0000000000000400");
  assertEquals([it, packed, bad].map((message) => message!.compression), [
    null,
    "LZ4",
    "ZLIB",
  ]);
  assertEquals(textOf(bad!.body), "x");
});

test("namesrvAddrsOf() reads lists", () => {
  assertEquals(namesrvAddrsOf(" a:1; b:2,a:1;;"), ["a:1", "b:2"]);
  assertEquals(namesrvAddrsOf(""), []);
});

test("refusedBy() says one sentence, also of a name server that names a page to read", () => {
  const refused = (remark: string | null) =>
    refusedBy("10.0.0.1:9876", 105, createResponse(17, remark)).message;
  const start =
    "10.0.0.1:9876 refused GET_ROUTEINFO_BY_TOPIC with TOPIC_NOT_EXIST (17)";
  assertEquals(
    refused("No route\nSee https://x for details."),
    `${start}: No route`,
  );
  assertEquals(refused(null), start);
});
