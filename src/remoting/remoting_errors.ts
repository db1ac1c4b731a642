/** Why a request over the network got no answer. */
import { requestCodeName } from "../protocol/request_code.ts";

/** No connection to `address` could be made. */
export class RemotingConnectError extends Error {
  override readonly name = "RemotingConnectError";
  constructor(readonly address: string, why: string, options?: ErrorOptions) {
    super(`Cannot connect to ${address}: ${why}`, options);
  }
}

/** The answer did not come in time. */
export class RemotingTimeoutError extends Error {
  override readonly name = "RemotingTimeoutError";
  constructor(readonly address: string, code: number, timeoutMs: number) {
    super(
      `No answer from ${address} to ${
        requestCodeName(code)
      } within ${timeoutMs} ms`,
    );
  }
}

/** The connection ended before the answer came. */
export class RemotingClosedError extends Error {
  override readonly name = "RemotingClosedError";
  /** `why`: what was wrong with what came instead of an answer; null when nothing came. */
  constructor(
    readonly address: string,
    code: number,
    why: string | null = null,
  ) {
    super(
      `The connection to ${address} was closed before it answered ${
        requestCodeName(code)
      }${why === null ? "" : `: ${why}`}`,
    );
  }
}

/** Too many requests, or bytes of them, wait for the same peer. */
export class RemotingTooMuchRequestError extends Error {
  override readonly name = "RemotingTooMuchRequestError";
  constructor(readonly address: string, code: number, why: string) {
    super(`Cannot send ${requestCodeName(code)} to ${address}: ${why}`);
  }
}

const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ETIMEDOUT: "connection timed out",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "network unreachable",
  EADDRNOTAVAIL: "address not available",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "host name lookup failed",
  DNS_ENOTFOUND: "host not found",
  EMFILE: "too many open files",
};

/** A socket error in words. */
export function connectFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return (typeof code === "string" ? WHY[code] : undefined) ?? error.message;
}
