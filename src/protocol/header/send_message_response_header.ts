/**
 * The response header of SEND_MESSAGE (10), 310 and 320 (reference 2.2).
 *
 * It must be there with codes 0, 10, 11 and 12: clients read MSG_REGION and
 * TRACE_ON without a null check.
 */
import type { ExtFields } from "../remoting_command.ts";
import { requireInt, requireLong, requireText } from "./field_reader.ts";

/** Where a message was stored. */
export interface SendMessageResponseHeader {
  /** The offset message id; for a batch a comma list. */
  msgId: string;
  queueId: number;
  /** Of the first message of a batch. */
  queueOffset: number;
  transactionId: string | undefined;
  /** The region that traces name. */
  msgRegion: string;
  traceOn: boolean;
}

const NAME = "the SEND_MESSAGE response";

/** The fields of an answer. */
export function encodeSendMessageResponseHeader(
  header: SendMessageResponseHeader,
): ExtFields {
  const fields: ExtFields = {
    MSG_REGION: header.msgRegion,
    TRACE_ON: header.traceOn ? "true" : "false",
    msgId: header.msgId,
    queueId: String(header.queueId),
    queueOffset: String(header.queueOffset),
  };
  if (header.transactionId !== undefined) {
    fields["transactionId"] = header.transactionId;
  }
  return fields;
}

/** Reads the fields of an answer. Throws `HeaderError`. */
export function decodeSendMessageResponseHeader(
  fields: ExtFields,
): SendMessageResponseHeader {
  return {
    msgId: requireText(fields, "msgId", NAME),
    queueId: requireInt(fields, "queueId", NAME),
    queueOffset: requireLong(fields, "queueOffset", NAME),
    transactionId: fields["transactionId"],
    msgRegion: fields["MSG_REGION"] ?? "DefaultRegion",
    traceOn: fields["TRACE_ON"] !== "false",
  };
}
