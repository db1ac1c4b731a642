/** What a test sees of two logs at once, as no broker can: whether one is a prefix of the other. */
import { Buffer } from "node:buffer";
import type { MessageStore } from "../../src/store/message_store.ts";

/** Why a log is no prefix of another one. */
export interface LogDifference {
  readonly problem: "diverged" | "needs-reseed";
  readonly reason: string;
}

/** Undefined when `own` is a prefix of `there`, as far as both have it. */
export function compareLogs(
  own: MessageStore,
  there: MessageStore,
): LogDifference | undefined {
  const end = own.maxPhyOffset;
  if (end > there.maxPhyOffset) {
    return {
      problem: "diverged",
      reason: `This log ends at ${end}, the master's at ${there.maxPhyOffset}`,
    };
  }
  if (end < there.minPhyOffset) {
    return {
      problem: "needs-reseed",
      reason: `This log ends at ${end}, the master's begins at ` +
        `${there.minPhyOffset}`,
    };
  }
  const from = Math.max(own.minPhyOffset, there.minPhyOffset);
  if (isEqualRange(own, there, from, end)) return undefined;
  return {
    problem: "diverged",
    reason: `The bytes from ${from} to ${end} differ from the master's`,
  };
}

/** True when both logs hold the same bytes there. */
export function isEqualRange(
  one: MessageStore,
  other: MessageStore,
  from: number,
  to: number,
): boolean {
  if (to <= from) return true;
  const [a, b] = [new Uint8Array(to - from), new Uint8Array(to - from)];
  one.commitLog.readAt(from, a);
  other.commitLog.readAt(from, b);
  return Buffer.compare(a, b) === 0;
}

/** A disk may tear a sector where power ends in the middle of it. */
const SECTOR_SIZE = 512;

/**
 * True when power has torn one sector of `own` where no CRC looks, and the rest of it equals
 * `there`: from some byte on the sector holds zeros.
 */
export function hasTornSector(own: MessageStore, there: MessageStore): boolean {
  const from = Math.max(own.minPhyOffset, there.minPhyOffset);
  const to = Math.min(own.maxPhyOffset, there.maxPhyOffset);
  if (to <= from) return false;
  const [a, b] = [new Uint8Array(to - from), new Uint8Array(to - from)];
  own.commitLog.readAt(from, a);
  there.commitLog.readAt(from, b);
  const first = a.findIndex((it, index) => it !== b[index]);
  if (first < 0) return false;
  const end = first + SECTOR_SIZE - (from + first) % SECTOR_SIZE;
  return a.subarray(first, end).every((it) => it === 0) &&
    Buffer.compare(a.subarray(end), b.subarray(end)) === 0;
}
