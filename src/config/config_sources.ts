/**
 * Sources of configuration, from weak to strong: default, file, environment, flags.
 *
 * `POCKETMQ_` + UPPER_SNAKE of a key is its variable: `haListenPort` is
 * `POCKETMQ_HA_LISTEN_PORT`, `brokerIP1` is `POCKETMQ_BROKER_IP1`, `tls.server.keyPath` is
 * `POCKETMQ_TLS_SERVER_KEY_PATH`.
 */
import { ConfigError, type ConfigOrigin } from "./config_error.ts";
import { parseProperties, type PropertyEntry } from "./properties.ts";

/** A file that was read. */
export interface ConfigFile {
  readonly name: string;
  readonly text: string;
}

/** One `--set key=value` or a flag that stands for a key. */
export interface ConfigSetting {
  readonly key: string;
  readonly value: string;
  /** `--set`, `--listen-port`. */
  readonly label: string;
}

/** What one program was given. */
export interface ConfigInput {
  readonly file?: ConfigFile;
  /** Read after `file`: only its keys that begin as these. */
  readonly tlsFile?: ConfigFile;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: readonly ConfigSetting[];
}

/** The text of one key and where it was found. */
export interface RawValue {
  readonly text: string;
  readonly origin: ConfigOrigin;
}

/** The strongest text of every key that any source names, and what looked odd on the way. */
export interface RawConfig {
  readonly values: ReadonlyMap<string, RawValue>;
  readonly warnings: readonly string[];
}

/** Reads `key=value` of `--set`. Throws ConfigError without `=`. */
export function parseSetting(argument: string): ConfigSetting {
  const at = argument.indexOf("=");
  if (at <= 0) {
    throw new ConfigError("--set", argument, "give key=value");
  }
  return {
    key: argument.slice(0, at).trim(),
    value: argument.slice(at + 1),
    label: "--set",
  };
}

/** `haListenPort` → `POCKETMQ_HA_LISTEN_PORT`. */
export function environmentNameOf(key: string): string {
  const snake = key.replaceAll(".", "_")
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2");
  return `POCKETMQ_${snake.toUpperCase()}`;
}

/**
 * Merges the sources. `nameOf` gives a key's own spelling for an alias (and itself for itself);
 * variables are looked up for the keys in `environmentKeys` only.
 */
export function mergeSources(
  input: ConfigInput,
  nameOf: (key: string) => string,
  environmentKeys: Iterable<string>,
): RawConfig {
  const values = new Map<string, RawValue>();
  const warnings: string[] = [];
  for (const { entry, label } of allFileEntries(input)) {
    const key = nameOf(entry.key);
    const before = values.get(key);
    if (before !== undefined && before.text !== entry.value) {
      warnings.push(
        `${key} is given twice; ${label} wins over ${before.origin.label}`,
      );
    }
    values.set(key, {
      text: entry.value,
      origin: { kind: "file", label },
    });
  }
  for (const key of environmentKeys) {
    const name = environmentNameOf(key);
    const value = input.env[name];
    if (value === undefined) continue;
    values.set(nameOf(key), {
      text: value,
      origin: { kind: "environment", label: name },
    });
  }
  for (const { key, value, label } of input.settings) {
    values.set(nameOf(key), { text: value, origin: { kind: "flag", label } });
  }
  return { values, warnings };
}

interface LabelledEntry {
  readonly entry: PropertyEntry;
  readonly label: string;
}

function allFileEntries({ file, tlsFile }: ConfigInput): LabelledEntry[] {
  return [
    ...fileEntries(file, "--config"),
    ...fileEntries(tlsFile, "tls.config.file")
      .filter(({ entry }) => entry.key.startsWith("tls.")),
  ];
}

function fileEntries(
  file: ConfigFile | undefined,
  key: string,
): LabelledEntry[] {
  if (file === undefined) return [];
  try {
    return parseProperties(file.text).map((entry) => ({
      entry,
      label: `${file.name}:${entry.line}`,
    }));
  } catch (error) {
    throw new ConfigError(
      key,
      file.name,
      `it is no properties file (${
        error instanceof Error ? error.message : error
      })`,
    );
  }
}

/** Variables that begin as ours and name no key. */
export function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  keys: Iterable<string>,
): string[] {
  const known = new Set<string>();
  for (const key of keys) known.add(environmentNameOf(key));
  return Object.keys(env).filter((it) =>
    it.startsWith("POCKETMQ_") && !known.has(it)
  ).sort();
}
