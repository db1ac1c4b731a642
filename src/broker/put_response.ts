/** PutResponse: the one place that maps PutMessageStatus to RocketMQ's codes (reference 6.2). */
import { ResponseCode } from "../protocol/response_code.ts";
import type { PutMessageStatus } from "../store/put_message_result.ts";

/** Clients branch on these numbers; a new status without one does not compile. */
const RESPONSE_CODE: Readonly<Record<PutMessageStatus, number>> = {
  PUT_OK: ResponseCode.SUCCESS,
  FLUSH_DISK_TIMEOUT: ResponseCode.FLUSH_DISK_TIMEOUT,
  SLAVE_NOT_AVAILABLE: ResponseCode.SLAVE_NOT_AVAILABLE,
  FLUSH_SLAVE_TIMEOUT: ResponseCode.FLUSH_SLAVE_TIMEOUT,
  MESSAGE_ILLEGAL: ResponseCode.MESSAGE_ILLEGAL,
  PROPERTIES_SIZE_EXCEEDED: ResponseCode.MESSAGE_ILLEGAL,
  SERVICE_NOT_AVAILABLE: ResponseCode.SERVICE_NOT_AVAILABLE,
  OS_PAGE_CACHE_BUSY: ResponseCode.SYSTEM_BUSY,
  CREATE_MAPPED_FILE_FAILED: ResponseCode.SYSTEM_ERROR,
  IN_SYNC_REPLICAS_NOT_ENOUGH: ResponseCode.SYSTEM_ERROR,
  UNKNOWN_ERROR: ResponseCode.SYSTEM_ERROR,
};

/** What the remark says when the store gave no reason of its own. */
const REMARK: Readonly<Record<PutMessageStatus, string | null>> = {
  PUT_OK: null,
  FLUSH_DISK_TIMEOUT:
    "[FLUSH_DISK_TIMEOUT] the message is stored, but its flush took longer than syncFlushTimeout",
  SLAVE_NOT_AVAILABLE:
    "[SLAVE_NOT_AVAILABLE] the message is stored, but no slave is close enough to confirm it",
  FLUSH_SLAVE_TIMEOUT:
    "[FLUSH_SLAVE_TIMEOUT] the message is stored, but no slave confirmed it within slaveTimeout",
  MESSAGE_ILLEGAL:
    "the message is illegal, maybe msg properties length limit 32k or msg body over maxMessageSize",
  PROPERTIES_SIZE_EXCEEDED:
    "the message is illegal, its properties take more than 32767 bytes",
  SERVICE_NOT_AVAILABLE:
    "service not available now: the store takes no writes (disk full, read-only, slave or shutting down)",
  OS_PAGE_CACHE_BUSY:
    "[PC_SYNCHRONIZED] broker busy, the last append has held the log for too long",
  CREATE_MAPPED_FILE_FAILED:
    "create mapped file failed, the disk may be full or not writable",
  IN_SYNC_REPLICAS_NOT_ENOUGH:
    "[IN_SYNC_REPLICAS_NOT_ENOUGH] fewer replicas are in sync than minInSyncReplicas",
  UNKNOWN_ERROR: "UNKNOWN_ERROR while the message was stored",
};

/** The response code of a put. */
export function responseCodeOfPut(status: PutMessageStatus): number {
  return RESPONSE_CODE[status];
}

/** The remark of a put: `reason` when the store gave one. */
export function remarkOfPut(
  status: PutMessageStatus,
  reason: string | undefined,
): string | null {
  return reason ?? REMARK[status];
}

/** True when the message is in the log although the status is not PUT_OK. */
export function isStored(status: PutMessageStatus): boolean {
  return status === "PUT_OK" || status === "FLUSH_DISK_TIMEOUT" ||
    status === "SLAVE_NOT_AVAILABLE" || status === "FLUSH_SLAVE_TIMEOUT";
}
