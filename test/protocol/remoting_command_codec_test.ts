import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { describe, it } from "node:test";
import { ByteWriter } from "../../src/protocol/byte_writer.ts";
import { FrameError } from "../../src/protocol/frame_error.ts";
import {
  createRequest,
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import {
  decodeCommand,
  encodeCommand,
  writeCommand,
} from "../../src/protocol/remoting_command_codec.ts";

const GOLDEN_JSON =
  '{"code":105,"extFields":{"topic":"TopicTest"},"flag":0,"language":"JAVA","opaque":1,"serializeTypeCurrentRPC":"JSON","version":479}';
const GOLDEN_BINARY =
  "0000002d0100002900690001df000000010000000000000000000000140005746f70696300000009546f70696354657374";

const encoder = new TextEncoder();

function hex(bytes: Uint8Array): string {
  return [...bytes].map((it) => it.toString(16).padStart(2, "0")).join("");
}

function unhex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g)!, (it) => Number.parseInt(it, 16));
}

/** A frame around any header bytes. */
function framed(type: number, header: Uint8Array, body = ""): Uint8Array {
  const bodyBytes = encoder.encode(body);
  const frame = new Uint8Array(8 + header.length + bodyBytes.length);
  const view = new DataView(frame.buffer);
  view.setInt32(0, frame.length - 4);
  view.setInt32(4, (type << 24) | header.length);
  frame.set(header, 8);
  frame.set(bodyBytes, 8 + header.length);
  return frame;
}

function json(header: string, body = ""): Uint8Array {
  return framed(0, encoder.encode(header), body);
}

function golden(): RemotingCommand {
  const request = createRequest(105, { topic: "TopicTest" });
  request.opaque = 1;
  return request;
}

/** What both serialisations can carry: no empty names or values, 16-bit codes. */
const commands: fc.Arbitrary<RemotingCommand> = fc.record({
  code: fc.integer({ min: 0, max: 0x7fff }),
  language: fc.constantFrom("JAVA", "GO", "CPP", "OTHER", "RUST"),
  version: fc.integer({ min: 0, max: 612 }),
  opaque: fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }),
  flag: fc.integer({ min: 0, max: 3 }),
  remark: fc.option(fc.string({ unit: "binary", minLength: 1 })),
  extFields: fc.dictionary(
    fc.string({ minLength: 1 }).filter((it) => it !== "__proto__"),
    fc.string({ unit: "binary", minLength: 1 }),
    { noNullPrototype: true },
  ),
  body: fc.uint8Array(),
  serializeType: fc.constantFrom(0 as const, 1 as const),
}, { noNullPrototype: true });

describe("RemotingCommand codec", () => {
  it("writes the golden JSON frame", () => {
    const frame = encodeCommand(golden());
    assertEquals(hex(frame.subarray(0, 8)), "0000008700000083");
    assertEquals(new TextDecoder().decode(frame.subarray(8)), GOLDEN_JSON);
  });

  it("writes the golden binary frame", () => {
    const request = golden();
    request.serializeType = 1;
    assertEquals(hex(encodeCommand(request)), GOLDEN_BINARY);
  });

  it("reads both golden frames as the same command", () => {
    assertEquals(decodeCommand(json(GOLDEN_JSON)), golden());
    assertEquals(decodeCommand(unhex(GOLDEN_BINARY)), {
      ...golden(),
      serializeType: 1,
    });
  });

  it("reads what it wrote, in both serialisations", () => {
    fc.assert(fc.property(commands, (command) => {
      assertEquals(decodeCommand(encodeCommand(command)), command);
    }));
  });

  it("writes several commands one after the other", () => {
    fc.assert(fc.property(fc.array(commands, { maxLength: 5 }), (all) => {
      const writer = new ByteWriter();
      const ends = all.map((it) => {
        writeCommand(writer, it);
        return writer.length;
      });
      const bytes = writer.view();
      let start = 0;
      all.forEach((it, index) => {
        assertEquals(decodeCommand(bytes, start, ends[index]!), it);
        start = ends[index]!;
      });
    }));
  });

  it("takes any key order, unknown keys, nulls and values that are no text", () => {
    const command = decodeCommand(json(
      ' {"version":3,"opaque":7,"x":[1],"language":"GO","remark":null,' +
        '"extFields":{"a":1,"b":true,"c":null,"d":"t"},"flag":1,"code":10}\n',
      "body",
    ));
    assertEquals(command.code, 10);
    assertEquals(command.language, "GO");
    assertEquals(command.remark, null);
    assertEquals(command.extFields, { a: "1", b: "true", d: "t" });
    assertEquals(new TextDecoder().decode(command.body), "body");
  });

  it("reads the ints of a header as Java does", () => {
    const command = decodeCommand(json(
      '{"code":"30","version":"479","flag":"0","opaque":"-7"}',
    ));
    assertEquals(
      [command.code, command.version, command.flag, command.opaque],
      [30, 479, 0, -7],
    );
    for (
      const [text, opaque] of [
        ["4294967301", 5],
        ["2147483648", -2147483648],
        ["-2147483649", 2147483647],
        ["9007199254740991", -1],
        ["1.9", 1],
        ["1e400", 0],
        ["null", 0],
      ] as const
    ) {
      const read = decodeCommand(json(`{"code":1,"opaque":${text}}`));
      assertEquals(read.opaque, opaque, text);
    }
  });

  it("lets no header reach a prototype", () => {
    const command = decodeCommand(json(
      '{"code":1,"__proto__":{"flag":2},"extFields":{"__proto__":{"polluted":"1"},"constructor":"c"}}',
    ));
    assertEquals(({} as Record<string, unknown>)["polluted"], undefined);
    assertEquals(Object.getPrototypeOf(command.extFields), Object.prototype);
    assertEquals(command.extFields["polluted"], undefined);
    assertEquals(Object.keys(command.extFields), ["constructor"]);
    assertEquals(command.flag, 0);
    const binary = createRequest(1, JSON.parse('{"__proto__":"x","a":"b"}'));
    binary.serializeType = 1;
    assertEquals(decodeCommand(encodeCommand(binary)).extFields, { a: "b" });
  });

  it("refuses headers that are no JSON object with a code", () => {
    for (
      const header of [
        ...["", "x", "null", "[]", "1", '"a"', "{}", '{"code":null}'],
        ...['{"code":"x"}', '{"code":""}', '{"code":[1]}'],
        ...['{"code":"3000000000"}', '{"code":1,"opaque":"7x"}'],
      ]
    ) {
      assertThrows(() => decodeCommand(json(header)), FrameError);
    }
  });

  it("refuses binary headers whose sizes lie", () => {
    const header = unhex(GOLDEN_BINARY).subarray(8);
    for (let size = 0; size < header.length; size++) {
      assertThrows(
        () => decodeCommand(framed(1, header.slice(0, size))),
        FrameError,
      );
    }
    for (const position of [13, 17, 21, 28]) {
      for (const byte of [0x7f, 0xff]) {
        const broken = header.slice();
        broken[position] = byte;
        assertThrows(() => decodeCommand(framed(1, broken)), FrameError);
      }
    }
  });

  it("throws nothing but FrameError on random headers", () => {
    fc.assert(fc.property(
      fc.constantFrom(0, 1),
      fc.uint8Array({ maxLength: 64 }),
      (type, header) => {
        try {
          decodeCommand(framed(type, header));
        } catch (error) {
          assert(error instanceof FrameError, String(error));
        }
      },
    ));
  });

  it("refuses to write a frame above the limit and leaves the writer as it was", () => {
    const writer = new ByteWriter();
    writeCommand(writer, golden());
    const before = writer.view().slice();
    const large = createResponse(0, null, {}, new Uint8Array(16 * 1024 * 1024));
    assertThrows(() => writeCommand(writer, large), RangeError, "16777216");
    assertEquals(writer.view(), before);
  });

  it("keeps numbers, control characters and surrogates as JSON wants them", () => {
    const command = createResponse(-1, 'a"\\\u0001\u{1F600}é\ud800', {
      k: "TAGS\u0001TagA\u0002",
    });
    command.opaque = -2_147_483_648;
    const frame = encodeCommand(command);
    const header = JSON.parse(new TextDecoder().decode(frame.subarray(8)));
    assertEquals(header.code, -1);
    assertEquals(header.opaque, -2_147_483_648);
    assertEquals(header.remark, command.remark);
    assertEquals(header.extFields, command.extFields);
  });
});
