import { test } from "node:test";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { javaHashCode } from "../../src/base/java_hash.ts";
import { SendProperties } from "../../src/broker/send_properties.ts";
import {
  decodeProperties,
  encodeProperties,
} from "../../src/model/message_properties.ts";

function scanned(text: string): SendProperties {
  const properties = new SendProperties();
  properties.scan(text);
  return properties;
}

test("SendProperties.scan() finds what a send needs, wherever it stands", () => {
  const it = scanned(encodeProperties([
    ["KEYS", "a b"],
    ["TAGS", "TagA"],
    ["XTAGS", "no"],
    ["WAIT", "FALSE"],
    ["DELAY", "3"],
    ["UNIQ_KEY", "K"],
    ["TRAN_MSG", "True"],
    ["TIMER_DELAY_SEC", "9"],
  ]));
  assertEquals(it.tagsCode, javaHashCode("TagA"));
  assertEquals(it.waitStoreMsgOk, false);
  assertEquals(
    [it.delay, it.uniqKey, it.isTransactional, it.timer],
    ["3", "K", true, "TIMER_DELAY_SEC"],
  );
});

test("SendProperties.messageType is RocketMQ's", () => {
  const typeOf = (...pairs: [string, string][]) =>
    scanned(encodeProperties(pairs)).messageType;
  const sharded: [string, string] = ["__SHARDINGKEY", "s"];
  assertEquals(typeOf(["KEYS", "__SHARDINGKEY"]), "normal");
  assertEquals(typeOf(sharded), "fifo");
  assertEquals(typeOf(["DELAY", "0"]), "delay");
  assertEquals(typeOf(["TIMER_DELAY_MS", "1"]), "delay");
  assertEquals(typeOf(["DELAY", "1"], sharded), "fifo");
  assertEquals(typeOf(["TRAN_MSG", "true"], sharded), "transaction");
  const it = scanned(encodeProperties([sharded]));
  it.scan("");
  assertEquals(it.messageType, "normal");
});

test("SendProperties.scan() forgets the message before and ignores broken pairs", () => {
  const it = scanned("TAGS\u0001A\u0002DELAY\u00011\u0002TRAN_MSG\u0001true");
  it.scan("TAGS\u0001\u0002\u0001x\u0002DELAY\u0002junk");
  assertEquals(
    [it.tagsCode, it.delay, it.isTransactional, it.waitStoreMsgOk],
    [0, "", false, true],
  );
  assertEquals(
    it.storedText(),
    "TAGS\u0001\u0002\u0001x\u0002DELAY\u0002junk\u0002",
  );
});

test("SendProperties.storedText() ends with one separator, whatever is cut", () => {
  const cases: [string, string][] = [
    ["", ""],
    ["A\u00011", "A\u00011\u0002"],
    ["A\u00011\u0002", "A\u00011\u0002"],
    ["WAIT\u0001true", ""],
    ["A\u00011\u0002WAIT\u0001true", "A\u00011\u0002"],
    ["WAIT\u0001true\u0002A\u00011", "A\u00011\u0002"],
    ["CLUSTER\u0001c\u0002A\u00011\u0002WAIT\u0001x\u0002", "A\u00011\u0002"],
  ];
  for (const [text, stored] of cases) {
    assertEquals(scanned(text).storedText(), stored);
  }
  const both = scanned("DELAY\u00013\u0002A\u00011\u0002WAIT\u0001true");
  assertEquals(both.storedTextWithoutDelay(), "A\u00011\u0002");
});

test("SendProperties.storedText() keeps every other pair", () => {
  const name = fc.constantFrom(
    "WAIT",
    "CLUSTER",
    "MSG_REGION",
    "TRACE_ON",
    "DELAY",
    "TAGS",
    "KEYS",
    "UNIQ_KEY",
    "x",
    "Ünïcode",
  );
  const value = fc.string({ minLength: 1, maxLength: 5 }).filter((it) =>
    !it.includes("\u0001") && !it.includes("\u0002")
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, value)),
      fc.boolean(),
      (pairs, isCut) => {
        const whole = encodeProperties(pairs);
        const text = isCut ? whole.slice(0, -1) : whole;
        const expected = decodeProperties(text);
        expected.delete("WAIT");
        expected.delete("CLUSTER");
        expected.delete("MSG_REGION");
        expected.delete("TRACE_ON");
        const it = scanned(text);
        assertEquals(decodeProperties(it.storedText()), expected);
        expected.delete("DELAY");
        assertEquals(decodeProperties(it.storedTextWithoutDelay()), expected);
      },
    ),
    { numRuns: 300 },
  );
});
