/** NamesrvConfiguration: the options in force, as codes 318 and 319 show and change them. */
import { shown } from "../base/shown.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { NamesrvOptions } from "./namesrv_options.ts";

/** Files that a stranger may not move: writing where he likes is running what he likes. */
const BLACK_LIST: ReadonlySet<string> = new Set([
  "configBlackList",
  "configStorePath",
  "kvConfigPath",
  "rocketmqHome",
]);

/** Keys that take effect at once. All others of `NamesrvOptions` need a restart. */
const LIVE_KEYS: ReadonlySet<string> = new Set(
  [
    "orderMessageEnable",
    "returnOrderTopicConfigToBroker",
    "scanNotActiveBrokerInterval",
    "supportActingMaster",
    "notifyMinBrokerIdChanged",
    "enableAllTopicList",
    "needWaitForService",
    "waitSecondsForService",
    "deleteTopicWithBrokerRegistration",
    "registeredBrokersMax",
    "topicsMax",
  ] satisfies (keyof NamesrvOptions)[],
);

const SCAN_INTERVAL_MIN_MS = 100;

/** How an update ended. */
export type ConfigUpdate =
  | {
    readonly kind: "updated";
    readonly options: NamesrvOptions;
    /** What has another value now. */
    readonly changed: readonly string[];
    /** What this name server does not know. */
    readonly unknown: readonly string[];
  }
  | {
    readonly kind: "refused";
    readonly code: number;
    readonly reason: string;
  };

/** The options as `key=value` pairs, sorted. */
export function configEntries(options: NamesrvOptions): [string, string][] {
  return Object.entries(options)
    .map(([key, value]): [string, string] => [key, String(value)])
    .sort(([a], [b]) => a < b ? -1 : 1);
}

/**
 * `options` with the changes of `properties`; all or none. Unknown keys are
 * named, not refused, as in Java; what is changed so lasts until the next start.
 */
export function updateConfig(
  options: NamesrvOptions,
  properties: ReadonlyMap<string, string>,
): ConfigUpdate {
  const current = new Map<string, string | number | boolean>(
    Object.entries(options),
  );
  const changes: Record<string, number | boolean> = {};
  const unknown: string[] = [];
  for (const [key, text] of properties) {
    if (BLACK_LIST.has(key)) {
      return refused(
        ResponseCode.NO_PERMISSION,
        `Can not update config in black list: ${key}`,
      );
    }
    const value = current.get(key);
    if (value === undefined) unknown.push(key);
    if (value === undefined || String(value) === text) continue;
    if (!LIVE_KEYS.has(key)) {
      return refused(
        ResponseCode.SYSTEM_ERROR,
        `${key} can only be changed in the configuration file, with a restart`,
      );
    }
    const parsed = parseAs(typeof value, key, text);
    if (parsed === undefined) {
      return refused(
        ResponseCode.SYSTEM_ERROR,
        `${key} cannot be ${JSON.stringify(shown(text, 64))}`,
      );
    }
    changes[key] = parsed;
  }
  return {
    kind: "updated",
    options: { ...options, ...changes },
    changed: Object.keys(changes),
    unknown,
  };
}

function parseAs(
  type: string,
  key: string,
  text: string,
): number | boolean | undefined {
  if (type === "boolean") {
    return text === "true" ? true : text === "false" ? false : undefined;
  }
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  const min = key === "scanNotActiveBrokerInterval" ? SCAN_INTERVAL_MIN_MS : 1;
  return value >= min ? value : undefined;
}

function refused(code: number, reason: string): ConfigUpdate {
  return { kind: "refused", code, reason };
}
