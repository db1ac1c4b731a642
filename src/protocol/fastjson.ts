/**
 * The JSON dialect of fastjson 1.2 (reference 1.8).
 *
 * Read: standard JSON, and besides bare integer keys, objects as keys, single
 * quotes, unquoted names, comments, commas too many and integers beyond 2^53.
 * Written: standard JSON, except for Maps whose keys are objects.
 */
import { shown } from "../base/shown.ts";

/** Text that is JSON in neither dialect, or nested too deeply. */
export class FastjsonError extends Error {
  override readonly name = "FastjsonError";
  /** `fault`: what is wrong, and where. */
  constructor(readonly fault: string) {
    super(`Cannot parse JSON: ${fault}`);
  }
}

/** Levels of objects and arrays that are accepted. */
export const FASTJSON_DEPTH_MAX = 64;

/** Runs of this many digits may exceed 2^53. */
const LONG_DIGITS = /\d{16}/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** An opening brace; a bracket differs in bit 5 only. */
const OPEN = 0x7b;
const CLOSE = 0x7d;

/**
 * Parses either dialect. Objects whose keys are objects become a Map, all
 * others plain objects; integers beyond 2^53-1 become bigint. A key
 * `__proto__` is an ordinary own property. Throws `FastjsonError`.
 */
export function parseFastjson(text: string): unknown {
  if (!isDeep(text) && !LONG_DIGITS.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // Not standard JSON: the parser below decides.
    }
  }
  return new FastjsonParser(text).parse();
}

/** True when standard JSON nests beyond the limit; of other text nothing is said. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) {
      index = endOfString(text, index);
      if (index < 0) return false;
    } else if ((unit | 0x20) === OPEN) {
      if (++depth > FASTJSON_DEPTH_MAX) return true;
    } else if ((unit | 0x20) === CLOSE) depth--;
  }
  return false;
}

/** The index of the quote that ends the string begun at `start`, or -1. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

/** A JSON value that `writeFastjson` takes; a Map may have objects as keys. */
export type FastjsonValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly FastjsonValue[]
  | ReadonlyMap<FastjsonValue, FastjsonValue>
  | { readonly [name: string]: FastjsonValue };

/**
 * Writes a value. Integer keys of a Map are quoted, which Java reads back;
 * object keys are written as objects, which only fastjson reads. Undefined
 * properties are left out. Throws `RangeError` beyond `FASTJSON_DEPTH_MAX`.
 */
export function writeFastjson(value: FastjsonValue, depth = 0): string {
  if (depth > FASTJSON_DEPTH_MAX) {
    throw new RangeError("Cannot write JSON that is nested so deeply");
  }
  if (value === undefined || value === null) return "null";
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${value.map((it) => writeFastjson(it, depth + 1)).join(",")}]`;
  }
  const entries = value instanceof Map ? value : Object.entries(value);
  const parts: string[] = [];
  for (const [key, entry] of entries) {
    if (entry === undefined) continue;
    const name = typeof key === "object" && key !== null
      ? writeFastjson(key, depth + 1)
      : JSON.stringify(String(key));
    parts.push(`${name}:${writeFastjson(entry, depth + 1)}`);
  }
  return `{${parts.join(",")}}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "0": "\0",
  "1": "\x01",
  "2": "\x02",
  "3": "\x03",
  "4": "\x04",
  "5": "\x05",
  "6": "\x06",
  "7": "\x07",
  '"': '"',
  "'": "'",
  "\\": "\\",
  "/": "/",
};

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NAME = /[A-Za-z_$][\w$.-]*/y;
const SPACE = /[ \t\r\n\f\b]*/y;
const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//y;
/** Longer integers are no int64 and would make BigInt slow. */
const INTEGER_TEXT_MAX = 40;

/** Parses one text by recursive descent, bounded in depth. */
class FastjsonParser {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): unknown {
    const value = this.#value(0);
    this.#space();
    if (this.#position < this.#text.length) throw this.#error("more text");
    return value;
  }

  #value(depth: number): unknown {
    this.#space();
    const next = this.#text[this.#position];
    if (next === "{") return this.#object(depth + 1);
    if (next === "[") return this.#array(depth + 1);
    if (next === '"' || next === "'") return this.#string(next);
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#number(number);
    const word = this.#match(NAME);
    if (word === "true") return true;
    if (word === "false") return false;
    if (word === "null") return null;
    throw this.#error(word ?? next ?? "the end");
  }

  #object(depth: number): unknown {
    this.#enter(depth);
    let object: Record<string, unknown> | undefined = {};
    let map: Map<unknown, unknown> | undefined;
    while (!this.#ends("}")) {
      const key = this.#key(depth);
      if (!this.#skip(":")) throw this.#error("no colon");
      const value = this.#value(depth);
      if (typeof key === "object" && map === undefined) {
        map = new Map(Object.entries(object ?? {}));
        object = undefined;
      }
      if (map !== undefined) map.set(key, value);
      else if (key === "__proto__") defineOwn(object!, key, value);
      else object![String(key)] = value;
      this.#separator("}", "no end of the object");
    }
    return map ?? object;
  }

  #key(depth: number): unknown {
    this.#space();
    const next = this.#text[this.#position];
    if (next === "{") return this.#object(depth + 1);
    if (next === '"' || next === "'") return this.#string(next);
    const key = this.#match(NAME) ?? this.#match(NUMBER);
    if (key === undefined) throw this.#error(next ?? "the end");
    return key;
  }

  #array(depth: number): unknown[] {
    this.#enter(depth);
    const values: unknown[] = [];
    while (!this.#ends("]")) {
      values.push(this.#value(depth));
      this.#separator("]", "no end of the array");
    }
    return values;
  }

  #enter(depth: number): void {
    if (depth > FASTJSON_DEPTH_MAX) throw this.#error("too many levels");
    this.#position++;
  }

  #string(quote: string): string {
    let text = "";
    let from = ++this.#position;
    for (;; this.#position++) {
      const unit = this.#text[this.#position];
      if (unit === undefined) throw this.#error("no end of the string");
      if (unit !== quote && unit !== "\\") continue;
      text += this.#text.slice(from, this.#position);
      if (unit === quote) break;
      text += this.#escape();
      from = this.#position + 1;
    }
    this.#position++;
    return text;
  }

  /** Reads the escape at the position; leaves the position on its last unit. */
  #escape(): string {
    const letter = this.#text[++this.#position] ?? "";
    const size = letter === "u" ? 4 : letter === "x" ? 2 : 0;
    if (size === 0) {
      const plain = ESCAPES[letter];
      if (plain === undefined) throw this.#error(`the escape \\${letter}`);
      return plain;
    }
    const digits = this.#text.slice(
      this.#position + 1,
      this.#position + 1 + size,
    );
    if (digits.length < size || !/^[0-9a-fA-F]+$/.test(digits)) {
      throw this.#error(`the escape \\${letter}${digits}`);
    }
    this.#position += size;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #number(text: string): number | bigint {
    const value = Number(text);
    if (Number.isSafeInteger(value) || /[.eE]/.test(text)) return value;
    if (text.length > INTEGER_TEXT_MAX) throw this.#error("a huge integer");
    return BigInt(text);
  }

  #skip(unit: string): boolean {
    this.#space();
    if (this.#text[this.#position] !== unit) return false;
    this.#position++;
    return true;
  }

  /** True behind the bracket that closes; commas before it say nothing. */
  #ends(close: string): boolean {
    while (this.#skip(","));
    return this.#skip(close);
  }

  /** Looks at what follows an entry: a comma or the end. */
  #separator(close: string, otherwise: string): void {
    this.#space();
    const next = this.#text[this.#position];
    if (next !== "," && next !== close) throw this.#error(otherwise);
  }

  #space(): void {
    do this.#match(SPACE); while (this.#match(COMMENT) !== undefined);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#position += found.length;
    return found;
  }

  #error(found: string): FastjsonError {
    return new FastjsonError(
      `${shown(found, 32)} at position ${this.#position}`,
    );
  }
}

function defineOwn(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
