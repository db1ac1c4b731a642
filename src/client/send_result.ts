/** SendResult: what became of a sent message. */
import type { MessageQueue } from "../model/message_queue.ts";
import { decodeSendMessageResponseHeader } from "../protocol/header/send_message_response_header.ts";
import type { RemotingCommand } from "../protocol/remoting_command.ts";
import { ResponseCode } from "../protocol/response_code.ts";

/** Stored in each case; all but SEND_OK name a promise that was not kept in time. */
export type SendStatus =
  | "SEND_OK"
  | "FLUSH_DISK_TIMEOUT"
  | "FLUSH_SLAVE_TIMEOUT"
  | "SLAVE_NOT_AVAILABLE";

/** Where a message went. */
export interface SendResult {
  readonly sendStatus: SendStatus;
  /** The client's id, UNIQ_KEY; of a batch the ids joined by commas. */
  readonly msgId: string;
  /** The broker's id: where the record lies. */
  readonly offsetMsgId: string;
  readonly queue: MessageQueue;
  /** Of the first message of a batch. */
  readonly queueOffset: number;
  readonly transactionId: string | undefined;
}

const STATUSES: ReadonlyMap<number, SendStatus> = new Map([
  [ResponseCode.SUCCESS, "SEND_OK"],
  [ResponseCode.FLUSH_DISK_TIMEOUT, "FLUSH_DISK_TIMEOUT"],
  [ResponseCode.FLUSH_SLAVE_TIMEOUT, "FLUSH_SLAVE_TIMEOUT"],
  [ResponseCode.SLAVE_NOT_AVAILABLE, "SLAVE_NOT_AVAILABLE"],
]);

/** Codes after which another broker is tried (reference 2.1). */
const RETRY_CODES: ReadonlySet<number> = new Set([
  ResponseCode.TOPIC_NOT_EXIST,
  ResponseCode.SERVICE_NOT_AVAILABLE,
  ResponseCode.SYSTEM_ERROR,
  ResponseCode.SYSTEM_BUSY,
  ResponseCode.NO_PERMISSION,
  ResponseCode.NO_BUYER_ID,
  ResponseCode.NOT_IN_CURRENT_UNIT,
  ResponseCode.GO_AWAY,
]);

/** True when another broker may take what this one refused. */
export function isRetriable(code: number): boolean {
  return RETRY_CODES.has(code);
}

/** The result of a stored message; undefined when the broker refused it. */
export function sendResultOf(
  response: RemotingCommand,
  sentTo: MessageQueue,
  msgId: string,
): SendResult | undefined {
  const sendStatus = STATUSES.get(response.code);
  if (sendStatus === undefined) return undefined;
  const header = decodeSendMessageResponseHeader(response.extFields);
  return {
    sendStatus,
    msgId,
    offsetMsgId: header.msgId,
    queue: { ...sentTo, queueId: header.queueId },
    queueOffset: header.queueOffset,
    transactionId: header.transactionId,
  };
}
