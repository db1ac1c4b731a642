/** GET_TIMER_CHECK_POINT (60) and GET_TIMER_METRICS (61), which slaves of 5.x copy; reference 8.3. */
import { createResponse } from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import {
  encodeTimerCheckpoint,
  type TimerCheckpoint,
} from "../timer/timer_checkpoint.ts";
import { bodyResponse, textResponse } from "./admin_response.ts";

/** What the processors work on. */
export interface TimerAdminDeps {
  readonly schedule: {
    readonly timers: { checkpoint(): TimerCheckpoint };
  };
  readonly timerMetrics: { encode(): string };
  readonly options: () => { readonly timerWheelEnable: boolean };
}

/** Processors by request code. Without timers they answer as Apache's master: its slaves go on. */
export function timerAdminProcessors(deps: TimerAdminDeps): ProcessorTable {
  const { options, schedule, timerMetrics } = deps;
  const unlessOff = (
    what: string,
    processor: RequestProcessor,
  ): RequestProcessor =>
  (...args) =>
    options().timerWheelEnable
      ? processor(...args)
      : createResponse(ResponseCode.SYSTEM_ERROR, `The ${what} is null`);
  return new Map<number, RequestProcessor>([
    [
      RequestCode.GET_TIMER_CHECK_POINT,
      unlessOff(
        "checkpoint",
        () => bodyResponse(encodeTimerCheckpoint(schedule.timers.checkpoint())),
      ),
    ],
    [
      RequestCode.GET_TIMER_METRICS,
      unlessOff(
        "timer message store",
        () => textResponse(timerMetrics.encode()),
      ),
    ],
  ]);
}
