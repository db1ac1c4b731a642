/**
 * TimerTime: when a timer message is due, as its record says it (reference 4.10). The unit of its
 * ConsumeQueue has the hash of a tag, as Apache's.
 *
 * Apache floors the due time to timerPrecisionMs, 1000 by default, writes that into TIMER_OUT_MS
 * and delivers one precision later. Here the precision is 1 ms: TIMER_OUT_MS is the due time less
 * one, which Apache takes as it takes its own.
 */
import { findProperty, MessageConst } from "../model/message_properties.ts";

export const TIMER_TOPIC = "rmq_sys_wheel_timer";
export const TIMER_QUEUE_ID = 0;
/** timerPrecisionMs of an Apache broker that does not say otherwise. */
const APACHE_PRECISION_MS = 1_000;
/** Later than any clock. */
const DUE_MAX_MS = 2 ** 51;

/** When, and whether it takes another one back. */
export interface TimerTime {
  readonly dueMs: number;
  readonly isRecall: boolean;
}

/** Java's Long.parseLong for what is safe; NaN for whatever else. */
export function parseLong(text: string | undefined): number {
  if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return NaN;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : NaN;
}

/** When the record with these properties is due; undefined without a time. */
export function timerTimeOf(
  propertiesText: string,
  storeTimestamp: number,
): TimerTime | undefined {
  const text = findProperty(propertiesText, MessageConst.TIMER_OUT_MS);
  const outMs = parseLong(text);
  if (!(outMs >= 0 && outMs < DUE_MAX_MS)) return undefined;
  return {
    dueMs: exactDueMs(propertiesText, storeTimestamp, outMs),
    isRecall: propertiesText.includes(
      `${MessageConst.TIMER_DEL_UNIQKEY}\u0001`,
    ),
  };
}

/** The due time that was floored to `outMs`, as well as the properties tell it. */
function exactDueMs(
  propertiesText: string,
  storeTimestamp: number,
  outMs: number,
): number {
  const isFloorOf = (dueMs: number) =>
    dueMs > outMs && dueMs <= outMs + APACHE_PRECISION_MS;
  const asked = (name: string) => parseLong(findProperty(propertiesText, name));
  const deliverMs = asked(MessageConst.TIMER_DELIVER_MS);
  if (isFloorOf(deliverMs)) return deliverMs;
  const delayMs = asked(MessageConst.TIMER_DELAY_SEC) * 1_000;
  for (const ms of [delayMs, asked(MessageConst.TIMER_DELAY_MS)]) {
    if (isFloorOf(storeTimestamp + ms)) return storeTimestamp + ms;
  }
  return outMs % APACHE_PRECISION_MS === 0
    ? outMs + APACHE_PRECISION_MS
    : outMs + 1;
}
