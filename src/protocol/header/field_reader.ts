/**
 * Reads typed values out of header fields, whose values are all text.
 *
 * `requireX` is for mandatory fields and throws `HeaderError`. `optionalX`
 * gives the fallback for a field that is missing or unparsable, as Java's
 * reflective header decoder leaves such a field at its default.
 */
import { shown } from "../../base/shown.ts";
import type { ExtFields } from "../remoting_command.ts";

/** A header lacks a mandatory field or carries an unreadable one; answered with code 1. */
export class HeaderError extends Error {
  override readonly name = "HeaderError";
}

const DIGIT_0 = 48;
const DIGIT_9 = 57;
const MINUS = 45;
const PLUS = 43;
const INT_MAX = 0x7fff_ffff;
const INT_MIN = -0x8000_0000;
/** Up to 15 digits are exact in a double. */
const EXACT_DIGITS_MAX = 15;
const LONG_MAX = 0x7fff_ffff_ffff_ffffn;
const LONG_MIN = -0x8000_0000_0000_0000n;

/**
 * Reads a decimal int64; NaN when `text` is none. What lies beyond 2^53-1 but
 * still is an int64 becomes the nearest safe integer: clients send
 * Long.MAX_VALUE for "no end".
 */
export function parseLong(text: string): number {
  const length = text.length;
  const first = text.charCodeAt(0);
  const start = first === MINUS || first === PLUS ? 1 : 0;
  if (length === start) return NaN;
  let value = 0;
  for (let index = start; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < DIGIT_0 || unit > DIGIT_9) return NaN;
    value = value * 10 + (unit - DIGIT_0);
  }
  if (length - start > EXACT_DIGITS_MAX) return saturateLong(text);
  return first === MINUS && value !== 0 ? -value : value;
}

/** `text` is an optional sign and digits. */
function saturateLong(text: string): number {
  const digits = text.charCodeAt(0) === PLUS ? text.slice(1) : text;
  // A long run of zeros is legal, a longer number cannot be an int64.
  if (digits.length > 64) return NaN;
  const value = BigInt(digits);
  if (value > LONG_MAX || value < LONG_MIN) return NaN;
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) return Number.MAX_SAFE_INTEGER;
  if (value < BigInt(Number.MIN_SAFE_INTEGER)) return Number.MIN_SAFE_INTEGER;
  return Number(value);
}

/** Reads a decimal int32; NaN when `text` is none. */
export function parseInt32(text: string): number {
  const value = parseLong(text);
  return value <= INT_MAX && value >= INT_MIN ? value : NaN;
}

/** The field's text; an empty text counts as present. */
export function requireText(
  fields: ExtFields,
  name: string,
  header: string,
): string {
  const text = fields[name];
  if (text === undefined) throw missing(name, header);
  return text;
}

/** The field's text, or undefined. */
export function optionalText(
  fields: ExtFields,
  name: string,
): string | undefined {
  return fields[name];
}

/** An int32. */
export function requireInt(
  fields: ExtFields,
  name: string,
  header: string,
): number {
  const text = requireText(fields, name, header);
  const value = parseInt32(text);
  if (Number.isNaN(value)) throw unreadable(name, header, "an int32", text);
  return value;
}

/** An int32, or `fallback` when missing or unparsable. */
export function optionalInt(
  fields: ExtFields,
  name: string,
  fallback: number,
): number {
  const text = fields[name];
  if (text === undefined) return fallback;
  const value = parseInt32(text);
  return Number.isNaN(value) ? fallback : value;
}

/** An int64 as safe integer (see `parseLong`). */
export function requireLong(
  fields: ExtFields,
  name: string,
  header: string,
): number {
  const text = requireText(fields, name, header);
  const value = parseLong(text);
  if (Number.isNaN(value)) throw unreadable(name, header, "an int64", text);
  return value;
}

/** An int64 as safe integer, or `fallback` when missing or unparsable. */
export function optionalLong(
  fields: ExtFields,
  name: string,
  fallback: number,
): number {
  const text = fields[name];
  if (text === undefined) return fallback;
  const value = parseLong(text);
  return Number.isNaN(value) ? fallback : value;
}

/** True for `true` in any case, as Java's Boolean.parseBoolean; else false. */
export function requireBoolean(
  fields: ExtFields,
  name: string,
  header: string,
): boolean {
  return parseBoolean(requireText(fields, name, header));
}

/** As `requireBoolean`, or `fallback` when missing. */
export function optionalBoolean(
  fields: ExtFields,
  name: string,
  fallback: boolean,
): boolean {
  const text = fields[name];
  return text === undefined ? fallback : parseBoolean(text);
}

function parseBoolean(text: string): boolean {
  return text === "true" || text.toLowerCase() === "true";
}

function missing(name: string, header: string): HeaderError {
  return new HeaderError(`the field ${name} of ${header} is missing`);
}

function unreadable(
  name: string,
  header: string,
  wanted: string,
  text: string,
): HeaderError {
  return new HeaderError(
    `the field ${name} of ${header} is not ${wanted}: "${shown(text, 32)}"`,
  );
}
