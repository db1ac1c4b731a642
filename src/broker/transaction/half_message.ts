/** What a half message is made of, and what becomes of it (reference 12). Pure. */
import { javaHashCode } from "../../base/java_hash.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../model/message_ext.ts";
import {
  decodeProperties,
  encodeProperties,
  findProperty,
  MessageConst,
} from "../../model/message_properties.ts";
import { MessageRecordEncoder } from "../../model/message_record_encoder.ts";
import { MessageSysFlag } from "../../model/message_sys_flag.ts";
import type { SocketAddress } from "../../model/socket_address.ts";
import { TopicNames } from "../../model/topic_names.ts";

/** The queue of both topics. */
export const TRANSACTION_QUEUE_ID = 0;
/** Tag of op messages: the half messages they name are to be left alone. */
const REMOVE_TAG = "d";
const OFFSET_SEPARATOR = ",";
/** Ours, of op messages for what was put aside; Apache's brokers ignore it. */
const GIVEN_UP = "POCKETMQ_GIVEN_UP";
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/** The message as it waits for the end of its transaction. */
export function halfMessageOf(
  message: MessageExtBrokerInner,
  uniqKey: string,
): MessageExtBrokerInner {
  return {
    ...message,
    topic: TopicNames.RMQ_SYS_TRANS_HALF_TOPIC,
    queueId: TRANSACTION_QUEUE_ID,
    sysFlag: message.sysFlag & ~MessageSysFlag.TRANSACTION_MASK,
    propertiesText: withProperties(message.propertiesText, {
      [MessageConst.TRANSACTION_ID]: uniqKey,
      [MessageConst.REAL_TOPIC]: message.topic,
      [MessageConst.REAL_QID]: String(message.queueId),
    }),
  };
}

/** Where a half message belongs; undefined for one that does not say it. */
export interface RealTarget {
  readonly topic: string;
  readonly queueId: number;
  readonly producerGroup: string;
}

/** Reads it from the properties. */
export function realTargetOf({ propertiesText }: MessageExt):
  | RealTarget
  | undefined {
  const topic = findProperty(propertiesText, MessageConst.REAL_TOPIC);
  const queueId = findProperty(propertiesText, MessageConst.REAL_QID);
  const producerGroup = findProperty(propertiesText, MessageConst.PGROUP);
  return topic === undefined || producerGroup === undefined ||
      queueId === undefined || !/^\d{1,9}$/.test(queueId)
    ? undefined
    : { topic, queueId: Number(queueId), producerGroup };
}

/** The queue offset at which the half message was stored first. */
export function originalOffsetOf(half: MessageExt): number {
  const text = findProperty(
    half.propertiesText,
    MessageConst.TRAN_PREPARED_QUEUE_OFFSET,
  );
  return text !== undefined && /^\d{1,15}$/.test(text)
    ? Number(text)
    : half.queueOffset;
}

/** The message that consumers get. Its properties stay as they are, as Apache's do. */
export function finalMessageOf(
  half: MessageExt,
  { topic, queueId }: RealTarget,
): MessageExtBrokerInner {
  return {
    ...innerOf(half),
    topic,
    queueId,
    sysFlag: half.sysFlag & ~MessageSysFlag.TRANSACTION_MASK |
      MessageSysFlag.TRANSACTION_COMMIT_TYPE,
    preparedTransactionOffset: half.phyOffset,
  };
}

/** A copy at the end of the half queue, with its count of checks. */
export function copiedHalfOf(
  half: MessageExt,
  checkTimes: number,
): MessageExtBrokerInner {
  return {
    ...innerOf(half),
    propertiesText: withProperties(half.propertiesText, {
      [MessageConst.TRAN_PREPARED_QUEUE_OFFSET]: String(
        originalOffsetOf(half),
      ),
      [MessageConst.TRANSACTION_CHECK_TIMES]: String(checkTimes),
    }),
  };
}

/** A half message that nobody ended, on its way to where operators find it. */
export function discardedHalfOf(half: MessageExt): MessageExtBrokerInner {
  return {
    ...innerOf(half),
    topic: TopicNames.RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
    queueId: TRANSACTION_QUEUE_ID,
  };
}

/** One found there, to be checked from the beginning. */
export function resumedHalfOf(discarded: MessageExt): MessageExtBrokerInner {
  const properties = decodeProperties(discarded.propertiesText);
  properties.set(MessageConst.TRANSACTION_CHECK_TIMES, "0");
  properties.delete(MessageConst.TRAN_PREPARED_QUEUE_OFFSET);
  return {
    ...innerOf(discarded),
    topic: TopicNames.RMQ_SYS_TRANS_HALF_TOPIC,
    queueId: TRANSACTION_QUEUE_ID,
    propertiesText: encodeProperties(properties),
  };
}

/**
 * The op message that settles a half message. One offset without a separator:
 * 4.9 reads nothing else, and 5.x reads that too.
 */
export function opMessageOf(
  original: number,
  uniqKey: string,
  host: SocketAddress,
  nowMs: number,
  isGivenUp: boolean,
): MessageExtBrokerInner {
  return {
    topic: TopicNames.RMQ_SYS_TRANS_OP_HALF_TOPIC,
    queueId: TRANSACTION_QUEUE_ID,
    flag: 0,
    sysFlag: 0,
    body: ENCODER.encode(String(original)),
    bornTimestamp: nowMs,
    bornHost: host,
    storeHost: host,
    reconsumeTimes: 0,
    preparedTransactionOffset: 0,
    propertiesText: encodeProperties([
      [MessageConst.TAGS, REMOVE_TAG],
      [MessageConst.UNIQ_KEY, uniqKey],
      ...(isGivenUp ? [[GIVEN_UP, "true"] as const] : []),
    ]),
    tagsCode: javaHashCode(REMOVE_TAG),
    waitStoreMsgOk: false,
  };
}

/** The half queue offsets that an op message names, of 4.9 and 5.x. */
export function opOffsetsOf({ body, propertiesText }: MessageExt): number[] {
  if (findProperty(propertiesText, MessageConst.TAGS) !== REMOVE_TAG) return [];
  return DECODER.decode(body).split(OFFSET_SEPARATOR)
    .filter((it) => /^\d{1,15}$/.test(it)).map(Number);
}

/** True for one that tells of half messages which nobody ended. */
export function isGivenUp({ propertiesText }: MessageExt): boolean {
  return findProperty(propertiesText, GIVEN_UP) === "true";
}

/** The record that a producer gets to look at: the half message with its real topic and queue. */
export function checkRecordOf(
  half: MessageExt,
  { topic, queueId }: RealTarget,
): Uint8Array {
  const encoder = new MessageRecordEncoder();
  const message = { ...innerOf(half), topic, queueId };
  const size = encoder.encode(
    0,
    message,
    half.flag,
    half.body,
    half.propertiesText,
  );
  encoder.stamp(0, half.queueOffset, half.phyOffset, half.storeTimestamp);
  return encoder.bytes.slice(0, size);
}

function innerOf(half: MessageExt): MessageExtBrokerInner {
  const tags = findProperty(half.propertiesText, MessageConst.TAGS);
  return {
    topic: half.topic,
    queueId: half.queueId,
    flag: half.flag,
    sysFlag: half.sysFlag,
    body: half.body,
    bornTimestamp: half.bornTimestamp,
    bornHost: half.bornHost,
    storeHost: half.storeHost,
    reconsumeTimes: half.reconsumeTimes,
    preparedTransactionOffset: 0,
    propertiesText: half.propertiesText,
    tagsCode: tags === undefined ? 0 : javaHashCode(tags),
    waitStoreMsgOk: false,
  };
}

function withProperties(
  text: string,
  changes: Readonly<Record<string, string>>,
): string {
  const properties = decodeProperties(text);
  for (const [name, value] of Object.entries(changes)) {
    properties.set(name, value);
  }
  return encodeProperties(properties);
}
