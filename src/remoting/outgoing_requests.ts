/** OutgoingRequests: own requests on their way over one connection. */
import type { Clock } from "../io/clock.ts";
import {
  type RemotingCommand,
  RPC_ONEWAY,
} from "../protocol/remoting_command.ts";
import type { Outbox } from "./outbox.ts";
import { type Peer, PendingRequests } from "./pending_requests.ts";
import {
  RemotingClosedError,
  RemotingTooMuchRequestError,
} from "./remoting_errors.ts";
import type { ChannelOptions } from "./remoting_options.ts";

/** What the channels of one server or client share, as far as it matters here. */
export interface OutgoingHost {
  readonly clock: Clock;
  readonly options: ChannelOptions;
}

/** Sends requests and waits for their answers. */
export class OutgoingRequests {
  readonly #peer: Peer;
  readonly #host: OutgoingHost;
  readonly #outbox: Outbox;
  readonly #pending: PendingRequests;

  constructor(peer: Peer, host: OutgoingHost, outbox: Outbox) {
    this.#peer = peer;
    this.#host = host;
    this.#outbox = outbox;
    this.#pending = new PendingRequests(peer);
  }

  /** True while a request waits for its answer. */
  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** Sends and waits, unless `refusalOf` says why not. */
  invoke(
    request: RemotingCommand,
    timeoutMs: number,
    isOpen: boolean,
  ): Promise<RemotingCommand> {
    const refusal = this.refusalOf(request, isOpen);
    if (refusal !== null) return Promise.reject(refusal);
    request.opaque = this.#pending.nextOpaque();
    try {
      this.#outbox.send(request);
    } catch (error) {
      return Promise.reject(error);
    }
    const { clock } = this.#host;
    return this.#pending.add(request, timeoutMs, clock.monotonicMs());
  }

  /** Throws `RangeError` when the frame would be too large. */
  invokeOneway(request: RemotingCommand): void {
    request.opaque = this.#pending.nextOpaque();
    request.flag |= RPC_ONEWAY;
    this.#outbox.send(request);
  }

  /** Why a request cannot be sent now, or null. */
  refusalOf(request: RemotingCommand, isOpen: boolean): Error | null {
    const { code } = request;
    const { outgoingRequestsMax, writeQueueBytesMax } = this.#host.options;
    if (!isOpen) return new RemotingClosedError(this.#peer.remoteAddress, code);
    const { size } = this.#pending;
    const { queuedBytes } = this.#outbox;
    const why = size >= outgoingRequestsMax
      ? `${size} requests wait for an answer already`
      : queuedBytes > writeQueueBytesMax
      ? `${queuedBytes} bytes wait to be sent already`
      : null;
    if (why === null) return null;
    return new RemotingTooMuchRequestError(this.#peer.remoteAddress, code, why);
  }

  /** An answer came; one that nobody waits for is dropped. */
  complete(response: RemotingCommand): void {
    this.#pending.complete(response);
  }

  /** Rejects what waits too long; returns when the last of them was sent, -1 without any. */
  expire(nowMs: number): number {
    return this.#pending.expire(nowMs);
  }

  /** Rejects everything: the connection is gone. */
  close(why: string | null): void {
    this.#pending.close(why);
  }
}
