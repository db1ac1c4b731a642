/** What /admin/ha says and does; the shape of the status is DESIGN's contract. */
import { withArticle } from "../base/article.ts";
import type {
  HARoleChange,
  HARoleChanged,
  HAStatus,
} from "../admin/ha_routes.ts";
import { ProblemError } from "../admin/problem.ts";
import type { HARoleRecord } from "../broker/ha_role_file.ts";
import { RoleChangeRefused } from "../broker/role_change/role_refusal.ts";
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
    epoch: broker.epoch,
    promotedAtOffset: broker.haRole?.promotedAtOffset || null,
    roleFrom: broker.haRole === null ? "configuration" : "haRole.json",
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
    roleChangeReason: broker.roleChangeReason,
    metadata: broker.metadata.status(),
  };
}

/** Promotes, demotes, or changes the kind of master. Throws ProblemError. */
export async function changeRole(
  running: RunningBroker,
  { force = false, masterAddress, role }: HARoleChange,
): Promise<HARoleChanged> {
  const { broker } = running;
  const before = broker.ha.role;
  if (role === "SLAVE") {
    return await decided(broker.roles.demote({
      force,
      ...(masterAddress === undefined
        ? {}
        : { haMasterAddress: masterAddress }),
    }));
  }
  if (masterAddress !== undefined) {
    throw new ProblemError(400, "Field masterAddress: a master has no master", [
      { field: "masterAddress", message: "leave it out, or give role SLAVE" },
    ]);
  }
  const isFenced = broker.fence.fencedReason !== null;
  if (before === "SLAVE" || role === "MASTER" || isFenced) {
    return await decided(
      broker.roles.promote({ force, ...(role === "MASTER" ? {} : { role }) }),
    );
  }
  await running.configuration.update(new Map([["brokerRole", role]]));
  return {
    role,
    brokerId: broker.identity.brokerId,
    epoch: broker.epoch,
    promotedAtOffset: broker.haRole?.promotedAtOffset || null,
    detail: before === role
      ? `This broker is ${withArticle(role)} already`
      : `This broker is ${withArticle(role)} now, and was ${
        withArticle(before)
      }`,
  };
}

async function decided(
  change: Promise<HARoleRecord & { readonly detail: string }>,
): Promise<HARoleChanged> {
  try {
    const { brokerId, detail, epoch, promotedAtOffset, role } = await change;
    return {
      role,
      brokerId,
      epoch,
      promotedAtOffset: promotedAtOffset || null,
      detail,
    };
  } catch (error) {
    if (!(error instanceof RoleChangeRefused)) throw error;
    throw new ProblemError(
      409,
      error.message,
      error.isForcible
        ? [{ field: "force", message: "true does it all the same" }]
        : [],
    );
  }
}
