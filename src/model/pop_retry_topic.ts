/** PopRetryTopic: the retry topics of POP, one of each group and topic (reference 2.8; Apache's KeyBuilder). */
import { isRetryTopic, RETRY_GROUP_TOPIC_PREFIX } from "./topic_names.ts";

const SEPARATOR_V1 = "_";
export const POP_RETRY_SEPARATOR_V2 = "+";

/** `%RETRY%group_topic`, or `%RETRY%group+topic` with enableRetryTopicV2. */
export function popRetryTopicOf(
  topic: string,
  group: string,
  isV2: boolean,
): string {
  return RETRY_GROUP_TOPIC_PREFIX + group +
    (isV2 ? POP_RETRY_SEPARATOR_V2 : SEPARATOR_V1) + topic;
}

/** The topic that a retry topic of `group` belongs to; any other topic is its own. */
export function normalTopicOf(topic: string, group: string): string {
  if (!isRetryTopic(topic)) return topic;
  for (const separator of [POP_RETRY_SEPARATOR_V2, SEPARATOR_V1]) {
    const prefix = RETRY_GROUP_TOPIC_PREFIX + group + separator;
    if (topic.startsWith(prefix)) return topic.slice(prefix.length);
  }
  return topic;
}
