/** Laws of the parser and the evaluator on random expressions. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import fc from "fast-check";
import { evaluate, type Truth } from "../../src/filter/evaluator.ts";
import type { Condition, Expression } from "../../src/filter/expression.ts";
import { SelectorParseError } from "../../src/filter/selector_parse_error.ts";
import { parseSelector } from "../../src/filter/selector_parser.ts";
import { printed } from "./selector_printer.ts";

const name = fc.constantFrom("a", "b", "_c", "$d", "inX", "Nots", "a1");
const text = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom("", "'", "5", "-7", "it's", "true", "1e3", "NaN", "\u4e2d"),
);
const number = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 0n, max: 10n }),
  fc.double({ min: 5e-324, noNaN: true, noDefaultInfinity: true }),
);
const property = name.map((it): Expression => ({ kind: "property", name: it }));
const numeric = fc.oneof(
  property,
  number.map((value): Expression => ({ kind: "constant", value })),
);
const isNegated = fc.boolean();

function record<T extends object>(
  model: { [K in keyof T]: fc.Arbitrary<T[K]> },
): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

const { condition } = fc.letrec<{ condition: Condition; numeric: Expression }>(
  (tie) => ({
    numeric: fc.oneof(
      { withCrossShrink: true, maxDepth: 4 },
      numeric,
      tie("numeric").map((operand): Expression => ({
        kind: "negate",
        operand,
      })),
    ),
    condition: fc.oneof(
      { withCrossShrink: true, maxDepth: 4 },
      fc.constantFrom<Condition>(
        { kind: "constant", value: true },
        { kind: "constant", value: false },
        { kind: "constant", value: null },
      ),
      name.map((it): Condition => ({ kind: "booleanCast", name: it })),
      record({
        kind: fc.constant("relational" as const),
        operator: fc.constantFrom(">", ">=", "<", "<=" as const),
        left: tie("numeric"),
        right: tie("numeric"),
      }),
      record({
        kind: fc.constant("equal" as const),
        left: fc.oneof(tie("numeric"), property),
        right: fc.oneof(
          tie("numeric"),
          text.map((value): Expression => ({ kind: "constant", value })),
          fc.constant<Expression>({ kind: "constant", value: null }),
        ),
      }),
      record({
        kind: fc.constant("between" as const),
        isNegated,
        value: tie("numeric"),
        low: property,
        high: tie("numeric"),
      }),
      record({
        kind: fc.constant("in" as const),
        isNegated,
        name,
        elements: fc.uniqueArray(text, { minLength: 1, maxLength: 6 })
          .map((it) => new Set(it)),
      }),
      record({
        kind: fc.constant("text" as const),
        operator: fc.constantFrom(
          "CONTAINS",
          "STARTSWITH",
          "ENDSWITH" as const,
        ),
        isNegated,
        // A name alone is no condition here.
        operand: fc.oneof(
          property,
          tie("condition").map((operand): Condition => ({
            kind: "not",
            operand,
          })),
        ),
        search: text,
      }),
      tie("condition").map((operand): Condition => ({ kind: "not", operand })),
      record({
        kind: fc.constantFrom("and" as const, "or" as const),
        operands: fc.array(tie("condition"), { minLength: 2, maxLength: 4 }),
      }),
    ) as fc.Arbitrary<Condition>,
  }),
);

const message = fc.dictionary(name, text, { maxKeys: 5 });

function valueOf(of: Condition, properties: Record<string, string>): Truth {
  return evaluate(of, {
    get: (it) => Object.hasOwn(properties, it) ? properties[it]! : null,
  });
}

test("parseSelector() reads back what was printed [fast-check]", () => {
  fc.assert(fc.property(condition, (it) => {
    const { condition: read, endPosition } = parseSelector(printed(it));
    assertEquals(endPosition, undefined);
    assertEquals(read, it, printed(it));
  }));
});

test("parseSelector() never fails but with a position inside the text [fast-check]", () => {
  const word = fc.constantFrom(
    ..."NOT AND OR BETWEEN IN IS NULL TRUE CONTAINS ENDSWITH = <> > ( ) , + - 'x' ' -- /* */ 5 1.5 a . ; \n \u0000"
      .split(" "),
  );
  const junk = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(word, { maxLength: 30 }).map((it) => it.join(" ")),
    fc.array(word, { maxLength: 30 }).map((it) => it.join("")),
  );
  fc.assert(fc.property(junk, message, (it, properties) => {
    try {
      const { condition: read, endPosition = 1 } = parseSelector(it);
      assert(endPosition >= 1 && endPosition <= it.length);
      valueOf(read, properties);
    } catch (error) {
      assert(error instanceof SelectorParseError, String(error));
      assert(error.position >= 1 && error.position <= it.length + 1);
    }
  }));
});

test("AND, OR and NOT keep the laws of three values [fast-check]", () => {
  const and = (...operands: Condition[]): Condition => ({
    kind: "and",
    operands,
  });
  const or = (...operands: Condition[]): Condition => ({
    kind: "or",
    operands,
  });
  const not = (operand: Condition): Condition => ({ kind: "not", operand });
  fc.assert(
    fc.property(condition, condition, condition, message, (p, q, r, m) => {
      const is = (it: Condition) => valueOf(it, m);
      assertEquals(is(not(not(p))), is(p));
      assertEquals(is(and(p, p)), is(p));
      assertEquals(is(not(and(p, q))), is(or(not(p), not(q))));
      assertEquals(is(not(or(p, q))), is(and(not(p), not(q))));
      assertEquals(is(and(and(p, q), r)), is(and(p, q, r)));
      assertEquals(is(or(p, or(q, r))), is(or(p, q, r)));
      // What cannot be evaluated ends the evaluation: the order counts then.
      const isKnown = [p, q].every((it) => is(it) !== undefined);
      if (isKnown) assertEquals(is(and(p, q)), is(and(q, p)));
      if (is(p) === null) assertEquals(is(or(p, not(p))), null);
      assert(is(and(p, not(p))) !== true);
    }),
  );
});
