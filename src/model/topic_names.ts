/** Names of topics and groups that mean something to RocketMQ (reference 3.8, 4.8.3, 11.5). */

/** TopicValidator's and MixAll's names. */
export const TopicNames = {
  /** The template of auto-creation. */
  AUTO_CREATE_TOPIC_KEY_TOPIC: "TBW102",
  RMQ_SYS_SCHEDULE_TOPIC: "SCHEDULE_TOPIC_XXXX",
  RMQ_SYS_BENCHMARK_TOPIC: "BenchmarkTest",
  RMQ_SYS_TRANS_HALF_TOPIC: "RMQ_SYS_TRANS_HALF_TOPIC",
  RMQ_SYS_TRANS_OP_HALF_TOPIC: "RMQ_SYS_TRANS_OP_HALF_TOPIC",
  RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC: "TRANS_CHECK_MAX_TIME_TOPIC",
  RMQ_SYS_TRACE_TOPIC: "RMQ_SYS_TRACE_TOPIC",
  RMQ_SYS_SELF_TEST_TOPIC: "SELF_TEST_TOPIC",
  RMQ_SYS_OFFSET_MOVED_EVENT: "OFFSET_MOVED_EVENT",
  RMQ_SYS_ROCKSDB_OFFSET_TOPIC: "CHECKPOINT_TOPIC",
  TIMER_TOPIC: "rmq_sys_wheel_timer",
} as const;

export const RETRY_GROUP_TOPIC_PREFIX = "%RETRY%";
export const DLQ_GROUP_TOPIC_PREFIX = "%DLQ%";
/** Whatever starts so is a system topic. */
export const SYSTEM_TOPIC_PREFIX = "rmq_sys_";
/** Groups that start so exist without auto-creation. */
export const SYSTEM_GROUP_PREFIX = "CID_RMQ_SYS_";
const REPLY_TOPIC_POSTFIX = "REPLY_TOPIC";
const REVIVE_TOPIC_PREFIX = "rmq_sys_REVIVE_LOG_";
const SYNC_BROKER_MEMBER_PREFIX = "rmq_sys_SYNC_BROKER_MEMBER_";

/** Queues of SCHEDULE_TOPIC_XXXX: one per delay level. */
export const SCHEDULE_TOPIC_QUEUE_NUMS = 18;
export const BENCHMARK_TOPIC_QUEUE_NUMS = 1024;

/** The groups that every broker has. */
export const SYSTEM_GROUPS: readonly string[] = Object.freeze([
  "TOOLS_CONSUMER",
  "FILTERSRV_CONSUMER",
  "SELF_TEST_C_GROUP",
  "CID_ONS-HTTP-PROXY",
  "CID_ONSAPI_PULL",
  "CID_ONSAPI_PERMISSION",
  "CID_ONSAPI_OWNER",
  "CID_RMQ_SYS_TRANS",
]);

/** `%RETRY%group`. */
export function retryTopicOf(group: string): string {
  return RETRY_GROUP_TOPIC_PREFIX + group;
}

/** `%DLQ%group`. */
export function dlqTopicOf(group: string): string {
  return DLQ_GROUP_TOPIC_PREFIX + group;
}

/** True for `%RETRY%…`. */
export function isRetryTopic(topic: string): boolean {
  return topic.startsWith(RETRY_GROUP_TOPIC_PREFIX);
}

/** The group of a `%RETRY%group`. */
export function groupOfRetryTopic(topic: string): string {
  return topic.slice(RETRY_GROUP_TOPIC_PREFIX.length);
}

/** True for `%DLQ%…`. */
export function isDlqTopic(topic: string): boolean {
  return topic.startsWith(DLQ_GROUP_TOPIC_PREFIX);
}

/** `<clusterName>_REPLY_TOPIC`. */
export function replyTopicOf(clusterName: string): string {
  return `${clusterName}_${REPLY_TOPIC_POSTFIX}`;
}

/** POP's revive log of a cluster. */
export function reviveTopicOf(clusterName: string): string {
  return REVIVE_TOPIC_PREFIX + clusterName;
}

/** The topic by which 5.x brokers of one name see each other. */
export function syncBrokerMemberTopicOf(brokerName: string): string {
  return SYNC_BROKER_MEMBER_PREFIX + brokerName;
}
