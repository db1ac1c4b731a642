/** RequestExchange: one request of the peer on its way to an answer. */
import { shown } from "../base/shown.ts";
import {
  createResponse,
  isOneway,
  POCKETMQ_VERSION_ORDINAL,
  type RemotingCommand,
  RPC_TYPE_RESPONSE,
} from "../protocol/remoting_command.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type {
  RemotingConnection,
  RequestContext,
} from "./request_processor.ts";
import type { RpcStats } from "./rpc_stats.ts";

/** No peer gets back what it sent by the kilobyte, whatever a processor says. */
const REMARK_LENGTH_MAX = 1024;

/** Who sends what an exchange answers. */
export interface ExchangeOwner {
  readonly connection: RemotingConnection;
  /** Called once per exchange; a oneway request's response is not sent. */
  answer(exchange: RequestExchange, response: RemotingCommand): void;
  /** A processor threw; called before the answer. */
  failed(code: number, error: unknown): void;
}

/** The context of one request; answers once, with what the peer expects to see. */
export class RequestExchange implements RequestContext {
  /** Set when the processor returned HELD. */
  isHeld = false;
  readonly receivedMs: number;
  /** When the bytes came that completed the frame; monotonic. */
  readonly arrivedMs: number;
  readonly stats: RpcStats;
  readonly isOneway: boolean;
  readonly #owner: ExchangeOwner;
  readonly #code: number;
  readonly #opaque: number;
  readonly #serializeType: RemotingCommand["serializeType"];
  #isAnswered = false;

  constructor(
    owner: ExchangeOwner,
    request: RemotingCommand,
    receivedMs: number,
    arrivedMs: number,
    stats: RpcStats,
  ) {
    this.#owner = owner;
    this.receivedMs = receivedMs;
    this.arrivedMs = arrivedMs;
    this.stats = stats;
    this.#code = request.code;
    this.#opaque = request.opaque;
    this.#serializeType = request.serializeType;
    this.isOneway = isOneway(request);
  }

  get connection(): RemotingConnection {
    return this.#owner.connection;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** A second answer is dropped. */
  respond(response: RemotingCommand): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    if (this.isOneway) return this.#owner.answer(this, response);
    const { remark } = response;
    if (remark !== null && remark.length > REMARK_LENGTH_MAX) {
      response.remark = shown(remark, REMARK_LENGTH_MAX);
    }
    response.opaque = this.#opaque;
    response.serializeType = this.#serializeType;
    response.flag = RPC_TYPE_RESPONSE;
    response.language = "JAVA";
    response.version = POCKETMQ_VERSION_ORDINAL;
    this.#owner.answer(this, response);
  }

  /** Answers what a throw means: code 1 and its message, never its stack. */
  fail(error: unknown): void {
    this.#owner.failed(this.#code, error);
    this.respond(
      createResponse(ResponseCode.SYSTEM_ERROR, errorMessage(error)),
    );
  }
}

/** The message of whatever was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
