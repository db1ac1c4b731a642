/**
 * loadBrokerConfig: everything that `broker` and `standalone` are told, as frozen slices.
 *
 * Invariants
 * - Every value has an origin; the slices hold no value that the table of keys does not.
 * - Rules between keys are checked once here, never again by the rooms.
 */
import type { BrokerOptions } from "../broker/broker_options.ts";
import type { HAOptions } from "../ha/ha_options.ts";
import type {
  RemotingClientOptions,
  RemotingServerOptions,
} from "../remoting/remoting_options.ts";
import type { MessageStoreOptions } from "../store/store_options.ts";
import { ACL_KEYS } from "./acl_keys.ts";
import { AUTH_KEYS, readInnerCredentials } from "./auth_keys.ts";
import { BROKER_KEYS } from "./broker_keys.ts";
import { checkBrokerRules } from "./broker_rules.ts";
import type { ConfigOrigin } from "./config_error.ts";
import {
  type ConfigDefaults,
  loadConfig,
  type LoadedConfig,
  readKey,
} from "./config_loader.ts";
import type { ConfigInput } from "./config_sources.ts";
import {
  type ConfigKeys,
  keyTable,
  port,
  type ValuesOf,
} from "./config_key.ts";
import { HA_KEYS } from "./ha_keys.ts";
import { ADMIN_KEYS, LOG_KEYS } from "./log_keys.ts";
import { METRICS_KEYS } from "./metrics_keys.ts";
import {
  REMOTING_KEYS,
  remotingClientOptionsOf,
  remotingServerOptionsOf,
  serverBufferedBytes,
  serverConnections,
} from "./remoting_keys.ts";
import {
  loadStandaloneNamesrvConfig,
  STANDALONE_NAMESRV_KEYS,
  type StandaloneNamesrvConfig,
} from "./namesrv_keys.ts";
import { STORE_KEYS, storeOpenFiles } from "./store_keys.ts";
import { TLS_KEYS, type TlsValues, useTlsOf } from "./tls_keys.ts";

/** All keys of `broker`, and `namesrvListenPort` of `standalone`. */
export const BROKER_PROGRAM_KEYS = keyTable({
  ...BROKER_KEYS,
  ...STORE_KEYS,
  ...HA_KEYS,
  ...REMOTING_KEYS,
  ...TLS_KEYS,
  ...ACL_KEYS,
  ...AUTH_KEYS,
  ...ADMIN_KEYS,
  ...METRICS_KEYS,
  ...LOG_KEYS,
  namesrvListenPort: port(
    9_876,
    "Port of the name server inside `standalone`; 0 takes a free one",
  ),
});

/** Values by key. */
export type BrokerValues = ValuesOf<typeof BROKER_PROGRAM_KEYS>;

/** What the admin face and the logger read. */
export type AdminOptions = ValuesOf<typeof ADMIN_KEYS>;
export type LogValues = ValuesOf<typeof LOG_KEYS>;
/** What access control reads. */
export type AclOptions =
  & Pick<BrokerValues, "aclEnable" | "plainAclFile">
  & ValuesOf<typeof AUTH_KEYS>;

/** One frozen slice per room. */
export interface BrokerSlices {
  readonly broker: BrokerOptions;
  readonly store: MessageStoreOptions;
  readonly ha: HAOptions;
  readonly remotingServer: RemotingServerOptions;
  readonly remotingClient: RemotingClientOptions;
  readonly tls: TlsValues;
  readonly acl: AclOptions;
  readonly admin: AdminOptions;
  readonly log: LogValues;
}

/** The configuration of a broker. */
export interface BrokerConfig extends LoadedConfig<typeof BROKER_PROGRAM_KEYS> {
  readonly slices: BrokerSlices;
  /** Of the name server inside `standalone`; null for `broker`. */
  readonly namesrv: StandaloneNamesrvConfig | null;
}

/** What defaults depend on. */
export interface HostFacts {
  readonly hostname: string;
  /** `$HOME`; "." when unknown. */
  readonly homeDirectory: string;
  /** Physical memory or the limit of the container, whichever is smaller. */
  readonly memoryLimitBytes: number;
  /** Files and sockets of one process; Infinity when unknown. */
  readonly openFilesMax: number;
}

/** Which defaults: Apache's, or those of a small machine on loopback. */
export type ConfigProfile = "apache" | "standalone";

const MIB = 1024 * 1024;

/** 64 MiB files; queues and indexes in the same proportion as Apache's to 1 GiB. */
const STANDALONE_DEFAULTS: ConfigDefaults<typeof BROKER_PROGRAM_KEYS> = {
  storePathRootDir: "./pocketmq-data",
  bindAddress: "127.0.0.1",
  mappedFileSizeCommitLog: 64 * MIB,
  mappedFileSizeConsumeQueue: 375_000,
  maxHashSlotNum: 312_500,
  maxIndexNum: 1_250_000,
};

/** Whatever a host is called, as a broker name. */
export function brokerNameOf(hostname: string): string {
  const name = hostname.replace(/[^\w.-]/g, "-").replace(/^[.]+/, "")
    .slice(0, 127);
  return name === "" ? "DEFAULT_BROKER" : name;
}

/**
 * Loads, fills and checks. `adopted` holds sizes found in an existing store: they beat
 * defaults and lose against explicit values. Throws ConfigError.
 */
export function loadBrokerConfig(
  input: ConfigInput,
  profile: ConfigProfile,
  host: HostFacts,
  adopted: ConfigDefaults<typeof BROKER_PROGRAM_KEYS> = {},
): BrokerConfig {
  // A laptop whose tools point at a cluster must not join it by `standalone`.
  const namesrvAddr = profile === "standalone"
    ? undefined
    : input.env.NAMESRV_ADDR;
  const servers = profile === "standalone" ? 2 : 1;
  let namesrv: StandaloneNamesrvConfig | null = null;
  const check = (
    values: BrokerValues,
    origins: BrokerConfig["origins"],
  ): void => {
    if (namesrvAddr !== undefined && origins.namesrvAddr.kind === "default") {
      readKey(BROKER_PROGRAM_KEYS, "namesrvAddr", {
        text: namesrvAddr,
        origin: { kind: "environment", label: "NAMESRV_ADDR" },
      });
    }
    const derived = withDerived(values, origins);
    checkBrokerRules(derived, origins);
    if (profile !== "standalone") return;
    namesrv = loadStandaloneNamesrvConfig(input, derived.storePathRootDir);
  };
  const loaded = loadConfig(
    BROKER_PROGRAM_KEYS,
    input,
    {
      storePathRootDir: `${host.homeDirectory}/store`,
      bufferedBytesMax: serverBufferedBytes(host.memoryLimitBytes, servers),
      storeOpenFilesMax: storeOpenFiles(host.openFilesMax),
      connectionsMax: serverConnections(
        host.openFilesMax - storeOpenFiles(host.openFilesMax),
        servers,
      ),
      brokerName: brokerNameOf(host.hostname),
      ...(namesrvAddr === undefined ? {} : { namesrvAddr }),
      ...(profile === "standalone" ? STANDALONE_DEFAULTS : {}),
      ...adopted,
    },
    check,
    profile === "standalone" ? STANDALONE_NAMESRV_KEYS : {},
  );
  const values = withDerived(loaded.values, loaded.origins);
  return {
    ...loaded,
    values,
    slices: brokerSlices(values, explicitKeys(loaded.origins)),
    namesrv,
  };
}

/** Folders that follow from the root, and `useTLS` from the server's mode. */
function withDerived(
  values: BrokerValues,
  origins: BrokerConfig["origins"],
): BrokerValues {
  const root = values.storePathRootDir.replace(/(.)\/+$/, "$1");
  return Object.freeze({
    ...values,
    storePathRootDir: root,
    storePathCommitLog: values.storePathCommitLog || `${root}/commitlog`,
    useTLS: useTlsOf(values, origins),
    plainAclFile: values.plainAclFile || `${root}/config/plain_acl.yml`,
  });
}

/** Keys that a file, a variable or a flag gave. */
function explicitKeys(
  origins: Readonly<Record<string, ConfigOrigin>>,
): string[] {
  return Object.keys(origins).filter((it) => origins[it]!.kind !== "default");
}

/** Cuts the values into one frozen slice per room. */
export function brokerSlices(
  values: BrokerValues,
  explicit: readonly string[],
): BrokerSlices {
  return Object.freeze({
    broker: sliceOf(BROKER_KEYS, values),
    store: Object.freeze({
      ...sliceOf(STORE_KEYS, values),
      storePathRootDir: values.storePathRootDir,
      brokerRole: values.brokerRole,
      brokerId: values.brokerId,
      explicitKeys: explicit,
    }),
    ha: Object.freeze({
      ...sliceOf(HA_KEYS, values),
      haListenPort: values.haListenPort,
    }),
    remotingServer: remotingServerOptionsOf(values),
    remotingClient: Object.freeze({
      ...remotingClientOptionsOf(values),
      ...credentialsOf(values),
    }),
    tls: sliceOf(TLS_KEYS, values),
    acl: Object.freeze({
      ...sliceOf(AUTH_KEYS, values),
      aclEnable: values.aclEnable,
      plainAclFile: values.plainAclFile,
    }),
    admin: sliceOf(ADMIN_KEYS, values),
    log: sliceOf(LOG_KEYS, values),
  });
}

/** Who signs this broker's requests: 4.x has no key of its own for that, 5.x has. */
function credentialsOf(
  { accessKey, innerClientAuthenticationCredentials, secretKey }: BrokerValues,
) {
  const inner = readInnerCredentials(innerClientAuthenticationCredentials);
  const credentials = accessKey === "" ? inner : { accessKey, secretKey };
  return credentials === undefined
    ? {}
    : { credentials: Object.freeze(credentials) };
}

/** The values of some keys, frozen. */
export function sliceOf<K extends ConfigKeys>(
  keys: K,
  values: ValuesOf<K>,
): ValuesOf<K> {
  const slice: Record<string, unknown> = {};
  for (const key of Object.keys(keys)) slice[key] = values[key];
  return Object.freeze(slice) as ValuesOf<K>;
}
