/**
 * OrderInfo: the messages of one queue that were popped in order and are not all acknowledged;
 * pure. JSON as in Apache's consumerOrderInfo.json.
 */
import {
  arrayField,
  integerOf,
  intField,
  type JsonObject,
  mapField,
  objectOf,
  optionalTextField,
} from "../../protocol/body/json_fields.ts";

/** One batch of one queue. */
export interface OrderInfo {
  readonly popTime: number;
  /** Milliseconds. */
  readonly invisibleTime: number;
  /** Queue offsets, ascending. */
  readonly offsets: readonly number[];
  /** By queue offset: visible again then, where it was changed. */
  readonly nextVisibleTimes: ReadonlyMap<number, number>;
  /** By queue offset: how often it was popped before; never 0. */
  readonly consumedCounts: ReadonlyMap<number, number>;
  readonly lastConsumeTimestamp: number;
  /** Bit i: offsets[i] is acknowledged. */
  readonly commitBits: number;
  readonly attemptId: string | undefined;
}

/** The batch that was popped now, behind `before` of the same queue. */
export function nextOrderInfo(
  before: OrderInfo | undefined,
  popped: Pick<
    OrderInfo,
    "popTime" | "invisibleTime" | "offsets" | "attemptId"
  >,
): OrderInfo {
  return {
    ...popped,
    nextVisibleTimes: new Map(),
    consumedCounts: before === undefined
      ? new Map()
      : countsAfter(before, popped),
    lastConsumeTimestamp: popped.popTime,
    commitBits: 0,
  };
}

/** The repetition of a request, whose answer may be lost, counts as the same attempt. */
function countsAfter(
  before: OrderInfo,
  { attemptId, offsets }: Pick<OrderInfo, "offsets" | "attemptId">,
): ReadonlyMap<number, number> {
  if (before.attemptId !== undefined && before.attemptId === attemptId) {
    return before.consumedCounts;
  }
  const seen = new Set(before.offsets);
  return new Map(
    offsets.filter((it) => seen.has(it)).map((
      it,
    ) => [it, (before.consumedCounts.get(it) ?? 0) + 1]),
  );
}

/** Wall clock, milliseconds: until when the queue gives nothing more; 0 when it does. */
export function blockedUntil(info: OrderInfo, nowMs: number): number {
  let until = 0;
  info.offsets.forEach((offset, index) => {
    if ((info.commitBits & (1 << index)) !== 0) return;
    const visible = info.nextVisibleTimes.get(offset) ??
      info.popTime + info.invisibleTime;
    if (visible > nowMs) until = Math.max(until, visible);
  });
  return until;
}

/** Where the group stands once everything acknowledged is behind it. */
export function nextOffsetOf({ commitBits, offsets }: OrderInfo): number {
  const open = offsets.findIndex((_, index) =>
    (commitBits & (1 << index)) === 0
  );
  return open < 0 ? offsets.at(-1)! + 1 : offsets[open]!;
}

/** Apache's names: `o` is the first offset and the distances of the others to it. */
export function orderInfoToJson(info: OrderInfo) {
  const [first, ...others] = info.offsets;
  return {
    ...(info.attemptId === undefined ? {} : { a: info.attemptId }),
    cm: info.commitBits >>> 0,
    i: info.invisibleTime,
    l: info.lastConsumeTimestamp,
    o: first === undefined ? [] : [first, ...others.map((it) => it - first)],
    oc: info.consumedCounts,
    ot: info.nextVisibleTimes,
    popTime: info.popTime,
  };
}

/** Reads one; throws `BodyError`. */
export function orderInfoFromJson(value: unknown): OrderInfo {
  const object = objectOf(value, "OrderInfo");
  const [first, ...others] = arrayField(object, "o").map((it) =>
    integerOf(it, "o")
  );
  return {
    popTime: intField(object, "popTime", 0),
    invisibleTime: intField(object, "i", 0),
    offsets: first === undefined
      ? []
      : [first, ...others.map((it) => first + it)],
    nextVisibleTimes: integerMap(object, "ot"),
    consumedCounts: integerMap(object, "oc"),
    lastConsumeTimestamp: intField(object, "l", 0),
    commitBits: intField(object, "cm", 0) | 0,
    attemptId: optionalTextField(object, "a"),
  };
}

function integerMap(object: JsonObject, name: string): Map<number, number> {
  if (object[name] === undefined || object[name] === null) return new Map();
  const read = mapField(object, name, (it) => integerOf(it, name));
  return new Map([...read].map(([key, it]) => [Number(key), it]));
}
