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
