import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { BodyBuffers } from "../../src/store/body_buffers.ts";

test("BodyBuffers lends memory again only after it came back", () => {
  const buffers = new BodyBuffers();
  const first = buffers.take(5_000);
  assertEquals(first.length, 5_000);
  const second = buffers.take(5_000);
  assertEquals(first.buffer === second.buffer, false);
  buffers.giveBack(first.subarray(0, 10));
  const third = buffers.take(8_192);
  assertEquals([third.length, third.buffer === first.buffer], [8_192, true]);
  assertEquals(buffers.take(8_192).buffer === first.buffer, false);
});

test("BodyBuffers keeps no large bodies and no more than 1 MiB", () => {
  const buffers = new BodyBuffers();
  const large = buffers.take(300_000);
  buffers.giveBack(large);
  assertEquals(buffers.take(300_000).buffer === large.buffer, false);
  const many = Array.from({ length: 6 }, () => buffers.take(262_144));
  for (const each of many) buffers.giveBack(each);
  const again = new Set(many.map(() => buffers.take(262_144).buffer));
  const kept = many.filter((it) => again.has(it.buffer));
  assertEquals(kept.length, 4);
});
