/** ConfigurationEntry: one key as people see it. */
import type { ConfigKeys } from "./config_key.ts";
import type { LoadedConfig } from "./config_loader.ts";

/** One key as `/admin/config` and `check-config` show it. */
export interface ConfigurationEntry {
  readonly key: string;
  readonly value: string;
  readonly origin: string;
  readonly unit: string | null;
  readonly isLive: boolean;
  readonly doc: string;
}

/** Every key with its origin; secrets masked. */
export function configurationEntries(
  keys: ConfigKeys,
  loaded: LoadedConfig<ConfigKeys>,
): ConfigurationEntry[] {
  return Object.entries(keys).map(([key, { isSecret, unit, isLive, doc }]) => {
    const value = String(loaded.values[key]);
    return {
      key,
      value: isSecret && value !== "" ? "***" : value,
      origin: loaded.origins[key]!.label,
      unit,
      isLive,
      doc,
    };
  });
}
