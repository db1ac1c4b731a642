/**
 * HAOptions: what replication reads from broker.conf (reference 15.1, 15.2; DESIGN,
 * "Replication rules"). Keys are RocketMQ's where it has one. A slice is frozen; a live change
 * builds a new one for `reconfigure`.
 */

/** `strict`: no slave, no OK. `degrade`: alone once the slave is long gone. `async`: never waits. */
export type HASyncMode = "strict" | "degrade" | "async";

/** Where an empty slave begins: at the newest file of its master, or at its oldest. */
export type HABootstrap = "last" | "min";

/** Every key of the ha room. */
export interface HAOptions {
  /** 0: listenPort + 1. */
  readonly haListenPort: number;
  /** `host:port` of the master's HA port; empty: what the name server says. */
  readonly haMasterAddress: string;
  /** Milliseconds between two heartbeats of this side. */
  readonly haSendHeartbeatInterval: number;
  /** Milliseconds of silence after which a link is closed. */
  readonly haHousekeepingInterval: number;
  /** Bytes of one body at most; never above 1 MiB. */
  readonly haTransferBatchSize: number;
  /** Bytes; a slave further behind does not count. Apache 5.x: haMaxGapNotInSync. */
  readonly haSlaveFallbehindMax: number;
  /** Milliseconds that a synchronous put waits for its slaves. */
  readonly slaveTimeout: number;
  /** Copies that a synchronous put needs, the master's own included. */
  readonly inSyncReplicas: number;
  /** Copies below which a synchronous put is refused; the master's own included. */
  readonly minInSyncReplicas: number;
  readonly allAckInSyncStateSet: boolean;
  readonly enableAutoInSyncReplicas: boolean;
  readonly haFlowControlEnable: boolean;
  /** Bytes per second to one slave; counts while haFlowControlEnable. */
  readonly maxHaTransferByteInSecond: number;

  /** Ours. `host:port` of the master's remoting port; empty: found (HACoordinator). */
  readonly masterAddress: string;
  /** Ours. */
  readonly haSyncMode: HASyncMode;
  /** Ours. Milliseconds without a slave after which `degrade` acknowledges alone. */
  readonly haDegradeAfterMs: number;
  /** Ours. Bytes sent to one slave and not acknowledged, at most. */
  readonly haMaxInFlightBytes: number;
  /** Ours. A slave reports what it has flushed instead of what it has appended. */
  readonly haAckAfterFlush: boolean;
  /** Ours. Addresses or CIDR blocks, separated by `;` or `,`; empty: everyone. */
  readonly haAllowedPeers: string;
  /** Ours. */
  readonly haBootstrap: HABootstrap;
  /** Ours. A slave that ends below its master's first byte begins anew by itself. */
  readonly haAutoReseed: boolean;
  /** Ours. Synchronous puts waiting at once; the next one is not waited for. */
  readonly haPendingSyncRequestsMax: number;
}

/** Apache's defaults, and ours where Apache has no key or waits for nobody. */
export const DEFAULT_HA_OPTIONS: HAOptions = Object.freeze({
  haListenPort: 0,
  haMasterAddress: "",
  haSendHeartbeatInterval: 5_000,
  haHousekeepingInterval: 20_000,
  haTransferBatchSize: 1_048_576,
  haSlaveFallbehindMax: 268_435_456,
  slaveTimeout: 3_000,
  inSyncReplicas: 2,
  minInSyncReplicas: 1,
  allAckInSyncStateSet: false,
  enableAutoInSyncReplicas: false,
  haFlowControlEnable: false,
  maxHaTransferByteInSecond: 104_857_600,
  masterAddress: "",
  haSyncMode: "strict",
  haDegradeAfterMs: 10_000,
  haMaxInFlightBytes: 8_388_608,
  haAckAfterFlush: false,
  haAllowedPeers: "",
  haBootstrap: "last",
  haAutoReseed: true,
  haPendingSyncRequestsMax: 100_000,
});

/** What the master's half of a link reads. */
export type HAConnectionOptions = Pick<
  HAOptions,
  | "haSendHeartbeatInterval"
  | "haHousekeepingInterval"
  | "haTransferBatchSize"
  | "haMaxInFlightBytes"
  | "haFlowControlEnable"
  | "maxHaTransferByteInSecond"
>;

/** What the slave's half of a link reads. */
export type HAClientOptions = Pick<
  HAOptions,
  "haSendHeartbeatInterval" | "haHousekeepingInterval" | "haAckAfterFlush"
>;
