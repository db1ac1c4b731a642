/**
 * ExtraInfo: the handle of a popped message, property POP_CK, and what a POP answer says of its
 * messages (reference 2.8; Apache's ExtraInfoUtil).
 *
 * Layout, eight fields joined by one blank: startOffset popTime invisibleTime reviveQid topicType
 * brokerName queueId queueOffset. Clients before 5.x had seven.
 */
import { shown } from "../../base/shown.ts";
import { parseLong } from "../../protocol/header/field_reader.ts";
import { topicTypeOf } from "./pop_names.ts";

/** A handle. */
export interface ExtraInfo {
  /** Of the check point. */
  readonly startOffset: number;
  readonly popTime: number;
  /** Milliseconds. */
  readonly invisibleTime: number;
  /** 999: popped in order. */
  readonly reviveQueueId: number;
  readonly topicType: string;
  readonly brokerName: string;
}

const FIELDS_MIN = 6;
const EXTRA_INFO_LENGTH_MAX = 1_024;

/** The handle of `text`, or the sentence that says why it is none. */
export function parseExtraInfo(text: string): ExtraInfo | string {
  const fields = text.length > EXTRA_INFO_LENGTH_MAX ? [] : text.split(" ");
  if (fields.length < FIELDS_MIN) {
    return `extraInfo is ${
      shown(text, 64)
    }, and must be startOffset popTime invisibleTime reviveQid topicType brokerName queueId queueOffset`;
  }
  const numbers = fields.slice(0, 4).map(parseLong);
  const wrong = numbers.findIndex((it) => !(it >= 0));
  if (wrong >= 0) {
    const name =
      ["startOffset", "popTime", "invisibleTime", "reviveQid"][wrong];
    return `${name} of extraInfo is ${
      shown(fields[wrong]!, 32)
    }, and must be 0 or above`;
  }
  const [startOffset, popTime, invisibleTime, reviveQueueId] = numbers;
  return {
    startOffset: startOffset!,
    popTime: popTime!,
    invisibleTime: invisibleTime!,
    reviveQueueId: reviveQueueId!,
    topicType: fields[4]!,
    brokerName: fields[5]!,
  };
}

/** The handle of a message of `topic`. */
export function encodeExtraInfo(
  info: Omit<ExtraInfo, "topicType">,
  topic: string,
  queueId: number,
  queueOffset: number,
): string {
  const { brokerName, invisibleTime, popTime, reviveQueueId, startOffset } =
    info;
  return [
    startOffset,
    popTime,
    invisibleTime,
    reviveQueueId,
    topicTypeOf(topic),
    brokerName,
    queueId,
    queueOffset,
  ].join(" ");
}

/** `topicType queueId startOffset`. */
export function startOffsetInfo(
  topic: string,
  queueId: number,
  startOffset: number,
): string {
  return `${topicTypeOf(topic)} ${queueId} ${startOffset}`;
}

/** `topicType queueId off,off,…`. */
export function msgOffsetInfo(
  topic: string,
  queueId: number,
  offsets: readonly number[],
): string {
  return `${topicTypeOf(topic)} ${queueId} ${offsets.join(",")}`;
}

/** How often each message was consumed before, and the least of it for older clients. */
export function orderCountInfo(
  topic: string,
  queueId: number,
  counts: ReadonlyMap<number, number>,
  leastCount: number,
): string {
  const type = topicTypeOf(topic);
  return [
    ...[...counts].map(([offset, count]) =>
      `${type} qo${queueId}%${offset} ${count}`
    ),
    `${type} ${queueId} ${leastCount}`,
  ].join(";");
}
