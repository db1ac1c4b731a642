/** configInput: file, environment and flags of one server command, ready for src/config. */
import { FileError } from "../io/file_system.ts";
import type { HostFacts } from "../config/broker_config.ts";
import { ConfigError } from "../config/config_error.ts";
import {
  type ConfigFile,
  type ConfigInput,
  type ConfigSetting,
  mergeSources,
  parseSetting,
} from "../config/config_sources.ts";
import { TLS_CONFIG_FILE } from "../config/tls_keys.ts";
import type { CliContext } from "./cli_context.ts";
import type { ServerFlags } from "./options.ts";

/** A shorthand flag and the key it stands for. */
type Shorthand = readonly [
  flag: keyof ServerFlags,
  label: string,
  key: string,
];

/** Bytes of a configuration file. */
const CONFIG_SIZE_MAX = 1024 * 1024;

const BROKER_SHORTHANDS: readonly Shorthand[] = [
  ["namesrv", "--namesrv", "namesrvAddr"],
  ["store", "--store", "storePathRootDir"],
  ["listenPort", "--listen-port", "listenPort"],
  ["namesrvPort", "--namesrv-port", "namesrvListenPort"],
  ["adminPort", "--admin-port", "adminPort"],
  ["bind", "--bind", "bindAddress"],
];

const NAMESRV_SHORTHANDS: readonly Shorthand[] = [
  ["listenPort", "--listen-port", "listenPort"],
  ["namesrvPort", "--namesrv-port", "listenPort"],
  ["bind", "--bind", "bindAddress"],
];

/** Reads what `broker` and `standalone` were given. Throws ConfigError. */
export function brokerInput(
  context: CliContext,
  flags: ServerFlags,
): ConfigInput {
  return inputOf(context, flags, BROKER_SHORTHANDS);
}

/** Reads what `namesrv` was given. Throws ConfigError. */
export function namesrvInput(
  context: CliContext,
  flags: ServerFlags,
): ConfigInput {
  return inputOf(context, flags, NAMESRV_SHORTHANDS);
}

function inputOf(
  context: CliContext,
  flags: ServerFlags,
  shorthands: readonly Shorthand[],
): ConfigInput {
  const settings: ConfigSetting[] = flags.set.map(parseSetting);
  for (const [flag, label, key] of shorthands) {
    const value = flags[flag];
    if (typeof value === "string") settings.push({ key, value, label });
  }
  const { env } = context.process;
  return withTlsFile(
    context,
    flags.config === undefined
      ? { env, settings }
      : { file: readConfigFile(context, flags.config), env, settings },
  );
}

/** Adds what tls.config.file names, or Apache's usual one where it exists. Throws ConfigError. */
export function withTlsFile(
  context: CliContext,
  input: ConfigInput,
): ConfigInput {
  const key = "tls.config.file";
  const named = mergeSources(input, (it) => it, [key]).values.get(key)?.text
    .trim();
  if (!named && !existsInFull(context, TLS_CONFIG_FILE)) return input;
  return {
    ...input,
    tlsFile: readConfigFile(context, named || TLS_CONFIG_FILE, key),
  };
}

function existsInFull({ runtime }: CliContext, path: string): boolean {
  try {
    return runtime.fileSystem.stat(path)?.isDirectory === false;
  } catch {
    return false; // Nobody asked for it.
  }
}

/** Throws ConfigError, about `key`, when the file cannot be read. */
export function readConfigFile(
  context: CliContext,
  path: string,
  key = "--config",
): ConfigFile {
  return { name: path, text: textOf(path, readBytes(context, path, key), key) };
}

function readBytes(
  { process }: CliContext,
  path: string,
  key: string,
): Uint8Array {
  try {
    const { bytes, isRegular } = process.readInput(path, CONFIG_SIZE_MAX);
    if (isRegular) return bytes;
    throw new ConfigError(
      key,
      path,
      "it is no regular file, and cannot be read again or written; name one",
    );
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new ConfigError(
      key,
      path,
      error.kind === "not-found"
        ? "there is no such file; name one that exists"
        : `it cannot be read (${error.message}); make it readable`,
    );
  }
}

/** Only tabs and line ends are expected of the control characters. */
function textOf(path: string, bytes: Uint8Array, key: string): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!/(?![\t\n\f\r])\p{Cc}/u.test(text)) return text;
  } catch {
    // Not in UTF-8: as below.
  }
  throw new ConfigError(
    key,
    path,
    "it is no text in UTF-8; name a properties file, or save it as UTF-8",
  );
}

/** What defaults depend on. */
export function hostFacts(context: CliContext): HostFacts {
  const { host } = context.runtime;
  return {
    hostname: host.hostname(),
    homeDirectory: context.process.env.HOME ?? ".",
    memoryLimitBytes: host.memoryLimitBytes(),
    openFilesMax: host.openFilesMax(),
  };
}
