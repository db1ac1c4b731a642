/**
 * A reset of offsets by the members of the group, as 4.9 does it, and 5.x with
 * useServerSideResetOffset=false (reference 11.8): each member on line is told the new positions
 * (RESET_CONSUMER_CLIENT_OFFSET, 220), drops what it has of these queues and commits them.
 */
import { shown } from "../../base/shown.ts";
import type { Logger } from "../../io/logger.ts";
import {
  encodeResetOffsetBody,
  encodeResetOffsetBodyForC,
  type QueueOffset,
} from "../../protocol/body/reset_offset_body.ts";
import type { ResetOffsetRequestHeader } from "../../protocol/header/reset_offset_request_header.ts";
import { mqVersionDesc } from "../../protocol/mq_version.ts";
import {
  createRequest,
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { ClientChannelInfo } from "../client_channel_info.ts";
import type { ConsumerManager } from "../consumer_manager.ts";
import type { ConsumerOffsetManager } from "../consumer_offset_manager.ts";
import type { ResetOffset } from "../reset_offsets.ts";
import { bodyResponse } from "./admin_response.ts";

/** What it works on. */
export interface ResetByMembersDeps {
  readonly logger: Logger;
  readonly options: () => BrokerOptions;
  readonly consumerManager: ConsumerManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
}

/** 3.0.7-SNAPSHOT (reference 1.5): older clients do not know the request. */
const RESET_VERSION_MIN = 28;

/** Tells every member of the group where to go on: `targets` by queue. */
export function resetByMembers(
  deps: ResetByMembersDeps,
  header: ResetOffsetRequestHeader,
  targets: ReadonlyMap<number, ResetOffset>,
  client: string,
): RemotingCommand {
  const { topic, group } = header;
  const offsets = offsetsOf(deps, header, targets);
  if (offsets === undefined) {
    return failed(
      `The consumer group <${shown(group)}> has no offset in topic ` +
        `<${shown(topic)}> on this broker, so there is none to reset`,
    );
  }
  const info = deps.consumerManager.getConsumerGroupInfo(group);
  const members = [...info?.clients.values() ?? []];
  if (members.length === 0) {
    return createResponse(
      ResponseCode.CONSUMER_NOT_ONLINE,
      `Consumer not online, so can not reset offset, Group: ${shown(group)} ` +
        `Topic: ${shown(topic)} Timestamp: ${header.timestamp}`,
    );
  }
  const old = members.find((it) => it.version < RESET_VERSION_MIN);
  if (old !== undefined) {
    return failed(
      "the client does not support this feature. version=" +
        mqVersionDesc(old.version),
    );
  }
  for (const member of members) tell(member, header, offsets);
  deps.logger.info("a client lets a group reset its offsets", {
    topic: shown(topic),
    group: shown(group),
    members: members.length,
    offsets: offsets.map((it) => `${it.queue.queueId}:${it.offset}`).join(" "),
    client,
  });
  return bodyResponse(encodeResetOffsetBody(offsets));
}

/** Undefined when the group has no offset in any of the queues. */
function offsetsOf(
  { consumerOffsetManager, options }: ResetByMembersDeps,
  { topic, group, isForce }: ResetOffsetRequestHeader,
  targets: ReadonlyMap<number, ResetOffset>,
): QueueOffset[] | undefined {
  const { brokerName } = options();
  const stored = consumerOffsetManager.queryOffsets(group, topic);
  let isKnown = false;
  const offsets = [...targets].map(([queueId, { offset: target }]) => {
    const present = stored.get(queueId);
    if (present !== undefined) isKnown = true;
    const stays = !isForce && present !== undefined && present < target;
    return {
      queue: { topic, brokerName, queueId },
      offset: stays ? present : target,
    };
  });
  return isKnown ? offsets : undefined;
}

function tell(
  { connection, language }: ClientChannelInfo,
  { topic, group, timestamp, isForce }: ResetOffsetRequestHeader,
  offsets: readonly QueueOffset[],
): void {
  if (!connection.isOpen) return;
  connection.invokeOneway(createRequest(
    RequestCode.RESET_CONSUMER_CLIENT_OFFSET,
    {
      topic,
      group,
      timestamp: String(timestamp),
      isForce: String(isForce),
    },
    language === "CPP"
      ? encodeResetOffsetBodyForC(offsets)
      : encodeResetOffsetBody(offsets),
  ));
}

function failed(sentence: string): RemotingCommand {
  return createResponse(ResponseCode.SYSTEM_ERROR, sentence);
}
