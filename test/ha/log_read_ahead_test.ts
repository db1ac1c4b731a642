import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { LogReadAhead } from "../../src/ha/log_read_ahead.ts";

const MIB = 1024 * 1024;
const PATTERN_STEP = 65_536;
const PATTERN = new Uint8Array(PATTERN_STEP + 251).map((_, at) => at % 251);

/** A log whose bytes tell their place; reads are remembered. */
function rig({ maxOffset = 20 * MIB, hotFrom = 21 * MIB } = {}) {
  const reads: string[] = [];
  const log = {
    mappedFileSize: 8 * MIB,
    maxOffset,
    failure: undefined as Error | undefined,
    isHot: (phyOffset: number) => phyOffset >= hotFrom,
    read(phyOffset: number, target: Uint8Array): boolean | Promise<boolean> {
      for (let at = 0; at < target.length; at += PATTERN_STEP) {
        const from = (phyOffset + at) % 251;
        const size = Math.min(PATTERN_STEP, target.length - at);
        target.set(PATTERN.subarray(from, from + size), at);
      }
      const isHot = phyOffset >= hotFrom;
      reads.push(
        `${phyOffset / MIB}+${target.length / MIB}${isHot ? " hot" : ""}`,
      );
      if (isHot) return true;
      const { failure } = this;
      return failure === undefined
        ? Promise.resolve(true)
        : Promise.reject(failure);
    },
  };
  return { log, reads, ahead: new LogReadAhead(log) };
}

function isRight(phyOffset: number, bytes: Uint8Array): boolean {
  const step = bytes.length > 100_000 ? 97 : 1;
  for (let at = 0; at < bytes.length; at += step) {
    if (bytes[at] !== (phyOffset + at) % 251) return false;
  }
  return bytes.at(-1) === (phyOffset + bytes.length - 1) % 251;
}

test("LogReadAhead gives the log's bytes, whatever the sizes", async () => {
  const { ahead } = rig({ maxOffset: 20 * MIB + 77, hotFrom: 19 * MIB });
  const sizes = [1, 70_000, MIB, 3 * MIB + 5, 12, 4 * MIB];
  let offset = 123_456;
  for (let turn = 0; offset < 20 * MIB + 77; turn++) {
    const fileEnd = offset - offset % (8 * MIB) + 8 * MIB;
    const end = Math.min(20 * MIB + 77, fileEnd);
    const bytes = new Uint8Array(
      Math.min(sizes[turn % sizes.length]!, end - offset),
    );
    assertEquals(await ahead.read(offset, bytes), true);
    assertEquals(isRight(offset, bytes), true);
    offset += bytes.length;
  }
});

test("LogReadAhead reads blocks within one file, one ahead, and leaves the hot end alone", async () => {
  const { ahead, reads } = rig({ hotFrom: 16 * MIB });
  const bytes = new Uint8Array(MIB);
  for (let offset = 0; offset < 20 * MIB; offset += MIB) {
    await ahead.read(offset, bytes);
  }
  assertEquals(reads, [
    "0+4",
    "4+4",
    "8+4",
    "12+4",
    ...[16, 17, 18, 19].map((it) => `${it}+1 hot`),
  ]);
});

test("LogReadAhead answers at once what is in its block", async () => {
  const { ahead } = rig();
  const bytes = new Uint8Array(MIB);
  await ahead.read(0, bytes);
  assertEquals(ahead.read(MIB, bytes), true);
});

test("LogReadAhead tells whoever asks why the bytes cannot be read, and tries again", async () => {
  const { ahead, log } = rig();
  const bytes = new Uint8Array(MIB);
  log.failure = new Error("the disk is gone");
  await assertRejects(
    async () => await ahead.read(0, bytes),
    Error,
    "the disk is gone",
  );
  log.failure = undefined;
  assertEquals(await ahead.read(0, bytes), true);
  assertEquals(isRight(0, bytes), true);
});
