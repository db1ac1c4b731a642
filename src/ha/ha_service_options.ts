/**
 * HAServiceOptions: what replication reads from broker.conf.
 *
 * Fields are spelled as RocketMQ's keys and have their units; those marked "Ours" are unknown
 * to Apache. A slice is frozen; a live change builds a new one for `reconfigure`.
 */

/** What a SYNC_MASTER does while no slave can confirm. */
export type HASyncMode = "strict" | "degrade" | "async";

/** Every key of the HA room but the port, which the broker binds. */
export interface HAServiceOptions {
  /** `host:port` that a slave follows; empty: what the name servers say. */
  readonly haMasterAddress: string;
  /** Ours. `host:port` of the master's remoting port; empty: found (see `masterAddressOf`). */
  readonly masterAddress: string;
  /** Milliseconds of silence after which a side writes its heartbeat. */
  readonly haSendHeartbeatInterval: number;
  /** Milliseconds without any received byte after which a link is closed. */
  readonly haHousekeepingInterval: number;
  /** Most bytes of one transfer. */
  readonly haTransferBatchSize: number;
  /** Bytes behind from which a slave does not count as in sync (5.x: haMaxGapNotInSync). */
  readonly haSlaveFallbehindMax: number;
  /** Milliseconds that a put waits for slaves. */
  readonly slaveTimeout: number;
  /** Copies, the master's own included, that a put waits for; 1 waits for none. */
  readonly inSyncReplicas: number;
  /** Copies that must be in sync, or a put is refused before it is stored. */
  readonly minInSyncReplicas: number;
  /** Waits for as many copies as are in sync, between the two numbers above. */
  readonly enableAutoInSyncReplicas: boolean;
  /** Waits for every slave that is in sync. */
  readonly allAckInSyncStateSet: boolean;
  /** Ours. */
  readonly haSyncMode: HASyncMode;
  /** Ours. Milliseconds without a slave in sync after which `degrade` acknowledges alone. */
  readonly haDegradeAfterMs: number;
  readonly haFlowControlEnable: boolean;
  /** Bytes per second and link; counts when haFlowControlEnable. */
  readonly maxHaTransferByteInSecond: number;
  /** Ours. Most bytes sent to a slave and not yet acknowledged. */
  readonly haMaxInFlightBytes: number;
  /** Ours. A slave acknowledges what it has flushed rather than what it has appended. */
  readonly haAckAfterFlush: boolean;
  /** Ours. Addresses or CIDR blocks separated by `;`; empty: everybody. */
  readonly haAllowedPeers: string;
}

/** Apache's defaults where Apache has the key; inSyncReplicas waits for one slave, as 4.x. */
export const DEFAULT_HA_SERVICE_OPTIONS: HAServiceOptions = Object.freeze({
  haMasterAddress: "",
  masterAddress: "",
  haSendHeartbeatInterval: 5_000,
  haHousekeepingInterval: 20_000,
  haTransferBatchSize: 1_048_576,
  haSlaveFallbehindMax: 268_435_456,
  slaveTimeout: 3_000,
  inSyncReplicas: 2,
  minInSyncReplicas: 1,
  enableAutoInSyncReplicas: false,
  allAckInSyncStateSet: false,
  haSyncMode: "strict",
  haDegradeAfterMs: 10_000,
  haFlowControlEnable: false,
  maxHaTransferByteInSecond: 104_857_600,
  haMaxInFlightBytes: 8_388_608,
  haAckAfterFlush: false,
  haAllowedPeers: "",
});
