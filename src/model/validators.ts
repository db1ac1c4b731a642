/** What a topic or group may be called (reference 3.2 #3, #4 and 4.8.3). */
import { shown } from "../base/shown.ts";
import {
  isDlqTopic,
  isRetryTopic,
  SYSTEM_GROUP_PREFIX,
  SYSTEM_GROUPS,
  SYSTEM_TOPIC_PREFIX,
  TopicNames,
} from "./topic_names.ts";

/** Characters; every legal character is one byte. */
export const TOPIC_LENGTH_MAX = 127;
/** For names that start with `%RETRY%` or `%DLQ%`. */
export const RETRY_OR_DLQ_TOPIC_LENGTH_MAX = 255;
export const GROUP_LENGTH_MAX = 120;
/** Queues of one topic: ours, Apache has no limit. */
export const TOPIC_QUEUE_NUMS_MAX = 65_535;

const SHOWN_LENGTH_MAX = 64;

const SYSTEM_TOPICS: ReadonlySet<string> = new Set([
  TopicNames.AUTO_CREATE_TOPIC_KEY_TOPIC,
  TopicNames.RMQ_SYS_SCHEDULE_TOPIC,
  TopicNames.RMQ_SYS_BENCHMARK_TOPIC,
  TopicNames.RMQ_SYS_TRANS_HALF_TOPIC,
  TopicNames.RMQ_SYS_TRACE_TOPIC,
  TopicNames.RMQ_SYS_TRANS_OP_HALF_TOPIC,
  TopicNames.RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
  TopicNames.RMQ_SYS_SELF_TEST_TOPIC,
  TopicNames.RMQ_SYS_OFFSET_MOVED_EVENT,
  TopicNames.RMQ_SYS_ROCKSDB_OFFSET_TOPIC,
]);

const FORBIDDEN_SEND_TOPICS: ReadonlySet<string> = new Set([
  TopicNames.RMQ_SYS_SCHEDULE_TOPIC,
  TopicNames.RMQ_SYS_TRANS_HALF_TOPIC,
  TopicNames.RMQ_SYS_TRANS_OP_HALF_TOPIC,
  TopicNames.RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
  TopicNames.RMQ_SYS_SELF_TEST_TOPIC,
  TopicNames.RMQ_SYS_OFFSET_MOVED_EVENT,
]);

/** One sentence that says what is wrong with a topic name, or undefined. */
export function topicError(topic: string): string | undefined {
  const limit = isRetryTopic(topic) || isDlqTopic(topic)
    ? RETRY_OR_DLQ_TOPIC_LENGTH_MAX
    : TOPIC_LENGTH_MAX;
  return nameError("topic", topic, limit);
}

/** One sentence that says what is wrong with a group name, or undefined. */
export function groupError(group: string): string | undefined {
  return nameError("group", group, GROUP_LENGTH_MAX);
}

/**
 * True for the topics that RocketMQ itself owns. Cluster and broker names are
 * system topics too, of one broker: see `TopicConfigManager.isSystemTopic`.
 */
export function isSystemTopic(topic: string): boolean {
  return SYSTEM_TOPICS.has(topic) || topic.startsWith(SYSTEM_TOPIC_PREFIX);
}

/** True for the groups that RocketMQ itself owns. */
export function isSystemGroup(group: string): boolean {
  return SYSTEM_GROUPS.includes(group) || group.startsWith(SYSTEM_GROUP_PREFIX);
}

/** True for topics that clients may not send to. */
export function isForbiddenSendTopic(topic: string): boolean {
  return FORBIDDEN_SEND_TOPICS.has(topic);
}

/** The fixed system topics, without those of one broker. */
export function systemTopics(): ReadonlySet<string> {
  return SYSTEM_TOPICS;
}

function nameError(
  field: "topic" | "group",
  name: string,
  limit: number,
): string | undefined {
  if (name.trim() === "") return `The specified ${field} is blank.`;
  for (let index = 0; index < name.length; index++) {
    if (!isNameCharacter(name.charCodeAt(index))) {
      return `The specified ${field} "${
        shown(name, SHOWN_LENGTH_MAX)
      }" contains illegal ` +
        "characters, allowing only ^[%|a-zA-Z0-9_-]+$.";
    }
  }
  if (name.length <= limit) return undefined;
  return `The specified ${field} "${
    shown(name, SHOWN_LENGTH_MAX)
  }" has ${name.length} ` +
    `characters, which is longer than the ${field} max length ${limit}.`;
}

/** Percent, bar, hyphen, underscore, digits and ASCII letters. */
function isNameCharacter(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) ||
    (unit >= 48 && unit <= 57) || unit === 95 || unit === 45 || unit === 37 ||
    unit === 124;
}
