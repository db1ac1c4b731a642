/** TimerSend: a send with one of the TIMER_ properties, on its way into rmq_sys_wheel_timer. */
import { encodeRecallHandle } from "../../model/recall_message_handle.ts";
import type { MessageExtBrokerInner } from "../../model/message_ext.ts";
import { isRetryTopic } from "../../model/topic_names.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { SendRefusal } from "../send_unsupported.ts";
import {
  timerDue,
  type TimerOptions,
  toTimerMessage,
} from "./timer_message.ts";

/** A message that waits. */
export interface TimedSend {
  readonly message: MessageExtBrokerInner;
  /** Of the answer; null for a topic of retries, as in Apache. */
  readonly recallHandle: string | null;
  /** From its birth to its time. */
  readonly waitMs: number;
}

/** Keys of broker.conf that decide. */
export interface TimerSendOptions extends TimerOptions {
  readonly brokerName: string;
}

/** What becomes of `message`; undefined when its time has come. */
export function timedSend(
  message: MessageExtBrokerInner,
  uniqKey: string,
  nowMs: number,
  options: TimerSendOptions,
): TimedSend | SendRefusal | undefined {
  const { timerWheelEnable } = options;
  if (!timerWheelEnable) {
    return {
      code: ResponseCode.SYSTEM_ERROR,
      remark:
        `accurate timer message is not enabled, timerWheelEnable is ${timerWheelEnable}`,
    };
  }
  const { topic } = message;
  const dueMs = timerDue(message.propertiesText, nowMs, options);
  if (dueMs === undefined) return undefined;
  const timed = typeof dueMs === "string"
    ? dueMs
    : toTimerMessage(message, dueMs);
  if (typeof timed === "string" || typeof dueMs === "string") {
    return { code: ResponseCode.MESSAGE_ILLEGAL, remark: String(timed) };
  }
  const { brokerName } = options;
  return {
    message: timed,
    waitMs: dueMs - message.bornTimestamp,
    recallHandle: isRetryTopic(topic) ? null : encodeRecallHandle({
      topic,
      brokerName,
      timestampMs: dueMs,
      uniqKey,
    }),
  };
}
