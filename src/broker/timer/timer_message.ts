/** TimerMessage: a message on its way into rmq_sys_wheel_timer, and out of it (reference 4.10). */
import { javaHashCode } from "../../base/java_hash.ts";
import { shown } from "../../base/shown.ts";
import { utf8SizeOf } from "../../base/utf8.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../model/message_ext.ts";
import {
  decodeProperties,
  encodeProperties,
  findProperty,
  MessageConst,
  PROPERTIES_SIZE_MAX,
} from "../../model/message_properties.ts";
import { TopicNames } from "../../model/topic_names.ts";
import { parseLong, TIMER_QUEUE_ID } from "../../store/timer_time.ts";

/** Keys of broker.conf that a timer message is held against. */
export interface TimerOptions {
  readonly timerWheelEnable: boolean;
  /** Seconds. */
  readonly timerMaxDelaySec: number;
}

/** TIMER_ENQUEUE_MS of what never waited: Java's Long.MAX_VALUE. */
const NEVER_ENQUEUED = "9223372036854775807";
/** Bytes of the properties that are added until the message is delivered. */
const ADDED_PROPERTIES_MAX = 200;

/**
 * When the message is to be delivered, wall clock; undefined: at once. A string is one sentence
 * that says why it cannot be. `propertiesText` has one of the three properties.
 */
export function timerDue(
  propertiesText: string,
  nowMs: number,
  { timerMaxDelaySec }: TimerOptions,
): number | undefined | string {
  const find = (name: string) => findProperty(propertiesText, name);
  // It comes from here: who resends what was received means it for now.
  if (find(MessageConst.TIMER_OUT_MS) !== undefined) return undefined;
  const maxMs = timerMaxDelaySec * 1_000;
  for (const [name, unitMs] of DELAYS) {
    const text = find(name);
    if (text === undefined) continue;
    const delayMs = parseLong(text) * unitMs;
    if (delayMs >= 0 && delayMs <= maxMs) {
      return delayMs === 0 ? undefined : nowMs + delayMs;
    }
    return `property ${name} is ${shown(text)}, and must be a whole number ` +
      `from 0 to ${maxMs / unitMs} (timerMaxDelaySec=${timerMaxDelaySec})`;
  }
  const text = find(MessageConst.TIMER_DELIVER_MS) ?? "";
  const deliverMs = parseLong(text);
  if (deliverMs >= 0 && deliverMs - nowMs <= maxMs) {
    return deliverMs > nowMs ? deliverMs : undefined;
  }
  return `property ${MessageConst.TIMER_DELIVER_MS} is ${shown(text)}, and ` +
    `must be a time in milliseconds since 1970, up to ${nowMs + maxMs} ` +
    `(timerMaxDelaySec=${timerMaxDelaySec})`;
}

/** In the order in which Apache looks for them; the factor makes milliseconds. */
const DELAYS = [
  [MessageConst.TIMER_DELAY_SEC, 1_000],
  [MessageConst.TIMER_DELAY_MS, 1],
] as const;

/** The message as its topic takes it, or one sentence that says why not. */
export function toTimerMessage(
  message: MessageExtBrokerInner,
  dueMs: number,
): MessageExtBrokerInner | string {
  const properties = decodeProperties(message.propertiesText);
  // Less one, as Apache does with a precision of 1 ms.
  properties.set(MessageConst.TIMER_OUT_MS, String(dueMs - 1));
  properties.set(MessageConst.REAL_TOPIC, message.topic);
  properties.set(MessageConst.REAL_QID, String(message.queueId));
  const propertiesText = encodeProperties(properties);
  if (
    propertiesText.length > (PROPERTIES_SIZE_MAX - ADDED_PROPERTIES_MAX) / 3 &&
    utf8SizeOf(propertiesText) > PROPERTIES_SIZE_MAX - ADDED_PROPERTIES_MAX
  ) {
    return `the properties of a timer message may take ${
      PROPERTIES_SIZE_MAX - ADDED_PROPERTIES_MAX
    } bytes, with those that the broker adds`;
  }
  return {
    ...message,
    topic: TopicNames.TIMER_TOPIC,
    queueId: TIMER_QUEUE_ID,
    propertiesText,
  };
}

/**
 * The due message as its real topic takes it, or a sentence that says why none can. `body` is a
 * view of the record's.
 */
export function timerTimeUp(
  message: MessageExt,
  dueMs: number,
  nowMs: number,
): MessageExtBrokerInner | string {
  const properties = decodeProperties(message.propertiesText);
  const topic = properties.get(MessageConst.REAL_TOPIC);
  const queueId = properties.get(MessageConst.REAL_QID);
  if (topic === undefined || queueId === undefined) {
    return "it has no REAL_TOPIC and REAL_QID";
  }
  if (!/^\d{1,9}$/.test(queueId)) return `its REAL_QID is ${shown(queueId)}`;
  if (NEVER_REAL.has(topic)) return `its real topic is ${topic}`;
  stampTimes(properties, message, dueMs, nowMs);
  return {
    ...innerOf(message, properties),
    topic,
    queueId: Number(queueId),
  };
}

/** A copy at the end of the queue, before log files are deleted that hold the first one. */
export function rolledTimerMessage(
  message: MessageExt,
  dueMs: number,
  nowMs: number,
): MessageExtBrokerInner {
  const properties = decodeProperties(message.propertiesText);
  const times = parseLong(properties.get(MessageConst.TIMER_ROLL_TIMES));
  properties.set(
    MessageConst.TIMER_ROLL_TIMES,
    String(Number.isNaN(times) ? 1 : times + 1),
  );
  if (!properties.has(MessageConst.TIMER_DELIVER_MS)) {
    // A delay was relative to a time that the copy does not have.
    properties.set(MessageConst.TIMER_DELIVER_MS, String(dueMs));
  }
  stampTimes(properties, message, dueMs, nowMs);
  return {
    ...innerOf(message, properties),
    topic: TopicNames.TIMER_TOPIC,
    queueId: TIMER_QUEUE_ID,
  };
}

/** Under which a recall names a message, as Apache's buildDeleteKey. */
export function recallKeyOf(topic: string, uniqKey: string): string {
  return `${topic}+${uniqKey}`;
}

/** The key by which this message may be taken back; undefined: by none. */
export function ownRecallKey({ propertiesText }: MessageExt):
  | string
  | undefined {
  const topic = findProperty(propertiesText, MessageConst.REAL_TOPIC);
  const uniqKey = findProperty(propertiesText, MessageConst.UNIQ_KEY);
  return topic === undefined || uniqKey === undefined
    ? undefined
    : recallKeyOf(topic, uniqKey);
}

/** Nothing that waits in one of them may come out again as itself. */
const NEVER_REAL: ReadonlySet<string> = new Set([
  TopicNames.TIMER_TOPIC,
  TopicNames.RMQ_SYS_SCHEDULE_TOPIC,
  TopicNames.RMQ_SYS_TRANS_HALF_TOPIC,
]);

function stampTimes(
  properties: Map<string, string>,
  { storeTimestamp }: MessageExt,
  dueMs: number,
  nowMs: number,
): void {
  properties.set(
    MessageConst.TIMER_ENQUEUE_MS,
    storeTimestamp < dueMs ? String(storeTimestamp) : NEVER_ENQUEUED,
  );
  properties.set(MessageConst.TIMER_DEQUEUE_MS, String(nowMs));
}

function innerOf(
  message: MessageExt,
  properties: ReadonlyMap<string, string>,
): MessageExtBrokerInner {
  const tags = properties.get(MessageConst.TAGS);
  return {
    topic: message.topic,
    queueId: message.queueId,
    flag: message.flag,
    sysFlag: message.sysFlag,
    body: message.body,
    bornTimestamp: message.bornTimestamp,
    bornHost: message.bornHost,
    storeHost: message.storeHost,
    reconsumeTimes: message.reconsumeTimes,
    preparedTransactionOffset: 0,
    propertiesText: encodeProperties(properties),
    tagsCode: tags === undefined ? 0 : javaHashCode(tags),
    waitStoreMsgOk: false,
  };
}
