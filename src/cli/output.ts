/** Tables for people, JSON for programs. */
import Table from "cli-table3";
import { escaped } from "../base/escaped.ts";
import { type CliContext, printLine } from "./cli_context.ts";

/** One cell. */
export type Cell = string | number | boolean | null | undefined;

const NO_LINE = "";

/** No borders: columns stay easy to cut and grep. */
const PLAIN_CHARS = {
  "top": NO_LINE,
  "top-mid": NO_LINE,
  "top-left": NO_LINE,
  "top-right": NO_LINE,
  "bottom": NO_LINE,
  "bottom-mid": NO_LINE,
  "bottom-left": NO_LINE,
  "bottom-right": NO_LINE,
  "left": NO_LINE,
  "left-mid": NO_LINE,
  "mid": NO_LINE,
  "mid-mid": NO_LINE,
  "right": NO_LINE,
  "right-mid": NO_LINE,
  "middle": "  ",
};

/** Lays out rows under a head; numbers are right-aligned. */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): string {
  const isNumeric = head.map((_, column) =>
    rows.length > 0 && rows.every((row) => typeof row[column] === "number")
  );
  const table = new Table({
    head: [...head],
    chars: PLAIN_CHARS,
    colAligns: isNumeric.map((it) => it ? "right" : "left"),
    style: {
      "head": [],
      "border": [],
      "padding-left": 0,
      "padding-right": 0,
      "compact": true,
    },
  });
  for (const row of rows) table.push(row.map(cellText));
  return table.toString().split("\n").map((it) => it.trimEnd()).join("\n");
}

function cellText(cell: Cell): string {
  return cell === null || cell === undefined ? "-" : escaped(String(cell));
}

/** Prints JSON, indented on a terminal. */
export function printJson(context: CliContext, value: unknown): void {
  const indent = context.process.isTerminal("stdout") ? 2 : 0;
  printLine(context, JSON.stringify(value, jsonValue, indent));
}

/** 64-bit values and tables that JSON does not know. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return value;
}

/** Prints rows as a table, or `json` when it was asked for. */
export function printRows(
  context: CliContext,
  flags: { readonly json?: boolean },
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  json: unknown,
): void {
  if (flags.json === true) printJson(context, json);
  else printLine(context, tableText(head, rows));
}

/** Prints `name  value` lines, or `json` when it was asked for. */
export function printFields(
  context: CliContext,
  flags: { readonly json?: boolean },
  fields: readonly (readonly [name: string, value: Cell])[],
  json: unknown,
): void {
  if (flags.json === true) {
    printJson(context, json);
    return;
  }
  const width = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields) {
    printLine(context, `${name.padEnd(width)}  ${cellText(value)}`);
  }
}
