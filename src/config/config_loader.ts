/** loadConfig: sources and a table of keys in, typed values and their origins out. */
import { UNSUPPORTED_KEYS, type UnsupportedKey } from "./apache_keys.ts";
import { SILENT_KEYS } from "./apache_silent_keys.ts";
import { ConfigError, type ConfigOrigin, throwFirst } from "./config_error.ts";
import type { ConfigKeys, ValuesOf } from "./config_key.ts";
import {
  type ConfigInput,
  environmentNameOf,
  mergeSources,
  type RawConfig,
  type RawValue,
  unknownVariables,
} from "./config_sources.ts";
import { nearestKey } from "./nearest_key.ts";

const DEFAULT_ORIGIN: ConfigOrigin = { kind: "default", label: "default" };

/** A program's configuration. */
export interface LoadedConfig<K extends ConfigKeys> {
  readonly values: ValuesOf<K>;
  readonly origins: Readonly<Record<keyof K & string, ConfigOrigin>>;
  /** Keys of Apache's that were given and are not acted upon, as given. */
  readonly inactive: ReadonlyMap<string, string>;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/** Defaults that differ from the table's. */
export type ConfigDefaults<K> = {
  readonly [P in keyof ValuesOf<K>]?: ValuesOf<K>[P];
};

/** Reads one key. Throws ConfigError naming key, value and cure. */
export function readKey<K extends ConfigKeys>(
  keys: K,
  key: keyof K & string,
  raw: RawValue,
): unknown {
  const result = keys[key]!.schema.safeParse(raw.text);
  if (result.success) return result.data;
  throw new ConfigError(
    key,
    keys[key]!.isSecret ? "***" : raw.text,
    result.error.issues[0]?.message ?? "it is not readable",
    raw.origin,
  );
}

/** Own spellings by every accepted one. */
export function namesByAlias(keys: ConfigKeys): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, key] of Object.entries(keys)) {
    names.set(name, name);
    for (const alias of key.aliases) names.set(alias, name);
  }
  return names;
}

/**
 * Merges and reads all keys. Throws a ConfigError with all values that are wrong or unsafe, and
 * with what `check` throws about keys that are right by themselves. `others` are keys that
 * somebody else reads: nobody is warned of them.
 */
export function loadConfig<K extends ConfigKeys>(
  keys: K,
  input: ConfigInput,
  defaults: ConfigDefaults<K> = {},
  check: Check<K> = () => {},
  others: ConfigKeys = {},
): LoadedConfig<K> {
  const names = namesByAlias(keys);
  const known = [...names.keys(), ...Object.keys(others)];
  const raw = mergeSources(
    input,
    (it) => names.get(it) ?? it,
    withApaches(known),
  );
  const values: Record<string, unknown> = {};
  const origins: Record<string, ConfigOrigin> = {};
  const errors: ConfigError[] = [];
  for (const name of Object.keys(keys)) {
    const given = raw.values.get(name);
    origins[name] = given?.origin ?? DEFAULT_ORIGIN;
    values[name] = (defaults as Record<string, unknown>)[name] ??
      keys[name]!.fallback;
    try {
      if (given !== undefined) values[name] = readKey(keys, name, given);
    } catch (error) {
      errors.push(asConfigError(error));
    }
  }
  const inactive = reviewInactive(known, raw, errors);
  const warnings = [...raw.warnings, ...inactive];
  for (const name of unknownVariables(input.env, withApaches(known))) {
    const nearest = nearestKey(name, known.map(environmentNameOf));
    warnings.push(unknownSentence(name, "the environment", nearest));
  }
  errors.push(...errorsBetween(check, values, origins, errors));
  throwFirst(errors, warnings);
  return {
    values: Object.freeze(values) as ValuesOf<K>,
    origins: origins as Record<keyof K & string, ConfigOrigin>,
    inactive: inactiveOf(keys, raw),
    warnings,
  };
}

/** Throws ConfigError when keys contradict each other. */
type Check<K extends ConfigKeys> = (
  values: ValuesOf<K>,
  origins: LoadedConfig<K>["origins"],
) => void;

/** What `check` finds about keys that nothing else is wrong with. */
function errorsBetween<K extends ConfigKeys>(
  check: Check<K>,
  values: object,
  origins: object,
  found: readonly ConfigError[],
): ConfigError[] {
  try {
    check(values as ValuesOf<K>, origins as LoadedConfig<K>["origins"]);
    return [];
  } catch (error) {
    const first = asConfigError(error);
    const wrong = new Set(found.map(({ key }) => key));
    return [first, ...first.others].filter(({ key }) => !wrong.has(key));
  }
}

/** Throws whatever is none. */
function asConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  throw error;
}

function withApaches(known: readonly string[]): string[] {
  return [...known, ...Object.keys(UNSUPPORTED_KEYS), ...SILENT_KEYS];
}

function inactiveOf(keys: ConfigKeys, raw: RawConfig): Map<string, string> {
  const inactive = new Map<string, string>();
  for (const [key, { text }] of raw.values) {
    if (keys[key] === undefined) inactive.set(key, text);
  }
  return inactive;
}

/** Warnings about keys that do nothing here; `errors` gets those that must not be ignored. */
function reviewInactive(
  known: readonly string[],
  raw: RawConfig,
  errors: ConfigError[],
): string[] {
  const warnings: string[] = [];
  for (const [key, value] of raw.values) {
    if (known.includes(key) || SILENT_KEYS.has(key)) continue;
    const unsupported = UNSUPPORTED_KEYS[key];
    if (unsupported !== undefined) {
      const finding = reviewUnsupported(key, value, unsupported);
      if (finding instanceof ConfigError) errors.push(finding);
      else if (finding !== undefined) warnings.push(finding);
      continue;
    }
    const candidates = [...known, ...Object.keys(UNSUPPORTED_KEYS)];
    warnings.push(
      unknownSentence(key, value.origin.label, nearestKey(key, candidates)),
    );
  }
  return warnings;
}

function reviewUnsupported(
  key: string,
  value: RawValue,
  unsupported: UnsupportedKey,
): string | ConfigError | undefined {
  const text = value.text.trim();
  if (text.toLowerCase() === unsupported.harmless.toLowerCase()) {
    return undefined;
  }
  if (unsupported.reaction === "refuse") {
    return new ConfigError(key, text, unsupported.sentence, value.origin);
  }
  return `${key}=${text} (${value.origin.label}) has no effect: ${unsupported.sentence}`;
}

function unknownSentence(
  key: string,
  where: string,
  nearest: string | undefined,
): string {
  const guess = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  return `Unknown key ${key} (${where}) is ignored${guess}`;
}
