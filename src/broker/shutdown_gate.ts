/**
 * ShutdownGate: refuses new messages and pulls while the broker stops.
 *
 * Offsets and client codes are answered to the end: an older client takes any
 * error to a query of its offset for "no offset", and would skip its backlog.
 */
import {
  createResponse,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { RequestProcessor } from "../remoting/request_processor.ts";

/** From 5.3.2 on clients understand GO_AWAY (reference 1.4). */
const GO_AWAY_ABOVE_VERSION = 475;

/** Open until `close`. */
export class ShutdownGate {
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** `processor` while the gate is open. */
  wrap(processor: RequestProcessor): RequestProcessor {
    return (context, request) =>
      this.#isClosed ? refusal(request) : processor(context, request);
  }
}

function refusal(request: RemotingCommand): RemotingCommand {
  return request.version > GO_AWAY_ABOVE_VERSION
    ? createResponse(
      ResponseCode.GO_AWAY,
      "please go away: the broker is shutting down",
    )
    : createResponse(
      ResponseCode.SERVICE_NOT_AVAILABLE,
      "service not available now: the broker is shutting down",
    );
}
