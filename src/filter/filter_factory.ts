/**
 * FilterFactory: compiles expressions of any type but TAG, and remembers the
 * last ones, since pull consumers send theirs with every pull.
 */
import { shown } from "../base/shown.ts";
import { EXPRESSION_TYPE_SQL92 } from "../model/filter_api.ts";
import { CompiledSelector } from "./compiled_selector.ts";
import { SelectorParseError } from "./selector_parse_error.ts";

/** Expressions that are remembered. */
const CACHE_ENTRIES_MAX = 100;
/** UTF-16 units of these together: a tree takes some twenty times its text. */
const CACHE_LENGTH_MAX = 262_144;

/** A selector, or the sentence that says why there is none. */
export type CompileResult = CompiledSelector | { readonly error: string };

/** Compiles. */
export class FilterFactory {
  /** The one used last comes last. */
  readonly #cache = new Map<string, CompileResult>();
  #cacheLength = 0;

  /** Never throws. */
  compile(type: string, expression: string): CompileResult {
    if (type !== EXPRESSION_TYPE_SQL92) {
      return {
        error: `Filters of type ${shown(type)} are not known, use TAG or SQL92`,
      };
    }
    const known = this.#cache.get(expression);
    if (known !== undefined) {
      this.#cache.delete(expression);
      this.#cache.set(expression, known);
      return known;
    }
    const result = compile(expression);
    this.#remember(expression, result);
    return result;
  }

  #remember(expression: string, result: CompileResult): void {
    this.#cache.set(expression, result);
    this.#cacheLength += expression.length;
    for (const oldest of this.#cache.keys()) {
      const isWithin = this.#cache.size <= CACHE_ENTRIES_MAX &&
        this.#cacheLength <= CACHE_LENGTH_MAX;
      if (isWithin) return;
      this.#cache.delete(oldest);
      this.#cacheLength -= oldest.length;
    }
  }
}

function compile(expression: string): CompileResult {
  try {
    return new CompiledSelector(expression);
  } catch (error) {
    if (!(error instanceof SelectorParseError)) throw error;
    return { error: error.message };
  }
}
