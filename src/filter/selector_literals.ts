/** Literals of a SQL92 expression, within the ranges that Java's classes have. */
import { shown } from "../base/shown.ts";
import type { SqlValue } from "./expression.ts";
import { SelectorParseError } from "./selector_parse_error.ts";
import type { Token } from "./selector_tokenizer.ts";

const LONG_MAX = 2n ** 63n - 1n;
/** Digits of LONG_MAX. */
const LONG_DIGITS_MAX = 19;
/** Of a token in an error. */
const SHOWN_MAX = 40;

/** What the token stands for; undefined when it is no literal. Throws `SelectorParseError`. */
export function literalOf(token: Token): SqlValue | undefined {
  switch (token.kind) {
    case "string":
      return token.text;
    case "integer":
      return integerOf(token);
    case "decimal":
      return decimalOf(token);
    case "TRUE":
      return true;
    case "FALSE":
      return false;
    case "NULL":
      return null;
    default:
      return undefined;
  }
}

/** The token as errors show it. */
export function shownToken({ kind, text }: Token): string {
  if (kind === "end") return "the end";
  const short = shown(text, SHOWN_MAX);
  return kind === "string" ? `'${short}'` : short;
}

/** A Long; without its sign, so that the lowest one cannot be written. */
function integerOf({ text, position }: Token): bigint {
  const digits = text.replace(/[lL]$/, "");
  if (digits.length <= LONG_DIGITS_MAX && BigInt(digits) <= LONG_MAX) {
    return BigInt(digits);
  }
  throw new SelectorParseError(
    position,
    `${shown(digits, SHOWN_MAX)} is more than ${LONG_MAX}`,
  );
}

/** A Double above 0: as in Apache, 0.0 cannot be written, 0 can. */
function decimalOf({ text, position }: Token): number {
  const value = Number(text);
  if (value > 0 && value < Infinity) return value;
  throw new SelectorParseError(
    position,
    `${shown(text, SHOWN_MAX)} is not between ${Number.MIN_VALUE} and ` +
      `${Number.MAX_VALUE}${value === 0 ? ", write 0" : ""}`,
  );
}
