/** The request headers of END_TRANSACTION (37) and CHECK_TRANSACTION_STATE (39), reference 2.2 and 2.5. */
import type { ExtFields } from "../remoting_command.ts";
import {
  optionalText,
  requireInt,
  requireLong,
  requireText,
} from "./field_reader.ts";

/** How a producer ends a transaction. */
export interface EndTransactionRequestHeader {
  readonly producerGroup: string;
  /** Queue offset of the half message. */
  readonly tranStateTableOffset: number;
  /** CommitLog offset of the half message. */
  readonly commitLogOffset: number;
  /** MessageSysFlag's TRANSACTION_…_TYPE. */
  readonly commitOrRollback: number;
  /** True in an answer to 39. */
  readonly fromTransactionCheck: boolean;
}

const NAME = "EndTransactionRequestHeader";

/** Reads the ext fields; throws `HeaderError`. */
export function decodeEndTransactionRequestHeader(
  fields: ExtFields,
): EndTransactionRequestHeader {
  return {
    producerGroup: requireText(fields, "producerGroup", NAME),
    tranStateTableOffset: requireLong(fields, "tranStateTableOffset", NAME),
    commitLogOffset: requireLong(fields, "commitLogOffset", NAME),
    commitOrRollback: requireInt(fields, "commitOrRollback", NAME),
    fromTransactionCheck:
      optionalText(fields, "fromTransactionCheck") === "true",
  };
}

/** What a producer is asked about. */
export interface CheckTransactionStateRequestHeader {
  readonly topic: string;
  readonly tranStateTableOffset: number;
  readonly commitLogOffset: number;
  /** UNIQ_KEY. */
  readonly msgId: string;
  readonly offsetMsgId: string;
  readonly brokerName: string;
}

/** The ext fields. */
export function encodeCheckTransactionStateRequestHeader(
  header: CheckTransactionStateRequestHeader,
): ExtFields {
  return {
    topic: header.topic,
    tranStateTableOffset: String(header.tranStateTableOffset),
    commitLogOffset: String(header.commitLogOffset),
    msgId: header.msgId,
    transactionId: header.msgId,
    offsetMsgId: header.offsetMsgId,
    bname: header.brokerName,
  };
}
