import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { BloomFilter } from "../../src/filter/bloom_filter.ts";
import { CompiledSelector } from "../../src/filter/compiled_selector.ts";
import { FilterFactory } from "../../src/filter/filter_factory.ts";
import { encodeProperties } from "../../src/model/message_properties.ts";

function matches(expression: string, properties: Record<string, string>) {
  return new CompiledSelector(expression).matches(
    encodeProperties(Object.entries(properties)),
  );
}

test("CompiledSelector.matches() looks into the properties of a record", () => {
  for (
    const few of ["a = 5", "a = 5 AND a = 5 AND a = 5 AND a = 5 AND a = 5"]
  ) {
    assertEquals(matches(few, { a: "5", aa: "6" }), true);
    assertEquals(matches(few, { a: "6", aa: "5" }), false);
    assertEquals(matches(few, { a: "abc" }), false);
    assertEquals(matches(few, {}), false);
  }
  assertEquals(matches("TAGS = 'A' AND KEYS IS NULL", { TAGS: "A" }), true);
  assertEquals(matches("__proto__ IS NULL", { a: "5" }), true);
});

test("CompiledSelector.ignored shows the end that is not read", () => {
  assertEquals(new CompiledSelector("a = 5").ignored, undefined);
  assertEquals(new CompiledSelector("a LIKE 'x'").ignored, {
    position: 3,
    text: "LIKE 'x'",
  });
});

test("FilterFactory.compile() gives a selector or a sentence", () => {
  const factory = new FilterFactory();
  assert(factory.compile("SQL92", "a = 5") instanceof CompiledSelector);
  assertEquals(factory.compile("SQL92", "a = "), {
    error: "The SQL92 expression cannot be read at position 5: expected a " +
      "value, a name, NOT or (, found the end",
  });
  assertEquals(factory.compile("sql92\n", "a = 5"), {
    error: "Filters of type sql92? are not known, use TAG or SQL92",
  });
});

test("FilterFactory.compile() remembers the last hundred, wrong ones too", () => {
  const factory = new FilterFactory();
  const first = factory.compile("SQL92", "a = 0");
  const wrong = factory.compile("SQL92", "a =");
  assert(factory.compile("SQL92", "a =") === wrong);
  for (let count = 1; count < 99; count++) {
    factory.compile("SQL92", `a = ${count}`);
  }
  assert(factory.compile("SQL92", "a = 0") === first, "still remembered");
  factory.compile("SQL92", "a = 100");
  assert(factory.compile("SQL92", "a =") !== wrong, "the oldest went");
  assert(factory.compile("SQL92", "a = 0") === first, "the one used stayed");
  for (let count = 0; count < 9; count++) {
    factory.compile("SQL92", `a = '${String(count).repeat(30_000)}'`);
  }
  assert(factory.compile("SQL92", "a = 0") !== first, "too much text");
  const again = factory.compile("SQL92", "a = 0");
  for (let count = 0; count < 9; count++) {
    factory.compile("SQL92", `b = '${String(count).repeat(30_000)}'`);
    assert(factory.compile("SQL92", "a = 0") === again, "room for the rest");
  }
});

test("BloomFilter.generate() gives the bits of Apache's filter", () => {
  const filter = new BloomFilter(20, 32);
  const bitPosOf = (text: string) => filter.generate(text).bitPos;
  assertEquals(filter.generate("g#T"), { bitNum: 112, bitPos: [90, 68, 28] });
  assertEquals(bitPosOf(""), [0, 0, 0]);
  assertEquals(bitPosOf("group-with-a-longer-name#TopicTest"), [48, 68, 70]);
  assertEquals(new BloomFilter(1, 128).generate("g#T").bitPos.length, 7);
});
