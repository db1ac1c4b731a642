/**
 * SelectorParser: reads RocketMQ's SQL92 dialect, by recursive descent.
 *
 * From low to high: OR, AND, equality (`=`, `<>`, IS), comparison (the other
 * operators), NOT and signs, then literals, names and parentheses. What
 * Apache's 5.x parser takes is taken, and means the same; 4.9 knows no
 * CONTAINS, STARTSWITH and ENDSWITH. As there, what follows a whole expression
 * is not read: `Selector.endPosition` tells.
 *
 * Invariants
 * - Time and memory are linear in the text; depth and height are bounded.
 */
import type { Condition, Expression, TextOperator } from "./expression.ts";
import {
  checkedBetween,
  checkedEqual,
  checkedIn,
  checkedRelational,
  conditionOf,
  type Operand,
} from "./operand.ts";
import { literalOf, shownToken } from "./selector_literals.ts";
import { SelectorParseError } from "./selector_parse_error.ts";
import {
  SelectorTokenizer,
  type Token,
  type TokenKind,
} from "./selector_tokenizer.ts";

/** UTF-16 units of one expression. */
export const SELECTOR_LENGTH_MAX = 32_768;
/** Parentheses, signs and NOTs around one operand, and nodes above one another. */
export const SELECTOR_DEPTH_MAX = 256;

/** What was read. */
export interface Selector {
  readonly condition: Condition;
  /** Where text begins that belongs to no expression and is ignored, from 1; undefined: nowhere. */
  readonly endPosition: number | undefined;
}

/** Reads `text`; throws `SelectorParseError`. */
export function parseSelector(text: string): Selector {
  if (text.length > SELECTOR_LENGTH_MAX) {
    throw new SelectorParseError(
      SELECTOR_LENGTH_MAX + 1,
      `it has ${text.length} characters, more than ${SELECTOR_LENGTH_MAX}`,
    );
  }
  return new SelectorParser(text).parse();
}

class SelectorParser {
  readonly #tokenizer: SelectorTokenizer;
  /** The one token of look-ahead. */
  #token: Token;
  #depth = 0;

  constructor(text: string) {
    this.#tokenizer = new SelectorTokenizer(text);
    this.#token = this.#tokenizer.next();
  }

  parse(): Selector {
    const condition = conditionOf(this.#or());
    const { kind, position } = this.#token;
    return { condition, endPosition: kind === "end" ? undefined : position };
  }

  #or(): Operand {
    return this.#list("OR", () => this.#list("AND", () => this.#equality()));
  }

  /** Operands between the same word: one node, however many. */
  #list(word: "OR" | "AND", operand: () => Operand): Operand {
    const first = operand();
    if (this.#token.kind !== word) return first;
    const all = [first];
    while (this.#take(word)) all.push(operand());
    return this.#node(
      { kind: word === "OR" ? "or" : "and", operands: all.map(conditionOf) },
      ...all,
    );
  }

  #equality(): Operand {
    let left = this.#comparison();
    for (;;) {
      const sign = this.#token;
      if (this.#take("=")) left = this.#equal(left, sign);
      else if (this.#take("<>")) left = this.#not(this.#equal(left, sign));
      else if (this.#take("IS")) left = this.#isNull(left);
      else return left;
    }
  }

  #equal(left: Operand, sign: Token): Operand {
    const right = this.#comparison();
    return this.#node(checkedEqual(left, right, sign), left, right);
  }

  #isNull(left: Operand): Operand {
    const isNegated = this.#take("NOT");
    this.#expect("NULL", isNegated ? "NULL" : "NULL or NOT NULL");
    const test = this.#node({
      kind: "equal",
      left: left.expression,
      right: { kind: "constant", value: null },
    }, left);
    return isNegated ? this.#not(test) : test;
  }

  #comparison(): Operand {
    let left = this.#unary();
    for (;;) {
      const isNegated = this.#take("NOT");
      const operator = this.#token;
      const next = this.#compared(left, operator, isNegated);
      if (next === undefined) {
        if (!isNegated) return left;
        throw this.#expected(
          "BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH behind NOT",
        );
      }
      left = next;
    }
  }

  /** Undefined when `operator` is none of a comparison. */
  #compared(
    left: Operand,
    operator: Token,
    isNegated: boolean,
  ): Operand | undefined {
    switch (operator.kind) {
      case "CONTAINS":
      case "STARTSWITH":
      case "ENDSWITH":
        return this.#text(left, operator.kind, isNegated);
      case "BETWEEN":
        return this.#between(left, operator, isNegated);
      case "IN":
        return this.#in(left, operator, isNegated);
      case ">":
      case ">=":
      case "<":
      case "<=": {
        if (isNegated) return undefined;
        this.#advance();
        const right = this.#unary();
        return this.#node(
          checkedRelational(operator.kind, left, right),
          left,
          right,
        );
      }
      default:
        return undefined;
    }
  }

  #text(left: Operand, operator: TextOperator, isNegated: boolean): Operand {
    this.#advance();
    const search = this.#expect("string", "a text in quotes").text;
    const operand = left.expression;
    return this.#node(
      { kind: "text", operator, isNegated, operand, search },
      left,
    );
  }

  #between(value: Operand, sign: Token, isNegated: boolean): Operand {
    this.#advance();
    const low = this.#unary();
    this.#expect("AND", "AND and the upper bound");
    const high = this.#unary();
    return this.#node(
      checkedBetween(value, low, high, isNegated, sign),
      value,
      low,
      high,
    );
  }

  #in(left: Operand, sign: Token, isNegated: boolean): Operand {
    this.#advance();
    const elements = new Set<string>();
    this.#expect("(", "( and texts in quotes");
    do {
      elements.add(this.#expect("string", "a text in quotes").text);
    } while (this.#take(","));
    this.#expect(")", "a comma or )");
    return this.#node(checkedIn(left, elements, isNegated, sign), left);
  }

  #unary(): Operand {
    const { position } = this.#token;
    if (this.#take("+")) return this.#deeper(() => this.#unary());
    if (this.#take("-")) {
      const operand = this.#deeper(() => this.#unary());
      return this.#node(
        { kind: "negate", operand: operand.expression },
        { ...operand, position },
      );
    }
    if (this.#take("NOT")) {
      const operand = this.#deeper(() => this.#unary());
      return this.#not({ ...operand, position });
    }
    return this.#primary();
  }

  #not(operand: Operand): Operand {
    return this.#node({ kind: "not", operand: conditionOf(operand) }, operand);
  }

  #primary(): Operand {
    const token = this.#token;
    const value = literalOf(token);
    if (value !== undefined) {
      this.#advance();
      return leaf({ kind: "constant", value }, token);
    }
    if (this.#take("name")) {
      return leaf({ kind: "property", name: token.text }, token);
    }
    if (!this.#take("(")) throw this.#expected("a value, a name, NOT or (");
    const inner = this.#deeper(() => this.#or());
    this.#expect(")", ")");
    return { ...inner, position: token.position };
  }

  #deeper(read: () => Operand): Operand {
    if (++this.#depth > SELECTOR_DEPTH_MAX) throw this.#tooDeep();
    const operand = read();
    this.#depth--;
    return operand;
  }

  /** A node that begins where its first operand does. */
  #node(expression: Expression, ...operands: Operand[]): Operand {
    let height = 0;
    for (const it of operands) height = Math.max(height, it.height);
    if (height >= SELECTOR_DEPTH_MAX) throw this.#tooDeep();
    return { expression, position: operands[0]!.position, height: height + 1 };
  }

  #tooDeep(): SelectorParseError {
    return new SelectorParseError(
      this.#token.position,
      `it is nested deeper than ${SELECTOR_DEPTH_MAX} levels`,
    );
  }

  #advance(): void {
    this.#token = this.#tokenizer.next();
  }

  #take(kind: TokenKind): boolean {
    if (this.#token.kind !== kind) return false;
    this.#advance();
    return true;
  }

  #expect(kind: TokenKind, what: string): Token {
    const token = this.#token;
    if (token.kind !== kind) throw this.#expected(what);
    this.#advance();
    return token;
  }

  #expected(what: string): SelectorParseError {
    return new SelectorParseError(
      this.#token.position,
      `expected ${what}, found ${shownToken(this.#token)}`,
    );
  }
}

function leaf(expression: Expression, { position }: Token): Operand {
  return { expression, position, height: 1 };
}
