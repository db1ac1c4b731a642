/** Topics and groups that bodies of requests name. All throw BodyError. */
import {
  arrayField,
  arrayOf,
  decodeJson,
  type JsonObject,
  objectOf,
  optionalTextField,
} from "../protocol/body/json_fields.ts";
import { decodeLockBatchRequestBody } from "../protocol/body/lock_batch_body.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import { type AccessResource, groupOf, topicOf } from "./access_rule.ts";

/** Names in one field, between separators. */
export function listed(
  text: string | undefined,
  separator: string,
  read: (name: string) => readonly AccessResource[],
): AccessResource[] {
  return (text ?? "").split(separator).flatMap((it) => read(it.trim()));
}

/** LockBatchRequestBody: the group and the topics of the queues. */
export function lockedQueues({ body }: RemotingCommand): AccessResource[] {
  const { consumerGroup, mqSet } = decodeLockBatchRequestBody(body);
  const topics = new Set(mqSet.map((it) => it.topic));
  return [
    ...groupOf(consumerGroup),
    ...[...topics].flatMap((it) => topicOf(it)),
  ];
}

/** QueryAssignmentRequestBody and SetMessageRequestModeRequestBody: `topic`, `consumerGroup`. */
export function assigned({ body }: RemotingCommand): AccessResource[] {
  const json = jsonOf(body, "a topic and a consumerGroup");
  return [
    ...topicOf(optionalTextField(json, "topic")),
    ...groupOf(optionalTextField(json, "consumerGroup")),
  ];
}

/** BatchAckMessageRequestBody: `acks` with `c`, the group, and `t`, the topic. */
export function acknowledged({ body }: RemotingCommand): AccessResource[] {
  const acks = arrayField(jsonOf(body, "BatchAckMessageRequestBody"), "acks")
    .map((it) => objectOf(it, "acks"));
  // Many of them are of the same topic and group.
  return [
    ...[...distinct(acks, "c")].flatMap((it) => groupOf(it)),
    ...[...distinct(acks, "t")].flatMap((it) => topicOf(it)),
  ];
}

/** CreateTopicListRequestBody: `topicConfigList` with `topicName`. */
export function configuredTopics({ body }: RemotingCommand): AccessResource[] {
  const list = arrayField(
    jsonOf(body, "CreateTopicListRequestBody"),
    "topicConfigList",
  );
  return list.flatMap((it) =>
    topicOf(optionalTextField(objectOf(it, "topicConfigList"), "topicName"))
  );
}

/** SubscriptionGroupConfig with `groupName`, or SubscriptionGroupList of them. */
export function configuredGroups({ body }: RemotingCommand): AccessResource[] {
  const json = jsonOf(body, "SubscriptionGroupConfig");
  const list = arrayOf(json["groupConfigList"] ?? [json], "groupConfigList");
  return list.flatMap((it) =>
    groupOf(optionalTextField(objectOf(it, "groupConfigList"), "groupName"))
  );
}

function jsonOf(body: Uint8Array, what: string): JsonObject {
  return objectOf(decodeJson(body, what), what);
}

function distinct(list: readonly JsonObject[], field: string): Set<string> {
  const names = list.map((it) => optionalTextField(it, field));
  return new Set(names.filter((it) => it !== undefined));
}
