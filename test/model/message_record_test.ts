import { test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { CorruptRecordError } from "../../src/model/corrupt_record_error.ts";
import {
  checkMessageRecord,
  decodeMessageRecord,
  MESSAGE_MAGIC_CODE_V2,
  recordSizeOf,
} from "../../src/model/message_record.ts";
import {
  MessageRecordEncoder,
  PROPERTIES_TOO_LONG,
} from "../../src/model/message_record_encoder.ts";
import { formatSocketAddress } from "../../src/model/socket_address.ts";
import { brokerInner, encodeRecord, hexOf } from "./message_fixture.ts";

const GOLDEN = "0000007ddaa320a73610a68600000003000000000000000000000007" +
  "0000000000000400000000000000018bcfe568000a0000010000c350" +
  "0000018bcfe568050a00000200002a9f000000000000000000000000" +
  "0000000568656c6c6f09546f70696354657374001454414753015461" +
  "67410257414954017472756502";

const checkAll = { checkCrc: true };

function check(bytes: Uint8Array, limit = bytes.length) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return checkMessageRecord(bytes, view, 0, limit, checkAll);
}

function decodeOrError(bytes: Uint8Array): unknown {
  try {
    return decodeMessageRecord(bytes);
  } catch (error) {
    return error;
  }
}

test("MessageRecord writes and reads the golden record", () => {
  const bytes = encodeRecord(brokerInner(), 7, 1024, 1_700_000_000_005);
  assertEquals(hexOf(bytes), GOLDEN);
  const message = decodeMessageRecord(bytes);
  assertEquals(message.topic, "TopicTest");
  assertEquals(message.queueId, 3);
  assertEquals(message.queueOffset, 7);
  assertEquals(message.phyOffset, 1024);
  assertEquals(message.storeSize, 125);
  assertEquals(message.bodyCrc, 907_060_870);
  assertEquals(new TextDecoder().decode(message.body), "hello");
  assertEquals(message.bornTimestamp, 1_700_000_000_000);
  assertEquals(message.storeTimestamp, 1_700_000_000_005);
  assertEquals(formatSocketAddress(message.bornHost), "10.0.0.1:50000");
  assertEquals(formatSocketAddress(message.storeHost), "10.0.0.2:10911");
  assertEquals(message.propertiesText, brokerInner().propertiesText);
});

test("MessageRecord carries IPv6 hosts, V2 topics, CJK texts and empty bodies", () => {
  const message = brokerInner({
    topic: "%RETRY%" + "g".repeat(240),
    body: new Uint8Array(0),
    bornHost: { address: new Uint8Array(16).fill(7), port: 1 },
    storeHost: { address: new Uint8Array(16).fill(9), port: 65_535 },
    propertiesText: "KEYS\u0001訂單編號 🚀 ñ\u0002" +
      "k\u0001漢\u0002".repeat(40),
  });
  const bytes = encodeRecord(message, 2 ** 40, 2 ** 50, 5);
  assertEquals(check(bytes), { kind: "record", size: bytes.length });
  const back = decodeMessageRecord(bytes);
  assertEquals(back.topic, message.topic);
  assertEquals(back.sysFlag, 0x30);
  assertEquals(back.bornHost, message.bornHost);
  assertEquals(back.storeHost, message.storeHost);
  assertEquals(back.propertiesText, message.propertiesText);
  assertEquals(back.queueOffset, 2 ** 40);
  assertEquals(back.phyOffset, 2 ** 50);
  assertEquals(back.storeTimestamp, 5);
  assertEquals(
    new DataView(bytes.buffer).getInt32(4),
    MESSAGE_MAGIC_CODE_V2,
  );
  const propertiesSize = new TextEncoder().encode(back.propertiesText).length;
  assertEquals(
    recordSizeOf(0x30, 0, 247, propertiesSize, MESSAGE_MAGIC_CODE_V2),
    bytes.length,
  );
});

test("MessageRecord rejects every cut and every wrong size", () => {
  const bytes = encodeRecord(brokerInner(), 7, 1024, 5);
  for (let cut = 0; cut < bytes.length; cut++) {
    assertEquals(check(bytes, cut).kind, "incomplete", `cut at ${cut}`);
    assert(decodeOrError(bytes.slice(0, cut)) instanceof CorruptRecordError);
  }
  for (const at of [0, 4, 8, 84, 93, 103]) {
    const wrong = bytes.slice();
    wrong[at] = wrong[at]! ^ 0x41;
    assert(check(wrong).kind !== "record", `byte ${at}`);
  }
  const shorter = bytes.slice();
  new DataView(shorter.buffer).setInt32(0, 124);
  assertEquals(check(shorter).kind, "corrupt");
});

test("checkMessageRecord() knows blank markers, zeros and a record of elsewhere", () => {
  const blank = Uint8Array.of(0, 0, 0, 0x64, 0xcb, 0xd4, 0x31, 0x94);
  assertEquals(check(blank), { kind: "blank", size: 100 });
  assertEquals(check(new Uint8Array(64)).kind, "corrupt");
  const bytes = encodeRecord(brokerInner(), 7, 1024, 5);
  const view = new DataView(bytes.buffer);
  const at = (phyOffset: number) =>
    checkMessageRecord(bytes, view, 0, bytes.length, {
      checkCrc: true,
      phyOffset,
    }).kind;
  assertEquals([at(1024), at(1025)], ["record", "corrupt"]);
});

test("MessageRecordEncoder.encode() refuses properties beyond int16", () => {
  const encoder = new MessageRecordEncoder();
  const sizeOf = (propertiesText: string) => {
    const message = brokerInner({ propertiesText });
    return encoder.encode(0, message, 0, message.body, propertiesText);
  };
  assertEquals(sizeOf("漢".repeat(10_923)), PROPERTIES_TOO_LONG);
  assert(sizeOf("漢".repeat(10_922)) > 32_766);
  encoder.encode(0, brokerInner(), 0, new Uint8Array(4_194_304), "");
  encoder.shrink();
  assertEquals(encoder.bytes.length, 65_536);
});

test("MessageRecord survives a round trip and never throws anything else on noise", () => {
  const seed = 20_261;
  const text = fc.string({ unit: "grapheme", maxLength: 80 });
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      text.filter((it) => it.length > 0 && it.length < 40),
      text,
      fc.boolean(),
      fc.nat(),
      (body, topic, propertiesText, v6, flip) => {
        const address = new Uint8Array(v6 ? 16 : 4).fill(1);
        const message = brokerInner({
          body,
          topic,
          propertiesText,
          bornHost: { address, port: 7 },
        });
        const bytes = encodeRecord(message, 3, 4, 5);
        assertEquals(check(bytes), { kind: "record", size: bytes.length });
        const back = decodeMessageRecord(bytes);
        assertEquals(back.topic, topic);
        assertEquals(back.propertiesText, propertiesText);
        assertEquals([...back.body], [...body]);
        bytes[flip % bytes.length]! ^= 0xff;
        const after = decodeOrError(bytes);
        assert(
          !(after instanceof Error) || after instanceof CorruptRecordError,
        );
      },
    ),
    { seed, numRuns: 300 },
  );
});
