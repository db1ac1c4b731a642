/** What a request wants of which topics and groups, as Apache's PlainAccessResource.parse. */
import {
  groupOfRetryTopic,
  isRetryTopic,
  TopicNames,
} from "../model/topic_names.ts";
import { decodeHeartbeatData } from "../protocol/body/heartbeat_body.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import type { NeededPermission } from "./permission.ts";

/** A topic or group, and what is needed of it. */
export interface AccessResource {
  readonly kind: "topic" | "group";
  readonly name: string;
  readonly needed: NeededPermission;
}

/**
 * Codes of administrators. Apache has 17, 25, 200, 207, 215 and 513; the others do the same to
 * several at once (18, 225), or to what groups may read (353).
 */
const ADMIN_CODES: ReadonlySet<number> = new Set([
  RequestCode.UPDATE_AND_CREATE_TOPIC,
  RequestCode.UPDATE_AND_CREATE_TOPIC_LIST,
  RequestCode.UPDATE_BROKER_CONFIG,
  RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
  RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
  RequestCode.DELETE_SUBSCRIPTIONGROUP,
  RequestCode.DELETE_TOPIC_IN_BROKER,
  RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN,
  RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC,
]);

/** True when only administrators may. */
export function needsAdmin(code: number): boolean {
  return ADMIN_CODES.has(code);
}

/** Fields that are missing name nothing: the processor refuses them. Throws BodyError. */
export function accessResourcesOf(request: RemotingCommand): AccessResource[] {
  const { code, extFields } = request;
  switch (code) {
    case RequestCode.SEND_MESSAGE:
    case RequestCode.SEND_REPLY_MESSAGE:
      return published(extFields["topic"]);
    case RequestCode.SEND_MESSAGE_V2:
    case RequestCode.SEND_BATCH_MESSAGE:
    case RequestCode.SEND_REPLY_MESSAGE_V2:
      return published(extFields["b"]);
    case RequestCode.CONSUMER_SEND_MSG_BACK:
      return readBy(extFields["group"]);
    case RequestCode.PULL_MESSAGE:
    case RequestCode.LITE_PULL_MESSAGE:
    case RequestCode.UPDATE_CONSUMER_OFFSET:
      return [
        ...read(extFields["topic"]),
        ...readBy(extFields["consumerGroup"]),
      ];
    case RequestCode.QUERY_MESSAGE:
      return read(extFields["topic"]);
    case RequestCode.UNREGISTER_CLIENT:
    case RequestCode.GET_CONSUMER_LIST_BY_GROUP:
      return readBy(extFields["consumerGroup"]);
    case RequestCode.HEART_BEAT:
      return subscribed(request.body);
    default:
      return [];
  }
}

/** A message for a retry topic is one that the group itself sends back. */
function published(topic: string | undefined): AccessResource[] {
  if (topic === undefined) return [];
  // Whoever may send anything may trace what it sends.
  if (topic === TopicNames.RMQ_SYS_TRACE_TOPIC) return [];
  return isRetryTopic(topic)
    ? readBy(groupOfRetryTopic(topic))
    : [{ kind: "topic", name: topic, needed: "PUB" }];
}

/** The retry topic of a group is the group's. */
function read(topic: string | undefined): AccessResource[] {
  if (topic === undefined) return [];
  return isRetryTopic(topic)
    ? readBy(groupOfRetryTopic(topic))
    : [{ kind: "topic", name: topic, needed: "SUB" }];
}

function readBy(group: string | undefined): AccessResource[] {
  return group === undefined || group === ""
    ? []
    : [{ kind: "group", name: group, needed: "SUB" }];
}

function subscribed(body: Uint8Array): AccessResource[] {
  return decodeHeartbeatData(body).consumerDataSet.flatMap((it) => [
    ...readBy(it.groupName),
    ...it.subscriptionDataSet.flatMap(({ topic }) => read(topic)),
  ]);
}
