/**
 * How two values compare, as Java's ComparisonExpression does it: text beside
 * a number is read as that number's class, text beside a condition as a
 * Boolean.
 */
import {
  javaCompareDouble,
  javaParseDouble,
  javaParseInteger,
} from "../base/java_number.ts";
import type { RelationalOperator, SqlValue } from "./expression.ts";

/** A value, or undefined where Java throws: whatever holds it has no value either. */
export type Evaluated = SqlValue | undefined;

/** A comparable value. */
type Present = NonNullable<SqlValue>;

const INTEGER_MAX = 2n ** 31n - 1n;
const INTEGER_MIN = -(2n ** 31n);
const LONG_MAX = 2n ** 63n - 1n;
const LONG_MIN = -(2n ** 63n);

/** `left = right` where both may be null. */
export function equals(
  left: SqlValue,
  right: SqlValue,
): boolean | null | undefined {
  if (left === null) return right === null ? true : null;
  if (right === null) return false;
  if (typeof left === "string" && typeof right === "string") {
    return left === right;
  }
  const order = compared(left, right);
  return order === undefined ? undefined : order === 0;
}

/** `left operator right` where both may be null. Texts are compared as Doubles. */
export function relates(
  operator: RelationalOperator,
  left: SqlValue,
  right: SqlValue,
): boolean | null | undefined {
  if (left === null || right === null) return null;
  const order = typeof left === "string" && typeof right === "string"
    ? comparedDoubles(javaParseDouble(left), javaParseDouble(right))
    : compared(left, right);
  return order === undefined ? undefined : holds(operator, order);
}

function holds(operator: RelationalOperator, order: number): boolean {
  switch (operator) {
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
  }
}

/** Below 0, 0, above 0; undefined for text that is not what stands beside it. */
function compared(left: Present, right: Present): number | undefined {
  if (typeof left === "string") {
    const value = readAs(right, left);
    return value === undefined ? undefined : comparedAlike(value, right);
  }
  if (typeof right === "string") {
    // Java means to read the text here, and casts the Boolean instead.
    if (typeof left === "boolean") return undefined;
    const value = readAs(left, right);
    return value === undefined ? undefined : comparedAlike(left, value);
  }
  return comparedAlike(left, right);
}

/** `text` in the class of `beside`. */
function readAs(beside: Present, text: string): Present | undefined {
  switch (typeof beside) {
    case "number":
      return javaParseDouble(text);
    case "bigint":
      return beside <= INTEGER_MAX && beside > INTEGER_MIN
        ? javaParseInteger(text, INTEGER_MIN, INTEGER_MAX)
        : javaParseInteger(text, LONG_MIN, LONG_MAX);
    case "boolean":
      return text.toLowerCase() === "true";
    default:
      return text;
  }
}

/** Values that are no text: numbers by their worth, all else differs. */
function comparedAlike(left: Present, right: Present): number {
  if (typeof left === "bigint" && typeof right === "bigint") {
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof left === "boolean" && typeof right === "boolean") {
    return Number(left) - Number(right);
  }
  if (isNumeric(left) && isNumeric(right)) {
    return javaCompareDouble(Number(left), Number(right));
  }
  return -1;
}

function isNumeric(value: Present): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function comparedDoubles(
  left: number | undefined,
  right: number | undefined,
): number | undefined {
  return left === undefined || right === undefined
    ? undefined
    : javaCompareDouble(left, right);
}
