/** BatchAckMessageRequestBody: what BATCH_ACK_MESSAGE (200151) acknowledges (reference 2.8). */
import {
  arrayField,
  BodyError,
  decodeJson,
  encodeJson,
  integerOf,
  intField,
  type JsonObject,
  objectOf,
  textField,
} from "./json_fields.ts";

/** Messages of one check point. */
export interface BatchAck {
  readonly consumerGroup: string;
  /** Never the retry topic. */
  readonly topic: string;
  /** 0: the topic, 1 and 2: its retry topic of that version. */
  readonly retry: string;
  readonly startOffset: number;
  readonly queueId: number;
  readonly reviveQueueId: number;
  readonly popTime: number;
  readonly invisibleTime: number;
  /** Acknowledged queue offsets, counted from `startOffset`. */
  readonly indexes: readonly number[];
}

/** The body. */
export interface BatchAckMessageRequestBody {
  readonly brokerName: string;
  readonly acks: readonly BatchAck[];
}

/** Bytes of a bit set: more than any check point reaches with filters. */
const BIT_SET_BYTES_MAX = 65_536;

/** Reads the body; throws `BodyError`. */
export function decodeBatchAckMessageRequestBody(
  bytes: Uint8Array,
): BatchAckMessageRequestBody {
  const name = "BatchAckMessageRequestBody";
  const object = objectOf(decodeJson(bytes, name), name);
  return {
    brokerName: textField(object, "brokerName", ""),
    acks: arrayField(object, "acks").map(batchAckOf),
  };
}

/** The body. */
export function encodeBatchAckMessageRequestBody(
  { acks, brokerName }: BatchAckMessageRequestBody,
): Uint8Array {
  return encodeJson({
    acks: acks.map((it) => ({
      b: base64OfBits(it.indexes),
      c: it.consumerGroup,
      it: it.invisibleTime,
      pt: it.popTime,
      q: it.queueId,
      r: it.retry,
      rq: it.reviveQueueId,
      so: it.startOffset,
      t: it.topic,
    })),
    brokerName,
  });
}

/** Older clients write the names in full. */
function batchAckOf(value: unknown): BatchAck {
  const object = objectOf(value, "BatchAck");
  const text = (short: string, long: string) =>
    textField(object, short, textField(object, long, ""));
  const integer = (short: string, long: string) =>
    intField(object, short, intField(object, long, 0));
  return {
    consumerGroup: text("c", "consumerGroup"),
    topic: text("t", "topic"),
    retry: text("r", "retry"),
    startOffset: integer("so", "startOffset"),
    queueId: integer("q", "queueId"),
    reviveQueueId: integer("rq", "reviveQueueId"),
    popTime: integer("pt", "popTime"),
    invisibleTime: integer("it", "invisibleTime"),
    indexes: indexesOf(object),
  };
}

/** Java's BitSet.toByteArray as base64, or as an array of bytes. */
function indexesOf(object: JsonObject): number[] {
  const value = object["b"] ?? object["bitSet"];
  const bytes = typeof value === "string"
    ? bytesOfBase64(value)
    : arrayField({ b: value }, "b").map((it) => integerOf(it, "b") & 0xff);
  if (bytes.length > BIT_SET_BYTES_MAX) {
    throw new BodyError(
      `Cannot read b: it has ${bytes.length} bytes, allowed are ${BIT_SET_BYTES_MAX}`,
    );
  }
  const indexes: number[] = [];
  bytes.forEach((byte, at) => {
    for (let bit = 0; bit < 8; bit++) {
      if ((byte & (1 << bit)) !== 0) indexes.push(at * 8 + bit);
    }
  });
  return indexes;
}

function bytesOfBase64(text: string): number[] {
  try {
    return [...atob(text)].map((it) => it.charCodeAt(0));
  } catch {
    throw new BodyError("Cannot read b: it is no base64");
  }
}

function base64OfBits(indexes: readonly number[]): string {
  const bytes: number[] = [];
  for (const index of indexes) {
    const at = index >> 3;
    while (bytes.length <= at) bytes.push(0);
    bytes[at]! |= 1 << (index & 7);
  }
  return btoa(String.fromCharCode(...bytes));
}
