/** What a round of checks does with one half message (reference 12). Pure. */
import type { MessageExt } from "../../model/message_ext.ts";
import { findProperty, MessageConst } from "../../model/message_properties.ts";

/** Keys of broker.conf that decide. */
export interface HalfDecisionOptions {
  /** Milliseconds that a producer has before it is asked. */
  readonly transactionTimeOut: number;
  /** Checks of one message. */
  readonly transactionCheckMax: number;
}

/**
 * - `check`: the producer is asked, the count rises.
 * - `keep`: too young for that, or nobody is there to be asked.
 * - `discard`: it was checked often enough, or is as old as the log may be.
 */
export type HalfDecision = "check" | "keep" | "discard";

/** The decision at `nowMs`; `reservedMs` is the life of log files. */
export function decideHalf(
  half: MessageExt,
  nowMs: number,
  hasProducer: boolean,
  options: HalfDecisionOptions,
  reservedMs: number,
): HalfDecision {
  const ageMs = nowMs - half.bornTimestamp;
  if (checkTimesOf(half) >= options.transactionCheckMax || ageMs > reservedMs) {
    return "discard";
  }
  // A clock that was set back must not keep it for ever.
  const isYoung = ageMs >= 0 &&
    ageMs <= immunityMsOf(half, options.transactionTimeOut);
  return isYoung || !hasProducer ? "keep" : "check";
}

/** How often the producer was asked. */
export function checkTimesOf({ propertiesText }: MessageExt): number {
  const text = findProperty(
    propertiesText,
    MessageConst.TRANSACTION_CHECK_TIMES,
  );
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** True when a producer comes too late by itself: it asked for an earlier first check. */
export function isBeyondImmunity(
  half: MessageExt,
  nowMs: number,
  transactionTimeOut: number,
): boolean {
  return customImmunityOf(half) !== undefined &&
    nowMs - half.bornTimestamp > immunityMsOf(half, transactionTimeOut);
}

/** Milliseconds; a value that is no number counts as none. */
function immunityMsOf(half: MessageExt, transactionTimeOut: number): number {
  const seconds = Number(customImmunityOf(half));
  return Number.isInteger(seconds) && seconds >= 0
    ? Math.max(seconds * 1_000, transactionTimeOut)
    : transactionTimeOut;
}

function customImmunityOf({ propertiesText }: MessageExt): string | undefined {
  return findProperty(
    propertiesText,
    MessageConst.CHECK_IMMUNITY_TIME_IN_SECONDS,
  );
}
