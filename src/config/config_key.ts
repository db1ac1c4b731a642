/**
 * ConfigKey: one configuration key, how its text is read, and what it means.
 *
 * Text is read strictly: `yes` is no boolean and `10s` no number. Sizes in bytes may carry
 * K, M or G (powers of 1024), because nobody can check 1073741824 by eye.
 */
import { z } from "zod";
import { isHostPort } from "../model/host_port.ts";

/** What a number counts. */
export type ConfigUnit = "ms" | "s" | "min" | "h" | "bytes" | "%" | "pages";

/** One key of a program. */
export interface ConfigKey<T> {
  /** Reads the text of a file, variable or flag. */
  readonly schema: z.ZodType<T, string>;
  readonly fallback: T;
  /** Null when the value has none. */
  readonly unit: ConfigUnit | null;
  /** One line for `check-config` and the documentation. */
  readonly doc: string;
  /** True when a change takes effect without restart. */
  readonly isLive: boolean;
  /** Of a live key: which changes need none; absent: all. */
  isLiveBetween?(from: T, to: T): boolean;
  /** True when the value is never shown. */
  readonly isSecret: boolean;
  /** Other spellings: RocketMQ 4.9 against 5.x. */
  readonly aliases: readonly string[];
}

/** Keys by name. */
export type ConfigKeys = Readonly<Record<string, ConfigKey<unknown>>>;

/** `keys` without what every object inherits: a key named `constructor` is unknown. */
export function keyTable<T extends object>(keys: T): Readonly<T> {
  return Object.freeze(Object.assign(Object.create(null), keys));
}

/** The values of a table of keys. */
export type ValuesOf<K> = {
  readonly [P in keyof K]: K[P] extends ConfigKey<infer T> ? T : never;
};

interface KeyOptions {
  readonly isLive?: boolean;
  readonly isSecret?: boolean;
  readonly aliases?: readonly string[];
}

interface NumberOptions extends KeyOptions {
  readonly min?: number;
  readonly max?: number;
  readonly unit?: ConfigUnit;
}

function keyOf<T>(
  schema: z.ZodType<T, string>,
  fallback: T,
  doc: string,
  options: KeyOptions,
  unit: ConfigUnit | null = null,
): ConfigKey<T> {
  return {
    schema,
    fallback,
    unit,
    doc,
    isLive: options.isLive ?? false,
    isSecret: options.isSecret ?? false,
    aliases: options.aliases ?? [],
  };
}

function textSchema<T>(
  hint: string,
  read: (text: string) => T | undefined,
): z.ZodType<T, string> {
  return z.string().transform((text, context): T => {
    const value = read(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: hint });
    return z.NEVER;
  });
}

/** Shared: a schema instance costs kilobytes, and most keys are booleans. */
const BOOLEAN_SCHEMA = textSchema("give true or false", readBoolean);

function readBoolean(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  return lower === "true" ? true : lower === "false" ? false : undefined;
}

/** A key that is true or false. */
export function flag(
  fallback: boolean,
  doc: string,
  options: KeyOptions = {},
): ConfigKey<boolean> {
  return keyOf(BOOLEAN_SCHEMA, fallback, doc, options);
}

function rangeText(min: number, max: number): string {
  return max === Number.MAX_SAFE_INTEGER
    ? `of ${min} or more`
    : `from ${min} to ${max}`;
}

/** A whole number. */
export function integer(
  fallback: number,
  doc: string,
  options: NumberOptions = {},
): ConfigKey<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, unit = null } = options;
  const unitText = unit === null ? "" : ` (${unit})`;
  const schema = textSchema(
    `give a whole number ${rangeText(min, max)}${unitText}`,
    (text) => inRange(readInteger(text), min, max),
  );
  return keyOf(schema, fallback, doc, options, unit);
}

function readInteger(text: string): number | undefined {
  return /^[+-]?\d{1,16}$/.test(text) ? Number(text) : undefined;
}

function inRange(
  value: number | undefined,
  min: number,
  max: number,
): number | undefined {
  return value === undefined || value < min || value > max ? undefined : value;
}

const SIZE_FACTORS: Readonly<Record<string, number>> = {
  "": 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
};

function readSize(text: string): number | undefined {
  const match = /^(\d{1,16})\s*(?:([kmgt])(?:i?b)?)?$/i.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * SIZE_FACTORS[(match[2] ?? "").toLowerCase()]!;
}

/** A number of bytes; `64M` and `1G` are read as powers of 1024. */
export function size(
  fallback: number,
  doc: string,
  options: Omit<NumberOptions, "unit"> = {},
): ConfigKey<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = options;
  const schema = textSchema(
    `give a number of bytes ${rangeText(min, max)}, as 65536, 64K, 64M or 1G`,
    (text) => inRange(readSize(text), min, max),
  );
  return keyOf(schema, fallback, doc, options, "bytes");
}

/** Milliseconds. */
export function millis(
  fallback: number,
  doc: string,
  options: Omit<NumberOptions, "unit"> = {},
): ConfigKey<number> {
  return integer(fallback, doc, { ...options, unit: "ms" });
}

/** A whole percentage. */
export function percent(
  fallback: number,
  doc: string,
  options: KeyOptions = {},
): ConfigKey<number> {
  return integer(fallback, doc, { ...options, min: 0, max: 100, unit: "%" });
}

/** A TCP port. */
export function port(
  fallback: number,
  doc: string,
  options: KeyOptions = {},
): ConfigKey<number> {
  return integer(fallback, doc, { ...options, min: 0, max: 65_535 });
}

/** One word of a list; case does not matter, as nothing is gained by refusing it. */
export function choice<const T extends string>(
  words: readonly T[],
  fallback: T,
  doc: string,
  options: KeyOptions = {},
): ConfigKey<T> {
  const schema = textSchema(
    `give one of ${words.filter((it) => it !== "").join(", ")}${
      words.some((it) => it === "") ? ", or nothing" : ""
    }`,
    (text) => words.find((it) => it.toLowerCase() === text.toLowerCase()),
  );
  return keyOf(schema, fallback, doc, options);
}

interface TextOptions extends KeyOptions {
  /** Undefined when the text is fine, else the cure. */
  readonly errorOf?: (text: string) => string | undefined;
}

const TEXT_SCHEMA = z.string().transform((text) => text.trim());

/** Any text; spaces around it are dropped. */
export function text(
  fallback: string,
  doc: string,
  options: TextOptions = {},
): ConfigKey<string> {
  const { errorOf } = options;
  const schema = errorOf === undefined
    ? TEXT_SCHEMA
    : TEXT_SCHEMA.superRefine((value, context) => {
      const hint = errorOf(value);
      if (hint !== undefined) {
        context.addIssue({ code: "custom", message: hint });
      }
    });
  return keyOf(schema, fallback, doc, options);
}

/** A list of `host:port` separated by `;`; empty is an empty list. */
export function addresses(
  fallback: string,
  doc: string,
  options: KeyOptions = {},
): ConfigKey<string> {
  return text(fallback, doc, {
    ...options,
    errorOf: (value) => {
      const wrong = value.split(";").map((it) => it.trim()).find((it) =>
        it !== "" && !isHostPort(it)
      );
      return wrong === undefined
        ? undefined
        : `give host:port, several separated by ";" ("${wrong}" is none)`;
    },
  });
}
