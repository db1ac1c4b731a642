/** Operands while an expression is read, and which of them an operator takes: refused where Apache refuses. */
import { relates } from "./comparison.ts";
import type {
  Condition,
  Expression,
  RelationalOperator,
  SqlValue,
} from "./expression.ts";
import { SelectorParseError } from "./selector_parse_error.ts";
import type { Token } from "./selector_tokenizer.ts";

/** What was read of an operand. */
export interface Operand {
  readonly expression: Expression;
  /** Of its first token, counted from 1. */
  readonly position: number;
  /** Nodes above one another; a leaf has 1. */
  readonly height: number;
}

/** The operand as a condition: a property alone is one that is never TRUE. */
export function conditionOf({ expression, position }: Operand): Condition {
  switch (expression.kind) {
    case "constant": {
      const { value } = expression;
      if (value === null || typeof value === "boolean") {
        return { kind: "constant", value };
      }
      break;
    }
    case "negate":
      break;
    case "property":
      return { kind: "booleanCast", name: expression.name };
    default:
      return expression;
  }
  throw new SelectorParseError(
    position,
    "expected a condition, as a > 1, found a value",
  );
}

/** `left = right`. NULL is tested with IS. */
export function checkedEqual(
  left: Operand,
  right: Operand,
  sign: Token,
): Condition {
  for (const { expression, position } of [left, right]) {
    if (expression.kind === "constant" && expression.value === null) {
      throw new SelectorParseError(
        position,
        `NULL cannot be compared with ${sign.text}, write IS NULL`,
      );
    }
  }
  const [first, second] = [constantOf(left), constantOf(right)];
  if (
    typeof first === "boolean" && second !== undefined &&
    typeof second !== "boolean"
  ) {
    throw new SelectorParseError(
      right.position,
      "TRUE and FALSE cannot be compared with a number or text",
    );
  }
  return { kind: "equal", left: left.expression, right: right.expression };
}

/** `left > right` and its kind. */
export function checkedRelational(
  operator: RelationalOperator,
  left: Operand,
  right: Operand,
): Condition {
  checkNumber(left, operator);
  checkNumber(right, operator);
  return {
    kind: "relational",
    operator,
    left: left.expression,
    right: right.expression,
  };
}

/** Bounds that can be seen to exclude everything are refused, unless negated. */
export function checkedBetween(
  value: Operand,
  low: Operand,
  high: Operand,
  isNegated: boolean,
  { text }: Token,
): Condition {
  for (const it of [value, low, high]) checkNumber(it, text);
  const [lowest, highest] = [constantOf(low), constantOf(high)];
  if (
    !isNegated && lowest !== undefined && highest !== undefined &&
    relates("<", highest, lowest) === true
  ) {
    throw new SelectorParseError(
      high.position,
      `the upper bound ${highest} is below the lower bound ${lowest}`,
    );
  }
  return {
    kind: "between",
    isNegated,
    value: value.expression,
    low: low.expression,
    high: high.expression,
  };
}

/** `property IN (...)`. */
export function checkedIn(
  { expression, position }: Operand,
  elements: ReadonlySet<string>,
  isNegated: boolean,
  { text }: Token,
): Condition {
  if (expression.kind !== "property") {
    throw new SelectorParseError(
      position,
      `expected the name of a property on the left of ${text}`,
    );
  }
  return { kind: "in", isNegated, name: expression.name, elements };
}

/** Properties and negated values may turn out to be numbers; texts and conditions do not. */
function checkNumber(
  { expression, position }: Operand,
  operator: string,
): void {
  switch (expression.kind) {
    case "property":
    case "negate":
      return;
    case "constant":
      if (["number", "bigint"].includes(typeof expression.value)) return;
  }
  throw new SelectorParseError(
    position,
    `${operator} takes numbers and names of properties`,
  );
}

function constantOf({ expression }: Operand): SqlValue | undefined {
  return expression.kind === "constant" ? expression.value : undefined;
}
