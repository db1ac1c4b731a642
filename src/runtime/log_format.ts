/**
 * One log line. Text: `2026-01-02T03:04:05.006Z WARN ha: sentence key=value`;
 * JSON: one object with `time`, `level`, `category`, `message` and the fields.
 */

import { escaped } from "../base/escaped.ts";

/** The part of a LogTape record that a line shows. */
export interface LogLine {
  readonly timestamp: number;
  readonly level: string;
  /** From the root down; the root itself is not shown. */
  readonly category: readonly string[];
  readonly rawMessage: string | TemplateStringsArray;
  readonly properties: Readonly<Record<string, unknown>>;
}

const LEVEL_NAMES: Readonly<Record<string, string>> = {
  debug: "DEBUG",
  info: "INFO",
  warning: "WARN",
  error: "ERROR",
};

const LEVEL_COLORS: Readonly<Record<string, string>> = {
  debug: "\x1b[2m",
  warning: "\x1b[33m",
  error: "\x1b[31m",
};

const COLOR_END = "\x1b[0m";

/** A line for people; colours only where `isTerminal`. */
export function formatTextLine(line: LogLine, isTerminal: boolean): string {
  const time = new Date(line.timestamp).toISOString();
  const name = levelName(line);
  const color = isTerminal ? LEVEL_COLORS[line.level] : undefined;
  const level = color ? `${color}${name}${COLOR_END}` : name;
  const category = categoryText(line);
  let text = `${time} ${level} `;
  if (category !== "") text += `${category}: `;
  // Keeps a stranger's bytes from forging lines or moving the cursor.
  text += escaped(messageText(line));
  for (const [key, value] of Object.entries(line.properties)) {
    text += ` ${key}=${escaped(fieldText(value))}`;
  }
  return `${text}\n`;
}

/** A line for machines. */
export function formatJsonLine(line: LogLine): string {
  const { time, level, category, message, ...fields } = line.properties;
  const clashing = { time, level, category, message };
  const renamed = Object.entries(clashing)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => [`field_${key}`, value]);
  return JSON.stringify({
    time: new Date(line.timestamp).toISOString(),
    level: levelName(line).toLowerCase(),
    category: categoryText(line),
    message: messageText(line),
    ...fields,
    ...Object.fromEntries(renamed),
  }, (_, value) => plain(value)) + "\n";
}

function levelName(line: LogLine): string {
  return LEVEL_NAMES[line.level] ?? line.level.toUpperCase();
}

function categoryText(line: LogLine): string {
  return line.category.slice(1).join(".");
}

/** Sentences are taken as they are: braces in them are no placeholders. */
function messageText(line: LogLine): string {
  return typeof line.rawMessage === "string"
    ? line.rawMessage
    : line.rawMessage.join("");
}

function fieldText(value: unknown): string {
  const it = plain(value);
  if (typeof it === "string") return /^[\w.:/@+-]+$/.test(it) ? it : quoted(it);
  if (typeof it !== "object") return String(it);
  return JSON.stringify(it, (_, inner) => plain(inner)) ?? String(it);
}

/** What JSON cannot say. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return value;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
