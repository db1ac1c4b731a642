/**
 * Configuration: the values in force, their text for GET_BROKER_CONFIG (26), and the two doors
 * through which they change: UPDATE_BROKER_CONFIG (25) or PATCH, and a reload of the file.
 *
 * Invariants
 * - A change is validated as a whole before any of it holds.
 * - Keys that need a restart are written to the file and reported, never half applied.
 */
import { AUTH_KEYS } from "./auth_keys.ts";
import { ConfigError, type ConfigOrigin } from "./config_error.ts";
import type { ConfigKeys, ValuesOf } from "./config_key.ts";
import { type LoadedConfig, namesByAlias, readKey } from "./config_loader.ts";
import {
  configurationEntries,
  type ConfigurationEntry,
} from "./configuration_entry.ts";
import { updateProperties } from "./properties.ts";
import { TLS_KEY_NAMES } from "./tls_keys.ts";

const LIVE_ORIGIN: ConfigOrigin = {
  kind: "live",
  label: "changed at run time",
};

/** Whoever asks for a change knows where the value comes from. */
const UNNAMED_ORIGIN: ConfigOrigin = { kind: "default", label: "" };

/** As DataVersion of reference 1.8. */
export interface ConfigurationVersion {
  readonly stateVersion: number;
  readonly timestamp: number;
  readonly counter: number;
}

/** The file behind a configuration. */
export interface ConfigurationFile {
  readonly name: string;
  read(): string;
  /** Whole-file replace. */
  replace(text: string): Promise<void>;
}

/** What one change did. */
export interface ConfigurationChange {
  /** Keys that hold from now on. */
  readonly changed: readonly string[];
  /** Keys that hold after a restart. */
  readonly afterRestart: readonly string[];
  /** Keys that nobody knows. */
  readonly unknown: readonly string[];
  /** True when the file was written. */
  readonly isPersisted: boolean;
}

/** A key that may not be changed from outside (configBlackList); answers 16. */
export class ForbiddenKeyError extends Error {
  override readonly name = "ForbiddenKeyError";
  constructor(readonly key: string) {
    super(`Key ${key} may not be changed at run time`);
  }
}

/** Keys that decide who may come in, or where files lie: only the file's owner changes them. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set([
  "aclEnable",
  "plainAclFile",
  "accessKey",
  "secretKey",
  ...Object.keys(AUTH_KEYS),
  "adminToken",
  "adminListenAddress",
  "bindAddress",
  "haAllowedPeers",
  "proxyProtocolPeers",
  ...TLS_KEY_NAMES,
  "configBlackList",
  "brokerConfigPath",
  "configStorePath",
  "kvConfigPath",
  "storePathRootDir",
  "storePathCommitLog",
]);

/** What is not done here, and what 4.9's `mqadmin exportConfigs` cannot do without. */
const ALWAYS_SHOWN: readonly (readonly [string, string])[] = [
  ["filterServerNums", "0"],
];

/** Of keys that nobody here reads: initAuthenticationUser and the like hold passwords. */
const SECRET_NAME = /secret|password|token|credential|authenticationUser/i;

/** The configuration of one running program. */
export class Configuration<K extends ConfigKeys> {
  /** Called with the new values after a change that holds at once; `update` waits for it. */
  onChanged:
    | ((
      values: ValuesOf<K>,
      changed: readonly string[],
    ) => unknown)
    | null = null;

  readonly #keys: K;
  readonly #names: ReadonlyMap<string, string>;
  readonly #file: ConfigurationFile | null;
  readonly #nowMs: () => number;
  readonly #check: (loaded: LoadedConfig<K>) => void;
  #loaded: LoadedConfig<K>;
  /** Values that the start found out: free ports, addresses, sizes of an existing store. */
  readonly #found = new Map<string, { value: unknown; origin: ConfigOrigin }>();
  /** Keys that another file decides, and what to do instead of changing them here. */
  readonly #instead = new Map<string, string>();
  #version: ConfigurationVersion;

  constructor(
    keys: K,
    loaded: LoadedConfig<K>,
    file: ConfigurationFile | null,
    nowMs: () => number,
    /** Throws ConfigError when keys contradict each other. */
    check: (loaded: LoadedConfig<K>) => void = () => {},
  ) {
    this.#check = check;
    this.#keys = keys;
    this.#names = namesByAlias(keys);
    this.#loaded = loaded;
    this.#file = file;
    this.#nowMs = nowMs;
    this.#version = { stateVersion: 0, timestamp: nowMs(), counter: 0 };
  }

  /** What is in force: as loaded and changed, with what the start found out. */
  get values(): ValuesOf<K> {
    return this.#effective().values;
  }

  get origins(): LoadedConfig<K>["origins"] {
    return this.#effective().origins;
  }

  /** Keys that were given, not taken from a default. */
  get explicitKeys(): string[] {
    const { origins } = this.#loaded;
    return Object.keys(this.#keys).filter((it) =>
      origins[it]!.kind !== "default"
    );
  }

  /**
   * Takes values of keys that the start found out, with the reason. `instead`: these keys are
   * decided elsewhere and are not written to the file; the sentence says what to do.
   */
  found(
    values: Partial<ValuesOf<K>>,
    reason: string,
    instead?: string,
  ): void {
    for (const [key, value] of Object.entries(values)) {
      if (instead === undefined) this.#instead.delete(key);
      else this.#instead.set(key, instead);
      this.#found.delete(key);
      if (this.#loaded.values[key] === value) continue;
      const { label } = this.#loaded.origins[key]!;
      this.#found.set(key, {
        value,
        origin: { kind: "default", label: `${label}, ${reason}` },
      });
    }
  }

  /** Counts changes; header field `version` of 26. */
  get dataVersion(): ConfigurationVersion {
    return this.#version;
  }

  /**
   * `key=value` lines: the body of GET_BROKER_CONFIG. Left out: secrets, and keys that Apache's
   * configuration does not have either, since they are system properties there (`tls.…`).
   */
  text(): string {
    const { values } = this;
    let text = "";
    for (const key of Object.keys(this.#keys)) {
      if (this.#keys[key]!.isSecret || key.includes(".")) continue;
      text += `${key}=${values[key]}\n`;
    }
    const inactive = new Map([...ALWAYS_SHOWN, ...this.#loaded.inactive]);
    for (const [key, value] of inactive) {
      if (!SECRET_NAME.test(key)) text += `${key}=${value}\n`;
    }
    return text;
  }

  /** A value of `key` as logs may have it. */
  shown(key: string, value: unknown): string {
    return this.#keys[key]!.isSecret ? "***" : String(value);
  }

  /** Every key with its origin; secrets masked. */
  entries(): ConfigurationEntry[] {
    return configurationEntries(this.#keys, this.#effective());
  }

  /**
   * Takes over `changes` (key → text). Throws ForbiddenKeyError or ConfigError and then
   * changes nothing.
   */
  async update(
    changes: ReadonlyMap<string, string>,
  ): Promise<ConfigurationChange> {
    const unknown: string[] = [];
    const accepted = new Map<string, string>();
    const next: Record<string, unknown> = {};
    const effective = this.#effective();
    for (const [given, value] of changes) {
      const key = this.#names.get(given) ?? given;
      if (FORBIDDEN_KEYS.has(key)) throw new ForbiddenKeyError(key);
      if (this.#keys[key] === undefined) {
        unknown.push(given);
        continue;
      }
      const read = readKey(this.#keys, key, {
        text: value,
        origin: UNNAMED_ORIGIN,
      });
      if (this.#isDecided(key, effective.values[key], read)) continue;
      next[key] = read;
      accepted.set(key, value.trim());
    }
    this.#check({
      ...effective,
      values: { ...effective.values, ...next } as ValuesOf<K>,
    });
    const found = this.#takeFound(next);
    for (const key of found) accepted.delete(key);
    const isPersisted = await this.#persist(accepted) ||
      found.length > 0 && accepted.size === 0;
    const { changed, afterRestart } = this.#apply(next, LIVE_ORIGIN);
    if (found.length + changed.length > 0) {
      await this.#tell([...found, ...changed]);
    }
    return {
      changed: [...found, ...changed],
      afterRestart,
      unknown,
      isPersisted,
    };
  }

  /**
   * Keys of `changes` that would be lost: they need a restart, and no file keeps them. Throws
   * ConfigError for values that cannot be read.
   */
  lostBy(changes: ReadonlyMap<string, string>): string[] {
    if (this.#file !== null) return [];
    const { values } = this;
    const lost: string[] = [];
    for (const [given, text] of changes) {
      const key = this.#names.get(given) ?? given;
      if (this.#keys[key] === undefined || FORBIDDEN_KEYS.has(key)) continue;
      const value = readKey(this.#keys, key, { text, origin: UNNAMED_ORIGIN });
      if (value !== values[key] && !this.#isLive(key, values[key], value)) {
        lost.push(key);
      }
    }
    return lost;
  }

  /**
   * What the start found in the place of a configured value is changed there, not in the file,
   * and taken out of `next`. Whoever found it keeps it.
   */
  #takeFound(next: Record<string, unknown>): string[] {
    const taken: string[] = [];
    for (const [key, value] of Object.entries(next)) {
      const found = this.#found.get(key);
      if (found === undefined || value === found.value) continue;
      if (!this.#isLive(key, found.value, value)) continue;
      this.#found.set(key, { value, origin: LIVE_ORIGIN });
      delete next[key];
      taken.push(key);
    }
    return taken;
  }

  /** True for what another file has decided so. Throws ConfigError for a change of that. */
  #isDecided(key: string, from: unknown, to: unknown): boolean {
    const instead = this.#instead.get(key);
    if (instead === undefined) return false;
    if (from === to) return true;
    if (this.#isLive(key, from, to)) return false;
    throw new ConfigError(key, String(to), instead);
  }

  #isLive(key: string, from: unknown, to: unknown): boolean {
    const { isLive, isLiveBetween } = this.#keys[key]!;
    return isLive && (isLiveBetween?.(from, to) ?? true);
  }

  /** Counts a change and tells it. */
  async #tell(changed: readonly string[]): Promise<void> {
    const { stateVersion, counter } = this.#version;
    this.#version = {
      stateVersion,
      timestamp: this.#nowMs(),
      counter: counter + 1,
    };
    await this.onChanged?.(this.values, changed);
  }

  /** Takes over what differs in a newly loaded configuration (SIGHUP). */
  reload(loaded: LoadedConfig<K>): ConfigurationChange {
    const next: Record<string, unknown> = {};
    for (const key of Object.keys(this.#keys)) next[key] = loaded.values[key];
    const change = this.#apply(next, null, loaded);
    if (change.changed.length > 0) {
      this.#tell(change.changed).catch(() => {}); // Whoever fails says so.
    }
    return { ...change, unknown: [], isPersisted: false };
  }

  #apply(
    next: Readonly<Record<string, unknown>>,
    origin: ConfigOrigin | null,
    source?: LoadedConfig<K>,
  ): { changed: string[]; afterRestart: string[] } {
    const values: Record<string, unknown> = { ...this.#loaded.values };
    const origins: Record<string, ConfigOrigin> = { ...this.#loaded.origins };
    const changed: string[] = [];
    const afterRestart: string[] = [];
    for (const [key, value] of Object.entries(next)) {
      if (value === values[key]) continue;
      if (!this.#isLive(key, values[key], value)) {
        afterRestart.push(key);
        continue;
      }
      changed.push(key);
      values[key] = value;
      origins[key] = origin ?? source!.origins[key]!;
    }
    if (changed.length > 0) {
      this.#loaded = {
        ...this.#loaded,
        values: Object.freeze(values) as ValuesOf<K>,
        origins: origins as LoadedConfig<K>["origins"],
      };
    }
    return { changed, afterRestart };
  }

  #effective(): LoadedConfig<K> {
    if (this.#found.size === 0) return this.#loaded;
    const values: Record<string, unknown> = { ...this.#loaded.values };
    const origins: Record<string, ConfigOrigin> = { ...this.#loaded.origins };
    for (const [key, { value, origin }] of this.#found) {
      values[key] = value;
      origins[key] = origin;
    }
    return {
      ...this.#loaded,
      values: Object.freeze(values) as ValuesOf<K>,
      origins: origins as LoadedConfig<K>["origins"],
    };
  }

  async #persist(changes: ReadonlyMap<string, string>): Promise<boolean> {
    if (this.#file === null || changes.size === 0) return false;
    await this.#file.replace(updateProperties(this.#file.read(), changes));
    return true;
  }
}
