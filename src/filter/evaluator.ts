/**
 * Evaluates an expression on the properties of a message, with three-valued
 * logic: TRUE, FALSE and NULL, and undefined where Java throws. Only TRUE lets
 * a message pass.
 *
 * Operands are evaluated from the left and only as far as Java does, so that
 * an undefined one behind the decision changes nothing.
 */
import { equals, type Evaluated, relates } from "./comparison.ts";
import type { Condition, Expression, TextOperator } from "./expression.ts";

/** Where values of properties come from. */
export interface EvaluationContext {
  /** Null when the message has no such property. */
  get(name: string): string | null;
}

/** The value of a condition. */
export type Truth = boolean | null | undefined;

/** TRUE, FALSE, NULL, or undefined when it cannot be evaluated. */
export function evaluate(
  condition: Condition,
  context: EvaluationContext,
): Truth {
  switch (condition.kind) {
    case "constant":
      return condition.value;
    case "booleanCast":
      return context.get(condition.name) === null ? null : false;
    case "not": {
      const value = evaluate(condition.operand, context);
      return value === null || value === undefined ? value : !value;
    }
    case "and":
      return evaluateList(condition.operands, false, context);
    case "or":
      return evaluateList(condition.operands, true, context);
    case "equal": {
      const left = valueOf(condition.left, context);
      if (left === undefined) return undefined;
      const right = valueOf(condition.right, context);
      return right === undefined ? undefined : equals(left, right);
    }
    case "relational": {
      const left = valueOf(condition.left, context);
      if (left === null || left === undefined) return left;
      const right = valueOf(condition.right, context);
      if (right === undefined) return undefined;
      return relates(condition.operator, left, right);
    }
    case "between":
      return evaluateBetween(condition, context);
    case "in": {
      const value = context.get(condition.name);
      return value === null
        ? null
        : condition.elements.has(value) !== condition.isNegated;
    }
    case "text":
      return evaluateText(condition, context);
  }
}

/** AND ends with the first FALSE, OR with the first TRUE. */
function evaluateList(
  operands: readonly Condition[],
  decisive: boolean,
  context: EvaluationContext,
): Truth {
  let result: boolean | null = !decisive;
  for (const operand of operands) {
    const value = evaluate(operand, context);
    if (value === undefined || value === decisive) return value;
    if (value === null) result = null;
  }
  return result;
}

/** As `value >= low AND value <= high`, or `value < low OR value > high`, with one look at the value. */
function evaluateBetween(
  { isNegated, value, low, high }: Extract<Condition, { kind: "between" }>,
  context: EvaluationContext,
): Truth {
  const tested = valueOf(value, context);
  if (tested === null || tested === undefined) return tested;
  const lowest = valueOf(low, context);
  if (lowest === undefined) return undefined;
  const first = relates(isNegated ? "<" : ">=", tested, lowest);
  if (first === undefined || first === isNegated) return first;
  const highest = valueOf(high, context);
  if (highest === undefined) return undefined;
  const second = relates(isNegated ? ">" : "<=", tested, highest);
  return second === undefined || second === isNegated || first !== null
    ? second
    : null;
}

/** Never NULL: what is no text contains nothing, nor does it lack anything. */
function evaluateText(
  { operator, isNegated, operand, search }: Extract<
    Condition,
    { kind: "text" }
  >,
  context: EvaluationContext,
): Truth {
  if (search === "") return false;
  const value = valueOf(operand, context);
  if (value === undefined) return undefined;
  return typeof value === "string" &&
    holds(operator, value, search) !== isNegated;
}

function holds(operator: TextOperator, text: string, search: string): boolean {
  switch (operator) {
    case "CONTAINS":
      return text.includes(search);
    case "STARTSWITH":
      return text.startsWith(search);
    case "ENDSWITH":
      return text.endsWith(search);
  }
}

function valueOf(
  expression: Expression,
  context: EvaluationContext,
): Evaluated {
  switch (expression.kind) {
    case "constant":
      return expression.value;
    case "property":
      return context.get(expression.name);
    case "negate": {
      const value = valueOf(expression.operand, context);
      if (typeof value === "number" || typeof value === "bigint") return -value;
      return value === undefined ? undefined : null;
    }
    default:
      return evaluate(expression, context);
  }
}
