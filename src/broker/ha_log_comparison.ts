/**
 * compareTails: whether a slave's log is a prefix of its master's, and what cures it if not.
 *
 * Between PocketMQ nodes the last 64 KiB of the slave are compared, with an Apache master the
 * last whole record. A log that goes on differently is cut where both still agree, if a place is
 * known: the master's end, for a master that lost its tail, or the offset at which the master was
 * promoted, or this broker was, for one that was demoted. Else the whole log has to be copied again.
 */
import type { LogComparison, LogCure } from "../ha/master_probe.ts";
import { digestOf } from "../store/log_digest.ts";
import type { ReplicaLog } from "../store/replica_log.ts";
import type { HAMasterLog, MasterBounds } from "./ha_master_log.ts";

/** The slave's log. */
export interface OwnLog {
  readonly log: ReplicaLog;
  selectOneMessageByOffset(phyOffset: number): Promise<Uint8Array | undefined>;
  /** Where this broker was promoted, which is a master no more; absent: it never was. */
  readonly promotedAtOffset?: number;
}

/** Bytes that are compared, when both logs have them. */
export const COMPARED_TAIL_SIZE = 65_536;

/** The slave's log must not be empty. Rejects when the master does not answer. */
export async function compareTails(
  own: OwnLog,
  master: HAMasterLog,
  bounds: MasterBounds,
): Promise<LogComparison> {
  const { log } = own;
  const { minOffset, maxOffset } = bounds;
  const { address } = master;
  const end = log.maxOffset;
  const reseed: LogCure = { kind: "reseed", bytes: maxOffset - minOffset };
  if (end < minOffset) {
    return {
      kind: "stop",
      problem: "needs-reseed",
      reason:
        `This log ends at ${end}, the master's begins at ${minOffset}: what lies between is deleted there`,
      cure: reseed,
    };
  }
  const isLonger = end > maxOffset;
  const differs = isLonger ? null : await differenceOf(own, master, bounds);
  if (!isLonger && differs === null) {
    return { kind: "prefix", requestOffset: 0, masterMaxOffset: maxOffset };
  }
  const offset = await agreedOffset(own, master, bounds);
  return {
    kind: "stop",
    problem: "diverged",
    reason: differs ??
      `This log ends at ${end}, beyond the master's ${maxOffset} at ${address}: it holds bytes that the master does not have`,
    cure: offset === null ? reseed : { kind: "cut", offset },
  };
}

/** A sentence when the end of the own log differs from the master's; null when it does not. */
async function differenceOf(
  own: OwnLog,
  master: HAMasterLog,
  bounds: MasterBounds,
): Promise<string | null> {
  const { log } = own;
  const end = log.maxOffset;
  const from = comparedFrom(log, bounds, end);
  const theirs = await master.digest(from, end);
  if (theirs === undefined) return await recordDifference(own, master, bounds);
  if (theirs === null) {
    throw new Error(`it holds the bytes from ${from} to ${end} no longer`);
  }
  return theirs === await digestOf(log, from, end)
    ? null
    : `The bytes from ${from} to ${end}, the last of this log, differ from the master's at ${master.address}`;
}

/** As `differenceOf`, by the last whole record: all that Apache's masters tell. */
async function recordDifference(
  own: OwnLog,
  master: HAMasterLog,
  { minOffset }: MasterBounds,
): Promise<string | null> {
  const last = own.log.lastRecord;
  if (last === undefined || last.phyOffset < minOffset) return null;
  const record = await own.selectOneMessageByOffset(last.phyOffset);
  if (record === undefined) return null;
  return isSame(record, await master.recordAt(last.phyOffset))
    ? null
    : `The record at ${last.phyOffset}, the last of this log, differs from the master's at ${master.address}`;
}

/** The highest known place up to which both logs agree; null when none is known. */
async function agreedOffset(
  { log, promotedAtOffset: ownPromotedAt = 0 }: OwnLog,
  master: HAMasterLog,
  bounds: MasterBounds,
): Promise<number | null> {
  const promotedAt = (await master.haRole())?.promotedAtOffset ?? 0;
  const end = log.maxOffset;
  // Of two that were promoted at one time, the shorter log was a prefix of the other's.
  for (const offset of [bounds.maxOffset, promotedAt, ownPromotedAt]) {
    const from = comparedFrom(log, bounds, offset);
    if (offset > end || offset > bounds.maxOffset || from >= offset) continue;
    const theirs = await master.digest(from, offset);
    if (theirs === undefined) return null;
    if (theirs !== null && theirs === await digestOf(log, from, offset)) {
      return offset;
    }
  }
  return null;
}

function comparedFrom(
  log: ReplicaLog,
  { minOffset }: MasterBounds,
  end: number,
): number {
  return Math.max(log.minOffset, minOffset, end - COMPARED_TAIL_SIZE);
}

function isSame(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length &&
    a.every((it, index) => it === b[index]);
}
