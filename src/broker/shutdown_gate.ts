/**
 * ShutdownGate: refuses new messages and pulls while the broker stops, and besides them whatever
 * changes a table while it holds still for a change of its role.
 *
 * While it stops, offsets and client codes are answered to the end. Queries of offsets are
 * always: an older client takes any error to one for "no offset", and would skip its backlog.
 */
import {
  createResponse,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { RequestProcessor } from "../remoting/request_processor.ts";

/** From 5.3.2 on clients understand GO_AWAY (reference 1.4). */
const GO_AWAY_ABOVE_VERSION = 475;

/** Open until `close`, but for the time between `hold` and `release`. */
export class ShutdownGate {
  #isClosed = false;
  #isHeld = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** False while nothing may change. */
  get isOpen(): boolean {
    return !this.#isClosed && !this.#isHeld;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** From now on nothing may change: slaves get a chance to have all of it. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Undoes `hold`. */
  release(): void {
    this.#isHeld = false;
  }

  /** `processor` while the gate is open. */
  wrap(processor: RequestProcessor): RequestProcessor {
    return (context, request) =>
      this.#isClosed
        ? refusal(request)
        : this.#isHeld
        ? heldRefusal()
        : processor(context, request);
  }

  /** `processor`, which changes a table, but for the time between `hold` and `release`. */
  wrapChange(processor: RequestProcessor): RequestProcessor {
    return (context, request) =>
      this.#isHeld ? heldRefusal() : processor(context, request);
  }
}

function heldRefusal(): RemotingCommand {
  return createResponse(
    ResponseCode.SERVICE_NOT_AVAILABLE,
    "service not available now: the role of this broker is being changed, try again",
  );
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
