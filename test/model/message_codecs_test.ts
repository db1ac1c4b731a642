import { test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { CorruptRecordError } from "../../src/model/corrupt_record_error.ts";
import {
  decodeMessageBatch,
  encodeMessageBatch,
  type MessageBatchEntry,
} from "../../src/model/message_batch.ts";
import {
  decodeMessageId,
  encodeMessageId,
  messageIdProblem,
} from "../../src/model/message_id.ts";
import {
  appendProperty,
  decodeProperties,
  encodeProperties,
  findProperty,
} from "../../src/model/message_properties.ts";
import { parseSocketAddress } from "../../src/model/socket_address.ts";
import { utf8SizeOf, writeUtf8 } from "../../src/base/utf8.ts";

const A = "\u0001";
const B = "\u0002";

test("Properties are written with the final separator and read without it", () => {
  const text = encodeProperties([["TAGS", "TagA"], ["WAIT", "true"]]);
  assertEquals(text, `TAGS${A}TagA${B}WAIT${A}true${B}`);
  const pairs = [["TAGS", "TagA"], ["WAIT", "true"]];
  assertEquals([...decodeProperties(text)], pairs);
  assertEquals([...decodeProperties(text.slice(0, -1))], pairs);
  assertEquals(decodeProperties(`${A}x${B}y${A}${B}z${B}${B}`).size, 0);
});

test("findProperty() agrees with the decoded map", () => {
  const name = fc.constantFrom("A", "AA", "KEYS", "XKEYS", "鍵");
  const value = fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 })
    .filter((it) => !it.includes(A) && !it.includes(B));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, value), { maxLength: 6 }),
      fc.boolean(),
      name,
      (pairs, drop, wanted) => {
        const whole = encodeProperties(pairs);
        const text = drop ? whole.slice(0, -1) : whole;
        assertEquals(
          findProperty(text, wanted),
          decodeProperties(text).get(wanted),
        );
        const more = appendProperty(text, "NEW", "v");
        assertEquals(decodeProperties(more).size, new Map(pairs).size + 1);
      },
    ),
    { seed: 20_262 },
  );
  assertEquals(findProperty(`KEYS${A}${B}`, "KEYS"), undefined);
  assertEquals(findProperty(`XKEYS${A}1`, "KEYS"), undefined);
});

test("Message ids match the golden one and refuse anything else", () => {
  const storeHost = parseSocketAddress("10.0.0.2:10911")!;
  const id = encodeMessageId(storeHost, 1024);
  assertEquals(id, "0A00000200002A9F0000000000000400");
  assertEquals(decodeMessageId(id), { storeHost, phyOffset: 1024 });
  const v6 = parseSocketAddress("[::1]:10911")!;
  const far = encodeMessageId(v6, 2 ** 52 + 1);
  assertEquals(far.length, 56);
  assertEquals(decodeMessageId(far), { storeHost: v6, phyOffset: 2 ** 52 + 1 });
  for (const text of ["", id.slice(1), "G" + id.slice(1), "F".repeat(32)]) {
    assertEquals(decodeMessageId(text), undefined);
  }
});

test("what is no message id is told why", () => {
  const host = "0A00000200002A9F";
  assertEquals(messageIdProblem(`${host}001FFFFFFFFFFFFF`), undefined);
  for (
    const [text, problem] of [
      [`${host}0020000000000000`, "behind 2^53 - 1"],
      [`${"0".repeat(24)}${host}8000000000000000`, "behind 2^53 - 1"],
      ["0A000002800000000000000000000400", "are a port"],
      [`${host}000000000000040`, "32 or 56 hex digits"],
      [`${host}000000000000040G`, "32 or 56 hex digits"],
    ] as const
  ) {
    assert(messageIdProblem(text)?.includes(problem), text);
  }
});

test("Message batches round-trip and reject every cut", () => {
  const entries = [
    { flag: 1, body: Uint8Array.of(1, 2, 3), propertiesText: `K${A}漢字${B}` },
    { flag: -7, body: new Uint8Array(0), propertiesText: "" },
    { flag: 0, body: new Uint8Array(300).fill(5), propertiesText: `a${A}b` },
  ];
  const bytes = encodeMessageBatch(entries);
  const plain = (it: readonly MessageBatchEntry[]) =>
    it.map((each) => ({ ...each, body: [...each.body] }));
  assertEquals(plain(decodeMessageBatch(bytes)), plain(entries));
  const ends = [0, 34, 56, bytes.length];
  for (let cut = 0; cut <= bytes.length; cut++) {
    let failed: unknown;
    try {
      decodeMessageBatch(bytes.subarray(0, cut));
    } catch (error) {
      failed = error;
    }
    assertEquals(failed === undefined, ends.includes(cut), `cut at ${cut}`);
    assert(failed === undefined || failed instanceof CorruptRecordError);
  }
});

test("Message batches never throw anything else on noise", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (noise) => {
      const framed = new Uint8Array(noise.length + 4);
      framed.set(noise, 4);
      new DataView(framed.buffer).setInt32(0, framed.length);
      try {
        decodeMessageBatch(framed);
      } catch (error) {
        assert(error instanceof CorruptRecordError, String(error));
      }
    }),
    { seed: 20_263, numRuns: 300 },
  );
});

test("writeUtf8() and utf8SizeOf() agree with the runtime's encoder", () => {
  const scratch = new Uint8Array(2_000);
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 120 }), (text) => {
      const expected = new TextEncoder().encode(text);
      const end = writeUtf8(scratch, 3, text);
      assertEquals([...scratch.subarray(3, end)], [...expected]);
      assertEquals(utf8SizeOf(text), expected.length);
    }),
    { seed: 20_264, numRuns: 300 },
  );
});
