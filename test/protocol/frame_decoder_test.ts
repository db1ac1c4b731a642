import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { describe, it } from "node:test";
import {
  FRAME_LENGTH_MAX,
  FrameDecoder,
} from "../../src/protocol/frame_decoder.ts";
import { FrameError } from "../../src/protocol/frame_error.ts";

/** A frame with `headerSize` bytes of 1 and `bodySize` bytes of 2. */
function frameOf(headerSize: number, bodySize: number): Uint8Array {
  const frame = new Uint8Array(8 + headerSize + bodySize);
  const view = new DataView(frame.buffer);
  view.setInt32(0, 4 + headerSize + bodySize);
  view.setInt32(4, headerSize);
  frame.fill(1, 8, 8 + headerSize);
  frame.fill(2, 8 + headerSize);
  return frame;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, it) => sum + it.length, 0));
  let position = 0;
  for (const part of parts) {
    joined.set(part, position);
    position += part.length;
  }
  return joined;
}

function collector(decoder: FrameDecoder) {
  const frames: Uint8Array[] = [];
  return {
    frames,
    push: (bytes: Uint8Array) =>
      decoder.push(bytes, (frame, start, end) => {
        frames.push(frame.slice(start, end));
        return true;
      }),
  };
}

function lengths(total: number, rest: readonly number[] = []): Uint8Array {
  const bytes = new Uint8Array(4 + rest.length);
  new DataView(bytes.buffer).setInt32(0, total);
  bytes.set(rest, 4);
  return bytes;
}

describe("FrameDecoder", () => {
  it("gives the same frames whatever the chunking", () => {
    fc.assert(fc.property(
      fc.array(fc.tuple(fc.nat(300), fc.nat(9000)), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }),
      (sizes, chunkSizes) => {
        const expected = sizes.map(([header, body]) => frameOf(header, body));
        const stream = concat(expected);
        const decoder = new FrameDecoder();
        const { frames, push } = collector(decoder);
        let position = 0;
        for (let turn = 0; position < stream.length; turn++) {
          const size = chunkSizes[turn % chunkSizes.length]!;
          push(stream.slice(position, position + size));
          position += size;
        }
        assertEquals(frames, expected);
        assertEquals(decoder.pendingBytes, 0);
      },
    ));
  });

  it("gives the same frames one byte at a time", () => {
    const expected = [frameOf(0, 0), frameOf(3, 5), frameOf(7, 0)];
    const { frames, push } = collector(new FrameDecoder());
    for (const byte of concat(expected)) push(Uint8Array.of(byte));
    assertEquals(frames, expected);
  });

  it("hands out frames within a chunk without copying them", () => {
    const chunk = concat([frameOf(3, 5), frameOf(2, 0)]);
    const starts: number[] = [];
    new FrameDecoder().push(chunk, (bytes, start) => {
      assert(bytes === chunk);
      starts.push(start);
      return true;
    });
    assertEquals(starts, [0, 16]);
  });

  it("keeps what follows a stop and goes on with an empty push", () => {
    const expected = [frameOf(1, 1), frameOf(2, 2), frameOf(3, 3)];
    const stream = concat(expected);
    for (let cut = 0; cut <= stream.length; cut++) {
      const decoder = new FrameDecoder();
      const frames: Uint8Array[] = [];
      const one = (bytes: Uint8Array, start: number, end: number) => {
        frames.push(bytes.slice(start, end));
        return false;
      };
      decoder.push(stream.slice(0, cut), one);
      decoder.push(stream.slice(cut), one);
      while (frames.length < 3) decoder.push(new Uint8Array(0), one);
      assertEquals(frames, expected, `cut at ${cut}`);
      assertEquals(decoder.pendingBytes, 0);
    }
  });

  it("keeps only what has arrived of an announced frame", () => {
    const decoder = new FrameDecoder();
    const { frames, push } = collector(decoder);
    push(lengths(FRAME_LENGTH_MAX - 4, [0, 0, 0, 9]));
    push(new Uint8Array(100));
    assertEquals(decoder.pendingBytes, 108);
    assertEquals(frames.length, 0);
  });

  it("takes a frame of exactly the limit and refuses one byte more", () => {
    const limit = 1000;
    const { frames, push } = collector(new FrameDecoder(limit));
    push(frameOf(4, limit - 12));
    assertEquals(frames.length, 1);
    assertThrows(() => push(frameOf(4, limit - 11)), FrameError, "997");
  });

  it("refuses impossible lengths as soon as they are known", () => {
    const cases: [string, Uint8Array][] = [
      ["negative", lengths(-1)],
      ["zero", lengths(0)],
      ["below the header length", lengths(3)],
      ["17 MiB", lengths(17 * 1024 * 1024)],
      ["2 GiB", lengths(0x7fff_ffff)],
      ["header beyond the frame", lengths(8, [0, 0, 0, 5])],
      ["serialize type", lengths(8, [2, 0, 0, 4])],
    ];
    for (const [name, bytes] of cases) {
      const whole = new FrameDecoder();
      assertThrows(() => whole.push(bytes, () => true), FrameError);
      assertEquals(whole.peek(8), bytes, name);
      const single = new FrameDecoder();
      assertThrows(
        () => {
          for (const it of bytes) single.push(Uint8Array.of(it), () => true);
        },
        FrameError,
      );
      assertEquals(single.peek(8), bytes, name);
    }
  });

  it("never throws anything but FrameError on random bytes", () => {
    fc.assert(fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }),
      (chunks) => {
        const decoder = new FrameDecoder(64);
        try {
          for (const chunk of chunks) decoder.push(chunk, () => true);
        } catch (error) {
          assert(error instanceof FrameError, String(error));
        }
      },
    ));
  });
});
