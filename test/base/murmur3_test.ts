import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { murmur3x64 } from "../../src/base/murmur3.ts";

test("murmur3x64() gives the first half of the 128-bit hash", () => {
  const hashes: [string, string][] = [
    ["", "0"],
    ["a", "85555565f6597889"],
    ["0123456789abcdef", "4be06d94cf4ad1a7"],
    ["0123456789abcdefg", "8e32612daa45f9de"],
  ];
  for (const [text, hash] of hashes) {
    const bytes = new TextEncoder().encode(text);
    assertEquals(murmur3x64(bytes).toString(16), hash, text);
  }
});
