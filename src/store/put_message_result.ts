/** PutMessageResult: how a put ended (reference 6.2). */

/** Spelled as in Java's PutMessageStatus. */
export type PutMessageStatus =
  | "PUT_OK"
  | "FLUSH_DISK_TIMEOUT"
  | "FLUSH_SLAVE_TIMEOUT"
  | "SLAVE_NOT_AVAILABLE"
  | "SERVICE_NOT_AVAILABLE"
  | "CREATE_MAPPED_FILE_FAILED"
  | "MESSAGE_ILLEGAL"
  | "PROPERTIES_SIZE_EXCEEDED"
  | "OS_PAGE_CACHE_BUSY"
  | "IN_SYNC_REPLICAS_NOT_ENOUGH"
  | "UNKNOWN_ERROR";

/** Status, and where the record went when it was stored. */
export interface PutMessageResult {
  readonly status: PutMessageStatus;
  /** One sentence when the status is not PUT_OK. */
  readonly reason?: string;
  /** CommitLog offset of the first record; -1 when nothing was stored. */
  readonly phyOffset: number;
  /** Queue offset of the first record. */
  readonly queueOffset: number;
  /** Bytes written, all records of a batch together. */
  readonly size: number;
  readonly storeTimestamp: number;
  /** Records written: 1, or the entries of a batch. */
  readonly messageCount: number;
  /** CommitLog offsets of all records of a batch. */
  readonly phyOffsets?: readonly number[];
}
