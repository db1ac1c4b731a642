/** PullReplication: what a pull must know of the pair (DESIGN "Reading from the slave"). */
import { ResponseCode } from "../protocol/response_code.ts";
import type {
  GetMessageResult,
  GetMessageStatus,
} from "../store/get_message_result.ts";

/** slaveReadEnable; `auto` is the key unset. */
export type SlaveReadEnable = "auto" | "true" | "false";

/** The pair as this broker sees it. */
export interface PullReplication {
  isSlave(): boolean;
  /** On a slave: the master answers. */
  isMasterAlive(): boolean;
  /**
   * On a master: a slave of that id follows and says that it may be read. An
   * Apache slave does not say it, and by default it refuses.
   */
  hasReadableSlave(brokerId: number): boolean;
  /** A slave was asked for a topic that it does not know (yet). */
  onUnknownTopic(topic: string): void;
}

/** May an answer name that broker, which is not the master, to read from? */
export function maySuggest(
  brokerId: number,
  enable: SlaveReadEnable,
  pair: PullReplication,
): boolean {
  return enable === "auto"
    ? pair.isSlave() || pair.hasReadableSlave(brokerId)
    : enable === "true";
}

/** Codes by status; a status that depends on the asked offset has its code in `codeOf`. */
const RESPONSE_CODE: Readonly<Record<GetMessageStatus, number>> = {
  FOUND: ResponseCode.SUCCESS,
  NO_MATCHED_MESSAGE: ResponseCode.PULL_RETRY_IMMEDIATELY,
  MESSAGE_WAS_REMOVING: ResponseCode.PULL_RETRY_IMMEDIATELY,
  OFFSET_FOUND_NULL: ResponseCode.PULL_NOT_FOUND,
  OFFSET_OVERFLOW_BADLY: ResponseCode.PULL_OFFSET_MOVED,
  OFFSET_OVERFLOW_ONE: ResponseCode.PULL_NOT_FOUND,
  OFFSET_TOO_SMALL: ResponseCode.PULL_OFFSET_MOVED,
  NO_MATCHED_LOGIC_QUEUE: ResponseCode.PULL_NOT_FOUND,
  NO_MESSAGE_IN_QUEUE: ResponseCode.PULL_NOT_FOUND,
  OFFSET_RESET: ResponseCode.PULL_OFFSET_MOVED,
};

/** The code of a read (reference 9.2); an empty queue moves a reader that asks for anything but its start. */
export function codeOf(
  result: GetMessageResult,
  queueOffset: number,
  pair: PullReplication,
): number {
  const { status } = result;
  const isEmpty = status === "NO_MATCHED_LOGIC_QUEUE" ||
    status === "NO_MESSAGE_IN_QUEUE";
  const code = isEmpty && queueOffset !== 0
    ? ResponseCode.PULL_OFFSET_MOVED
    : RESPONSE_CODE[status];
  if (code !== ResponseCode.PULL_OFFSET_MOVED || !pair.isSlave()) return code;
  // With offsetCheckInSlave the store has corrected the offset.
  if (result.nextBeginOffset !== queueOffset) return code;
  // A slave must never reset a reader. What it no longer has, or never had,
  // the master may have; what it does not have yet will come. Not 20 for that:
  // stock clients repeat it at once and without end.
  return status === "OFFSET_TOO_SMALL" && pair.isMasterAlive()
    ? ResponseCode.PULL_RETRY_IMMEDIATELY
    : ResponseCode.PULL_NOT_FOUND;
}
