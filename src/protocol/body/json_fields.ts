/**
 * Typed reads out of parsed JSON bodies, and their way to and from bytes.
 *
 * Missing and null fields give the fallback, as a Java bean keeps its default;
 * a value of another kind is a broken body and throws `BodyError`.
 */
import { parseLong } from "../header/field_reader.ts";
import { FastjsonError, parseFastjson } from "../fastjson.ts";

/** A body that is no JSON or has another shape; answered with code 1. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** A JSON object as it was parsed. */
export type JsonObject = Readonly<Record<string, unknown>>;

const SAFE_MAX = Number.MAX_SAFE_INTEGER;
const SURROGATE = /[\ud800-\udfff]/;
const SURROGATES = /[\ud800-\udfff]/g;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/** UTF-8 bytes of `JSON.stringify(value)`, as `encodeJsonText` gives them. */
export function encodeJson(value: unknown): Uint8Array {
  return encodeJsonText(JSON.stringify(value));
}

/**
 * UTF-8 bytes of a JSON text. What takes four of them is written as two escapes: fastjson2, which
 * 5.5 reads bodies with, stumbles over it in a name that holds an escape too.
 */
export function encodeJsonText(text: string): Uint8Array {
  if (!SURROGATE.test(text)) return ENCODER.encode(text);
  return ENCODER.encode(text.replace(
    SURROGATES,
    (it) => `\\u${it.charCodeAt(0).toString(16)}`,
  ));
}

/** Parses a body in either dialect (reference 1.8). `what` names it in errors. */
export function decodeJson(bytes: Uint8Array, what: string): unknown {
  try {
    return parseFastjson(DECODER.decode(bytes));
  } catch (cause) {
    const fault = cause instanceof FastjsonError ? `: ${cause.fault}` : "";
    throw new BodyError(`Cannot read ${what}: it is no JSON${fault}`, {
      cause,
    });
  }
}

/** `value` as object; an absent one is empty. */
export function objectOf(value: unknown, what: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new BodyError(`Cannot read ${what}: it is no object`);
  }
  return value as JsonObject;
}

/** `value` as array; an absent one is empty. */
export function arrayOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    throw new BodyError(`Cannot read ${what}: it is no array`);
  }
  return value;
}

/** An object or an array field. */
export function objectField(from: JsonObject, name: string): JsonObject {
  return objectOf(from[name], name);
}

/** An array field. */
export function arrayField(
  from: JsonObject,
  name: string,
): readonly unknown[] {
  return arrayOf(from[name], name);
}

/** A text field; numbers and booleans are taken by their text. */
export function textField(
  from: JsonObject,
  name: string,
  fallback: string,
): string {
  return optionalTextField(from, name) ?? fallback;
}

/** A text field, or undefined when missing or null. */
export function optionalTextField(
  from: JsonObject,
  name: string,
): string | undefined {
  const value = from[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  if (typeof value === "object") {
    throw new BodyError(`Cannot read ${name}: it is no text`);
  }
  return String(value);
}

/** A safe integer field; longs beyond 2^53-1 become the nearest safe integer. */
export function intField(
  from: JsonObject,
  name: string,
  fallback: number,
): number {
  const value = from[name];
  if (value === undefined || value === null) return fallback;
  return integerOf(value, name);
}

/** `value` as safe integer; quoted numbers are accepted. */
export function integerOf(value: unknown, what: string): number {
  if (typeof value === "number" && Number.isInteger(value)) {
    return Math.max(-SAFE_MAX, Math.min(SAFE_MAX, value));
  }
  const number = typeof value === "bigint" || typeof value === "string"
    ? parseLong(String(value))
    : NaN;
  if (Number.isNaN(number)) {
    throw new BodyError(`Cannot read ${what}: it is no integer`);
  }
  return number;
}

/** A number field with fraction. */
export function numberField(
  from: JsonObject,
  name: string,
  fallback: number,
): number {
  const value = from[name];
  if (value === undefined || value === null) return fallback;
  const number = Number(value);
  if (Number.isNaN(number)) {
    throw new BodyError(`Cannot read ${name}: it is no number`);
  }
  return number;
}

/** A boolean field; `"true"` counts. */
export function booleanField(
  from: JsonObject,
  name: string,
  fallback: boolean,
): boolean {
  const value = from[name];
  if (value === undefined || value === null) return fallback;
  return value === true || value === "true";
}

/** An array of texts. */
export function textArrayField(from: JsonObject, name: string): string[] {
  return arrayField(from, name).map((it) => {
    if (typeof it === "string") return it;
    throw new BodyError(`Cannot read ${name}: an entry is no text`);
  });
}

/** The entries of an object field as Map. */
export function mapField<T>(
  from: JsonObject,
  name: string,
  read: (value: unknown, key: string) => T,
): Map<string, T> {
  const map = new Map<string, T>();
  for (const [key, value] of Object.entries(objectField(from, name))) {
    map.set(key, read(value, key));
  }
  return map;
}

/** A JSON object of a Map. Without prototype, since a topic may be named `__proto__`. */
export function jsonOfMap<K extends string | number, T>(
  map: ReadonlyMap<K, T>,
  write: (value: T) => unknown,
): Record<string, unknown> {
  const object: Record<string, unknown> = Object.create(null);
  for (const [key, value] of map) object[String(key)] = write(value);
  return object;
}
