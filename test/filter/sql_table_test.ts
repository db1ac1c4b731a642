/** Our evaluator against the table of results that Apache's own gave; the interop test keeps the table true. */
import { assert, assertEquals } from "@std/assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tableExpressions } from "./sql_cases.ts";
import { resultsOf, TABLE_PATH, tableText } from "./sql_results.ts";

test("SQL92 expressions are refused and evaluated as in the table of Apache's results", () => {
  const expressions = tableExpressions();
  assert(expressions.length >= 500, `${expressions.length} expressions`);
  const ours = tableText(expressions.map((it) => [it, resultsOf(it)]));
  assertEquals(
    ours.split("\n"),
    readFileSync(TABLE_PATH, "utf8").split("\n"),
  );
});
