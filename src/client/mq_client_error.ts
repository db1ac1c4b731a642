/** MQClientError: a broker or name server said no, in a sentence. */
import { requestCodeName } from "../protocol/request_code.ts";
import { ResponseCode, responseCodeName } from "../protocol/response_code.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import {
  RemotingClosedError,
  RemotingConnectError,
  RemotingTimeoutError,
  RemotingTooMuchRequestError,
} from "../remoting/remoting_errors.ts";

/** A request was answered with another code than success, or nobody could answer it. */
export class MQClientError extends Error {
  override readonly name = "MQClientError";
  constructor(
    message: string,
    /** The response code; null when there was no answer. */
    readonly code: number | null,
    /** What the peer said. */
    readonly remark: string | null = null,
    /** Who said it. */
    readonly address: string | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The error of an answer that is no success; `cure`: what to do, where that is known. */
export function refusedBy(
  address: string,
  requestCode: number,
  response: RemotingCommand,
  cure = "",
): MQClientError {
  const { code, remark } = response;
  // Apache's name servers add lines with addresses of pages to read.
  const [sentence] = (remark ?? "").split("\n");
  const why = sentence === "" ? "" : `: ${sentence}`;
  return new MQClientError(
    `${address} refused ${requestCodeName(requestCode)} with ` +
      `${responseCodeName(code)} (${code})${why}` +
      (cure === "" ? "" : `; ${cure}`),
    code,
    remark,
    address,
  );
}

/** A name that no broker and no name server knows. */
export function unknownTopic(topic: string): MQClientError {
  return new MQClientError(
    `Topic ${topic} does not exist: see pocketmq topic list, or create it`,
    null,
  );
}

const PERMANENT_CODES: ReadonlySet<number> = new Set([
  ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
  ResponseCode.NO_PERMISSION,
  ResponseCode.SUBSCRIPTION_PARSE_FAILED,
  ResponseCode.INVALID_PARAMETER,
]);

/** True when the same request would be refused again, until somebody changes the broker. */
export function isPermanent(error: unknown): error is MQClientError {
  if (!(error instanceof MQClientError) || error.code === null) return false;
  // Brokers say 1 of whatever failed, and of what they lack: only the latter stays.
  return PERMANENT_CODES.has(error.code) ||
    error.code === ResponseCode.SYSTEM_ERROR &&
      /not support/i.test(error.remark ?? "");
}

/** True when no answer came: another server may have one. */
export function isNoAnswer(error: unknown): boolean {
  return error instanceof RemotingConnectError ||
    error instanceof RemotingTimeoutError ||
    error instanceof RemotingClosedError ||
    error instanceof RemotingTooMuchRequestError;
}

/** The text of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
