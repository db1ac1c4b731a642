import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import fc from "fast-check";
import {
  javaCompareDouble,
  javaParseDouble,
  javaParseInteger,
} from "../../src/base/java_number.ts";

const INTEGER = [-(2n ** 31n), 2n ** 31n - 1n] as const;
const LONG = [-(2n ** 63n), 2n ** 63n - 1n] as const;

test("javaParseInteger() takes what Integer.valueOf and Long.valueOf take", () => {
  const cases: [string, bigint | undefined, bigint | undefined][] = [
    ["5", 5n, 5n],
    ["+5", 5n, 5n],
    ["-5", -5n, -5n],
    ["-0", 0n, 0n],
    [`${"0".repeat(40)}7`, 7n, 7n],
    ["2147483647", 2147483647n, 2147483647n],
    ["2147483648", undefined, 2147483648n],
    ["-2147483648", -2147483648n, -2147483648n],
    ["-9223372036854775808", undefined, LONG[0]],
    ["9223372036854775808", undefined, undefined],
    ["1".repeat(32_000), undefined, undefined],
    ["\uff11\u0662", 12n, 12n],
    ["\u{1d7ce}", undefined, undefined],
    ...["", "+", "-", "--5", " 5", "5 ", "5.0", "5L", "0x5", "1_0", "abc"]
      .map((it): [string, undefined, undefined] => [it, undefined, undefined]),
  ];
  for (const [text, integer, long] of cases) {
    assertEquals(javaParseInteger(text, ...INTEGER), integer, text);
    assertEquals(javaParseInteger(text, ...LONG), long, text);
  }
});

test("javaParseInteger() knows the digits of all scripts of the first plane", () => {
  let count = 0;
  for (let code = 0; code < 0xffff; code++) {
    const digit = String.fromCharCode(code);
    if (!/\p{Nd}/u.test(digit)) continue;
    // Ten in a row, in order: what the reader relies on.
    assertEquals(javaParseInteger(digit, ...LONG), BigInt(count % 10));
    count++;
  }
  assert(count > 300 && count % 10 === 0);
});

test("javaParseDouble() takes what Double.valueOf takes", () => {
  const cases: [string, number | undefined][] = [
    ["5", 5],
    ["-.5", -0.5],
    ["5.", 5],
    ["1e3", 1000],
    ["1E-3f", 0.001],
    ["7D", 7],
    [" \t\u0001 8 \n", 8],
    ["-0", -0],
    ["NaN", NaN],
    ["-NaN", NaN],
    ["Infinity", Infinity],
    ["-Infinity", -Infinity],
    ["1e400", Infinity],
    ["1e-400", 0],
    ["0x1p3", 8],
    ["0X1.8P+1d", 3],
    ["-0x.8p0", -0.5],
    ["0x1.fffffffffffff8p0", 2],
    ["0x1.fffffffffffff7p0", 2 - 2 ** -52],
    ["0x1p1024", Infinity],
    ["0x1.fffffffffffff8p1023", Infinity],
    ["0x1p-1074", 5e-324],
    ["0x1p-1075", 0],
    ["0x1.8p-1075", 5e-324],
    ["0x0p0", 0],
    [`0x1${"0".repeat(1_000)}p-4000`, 1],
    ["0x1p99999999999999999999", Infinity],
    ...["", " ", ".", "e5", "1e", "1e+", "1_0", "0x1", "0xp1", "0x.p1", "nan"]
      .concat(["infinity", "5ff", "5L", "\u00a05", "\uff15", "1 2", "+-5"])
      .map((it): [string, undefined] => [it, undefined]),
  ];
  for (const [text, expected] of cases) {
    assert(Object.is(javaParseDouble(text), expected), text);
  }
});

test("javaParseDouble() reads every double from its hexadecimal form", () => {
  const bits = new DataView(new ArrayBuffer(8));
  fc.assert(fc.property(fc.double({ noNaN: true }), (value) => {
    bits.setFloat64(0, value);
    const raw = bits.getBigUint64(0);
    const exponent = Number(raw >> 52n & 0x7ffn);
    const fraction = (raw & (2n ** 52n - 1n)).toString(16).padStart(13, "0");
    if (exponent === 0x7ff) return;
    const lead = exponent === 0 ? `0.${fraction}p-1022` : `1.${fraction}p`;
    const text = `${raw >> 63n === 1n ? "-" : ""}0x${lead}` +
      (exponent === 0 ? "" : String(exponent - 1_023));
    assert(Object.is(javaParseDouble(text), value), text);
  }));
});

test("javaCompareDouble() orders -0 before 0 and NaN behind all", () => {
  const ordered = [-Infinity, -1, -0, 0, 5e-324, 1, Infinity, NaN];
  for (const [at, left] of ordered.entries()) {
    for (const [to, right] of ordered.entries()) {
      assertEquals(javaCompareDouble(left, right), Math.sign(at - to));
    }
  }
});
