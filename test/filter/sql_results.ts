/** What our evaluator makes of an expression, in the letters of the table. */
import { evaluate } from "../../src/filter/evaluator.ts";
import { SelectorParseError } from "../../src/filter/selector_parse_error.ts";
import {
  parseSelector,
  type Selector,
} from "../../src/filter/selector_parser.ts";
import { MESSAGES } from "./sql_cases.ts";

/** `results expression` a line; the expression as a JSON string. */
export const TABLE_PATH = new URL("sql_table.txt", import.meta.url).pathname;

/** The text of the table. */
export function tableText(
  rows: readonly (readonly [expression: string, results: string])[],
): string {
  return rows.map(([expression, results]) =>
    `${results.padEnd(MESSAGES.length)} ${JSON.stringify(expression)}\n`
  ).join("");
}

/** P when it is refused, else for each message T, F, N for null, X where Java throws. */
export function resultsOf(expression: string): string {
  let selector: Selector;
  try {
    selector = parseSelector(expression);
  } catch (error) {
    if (!(error instanceof SelectorParseError)) throw error;
    return "P";
  }
  return MESSAGES.map((message) => {
    const value = evaluate(selector.condition, {
      get: (name) => Object.hasOwn(message, name) ? message[name]! : null,
    });
    return value === undefined ? "X" : value === null ? "N" : value ? "T" : "F";
  }).join("");
}
