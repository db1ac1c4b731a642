/**
 * REQUEST_ACCESS: the rule of every request code that a broker answers, in 4.x and in 5.x.
 *
 * The rules are those that Apache 5.5.0 has in its request headers (RocketMQAction) and its
 * DefaultAuthorizationContextBuilder. Where Apache has none, and so lets every known user do it
 * (codes 25, 200 and 306 among them), a rule of ours stands here.
 *
 * A new code needs its line here before its processor is of use: without one, administrators
 * alone may, and the test "every code that a broker answers has a rule" fails.
 */
import { decodeHeartbeatData } from "../protocol/body/heartbeat_body.ts";
import { PocketmqRequestCode } from "../protocol/pocketmq_request_code.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import {
  acknowledged,
  assigned,
  configuredGroups,
  configuredTopics,
  listed,
  lockedQueues,
} from "./request_access_bodies.ts";
import {
  type AccessResource,
  type AccessRule,
  anyAccount,
  cluster,
  fields,
  found,
  groupOf,
  topicOf,
} from "./access_rule.ts";

const TOPIC = { topic: "topic" };
const GROUP = { group: "group" };
const GROUP_AND_TOPIC = { topic: "topic", group: "group" };
const CONSUMER = { group: "consumerGroup" };
const CONSUMER_AND_TOPIC = { topic: "topic", group: "consumerGroup" };

/** Messages in, out and what clients say of themselves. */
const CLIENT_RULES: readonly (readonly [number, AccessRule])[] = [
  [RequestCode.SEND_MESSAGE, fields(["PUB"], TOPIC)],
  [RequestCode.SEND_MESSAGE_V2, fields(["PUB"], { topic: "b" })],
  [RequestCode.SEND_BATCH_MESSAGE, fields(["PUB"], { topic: "b" })],
  [RequestCode.SEND_REPLY_MESSAGE, found(["PUB"], replied("topic"))],
  [RequestCode.SEND_REPLY_MESSAGE_V2, found(["PUB"], replied("b"))],
  [RequestCode.END_TRANSACTION, fields(["PUB"], TOPIC)],
  [RequestCode.RECALL_MESSAGE, fields(["PUB"], TOPIC)],
  [RequestCode.CONSUMER_SEND_MSG_BACK, fields(["SUB"], GROUP)],
  [RequestCode.PULL_MESSAGE, fields(["SUB"], CONSUMER_AND_TOPIC)],
  [RequestCode.LITE_PULL_MESSAGE, fields(["SUB"], CONSUMER_AND_TOPIC)],
  [RequestCode.POP_MESSAGE, fields(["SUB"], CONSUMER_AND_TOPIC)],
  [RequestCode.PEEK_MESSAGE, fields(["SUB"], CONSUMER_AND_TOPIC)],
  [RequestCode.ACK_MESSAGE, fields(["SUB"], CONSUMER_AND_TOPIC)],
  [RequestCode.BATCH_ACK_MESSAGE, found(["SUB"], acknowledged)],
  [
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
    fields(["SUB"], CONSUMER_AND_TOPIC),
  ],
  [RequestCode.NOTIFICATION, fields(["SUB"], CONSUMER_AND_TOPIC)],
  [RequestCode.POLLING_INFO, fields(["GET"], CONSUMER_AND_TOPIC)],
  [RequestCode.POP_ROLLBACK, cluster(["UPDATE"])],
  [RequestCode.QUERY_ASSIGNMENT, found(["SUB", "GET"], assigned)],
  [RequestCode.QUERY_MESSAGE, fields(["SUB", "GET"], TOPIC)],
  [RequestCode.VIEW_MESSAGE_BY_ID, found(["GET"], viewed)],
  [
    RequestCode.QUERY_CONSUMER_OFFSET,
    fields(["SUB", "GET"], CONSUMER_AND_TOPIC, "signed"),
  ],
  [
    RequestCode.UPDATE_CONSUMER_OFFSET,
    fields(["SUB", "UPDATE"], CONSUMER_AND_TOPIC),
  ],
  [RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, fields(["GET"], TOPIC)],
  [RequestCode.GET_MAX_OFFSET, fields(["GET"], TOPIC)],
  [RequestCode.GET_MIN_OFFSET, fields(["GET"], TOPIC)],
  [RequestCode.GET_EARLIEST_MSG_STORETIME, fields(["GET"], TOPIC)],
  [RequestCode.HEART_BEAT, found(["SUB"], subscribed)],
  [RequestCode.UNREGISTER_CLIENT, fields(["SUB"], CONSUMER)],
  [RequestCode.GET_CONSUMER_LIST_BY_GROUP, fields(["SUB", "GET"], CONSUMER)],
  [RequestCode.LOCK_BATCH_MQ, found(["SUB"], lockedQueues)],
  [RequestCode.UNLOCK_BATCH_MQ, found(["SUB"], lockedQueues)],
  // It answers whether an expression can be compiled, and reads nothing.
  [RequestCode.CHECK_CLIENT_CONFIG, anyAccount()],
];

/** Topics, groups and their positions. */
const TABLE_RULES: readonly (readonly [number, AccessRule])[] = [
  [RequestCode.UPDATE_AND_CREATE_TOPIC, fields(["CREATE"], TOPIC)],
  [
    RequestCode.UPDATE_AND_CREATE_TOPIC_LIST,
    found(["CREATE"], configuredTopics),
  ],
  [RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC, fields(["CREATE"], TOPIC)],
  [RequestCode.DELETE_TOPIC_IN_BROKER, fields(["DELETE"], TOPIC)],
  [RequestCode.GET_TOPIC_CONFIG, fields(["GET"], TOPIC)],
  [RequestCode.GET_TOPIC_STATS_INFO, fields(["GET"], TOPIC)],
  [RequestCode.GET_ALL_TOPIC_CONFIG, cluster(["GET", "LIST"])],
  [RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER, cluster(["GET", "LIST"])],
  [
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
    found(["CREATE", "UPDATE"], configuredGroups),
  ],
  [
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
    found(["CREATE", "UPDATE"], configuredGroups),
  ],
  [
    RequestCode.DELETE_SUBSCRIPTIONGROUP,
    fields(["DELETE"], { group: "groupName" }),
  ],
  [RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, fields(["GET"], GROUP)],
  [
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    cluster(["GET", "LIST"]),
  ],
  [
    RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN,
    fields(["UPDATE"], GROUP_AND_TOPIC),
  ],
  [RequestCode.SET_MESSAGE_REQUEST_MODE, found(["UPDATE"], assigned)],
  [RequestCode.GET_ALL_MESSAGE_REQUEST_MODE, cluster(["GET", "LIST"])],
  [RequestCode.GET_ALL_CONSUMER_OFFSET, cluster(["GET"])],
  [RequestCode.GET_ALL_DELAY_OFFSET, cluster(["GET"])],
  // 4.x: whoever reads as the group may say where it reads.
  [
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
    fields(["UPDATE"], GROUP_AND_TOPIC, "resources"),
  ],
  [
    RequestCode.CLONE_GROUP_OFFSET,
    fields(["UPDATE"], { topic: "topic", group: "destGroup" }, "resources"),
  ],
  [RequestCode.QUERY_CONSUME_QUEUE, fields(["GET"], CONSUMER_AND_TOPIC)],
  [
    RequestCode.QUERY_CORRECTION_OFFSET,
    found(["GET"], ({ extFields }) => [
      ...topicOf(extFields["topic"]),
      ...groupOf(extFields["compareGroup"]),
      ...listed(extFields["filterGroups"], ",", groupOf),
    ]),
  ],
];

/** What tools look at, and what they do to clients. */
const TOOL_RULES: readonly (readonly [number, AccessRule])[] = [
  [
    RequestCode.GET_CONSUME_STATS,
    found(["GET"], ({ extFields }) => [
      ...topicOf(extFields["topic"]),
      ...listed(extFields["topicList"], ";", topicOf),
      ...groupOf(extFields["consumerGroup"]),
    ]),
  ],
  [RequestCode.GET_CONSUMER_CONNECTION_LIST, fields(["GET"], CONSUMER)],
  [RequestCode.GET_CONSUMER_RUNNING_INFO, fields(["GET"], CONSUMER)],
  [
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
    fields(["GET"], GROUP_AND_TOPIC),
  ],
  [
    RequestCode.CONSUME_MESSAGE_DIRECTLY,
    fields(["SUB"], CONSUMER_AND_TOPIC),
  ],
  [RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, fields(["GET"], TOPIC)],
  [RequestCode.QUERY_CONSUME_TIME_SPAN, fields(["GET"], GROUP_AND_TOPIC)],
  [RequestCode.QUERY_TOPICS_BY_CONSUMER, fields(["GET"], GROUP)],
  [
    RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER,
    fields(["GET"], GROUP_AND_TOPIC),
  ],
  [RequestCode.RESUME_CHECK_HALF_MESSAGE, fields(["UPDATE"], TOPIC)],
  [RequestCode.GET_PRODUCER_CONNECTION_LIST, cluster(["GET"])],
  [RequestCode.GET_ALL_PRODUCER_INFO, cluster(["GET"])],
  [RequestCode.VIEW_BROKER_STATS_DATA, cluster(["GET"])],
  [RequestCode.GET_BROKER_CONSUME_STATS, cluster(["GET"])],
  [RequestCode.GET_BROKER_RUNTIME_INFO, cluster(["GET"])],
  [RequestCode.GET_BROKER_CONFIG, cluster(["GET"])],
  [RequestCode.GET_TIMER_CHECK_POINT, cluster(["GET"])],
  [RequestCode.GET_TIMER_METRICS, cluster(["GET"])],
  [RequestCode.UPDATE_BROKER_CONFIG, cluster(["UPDATE"])],
  [RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE, cluster(["UPDATE"])],
  [RequestCode.CLEAN_UNUSED_TOPIC, cluster(["UPDATE"])],
  [RequestCode.DELETE_EXPIRED_COMMITLOG, cluster(["UPDATE"])],
];

/** What brokers ask each other. */
const PEER_RULES: readonly (readonly [number, AccessRule])[] = [
  [RequestCode.GET_BROKER_HA_STATUS, cluster(["GET"])],
  [RequestCode.GET_BROKER_EPOCH_CACHE, cluster(["GET"])],
  [RequestCode.EXCHANGE_BROKER_HA_INFO, cluster(["UPDATE"])],
  [RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, cluster(["UPDATE"])],
  [RequestCode.RESET_MASTER_FLUSH_OFFSET, cluster(["UPDATE"])],
  [RequestCode.NOTIFY_BROKER_ROLE_CHANGED, cluster(["UPDATE"])],
  [PocketmqRequestCode.WAIT_METADATA_CHANGE, cluster(["GET"])],
  [PocketmqRequestCode.GET_HA_ROLE, cluster(["GET"])],
  [PocketmqRequestCode.DIGEST_COMMIT_LOG, cluster(["GET"])],
  [PocketmqRequestCode.ANNOUNCE_ROLE_CHANGE, cluster(["GET"])],
];

/** Accounts of 4.9, users and policies of 5.x. */
const USER_RULES: readonly (readonly [number, AccessRule])[] = [
  [RequestCode.UPDATE_AND_CREATE_ACL_CONFIG, cluster(["UPDATE"])],
  [RequestCode.DELETE_ACL_CONFIG, cluster(["UPDATE"])],
  [RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG, cluster(["UPDATE"])],
  [RequestCode.GET_BROKER_CLUSTER_ACL_INFO, cluster(["GET"])],
  [RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG, cluster(["GET"], "admin")],
  [RequestCode.AUTH_CREATE_USER, cluster(["UPDATE"])],
  [RequestCode.AUTH_UPDATE_USER, cluster(["UPDATE"])],
  [RequestCode.AUTH_DELETE_USER, cluster(["UPDATE"])],
  [RequestCode.AUTH_GET_USER, cluster(["GET"])],
  [RequestCode.AUTH_LIST_USER, cluster(["GET"])],
  [RequestCode.AUTH_CREATE_ACL, cluster(["UPDATE"])],
  [RequestCode.AUTH_UPDATE_ACL, cluster(["UPDATE"])],
  [RequestCode.AUTH_DELETE_ACL, cluster(["UPDATE"])],
  [RequestCode.AUTH_GET_ACL, cluster(["GET"])],
  [RequestCode.AUTH_LIST_ACL, cluster(["GET"])],
  [PocketmqRequestCode.GET_ALL_AUTH, cluster(["UPDATE"])],
];

/** The rules by request code. */
export const REQUEST_ACCESS: ReadonlyMap<number, AccessRule> = new Map([
  ...CLIENT_RULES,
  ...TABLE_RULES,
  ...TOOL_RULES,
  ...PEER_RULES,
  ...USER_RULES,
]);

/** What a request code without a rule wants. */
const UNDECLARED = cluster(["UPDATE"], "admin");

/** The rule of a request code. */
export function accessRuleOf(code: number): AccessRule {
  return REQUEST_ACCESS.get(code) ?? UNDECLARED;
}

/** An answer goes to the client that asked, through `<cluster>_REPLY_TOPIC`, which nobody reads. */
function replied(field: string) {
  return ({ extFields }: RemotingCommand): AccessResource[] => {
    const topic = extFields[field];
    return topic?.endsWith("_REPLY_TOPIC") ? [] : topicOf(topic);
  };
}

/** Clients before 5.x do not say of which topic the message is. */
function viewed({ extFields }: RemotingCommand): AccessResource[] {
  const named = topicOf(extFields["topic"]);
  return named.length > 0 ? named : [{ kind: "Cluster" }];
}

function subscribed({ body }: RemotingCommand): AccessResource[] {
  return decodeHeartbeatData(body).consumerDataSet.flatMap((it) => [
    ...groupOf(it.groupName),
    ...it.subscriptionDataSet.flatMap(({ topic }) => topicOf(topic)),
  ]);
}
