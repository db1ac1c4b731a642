import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { escaped } from "../../src/base/escaped.ts";

test("escaped() leaves text as it is", () => {
  const text = 'Größe "a" \\ 中文 😀 e\u0301 👩‍👩‍👧';
  assertEquals(escaped(text), text);
});

test("escaped() shows what would move the cursor, and what would turn the text", () => {
  assertEquals(
    escaped("a\x1b[2J\x9b5m\x7f\x00\n\t\r\u202eb\u2028"),
    "a\\u001b[2J\\u009b5m\\u007f\\u0000\\n\\t\\r\\u202eb\\u2028",
  );
});
