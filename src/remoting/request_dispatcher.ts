/** RequestDispatcher: finds the processor of a request and brings its answer back. */
import type { Clock } from "../io/clock.ts";
import {
  createResponse,
  isOneway,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { requestCodeName } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { LogLimiter } from "./log_limiter.ts";
import type { Outbox } from "./outbox.ts";
import type { RemotingCounters } from "./remoting_counters.ts";
import {
  errorMessage,
  type ExchangeOwner,
  RequestExchange,
} from "./request_exchange.ts";
import {
  HELD,
  type ProcessorTable,
  type RemotingConnection,
} from "./request_processor.ts";
import type { RpcOutcome, RpcResult } from "./rpc_stats.ts";

/** What dispatchers of one server or client share. */
export interface DispatchHost {
  readonly processors: ProcessorTable;
  readonly counters: RemotingCounters;
  readonly clock: Clock;
  readonly log: LogLimiter;
  /** True: new requests are refused with code 14. */
  readonly isStopping: boolean;
}

const NO_BODY = new Uint8Array(0);

/** The requests of one peer that are not answered yet. */
export class RequestDispatcher implements ExchangeOwner {
  readonly connection: RemotingConnection;
  readonly #host: DispatchHost;
  readonly #outbox: Outbox;
  readonly #onAnswered: () => void;
  /** What `dispatch` works on at this moment. */
  #current: RequestExchange | null = null;
  /** Kinds of answers that were given in this turn. */
  readonly #ofTurn: RpcOutcome[] = [];
  #inFlight = 0;
  #held = 0;

  constructor(
    connection: RemotingConnection,
    host: DispatchHost,
    outbox: Outbox,
    onAnswered: () => void,
  ) {
    this.connection = connection;
    this.#host = host;
    this.#outbox = outbox;
    this.#onAnswered = onAnswered;
  }

  /** Requests without answer, held ones included. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Requests whose processor returned HELD. */
  get held(): number {
    return this.#held;
  }

  /** `receivedMs` is wall clock, `arrivedMs` monotonic. */
  dispatch(
    request: RemotingCommand,
    receivedMs: number,
    arrivedMs: number,
  ): void {
    const { processors, counters, isStopping } = this.#host;
    const processor = processors.get(request.code);
    const stats = processor === undefined
      ? counters.unknown
      : counters.statsOf(request.code);
    const exchange = new RequestExchange(
      this,
      request,
      receivedMs,
      arrivedMs,
      stats,
    );
    this.#inFlight++;
    stats.received++;
    this.#current = exchange;
    if (processor === undefined || isStopping) {
      exchange.respond(refusal(request.code, isStopping));
    } else {
      try {
        const result = processor(exchange, request);
        if (result === HELD) this.#hold(exchange, request);
        else if (result instanceof Promise) {
          result.then(
            (response) => exchange.respond(response),
            (error) => exchange.fail(error),
          );
        } else exchange.respond(result);
      } catch (error) {
        exchange.fail(error);
      }
    }
    this.#current = null;
  }

  /** What came in one piece is dispatched, and its answers are written. */
  endTurn(arrivedMs: number): void {
    const outcomes = this.#ofTurn;
    if (outcomes.length === 0) return;
    const elapsedMs = this.#host.clock.monotonicMs() - arrivedMs;
    for (const it of outcomes) it.endTurn(elapsedMs);
    outcomes.length = 0;
  }

  answer(exchange: RequestExchange, response: RemotingCommand): void {
    this.#inFlight--;
    if (exchange.isHeld) {
      this.#held--;
      exchange.stats.held--;
    }
    const { isOpen } = this.connection;
    this.#count(
      exchange,
      response.code,
      exchange.isOneway
        ? "oneway"
        : isOpen
        ? "success"
        : "write_channel_failed",
    );
    if (!exchange.isOneway && isOpen) this.#send(response);
    this.#onAnswered();
  }

  #count(
    exchange: RequestExchange,
    responseCode: number,
    result: RpcResult,
  ): void {
    const { stats, isHeld, arrivedMs } = exchange;
    stats.answered++;
    const outcome = stats.outcomeOf(responseCode, isHeld, result);
    if (exchange !== this.#current) {
      return outcome.add(this.#host.clock.monotonicMs() - arrivedMs);
    }
    if (outcome.ofTurn++ === 0) this.#ofTurn.push(outcome);
  }

  failed(code: number, error: unknown): void {
    const { counters, log } = this.#host;
    counters.failedRequests++;
    const name = requestCodeName(code);
    log.warn(
      `failed-${code}`,
      `${name} of ${this.connection.remoteAddress} failed: ${
        errorMessage(error)
      }`,
      { error },
    );
  }

  #send(response: RemotingCommand): void {
    try {
      this.#outbox.send(response);
    } catch (error) {
      this.failed(response.code, error);
      response.code = ResponseCode.SYSTEM_ERROR;
      response.remark = errorMessage(error);
      response.extFields = {};
      response.body = NO_BODY;
      this.#outbox.send(response);
    }
  }

  #hold(exchange: RequestExchange, request: RemotingCommand): void {
    if (exchange.isAnswered) return;
    // Nobody waits for the answer to a oneway request: it is done.
    if (isOneway(request)) {
      return exchange.respond(createResponse(ResponseCode.SUCCESS));
    }
    exchange.isHeld = true;
    exchange.stats.held++;
    this.#held++;
  }
}

function refusal(code: number, isStopping: boolean): RemotingCommand {
  return isStopping
    ? createResponse(
      ResponseCode.SERVICE_NOT_AVAILABLE,
      "the server is shutting down",
    )
    : createResponse(
      ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
      `request code ${code} is not supported`,
    );
}
