/**
 * HARuntimeInfo: replication as every face shows it: 907, `/admin/ha`, `pocketmq ha status` and
 * the metrics. RocketMQ's names where it has one (reference 7.9). Unknown is null, never 0, and
 * `diff` is never negative.
 */
import type { HAClientService } from "./ha_client_service.ts";
import type { HAConnectionState } from "./ha_connection_state.ts";
import type { HALink } from "./ha_link.ts";
import type { HAService } from "./ha_service.ts";

/** One follower. */
export interface HAConnectionRuntimeInfo {
  readonly addr: string;
  readonly state: HAConnectionState;
  /** Why nothing can be transferred; null while it can. */
  readonly reason: string | null;
  readonly inSync: boolean;
  readonly slaveRequestOffset: number | null;
  readonly transferFromWhere: number | null;
  readonly slaveAckOffset: number | null;
  readonly diff: number | null;
  readonly lagMs: number | null;
  readonly transferredByteInSecond: number;
  readonly inFlightBytes: number;
  /** Milliseconds since the slave acknowledged more than before, or connected. */
  readonly silentMs: number;
  /** Wall clock, milliseconds. */
  readonly connectedAt: number;
  readonly lastAckAt: number | null;
}

/** The own link to a master. */
export interface HAClientRuntimeInfo {
  readonly masterAddr: string | null;
  readonly state: HAConnectionState;
  readonly activated: boolean;
  readonly maxOffset: number;
  /** End of the master's log when it was last asked, once a second. */
  readonly masterFlushOffset: number | null;
  readonly reportedOffset: number | null;
  readonly diff: number | null;
  readonly lagMs: number | null;
  readonly transferredByteInSecond: number | null;
  readonly connectedAt: number | null;
  readonly lastReadTimestamp: number | null;
  readonly lastWriteTimestamp: number | null;
  readonly reconnects: number;
  readonly lastError: string | null;
}

/** A follower. Without an ack the offsets are unknown. */
export function connectionInfoOf(
  service: HAService,
  link: HALink,
): HAConnectionRuntimeInfo {
  const view = link.machine.view(service.monotonicMs());
  const { slaveAckOffset } = view;
  return {
    addr: link.addr,
    state: link.refusal === null ? view.state : "SUSPEND",
    reason: link.refusal ?? view.reason,
    inSync: service.isInSync(link),
    slaveRequestOffset: view.slaveRequestOffset,
    transferFromWhere: view.transferFromWhere,
    slaveAckOffset,
    diff: slaveAckOffset === null
      ? null
      : Math.max(0, service.log.maxOffset - slaveAckOffset),
    lagMs: link.machine.isProvenSlave
      ? Math.round(service.lagMsOf(link))
      : null,
    transferredByteInSecond: view.transferredByteInSecond,
    inFlightBytes: view.inFlightBytes,
    silentMs: Math.round(service.monotonicMs() - link.lastProgressMs),
    connectedAt: link.connectedAt,
    lastAckAt: link.lastAckAt,
  };
}

/** The own link. */
export function clientInfoOf(client: HAClientService): HAClientRuntimeInfo {
  const view = client.view();
  const { maxOffset } = client.log;
  const { link, masterMaxOffset } = view;
  return {
    masterAddr: view.masterAddr,
    state: view.state,
    activated: view.state === "TRANSFER",
    maxOffset,
    masterFlushOffset: masterMaxOffset,
    reportedOffset: link?.reportedOffset ?? null,
    diff: masterMaxOffset === null
      ? null
      : Math.max(0, masterMaxOffset - maxOffset),
    lagMs: view.lagMs === null ? null : Math.round(view.lagMs),
    transferredByteInSecond: link?.transferredByteInSecond ?? null,
    connectedAt: view.connectedAt,
    lastReadTimestamp: view.lastReadTimestamp,
    lastWriteTimestamp: view.lastWriteTimestamp,
    reconnects: view.reconnects,
    lastError: view.lastError,
  };
}
