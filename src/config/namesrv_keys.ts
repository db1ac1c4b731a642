/** NAMESRV_KEYS: the keys of a name server, one of its own or the one inside `standalone`. */
import type { NamesrvOptions } from "../namesrv/namesrv_options.ts";
import {
  type ConfigKey,
  flag,
  integer,
  keyTable,
  millis,
  port,
  text,
} from "./config_key.ts";
import { loadConfig, type LoadedConfig } from "./config_loader.ts";
import type { ConfigInput } from "./config_sources.ts";
import { host } from "./host_key.ts";

/** Every key of NamesrvOptions (reference 15.3). */
export const NAMESRV_KEYS = {
  bindAddress: host("0.0.0.0", "Address on which the port is bound"),
  listenPort: port(9_876, "Port of the name server; 0 takes a free one"),
  kvConfigPath: text("", "File of KV configuration; empty: memory only"),
  configStorePath: text("", "The file that this was read from"),
  orderMessageEnable: flag(false, "Add orderTopicConf to routes"),
  returnOrderTopicConfigToBroker: flag(
    true,
    "Tell brokers the order configuration when they register",
  ),
  scanNotActiveBrokerInterval: millis(
    5_000,
    "Between two looks for brokers that fell silent",
    { min: 100 },
  ),
  supportActingMaster: flag(false, "Show the smallest slave as master"),
  notifyMinBrokerIdChanged: flag(false, "Tell brokers their smallest id"),
  enableAllTopicList: flag(true, "Answer request 206"),
  needWaitForService: flag(false, "Refuse routes at first"),
  waitSecondsForService: integer(45, "How long routes are refused", {
    unit: "s",
  }),
  deleteTopicWithBrokerRegistration: flag(
    true,
    "A registration without a topic takes it out of the route",
  ),
  registeredBrokersMax: integer(4_096, "Brokers registered at once", {
    min: 1,
  }),
  topicsMax: integer(500_000, "Topics in the route table", { min: 1 }),
  kvConfigEntriesMax: integer(10_000, "KV entries", { min: 1 }),
} as const satisfies {
  readonly [P in keyof NamesrvOptions]: ConfigKey<NamesrvOptions[P]>;
};

// `standalone` has keys of its own for these, and its file is the broker's.
const { bindAddress: _, configStorePath: __, listenPort: ___, ...OWN_KEYS } =
  NAMESRV_KEYS;

/** Those of them that `standalone` takes. */
export const STANDALONE_NAMESRV_KEYS = keyTable(OWN_KEYS);

/** What the name server inside `standalone` is told. */
export type StandaloneNamesrvConfig = LoadedConfig<
  typeof STANDALONE_NAMESRV_KEYS
>;

/**
 * Reads them from what `standalone` was given; keys of the broker are no business of this.
 * Throws ConfigError.
 */
export function loadStandaloneNamesrvConfig(
  input: ConfigInput,
  storePathRootDir: string,
): StandaloneNamesrvConfig {
  return loadConfig(STANDALONE_NAMESRV_KEYS, input, {
    kvConfigPath: `${storePathRootDir}/namesrv/kvConfig.json`,
  });
}
