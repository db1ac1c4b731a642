/** What /admin/ha says; the shape is DESIGN's contract. */
import type { HAStatus } from "../admin/ha_routes.ts";
import { clientInfoOf } from "../ha/ha_runtime_info.ts";
import type { RunningBroker } from "./broker_server.ts";

/** The pair as this node sees it. */
export function haStatus({ broker }: RunningBroker): HAStatus {
  const { brokerId, brokerName, clusterName, haServerAddr } = broker.identity;
  const { ha, messageStore: store } = broker;
  const { service } = ha;
  const isMaster = ha.role !== "SLAVE";
  const isSync = ha.role === "SYNC_MASTER";
  const client = isMaster ? null : clientInfoOf(ha.client);
  return {
    role: ha.role,
    clusterName,
    brokerName,
    brokerId,
    ...ha.state(),
    haAddress: haServerAddr,
    master: isMaster,
    masterCommitLogMaxOffset: isMaster
      ? store.maxPhyOffset
      : client?.masterFlushOffset ?? null,
    inSyncSlaveNums: service.inSyncSlaveNums,
    commitLogMinOffset: store.minPhyOffset,
    flushedOffset: store.flushedOffset,
    confirmOffset: store.confirmOffset,
    replicatedOffset: isMaster ? service.replicatedOffset : null,
    pendingSyncRequests: service.groupTransferService.pendingCount,
    syncMode: isSync ? ha.options.haSyncMode : null,
    haConnectionInfo: ha.connections(),
    haClientRuntimeInfo: client,
    metadataAddress: broker.metadata.slaveSynchronize.address,
    offsetRecoveryReason: broker.metadata.recovery.reason,
    fencingReason: broker.fence.unaskedReason,
    metadata: broker.metadata.status(),
  };
}
