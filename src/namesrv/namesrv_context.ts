/** NamesrvContext: what the processors of a name server share. */
import type { RemotingConnection } from "../remoting/request_processor.ts";
import type { KVConfigManager } from "./kv_config_manager.ts";
import type { NamesrvOptions } from "./namesrv_options.ts";
import type { RouteEffect } from "./route_effect.ts";
import type { RouteInfoManager } from "./route_info_manager.ts";

/** The controller as its processors see it. */
export interface NamesrvContext {
  readonly options: NamesrvOptions;
  readonly routeInfoManager: RouteInfoManager;
  readonly kvConfigManager: KVConfigManager;
  /** Of `nowMs`. */
  readonly startedMs: number;
  /** Milliseconds that never go back: a corrected wall clock must not end a broker's life. */
  nowMs(): number;
  reconfigure(options: NamesrvOptions): void;
  /** A broker speaks over this connection: it may have to be closed later. */
  onBrokerConnection(connection: RemotingConnection): void;
  perform(effects: readonly RouteEffect[]): void;
}
