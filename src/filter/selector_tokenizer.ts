/**
 * SelectorTokenizer: words, numbers, texts and signs of a SQL92 expression.
 *
 * Tokens are read when they are asked for: as in Apache, nobody looks at what
 * stands behind the end of an expression.
 */
import { shown } from "../base/shown.ts";
import { SelectorParseError } from "./selector_parse_error.ts";

const KEYWORDS = [
  "NOT",
  "AND",
  "OR",
  "BETWEEN",
  "IN",
  "TRUE",
  "FALSE",
  "NULL",
  "IS",
  "CONTAINS",
  "STARTSWITH",
  "ENDSWITH",
] as const;
const SIGNS = [
  "<>",
  ">=",
  "<=",
  "=",
  ">",
  "<",
  "(",
  ")",
  ",",
  "+",
  "-",
] as const;

/** What a token is. */
export type TokenKind =
  | (typeof KEYWORDS)[number]
  | (typeof SIGNS)[number]
  | "name"
  | "integer"
  | "decimal"
  | "string"
  | "end";

/** One token. */
export interface Token {
  readonly kind: TokenKind;
  /** As written; of a string what it stands for. */
  readonly text: string;
  /** Counted from 1. */
  readonly position: number;
}

const KEYWORD_SET: ReadonlySet<string> = new Set(KEYWORDS);
const SPACE = /[ \t\n\r\f]+/y;
const LINE_END = /[\r\n]/g;
const NAME = /[A-Za-z_$][A-Za-z0-9_$]*/y;
const DECIMAL = /(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+/y;
/** 012 is two tokens. */
const INTEGER = /0|[1-9]\d*[lL]?/y;

/** Reads one expression from its start to its end. */
export class SelectorTokenizer {
  readonly #text: string;
  #index = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next token; `end` again and again at the end. Throws `SelectorParseError`. */
  next(): Token {
    this.#skip();
    const { length } = this.#text;
    if (this.#index >= length) return this.#token("end", "", length);
    const start = this.#index;
    if (this.#text[start] === "'") return this.#string();
    for (const [kind, pattern] of PATTERNS) {
      const found = this.#match(pattern);
      if (found === undefined) continue;
      if (kind !== "name") return this.#token(kind, found, start);
      const word = found.toUpperCase();
      return this.#token(isKeyword(word) ? word : "name", found, start);
    }
    const sign = SIGNS.find((it) => this.#text.startsWith(it, start));
    if (sign === undefined) {
      const unknown = String.fromCodePoint(this.#text.codePointAt(start)!);
      throw new SelectorParseError(
        start + 1,
        `${shown(unknown)} is no part of the language`,
      );
    }
    this.#index += sign.length;
    return this.#token(sign, sign, start);
  }

  /** Passes over blanks and comments. */
  #skip(): void {
    for (;;) {
      const start = this.#index;
      this.#match(SPACE);
      if (this.#text.startsWith("--", this.#index)) this.#skipLine();
      if (this.#text.startsWith("/*", this.#index)) {
        const end = this.#text.indexOf("*/", this.#index + 2);
        if (end < 0) {
          throw new SelectorParseError(
            this.#index + 1,
            "the comment that begins here has no */",
          );
        }
        this.#index = end + 2;
      }
      if (this.#index === start) return;
    }
  }

  /** Without the end of its line it is no comment, but two minus signs. */
  #skipLine(): void {
    LINE_END.lastIndex = this.#index;
    if (LINE_END.test(this.#text)) this.#index = LINE_END.lastIndex;
  }

  #string(): Token {
    const start = this.#index;
    let value = "";
    for (let from = start + 1;;) {
      const quote = this.#text.indexOf("'", from);
      if (quote < 0) {
        throw new SelectorParseError(
          start + 1,
          "the text that begins here has no closing quote",
        );
      }
      value += this.#text.slice(from, quote);
      if (this.#text[quote + 1] !== "'") {
        this.#index = quote + 1;
        return this.#token("string", value, start);
      }
      value += "'";
      from = quote + 2;
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#index;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#index += found.length;
    return found;
  }

  #token(kind: TokenKind, text: string, index: number): Token {
    return { kind, text, position: index + 1 };
  }
}

const PATTERNS: readonly (readonly ["name" | "integer" | "decimal", RegExp])[] =
  [["name", NAME], ["decimal", DECIMAL], ["integer", INTEGER]];

function isKeyword(word: string): word is (typeof KEYWORDS)[number] {
  return KEYWORD_SET.has(word);
}
