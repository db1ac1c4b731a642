/**
 * PopNames: topics, groups, tags and properties of POP (reference 2.8; Apache's KeyBuilder and
 * PopAckConstants).
 */
import {
  POP_RETRY_SEPARATOR_V2,
  popRetryTopicOf,
} from "../../model/pop_retry_topic.ts";
import { isRetryTopic } from "../../model/topic_names.ts";

/** Whose positions tell how far each queue of the revive log was worked off. */
export const REVIVE_GROUP = "CID_RMQ_SYS_REVIVE_GROUP";
/**
 * Ours: whose positions tell up to where the check points of each queue of the revive log are
 * in the positions of their groups, in the same file.
 */
export const POP_PROGRESS_GROUP = "CID_RMQ_SYS_POCKETMQ_POP";
/** In a handle: of a message popped in order, which the revive log does not know. */
export const POP_ORDER_REVIVE_QUEUE = 999;
/** Messages of one check point; its bits are an int's. */
export const POP_MESSAGES_MAX = 32;

/** Tags of the revive log. */
export const ReviveTag = {
  CHECK_POINT: "ck",
  ACK: "ack",
  BATCH_ACK: "bAck",
} as const;

/** What a handle says of its topic. */
export type TopicType = "0" | "1" | "2";

/** 0: an ordinary topic, 1 and 2: a retry topic of that version. */
export function topicTypeOf(topic: string): TopicType {
  if (!isRetryTopic(topic)) return "0";
  return topic.includes(POP_RETRY_SEPARATOR_V2) ? "2" : "1";
}

/** The topic that a handle means; undefined for a type that is none. */
export function realTopicOf(
  topic: string,
  group: string,
  type: string,
): string | undefined {
  switch (type) {
    case "0":
      return topic;
    case "1":
    case "2":
      return popRetryTopicOf(topic, group, type === "2");
    default:
      return undefined;
  }
}
