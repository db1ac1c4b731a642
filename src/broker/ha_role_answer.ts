/** What this broker says of itself to the others of its pair. */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import type { HARoleBody } from "../protocol/body/ha_role_body.ts";
import type { BrokerIdentity } from "./broker_outer_api.ts";
import type { BrokerParts } from "./broker_parts.ts";
import type { HARoleRecord } from "./ha_role_file.ts";

/** Role, epoch and log, as GET_HA_ROLE answers them. */
export function haRoleOf(
  { role }: HACoordinator,
  { messageStore, topicConfigManager }: BrokerParts,
  { brokerId, brokerName, haServerAddr }: BrokerIdentity,
  record: HARoleRecord | null,
  slaves: readonly string[],
  roleChange: string,
): HARoleBody {
  const own = record?.epoch ?? 0;
  // A slave's tables are its master's, and tell its epoch.
  const { stateVersion } = topicConfigManager.dataVersion;
  return {
    role,
    brokerId,
    brokerName,
    epoch: role === "SLAVE" ? Math.max(own, stateVersion) : own,
    promotedAtOffset: record?.promotedAtOffset ?? 0,
    minOffset: messageStore.minPhyOffset,
    maxOffset: messageStore.maxPhyOffset,
    haAddress: haServerAddr,
    slaves,
    roleChange,
  };
}
