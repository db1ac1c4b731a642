import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { SelectorParseError } from "../../src/filter/selector_parse_error.ts";
import {
  parseSelector,
  SELECTOR_DEPTH_MAX,
  SELECTOR_LENGTH_MAX,
} from "../../src/filter/selector_parser.ts";

function errorOf(text: string): SelectorParseError {
  try {
    parseSelector(text);
  } catch (error) {
    assert(error instanceof SelectorParseError, String(error));
    return error;
  }
  throw new Error(`${text} was taken`);
}

/** Expression, position, and what the error says. */
const ERRORS: readonly (readonly [string, number, string])[] = [
  ["", 1, "expected a value, a name, NOT or (, found the end"],
  ["  \n ", 5, "found the end"],
  ["a =", 4, "expected a value, a name, NOT or (, found the end"],
  ["a = ;", 5, "; is no part of the language"],
  ["a == 5", 4, "found ="],
  ["a != 5", 3, "! is no part of the language"],
  ["a > 'x'", 5, "> takes numbers and names of properties"],
  ["TRUE < a", 1, "< takes numbers and names of properties"],
  ["(a = 1) > 2", 1, "> takes numbers and names of properties"],
  ["a = NULL", 5, "NULL cannot be compared with =, write IS NULL"],
  ["NULL <> a", 1, "NULL cannot be compared with <>, write IS NULL"],
  ["TRUE = 5", 8, "TRUE and FALSE cannot be compared with a number or text"],
  ["a IS 5", 6, "expected NULL or NOT NULL, found 5"],
  ["a IS NOT 5", 10, "expected NULL, found 5"],
  ["a NOT LIKE 'x'", 7, "expected BETWEEN, IN, CONTAINS, STARTSWITH or"],
  ["a NOT > 5", 7, "behind NOT, found >"],
  ["a IN 'x'", 6, "expected ( and texts in quotes, found 'x'"],
  ["a IN (5)", 7, "expected a text in quotes, found 5"],
  ["a IN ('x' 'y')", 11, "expected a comma or ), found 'y'"],
  ["5 IN ('x')", 1, "expected the name of a property on the left of IN"],
  ["NOT a IN ('x')", 1, "expected the name of a property on the left of IN"],
  ["a BETWEEN 1 OR 2", 13, "expected AND and the upper bound, found OR"],
  ["a BETWEEN 2 AND 1", 17, "the upper bound 1 is below the lower bound 2"],
  ["a BETWEEN 'x' AND 1", 11, "BETWEEN takes numbers"],
  ["a CONTAINS 5", 12, "expected a text in quotes, found 5"],
  ["(a = 5", 7, "expected ), found the end"],
  ["5", 1, "expected a condition, as a > 1, found a value"],
  ["b = 1 AND 'x'", 11, "expected a condition"],
  ["b = 1 OR - a", 10, "expected a condition"],
  ["NOT 5", 1, "expected a condition"],
  ["x = 'it", 5, "the text that begins here has no closing quote"],
  ["a /* b", 3, "the comment that begins here has no */"],
  ["a = 99999999999999999999", 5, "is more than 9223372036854775807"],
  [
    "a = 0.0",
    5,
    "0.0 is not between 5e-324 and 1.7976931348623157e+308, write 0",
  ],
  ["a = 1e999", 5, "1e999 is not between"],
  ["a = \u{1f600}", 5, "\u{1f600} is no part of the language"],
  ["a = \u0007", 5, "? is no part of the language"],
];

test("parseSelector() says where an expression is wrong and what was expected", () => {
  for (const [text, position, problem] of ERRORS) {
    const error = errorOf(text);
    assert(error.problem.includes(problem), `${text}: ${error.problem}`);
    assertEquals(error.position, position, text);
    assertEquals(
      error.message,
      "The SQL92 expression cannot be read at position " +
        `${position}: ${error.problem}`,
    );
  }
});

test("parseSelector() tells which end of the text is ignored", () => {
  const ends: [string, number | undefined][] = [
    ["a = 5", undefined],
    ["a = 5 -- all\n /* of it */ ", undefined],
    ["a LIKE 'x%'", 3],
    ["a = 5 )", 7],
    ["a = 5 -- no line end", 7],
    ["a = 012", 6],
  ];
  for (const [text, end] of ends) {
    assertEquals(parseSelector(text).endPosition, end, text);
  }
});

test("parseSelector() binds as Apache: NOT before =, AND before OR", () => {
  const same: [string, string][] = [
    ["NOT a = 5", "(NOT a) = 5"],
    ["a = 1 OR b = 2 AND c = 3", "a = 1 OR (b = 2 AND c = 3)"],
    ["a = b > 1", "a = (b > 1)"],
    ["a = 1 = b = 2", "((a = 1) = b) = 2"],
    ["NOT a BETWEEN 1 AND 2 OR b = 1", "(NOT a BETWEEN 1 AND 2) OR b = 1"],
  ];
  for (const [left, right] of same.slice(0, 4)) {
    assertEquals(
      parseSelector(left).condition,
      parseSelector(right).condition,
      left,
    );
  }
  assertEquals(errorOf(same[4]![0]).position, 1);
});

test("parseSelector() stays within its depth, however an expression nests", () => {
  const deep = SELECTOR_DEPTH_MAX;
  const nests: ((levels: number) => string)[] = [
    (levels) => `${"(".repeat(levels)}a = 1${")".repeat(levels)}`,
    (levels) => `${"NOT ".repeat(levels)}a`,
    (levels) => `${"- ".repeat(levels)}a = 1`,
    (levels) => `${"+".repeat(levels)}a = 1`,
    (levels) => `a${" = a".repeat(levels)}`,
    (levels) => `a${" IS NULL".repeat(levels)}`,
    (levels) => `a${" CONTAINS 'x'".repeat(levels)}`,
    (levels) =>
      `${"-(".repeat(levels)}a${" BETWEEN 1 AND 2)".repeat(levels)} = 1`,
  ];
  for (const nest of nests) {
    parseSelector(nest(deep / 4));
    for (const levels of [deep + 1, 1_500]) {
      const { problem } = errorOf(nest(levels));
      assertEquals(problem, `it is nested deeper than ${deep} levels`);
    }
  }
});

test("parseSelector() takes long lists, up to its length", () => {
  const or = Array.from({ length: 2_500 }, (_, at) => `a = ${at}`).join(" OR ");
  assertEquals(parseSelector(or).endPosition, undefined);
  const all = Array.from({ length: 4_000 }, (_, at) => `'${at}'`).join();
  parseSelector(`a IN (${all})`);
  const error = errorOf(`a = 1${" ".repeat(SELECTOR_LENGTH_MAX)}`);
  assertEquals(error.position, SELECTOR_LENGTH_MAX + 1);
  assertEquals(error.problem, "it has 32773 characters, more than 32768");
});
