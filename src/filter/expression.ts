/**
 * Expression: what a SQL92 subscription asks of a message (reference 13.2).
 *
 * A tree without positions. Its height is bounded by the parser, so that
 * whoever walks it may recurse.
 */

/**
 * A value. Numbers keep the class that Java gives them, since it decides how
 * text beside them is read: `number` is a Double; `bigint` an Integer when it
 * lies in -2147483647 to 2147483647, else a Long (-2147483648 cannot be
 * written but as a negated Long).
 */
export type SqlValue = string | number | bigint | boolean | null;

/** Orders numbers, and text that is one. */
export type RelationalOperator = ">" | ">=" | "<" | "<=";

/** Looks into text. */
export type TextOperator = "CONTAINS" | "STARTSWITH" | "ENDSWITH";

/** One node. */
export type Expression =
  | { readonly kind: "constant"; readonly value: SqlValue }
  | { readonly kind: "property"; readonly name: string }
  | { readonly kind: "negate"; readonly operand: Expression }
  | Condition;

/** A node whose value is TRUE, FALSE or NULL. */
export type Condition =
  | { readonly kind: "constant"; readonly value: boolean | null }
  /** A property in the place of a condition: text is never TRUE. */
  | { readonly kind: "booleanCast"; readonly name: string }
  | { readonly kind: "not"; readonly operand: Condition }
  | {
    readonly kind: "and" | "or";
    /** Two or more. */
    readonly operands: readonly Condition[];
  }
  /** IS NULL is this with the constant NULL. */
  | {
    readonly kind: "equal";
    readonly left: Expression;
    readonly right: Expression;
  }
  | {
    readonly kind: "relational";
    readonly operator: RelationalOperator;
    readonly left: Expression;
    readonly right: Expression;
  }
  | {
    readonly kind: "between";
    readonly isNegated: boolean;
    readonly value: Expression;
    readonly low: Expression;
    readonly high: Expression;
  }
  | {
    readonly kind: "in";
    readonly isNegated: boolean;
    readonly name: string;
    readonly elements: ReadonlySet<string>;
  }
  | {
    readonly kind: "text";
    readonly operator: TextOperator;
    readonly isNegated: boolean;
    readonly operand: Expression;
    readonly search: string;
  };
