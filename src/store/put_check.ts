/** Checks of a put that need nothing but the message (reference 6.1). */
import { utf8SizeOf } from "../base/utf8.ts";
import type { MessageExtBrokerInner } from "../model/message_ext.ts";
import {
  MessageConst,
  PROPERTIES_SIZE_MAX,
} from "../model/message_properties.ts";
import { MessageSysFlag } from "../model/message_sys_flag.ts";

const INNER_NUM_PREFIX = `${MessageConst.INNER_NUM}\u0001`;
const TOPIC_SIZE_MAX = 127;
const LONG_TOPIC_SIZE_MAX = 255;
/** A topic of up to so many UTF-16 units fits whatever it holds. */
const TOPIC_LENGTH_SAFE = 42;

/** Why the store must not take `message`; undefined when it may. */
export function messageFault(
  message: MessageExtBrokerInner,
  maxMessageSize: number,
): string | undefined {
  const { topic, body, propertiesText } = message;
  if (topic.length > TOPIC_LENGTH_SAFE || topic.length === 0) {
    const fault = topicFault(topic);
    if (fault !== undefined) return fault;
  }
  if (body.length > maxMessageSize) {
    return `The body has ${body.length} bytes, maxMessageSize is ${maxMessageSize}`;
  }
  if (propertiesText.length > PROPERTIES_SIZE_MAX) {
    return `The properties take more than ${PROPERTIES_SIZE_MAX} bytes`;
  }
  if ((message.sysFlag & MessageSysFlag.INNER_BATCH) !== 0) {
    return "Inner batches need a topic of queue.type=BatchCQ";
  }
  if (propertiesText.includes(INNER_NUM_PREFIX)) {
    return "Property INNER_NUM belongs to inner batches only";
  }
  return undefined;
}

function topicFault(topic: string): string | undefined {
  if (topic.length === 0) return "The topic is empty";
  const size = utf8SizeOf(topic);
  const isLong = topic.startsWith("%RETRY%") || topic.startsWith("%DLQ%");
  const sizeMax = isLong ? LONG_TOPIC_SIZE_MAX : TOPIC_SIZE_MAX;
  return size > sizeMax
    ? `The topic has ${size} bytes, at most ${sizeMax} are allowed`
    : undefined;
}
