import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { describe, it } from "node:test";
import {
  HeaderError,
  optionalBoolean,
  optionalInt,
  optionalLong,
  parseInt32,
  parseLong,
  requireBoolean,
  requireInt,
  requireLong,
  requireText,
} from "../../src/protocol/header/field_reader.ts";

const MAX = Number.MAX_SAFE_INTEGER;

describe("field reader", () => {
  it("reads every safe integer", () => {
    fc.assert(fc.property(fc.maxSafeInteger(), (value) => {
      assertEquals(parseLong(String(value)), value);
    }));
    assertEquals(parseLong("+5"), 5);
    assertEquals(Object.is(parseLong("-0"), 0), true);
    assertEquals(parseLong("00000000000000000042"), 42);
  });

  it("takes an int64 beyond 2^53-1 as the nearest safe integer", () => {
    assertEquals(parseLong("9223372036854775807"), MAX);
    assertEquals(parseLong("-9223372036854775808"), -MAX);
    assertEquals(parseLong("9223372036854775808"), NaN);
    assertEquals(parseLong("-9223372036854775809"), NaN);
  });

  it("takes nothing else for a number", () => {
    const broken = ["", "-", "+", " 1", "1 ", "1.0", "1e3", "0x10", "١", "1_0"];
    for (const text of [...broken, "9".repeat(100_000)]) {
      assertEquals(parseLong(text), NaN, text.slice(0, 10));
    }
    assertEquals(parseInt32("2147483647"), 0x7fff_ffff);
    assertEquals(parseInt32("-2147483648"), -0x8000_0000);
    assertEquals(parseInt32("2147483648"), NaN);
  });

  it("names a mandatory field that is missing or unreadable", () => {
    const fields = { e: "x", l: "9".repeat(40) };
    assertThrows(
      () => requireText(fields, "b", "SEND"),
      HeaderError,
      "field b of SEND",
    );
    assertThrows(
      () => requireInt(fields, "e", "SEND"),
      HeaderError,
      "field e of SEND",
    );
    assertThrows(
      () => requireLong(fields, "l", "SEND"),
      HeaderError,
      "field l of SEND",
    );
    assertThrows(
      () => requireBoolean(fields, "k", "SEND"),
      HeaderError,
      "field k",
    );
    assertEquals(requireText({ b: "" }, "b", "SEND"), "");
  });

  it("gives the fallback for an optional field, as Java's reflection does", () => {
    const fields = { i: "x", l: "7", t: "TRUE", f: "no" };
    assertEquals(optionalInt(fields, "i", 3), 3);
    assertEquals(optionalInt(fields, "none", 3), 3);
    assertEquals(optionalLong(fields, "l", 3), 7);
    assertEquals(optionalBoolean(fields, "t", false), true);
    assertEquals(optionalBoolean(fields, "f", true), false);
    assertEquals(optionalBoolean(fields, "none", true), true);
  });
});
