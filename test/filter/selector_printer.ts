/** Prints an expression so that it reads back as itself. */
import type { Condition, Expression } from "../../src/filter/expression.ts";

/** The text of a condition. */
export function printed(condition: Condition): string {
  return textOf(condition);
}

function textOf(it: Expression): string {
  switch (it.kind) {
    case "constant":
      return literal(it.value);
    case "property":
    case "booleanCast":
      return it.name;
    case "negate":
      return `- ${inner(it.operand)}`;
    case "not":
      return `NOT ${inner(it.operand)}`;
    case "and":
    case "or":
      return it.operands.map(inner).join(` ${it.kind.toUpperCase()} `);
    case "equal":
      return it.right.kind === "constant" && it.right.value === null
        ? `${inner(it.left)} IS NULL`
        : `${inner(it.left)} = ${inner(it.right)}`;
    case "relational":
      return `${inner(it.left)} ${it.operator} ${inner(it.right)}`;
    case "between":
      return `${inner(it.value)}${not(it)} BETWEEN ${inner(it.low)} ` +
        `AND ${inner(it.high)}`;
    case "in":
      return `${it.name}${not(it)} IN (${
        [...it.elements].map(literal).join(", ")
      })`;
    case "text":
      return `${inner(it.operand)}${not(it)} ${it.operator} ${
        literal(it.search)
      }`;
  }
}

function not({ isNegated }: { readonly isNegated: boolean }): string {
  return isNegated ? " NOT" : "";
}

function inner(it: Expression): string {
  const isLeaf = ["constant", "property", "booleanCast"].includes(it.kind);
  return isLeaf ? textOf(it) : `(${textOf(it)})`;
}

/** A number without its exponent is written as one, so that it stays a Double. */
function literal(
  value: Extract<Expression, { kind: "constant" }>["value"],
): string {
  switch (typeof value) {
    case "string":
      return `'${value.replaceAll("'", "''")}'`;
    case "number":
      return value.toExponential();
    case "bigint":
      return String(value);
    default:
      return String(value).toUpperCase();
  }
}
