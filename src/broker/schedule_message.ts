/** ScheduleMessage: a message on its way into SCHEDULE_TOPIC_XXXX, and out of it (reference 4.9). */
import { javaHashCode } from "../base/java_hash.ts";
import { shown } from "../base/shown.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../model/message_ext.ts";
import {
  decodeProperties,
  encodeProperties,
  findProperty,
  MessageConst,
} from "../model/message_properties.ts";
import { TopicNames } from "../model/topic_names.ts";

/** Java's Integer.parseInt. */
const JAVA_INT = /^[+-]?[0-9]+$/;
const JAVA_INT_MAX = 2_147_483_647;

/** The level that property DELAY asks for; undefined when its text is no Java int. */
export function delayLevelOf(delay: string): number | undefined {
  const level = JAVA_INT.test(delay) ? Number(delay) : NaN;
  return Math.abs(level) <= JAVA_INT_MAX ? level : undefined;
}

/**
 * Why a send with these properties cannot be kept until its time; undefined when it can, or is
 * not to be. A dead letter waits no more, whatever they say.
 */
export function delayFault(
  { delay, timer }: { readonly delay: string; readonly timer: string },
  isHalf: boolean,
): string | undefined {
  if (delay === "" && timer === "") return undefined;
  const level = delay === "" ? 0 : delayLevelOf(delay);
  if (level === undefined) {
    return `property DELAY is ${shown(delay)}, and must be a delay level`;
  }
  if (isHalf && level > 0) {
    return "a transactional message cannot be delayed as well (property DELAY)";
  }
  // A level beats a timer. Apache would put the half message aside, and lose it.
  return isHalf && timer !== ""
    ? `a transactional message cannot be a timer message as well (property ${timer})`
    : undefined;
}

/**
 * The message as SCHEDULE_TOPIC_XXXX takes it. A level above `maxDelayLevel` becomes that one, and
 * a level beats a timer, as in Apache. The store computes the tags code.
 */
export function toScheduleMessage(
  message: MessageExtBrokerInner,
  delayLevel: number,
  maxDelayLevel: number,
): MessageExtBrokerInner {
  const level = Math.min(delayLevel, maxDelayLevel);
  const properties = decodeProperties(message.propertiesText);
  properties.delete(MessageConst.TIMER_DELIVER_MS);
  properties.delete(MessageConst.TIMER_DELAY_SEC);
  properties.delete(MessageConst.TIMER_DELAY_MS);
  properties.set(MessageConst.DELAY, String(level));
  properties.set(MessageConst.REAL_TOPIC, message.topic);
  properties.set(MessageConst.REAL_QID, String(message.queueId));
  return {
    ...message,
    topic: TopicNames.RMQ_SYS_SCHEDULE_TOPIC,
    queueId: level - 1,
    propertiesText: encodeProperties(properties),
  };
}

/**
 * The due message as its real topic takes it, or a sentence that says why none can. Its stored
 * properties are those that it has, DELAY too, as in Apache (which takes them away in memory only);
 * `body` is a view of the record's.
 */
export function messageTimeUp(
  message: MessageExt,
): MessageExtBrokerInner | string {
  const { propertiesText } = message;
  const topic = findProperty(propertiesText, MessageConst.REAL_TOPIC);
  const queueId = findProperty(propertiesText, MessageConst.REAL_QID);
  if (topic === undefined || queueId === undefined) {
    return "it has no REAL_TOPIC and REAL_QID";
  }
  if (!/^\d{1,9}$/.test(queueId)) return `its REAL_QID is ${queueId}`;
  if (topic === TopicNames.RMQ_SYS_TRANS_HALF_TOPIC) {
    return "its real topic is that of half messages";
  }
  const tags = findProperty(propertiesText, MessageConst.TAGS);
  return {
    topic,
    queueId: Number(queueId),
    flag: message.flag,
    sysFlag: message.sysFlag,
    body: message.body,
    bornTimestamp: message.bornTimestamp,
    bornHost: message.bornHost,
    storeHost: message.storeHost,
    reconsumeTimes: message.reconsumeTimes,
    preparedTransactionOffset: 0,
    propertiesText,
    tagsCode: tags === undefined ? 0 : javaHashCode(tags),
    waitStoreMsgOk: false,
  };
}
