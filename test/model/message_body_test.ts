import { test } from "node:test";
import { deflateSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { CompressionError } from "../../src/base/compression_error.ts";
import { decompressLz4Frame } from "../../src/base/lz4_frame.ts";
import { plainBodyOf } from "../../src/model/message_body.ts";
import { lz4Frame, type Sequence } from "./lz4_frame_fixture.ts";

const SIZE_MAX = 1_000_000;
const TEXT = new TextEncoder().encode("a body ".repeat(100));

const sequences = fc.array(
  fc.record({
    literals: fc.uint8Array({ maxLength: 300 }),
    distance: fc.integer({ min: 1, max: 65_535 }),
    length: fc.integer({ min: 4, max: 700 }),
  }),
  { minLength: 1, maxLength: 12 },
);
const frames = fc.record({
  blocks: fc.array(sequences, { maxLength: 4 }),
  hasContentSize: fc.boolean(),
  hasBlockChecksums: fc.boolean(),
  hasContentChecksum: fc.boolean(),
});

test("Any LZ4 frame is read as it was written, across its blocks", () => {
  fc.assert(
    fc.property(frames, ({ blocks, ...flags }) => {
      const { bytes, content } = lz4Frame(blocks as Sequence[][], flags);
      assertEquals(decompressLz4Frame(bytes, SIZE_MAX), content);
      if (content.length === 0) return;
      assertThrows(
        () => decompressLz4Frame(bytes, content.length - 1),
        CompressionError,
        "takes more than",
      );
    }),
  );
});

test("A cut or changed LZ4 frame is told as such, or gives something bounded", () => {
  const read = (bytes: Uint8Array) => {
    try {
      assert(decompressLz4Frame(bytes, 5_000).length <= 5_000);
    } catch (error) {
      assert(error instanceof CompressionError, String(error));
    }
  };
  const flags = {
    hasContentSize: false,
    hasBlockChecksums: false,
    hasContentChecksum: false,
  };
  fc.assert(
    fc.property(sequences, fc.nat(), fc.nat(255), (block, at, byte) => {
      const { bytes } = lz4Frame([block as Sequence[]], flags);
      const end = at % bytes.length;
      assertThrows(
        () => decompressLz4Frame(bytes.subarray(0, end), SIZE_MAX),
        CompressionError,
      );
      bytes[end] = byte;
      read(bytes);
    }),
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), read));
});

test("A body is as it was sent, whatever it was packed with", () => {
  const { bytes } = lz4Frame([[{ literals: TEXT, distance: 0, length: 0 }]]);
  const packed: [number, Uint8Array][] = [
    [0, TEXT],
    [0x301, deflateSync(TEXT)],
    [0x001, deflateSync(TEXT)],
    [0x101, bytes],
    [0x201, zstdCompressSync(TEXT)],
  ];
  for (const [sysFlag, body] of packed) {
    const plain = plainBodyOf({ body, sysFlag }, SIZE_MAX);
    assertEquals(plain, { body: TEXT, compression: null });
    if (sysFlag === 0) continue;
    const name = { 1: "LZ4", 2: "ZSTD" }[sysFlag >> 8] ?? "ZLIB";
    const large = plainBodyOf({ body, sysFlag }, TEXT.length - 1);
    assertEquals(large, { body, compression: name });
    const broken = { body: new Uint8Array([1, 2, 3]), sysFlag };
    assertEquals(plainBodyOf(broken, SIZE_MAX).compression, name);
  }
  const unknown = plainBodyOf({ body: TEXT, sysFlag: 0x501 }, SIZE_MAX);
  assertEquals(unknown, { body: TEXT, compression: "5" });
});
