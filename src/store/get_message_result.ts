/** GetMessageResult: what a pull found (reference 9.2). */

/** Spelled as in Java's GetMessageStatus. */
export type GetMessageStatus =
  | "FOUND"
  | "NO_MATCHED_MESSAGE"
  | "MESSAGE_WAS_REMOVING"
  | "OFFSET_FOUND_NULL"
  | "OFFSET_OVERFLOW_BADLY"
  | "OFFSET_OVERFLOW_ONE"
  | "OFFSET_TOO_SMALL"
  | "NO_MATCHED_LOGIC_QUEUE"
  | "NO_MESSAGE_IN_QUEUE"
  | "OFFSET_RESET";

/** The answer to one pull. */
export interface GetMessageResult {
  readonly status: GetMessageStatus;
  readonly nextBeginOffset: number;
  readonly minOffset: number;
  readonly maxOffset: number;
  /** Whole records back to back, the caller's until it calls `release`; empty unless FOUND. */
  readonly body: Uint8Array;
  /** Once, by a caller that is through with `body`, so that its memory is used again; or never. */
  release(): void;
  readonly messageCount: number;
  /** True when the reader lags by more than the memory ratio (reference 9.3). */
  readonly suggestPullingFromSlave: boolean;
}

/** Decides which queue units and records a pull returns. */
export interface MessageFilter {
  /** Tested on the unit; `tagsCodeLow` is the low 32 bits of the tags code. */
  isMatchedByConsumeQueue(tagsCodeLow: number): boolean;
  /** Present for filters on properties; tested on the record's encoded properties. */
  isMatchedByCommitLog?(propertiesText: string): boolean;
}
