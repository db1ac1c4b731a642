/**
 * Replication over remoting: GET_BROKER_HA_STATUS (907), HARuntimeInfo as mqadmin haStatus reads
 * it (reference 7.9), RESET_MASTER_FLUSH_OFFSET (908), GET_BROKER_EPOCH_CACHE (1007), which only a controller's broker has, and
 * GET_HA_ROLE (31002) and ANNOUNCE_ROLE_CHANGE (31004) between PocketMQ brokers.
 */
import type { HACoordinator } from "../../ha/ha_coordinator.ts";
import { clientInfoOf } from "../../ha/ha_runtime_info.ts";
import {
  encodeHARole,
  type HARoleBody,
} from "../../protocol/body/ha_role_body.ts";
import {
  optionalLong,
  optionalText,
} from "../../protocol/header/field_reader.ts";
import {
  decodeRoleChangeNotice,
  encodeRoleChangeAnswer,
  type RoleChangeNotice,
} from "../../protocol/header/role_change_header.ts";
import { PocketmqRequestCode } from "../../protocol/pocketmq_request_code.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import { bodyResponse, textResponse } from "./admin_response.ts";

/** What the processor works on. */
export interface HAStatusDeps {
  readonly ha: HACoordinator;
  /** Role, epoch and bounds of the log, as they are now. */
  haRole(): HARoleBody;
  /** A change of role at another broker of this pair; the objection to it, or null. */
  hearRoleChange(notice: RoleChangeNotice): string | null;
  /** Learns what the other broker says of itself. */
  readonly fence: { onHint(brokerName: string, epoch: number): void };
}

/** Processors by request code. */
export function haStatusProcessors(
  { fence, ha, haRole, hearRoleChange }: HAStatusDeps,
): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [
      RequestCode.GET_BROKER_HA_STATUS,
      () => textResponse(JSON.stringify(haRuntimeInfo(ha))),
    ],
    [RequestCode.RESET_MASTER_FLUSH_OFFSET, () => resetMasterFlushOffset(ha)],
    [RequestCode.GET_BROKER_EPOCH_CACHE, () =>
      createResponse(
        ResponseCode.SYSTEM_ERROR,
        "this request only for controllerMode ",
      )],
    [
      PocketmqRequestCode.GET_HA_ROLE,
      (_, { extFields }) => {
        const brokerName = optionalText(extFields, "brokerName");
        const epoch = optionalLong(extFields, "epoch", 0);
        if (brokerName !== undefined) fence.onHint(brokerName, epoch);
        return bodyResponse(encodeHARole(haRole()));
      },
    ],
    [
      PocketmqRequestCode.ANNOUNCE_ROLE_CHANGE,
      (_, { extFields }) => {
        const objection = hearRoleChange(decodeRoleChangeNotice(extFields));
        return createResponse(
          ResponseCode.SUCCESS,
          null,
          encodeRoleChangeAnswer(objection),
        );
      },
    ],
  ]);
}

/** Java's fields are primitives: what is unknown is left out. */
function haRuntimeInfo(ha: HACoordinator): unknown {
  const isMaster = ha.role !== "SLAVE";
  const { log, inSyncSlaveNums } = ha.service;
  const client = isMaster ? {} : clientInfoOf(ha.client);
  return {
    master: isMaster,
    masterCommitLogMaxOffset: isMaster ? log.maxOffset : undefined,
    inSyncSlaveNums,
    haConnectionInfo: ha.connections().map(known),
    haClientRuntimeInfo: known(client),
    ...ha.state(),
  };
}

function known(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null),
  );
}

/** Apache's masters take it and change nothing; slaves of ours keep no such mark. */
function resetMasterFlushOffset({ role }: HACoordinator): RemotingCommand {
  return role === "SLAVE"
    ? createResponse(
      ResponseCode.SYSTEM_ERROR,
      "this slave keeps no flush offset of its master: it compares its log " +
        "with the master's whenever it connects, so there is nothing to reset",
    )
    : createResponse(ResponseCode.SUCCESS);
}
