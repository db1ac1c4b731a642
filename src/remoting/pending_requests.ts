/** PendingRequests: own requests of one connection that wait for an answer. */
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import {
  RemotingClosedError,
  RemotingTimeoutError,
} from "./remoting_errors.ts";

interface Pending {
  readonly code: number;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly resolve: (response: RemotingCommand) => void;
  readonly reject: (error: Error) => void;
}

/** Whom errors name; a load balancer may tell it after the connection has begun. */
export interface Peer {
  readonly remoteAddress: string;
}

const OPAQUE_MAX = 0x7fff_ffff;

/** The opaque table. Times are monotonic milliseconds. */
export class PendingRequests {
  readonly #peer: Peer;
  readonly #table = new Map<number, Pending>();
  #opaque = 0;
  #nextDeadlineMs = Infinity;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  get size(): number {
    return this.#table.size;
  }

  /** An opaque that no waiting request has. */
  nextOpaque(): number {
    do {
      this.#opaque = this.#opaque === OPAQUE_MAX ? 0 : this.#opaque + 1;
    } while (this.#table.has(this.#opaque));
    return this.#opaque;
  }

  /** Waits for the answer to `request`, whose opaque is set. */
  add(
    request: RemotingCommand,
    timeoutMs: number,
    nowMs: number,
  ): Promise<RemotingCommand> {
    const { code, opaque } = request;
    return new Promise((resolve, reject) => {
      const deadlineMs = nowMs + timeoutMs;
      this.#table.set(opaque, { code, timeoutMs, deadlineMs, resolve, reject });
      if (deadlineMs < this.#nextDeadlineMs) this.#nextDeadlineMs = deadlineMs;
    });
  }

  /** Hands an answer to who waits; false when nobody does. The body is copied. */
  complete(response: RemotingCommand): boolean {
    const pending = this.#table.get(response.opaque);
    if (pending === undefined) return false;
    this.#table.delete(response.opaque);
    response.body = response.body.slice();
    pending.resolve(response);
    return true;
  }

  /** Rejects what waits too long; returns when the last of them was sent, -1 without any. */
  expire(nowMs: number): number {
    let lastSentMs = -1;
    if (nowMs < this.#nextDeadlineMs) return lastSentMs;
    let next = Infinity;
    for (const [opaque, pending] of this.#table) {
      if (pending.deadlineMs > nowMs) {
        next = Math.min(next, pending.deadlineMs);
        continue;
      }
      this.#table.delete(opaque);
      const sentMs = pending.deadlineMs - pending.timeoutMs;
      lastSentMs = Math.max(lastSentMs, sentMs);
      pending.reject(
        new RemotingTimeoutError(
          this.#peer.remoteAddress,
          pending.code,
          pending.timeoutMs,
        ),
      );
    }
    this.#nextDeadlineMs = next;
    return lastSentMs;
  }

  /** Rejects everything: the connection is gone, null for no reason that is known here. */
  close(why: string | null): void {
    const waiting = [...this.#table.values()];
    this.#table.clear();
    this.#nextDeadlineMs = Infinity;
    for (const pending of waiting) {
      pending.reject(
        new RemotingClosedError(this.#peer.remoteAddress, pending.code, why),
      );
    }
  }
}
