/**
 * PopCheckPoint and AckMsg: the records of the revive log (reference 2.8), the JSON of Apache
 * 5.5.0, so that a store handed over either way goes on.
 */
import {
  arrayField,
  decodeJson,
  encodeJson,
  integerOf,
  intField,
  type JsonObject,
  objectOf,
  optionalTextField,
  textField,
} from "../../protocol/body/json_fields.ts";
import { POP_MESSAGES_MAX } from "./pop_names.ts";

/** Which messages one POP took from one queue. */
export interface PopCheckPoint {
  /** The retry topic, for messages of one. */
  readonly topic: string;
  readonly group: string;
  readonly queueId: number;
  readonly startOffset: number;
  /** Wall clock, milliseconds. */
  readonly popTime: number;
  /** Milliseconds. */
  readonly invisibleTime: number;
  readonly brokerName: string;
  /** Queue offsets, ascending. */
  readonly offsets: readonly number[];
  /** Bit i: offsets[i] is acknowledged. */
  readonly bitMap: number;
  readonly rePutTimes: number;
}

/** Acknowledged messages of a check point. */
export interface AckMsg {
  readonly topic: string;
  readonly group: string;
  readonly queueId: number;
  readonly startOffset: number;
  readonly popTime: number;
  readonly brokerName: string;
  readonly offsets: readonly number[];
}

/** What check point and acknowledgement have in common. */
export type CheckPointIdentity = Pick<
  PopCheckPoint,
  "topic" | "group" | "queueId" | "startOffset" | "popTime" | "brokerName"
>;

/** The same text for a check point and its acknowledgements. */
export function keyOfCheckPoint(
  { topic, group, queueId, startOffset, popTime, brokerName }:
    CheckPointIdentity,
): string {
  return `${topic}@${group}@${queueId}@${startOffset}@${popTime}@${brokerName}`;
}

/** The body of a record with tag `ck`. */
export function encodePopCheckPoint(
  point: PopCheckPoint,
  reviveOffset: number,
): Uint8Array {
  return encodeJson({
    bm: point.bitMap,
    bn: point.brokerName,
    c: point.group,
    d: point.offsets.map((it) => it - point.startOffset),
    it: point.invisibleTime,
    n: point.offsets.length,
    pt: point.popTime,
    q: point.queueId,
    ro: reviveOffset,
    ...(point.rePutTimes > 0 ? { rp: String(point.rePutTimes) } : {}),
    so: point.startOffset,
    t: point.topic,
  });
}

/** Reads a body with tag `ck`; throws `BodyError`. */
export function decodePopCheckPoint(bytes: Uint8Array): PopCheckPoint {
  const name = "PopCheckPoint";
  const object = objectOf(decodeJson(bytes, name), name);
  const startOffset = intField(object, "so", 0);
  return {
    ...identityOf(object, startOffset),
    invisibleTime: intField(object, "it", 0),
    offsets: offsetsOf(object, startOffset),
    bitMap: intField(object, "bm", 0) | 0,
    rePutTimes: Number(optionalTextField(object, "rp") ?? 0) || 0,
  };
}

/** Check points of older brokers have no differences, only a number. */
function offsetsOf(object: JsonObject, startOffset: number): number[] {
  const differences = arrayField(object, "d").slice(0, POP_MESSAGES_MAX);
  if (differences.length > 0) {
    return differences.map((it) => startOffset + integerOf(it, "d"));
  }
  const count = Math.min(intField(object, "n", 0), POP_MESSAGES_MAX);
  return Array.from({ length: Math.max(0, count) }, (_, i) => startOffset + i);
}

/** The body of a record with tag `ack` for one offset, `bAck` for several. */
export function encodeAckMsg(ack: AckMsg): Uint8Array {
  const isBatch = ack.offsets.length !== 1;
  return encodeJson({
    ao: isBatch ? -1 : ack.offsets[0]!,
    ...(isBatch ? { aol: [...ack.offsets] } : {}),
    bn: ack.brokerName,
    c: ack.group,
    pt: ack.popTime,
    q: ack.queueId,
    so: ack.startOffset,
    t: ack.topic,
  });
}

/** Reads a body with tag `ack` or `bAck`, also with the long names of older brokers; throws `BodyError`. */
export function decodeAckMsg(bytes: Uint8Array, isBatch: boolean): AckMsg {
  const name = "AckMsg";
  const object = objectOf(decodeJson(bytes, name), name);
  const offsets = isBatch
    ? [...arrayField(object, "aol"), ...arrayField(object, "ackOffsetList")]
    : [object["ao"] ?? object["ackOffset"]];
  return {
    ...identityOf(
      object,
      intField(object, "so", intField(object, "startOffset", 0)),
    ),
    offsets: offsets.map((it) => integerOf(it, "ao")),
  };
}

function identityOf(
  object: JsonObject,
  startOffset: number,
): CheckPointIdentity {
  return {
    topic: textField(object, "t", textField(object, "topic", "")),
    group: textField(object, "c", textField(object, "consumerGroup", "")),
    queueId: intField(object, "q", intField(object, "queueId", 0)),
    startOffset,
    popTime: intField(object, "pt", intField(object, "popTime", 0)),
    brokerName: textField(object, "bn", textField(object, "brokerName", "")),
  };
}
