/** loadNamesrvConfig: everything that `namesrv` is told, as frozen slices. */
import type { NamesrvOptions } from "../namesrv/namesrv_options.ts";
import type { RemotingServerOptions } from "../remoting/remoting_options.ts";
import { type HostFacts, type LogValues, sliceOf } from "./broker_config.ts";
import { keyTable, type ValuesOf } from "./config_key.ts";
import { loadConfig, type LoadedConfig } from "./config_loader.ts";
import type { ConfigInput } from "./config_sources.ts";
import { throwFirst } from "./config_error.ts";
import { LOG_KEYS } from "./log_keys.ts";
import { NAMESRV_KEYS } from "./namesrv_keys.ts";
import {
  REMOTING_KEYS,
  remotingServerOptionsOf,
  serverBufferedBytes,
  serverConnections,
} from "./remoting_keys.ts";

import { TLS_KEYS, tlsErrors, type TlsValues, useTlsOf } from "./tls_keys.ts";

/** All keys of `namesrv`. */
export const NAMESRV_PROGRAM_KEYS = keyTable({
  ...NAMESRV_KEYS,
  ...REMOTING_KEYS,
  ...TLS_KEYS,
  ...LOG_KEYS,
});

/** Values by key. */
export type NamesrvValues = ValuesOf<typeof NAMESRV_PROGRAM_KEYS>;

/** One frozen slice per room. */
export interface NamesrvSlices {
  readonly namesrv: NamesrvOptions;
  readonly remotingServer: RemotingServerOptions;
  readonly tls: TlsValues;
  readonly log: LogValues;
}

/** The configuration of a name server. */
export interface NamesrvConfig
  extends LoadedConfig<typeof NAMESRV_PROGRAM_KEYS> {
  readonly slices: NamesrvSlices;
}

/** Loads and checks. Throws ConfigError. */
export function loadNamesrvConfig(
  input: ConfigInput,
  facts: HostFacts,
): NamesrvConfig {
  const loaded = loadConfig(NAMESRV_PROGRAM_KEYS, input, {
    kvConfigPath: `${facts.homeDirectory}/namesrv/kvConfig.json`,
    bufferedBytesMax: serverBufferedBytes(facts.memoryLimitBytes, 1),
    connectionsMax: serverConnections(facts.openFilesMax, 1),
    configStorePath: input.file?.name ?? "",
  }, (values, origins) => throwFirst(tlsErrors(values, origins)));
  const values = Object.freeze({
    ...loaded.values,
    useTLS: useTlsOf(loaded.values, loaded.origins),
  });
  return { ...loaded, values, slices: namesrvSlices(values) };
}

/** Cuts the values into one frozen slice per room. */
export function namesrvSlices(values: NamesrvValues): NamesrvSlices {
  return Object.freeze({
    namesrv: sliceOf(NAMESRV_KEYS, values),
    remotingServer: remotingServerOptionsOf(values),
    tls: sliceOf(TLS_KEYS, values),
    log: sliceOf(LOG_KEYS, values),
  });
}
