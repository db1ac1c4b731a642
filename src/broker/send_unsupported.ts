/** Sends that are refused for what they ask of the broker, whatever their topic. */
import { MessageSysFlag } from "../model/message_sys_flag.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { delayFault } from "./schedule_message.ts";
import type { SendMessageOptions } from "./send_message_ports.ts";
import type { SendProperties } from "./send_properties.ts";

/** The highest of the known compression types. */
const ZLIB = 3;

/** The answer to a send that is not taken. */
export interface SendRefusal {
  readonly code: number;
  readonly remark: string;
}

/** Refuses what this version cannot keep its word for; undefined for an ordinary message. */
export function unsupportedSend(
  sysFlag: number,
  properties: SendProperties,
  { isDeadLetter, isHalf }: {
    readonly isDeadLetter: boolean;
    readonly isHalf: boolean;
  },
  options: Pick<SendMessageOptions, "brokerIP1" | "rejectTransactionMessage">,
): SendRefusal | undefined {
  const transactionType = sysFlag & MessageSysFlag.TRANSACTION_MASK;
  if (isHalf && options.rejectTransactionMessage) {
    return {
      code: ResponseCode.NO_PERMISSION,
      remark:
        `the broker[${options.brokerIP1}] sending transaction message is forbidden`,
    };
  }
  if (
    !isHalf &&
    (transactionType === MessageSysFlag.TRANSACTION_PREPARED_TYPE ||
      transactionType === MessageSysFlag.TRANSACTION_ROLLBACK_TYPE)
  ) {
    return illegal(
      "a message with a transaction bit in its sysFlag wants the property TRAN_MSG=true",
    );
  }
  const fault = isDeadLetter ? undefined : delayFault(properties, isHalf);
  if (fault !== undefined) return illegal(fault);
  if ((sysFlag & MessageSysFlag.INNER_BATCH) !== 0) {
    return illegal(
      "this version does not support inner batches (sysFlag bit 7)",
    );
  }
  const compression = compressionFault(sysFlag);
  if (compression !== undefined) return illegal(compression);
  return undefined;
}

/** Stock consumers drop a message of an unknown type, and with it whatever they pulled behind it. */
export function compressionFault(sysFlag: number): string | undefined {
  if ((sysFlag & MessageSysFlag.COMPRESSED) === 0) return undefined;
  const type = (sysFlag & MessageSysFlag.COMPRESSION_TYPE_MASK) >> 8;
  return type <= ZLIB
    ? undefined
    : `the compression type of a message is ${type} (sysFlag bits 8 to 10): ` +
      "known are 0 and 3 (zlib), 1 (LZ4) and 2 (zstd)";
}

function illegal(remark: string): SendRefusal {
  return { code: ResponseCode.MESSAGE_ILLEGAL, remark };
}
