/**
 * TimerCheckpoint: `config/timercheck`, where Apache's broker finds what is done of timer messages;
 * also the body of GET_TIMER_CHECK_POINT (60). All int64, big-endian (reference 4.10).
 *
 * | offset | field                  | meaning                                              |
 * | -----: | ---------------------- | ---------------------------------------------------- |
 * |      0 | lastReadTimeMs         | all with an earlier TIMER_OUT_MS second are done     |
 * |      8 | lastTimerLogFlushPos   | end of timerlog; ours: -1, Apache reads all of it    |
 * |     16 | lastTimerQueueOffset   | read from the queue; ours: the first pending one     |
 * |     24 | masterTimerQueueOffset | the same of a slave's master                         |
 * |     32 | stateVersion           | of a DataVersion, as                                 |
 * |     40 | timestamp              |                                                      |
 * |     48 | counter                |                                                      |
 *
 * The file has 4096 bytes, as Apache maps it.
 */
import { readInt64, UnsafeIntegerError, writeInt64 } from "../../base/int64.ts";
import type { DataVersion } from "../../model/data_version.ts";
import { FIRST_KEY } from "./timer_index.ts";
import type { TimerProgress } from "./timer_progress.ts";

/** All of it that counts. */
export const TIMER_CHECKPOINT_SIZE = 56;
export const TIMER_CHECKPOINT_FILE_SIZE = 4_096;
/** Whoever is no PocketMQ node never writes it. */
const OUR_FLUSH_POS = -1;

/** One checkpoint. */
export interface TimerCheckpoint {
  readonly lastReadTimeMs: number;
  readonly lastTimerLogFlushPos: number;
  readonly lastTimerQueueOffset: number;
  readonly masterTimerQueueOffset: number;
  readonly dataVersion: DataVersion;
}

/** Of a broker whose next message is due at `nextDueMs`; undefined: none is pending. */
export function checkpointOf(
  { doneUntil, late, minQueueOffset, queueOffset }: TimerProgress,
  nextDueMs: number | undefined,
  dataVersion: DataVersion,
): TimerCheckpoint {
  const dueMs = (nextDueMs ?? Infinity) - 1;
  const readMs = Math.max(0, Math.min(doneUntil.atMs, dueMs));
  return {
    lastReadTimeMs: readMs - readMs % 1_000,
    lastTimerLogFlushPos: OUR_FLUSH_POS,
    lastTimerQueueOffset: minQueueOffset,
    masterTimerQueueOffset: late[0] ?? queueOffset,
    dataVersion,
  };
}

/** True when a PocketMQ node has written it last. */
export function isOurs({ lastTimerLogFlushPos }: TimerCheckpoint): boolean {
  return lastTimerLogFlushPos === OUR_FLUSH_POS;
}

/** What it says to us. Apache reads units from the beginning of a second on. */
export function progressOf(checkpoint: TimerCheckpoint): TimerProgress {
  const { lastReadTimeMs, lastTimerQueueOffset, masterTimerQueueOffset } =
    checkpoint;
  return {
    doneUntil: lastReadTimeMs <= 0
      ? FIRST_KEY
      : { atMs: lastReadTimeMs, queueOffset: Number.MAX_SAFE_INTEGER },
    queueOffset: isOurs(checkpoint)
      ? masterTimerQueueOffset
      : Math.min(lastTimerQueueOffset, masterTimerQueueOffset),
    // It does not note which of those that it has read wait the longest.
    minQueueOffset: isOurs(checkpoint) ? lastTimerQueueOffset : 0,
    late: [],
    ...(isOurs(checkpoint) ? {} : { isApaches: true }),
  };
}

/** The first `TIMER_CHECKPOINT_SIZE` bytes. */
export function encodeTimerCheckpoint(it: TimerCheckpoint): Uint8Array {
  const bytes = new Uint8Array(TIMER_CHECKPOINT_SIZE);
  const view = new DataView(bytes.buffer);
  const { counter, stateVersion, timestamp } = it.dataVersion;
  [
    it.lastReadTimeMs,
    it.lastTimerLogFlushPos,
    it.lastTimerQueueOffset,
    it.masterTimerQueueOffset,
    stateVersion,
    timestamp,
    counter,
  ].forEach((value, index) => writeInt64(view, index * 8, value));
  return bytes;
}

/** Reads them; undefined when they are too few, or junk. */
export function decodeTimerCheckpoint(
  bytes: Uint8Array,
): TimerCheckpoint | undefined {
  // The version came later.
  if (bytes.length < 32) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const at = (offset: number) =>
    offset + 8 <= bytes.length ? readInt64(view, offset) : 0;
  try {
    return {
      lastReadTimeMs: at(0),
      lastTimerLogFlushPos: at(8),
      lastTimerQueueOffset: at(16),
      masterTimerQueueOffset: at(24),
      dataVersion: { stateVersion: at(32), timestamp: at(40), counter: at(48) },
    };
  } catch (error) {
    if (!(error instanceof UnsafeIntegerError)) throw error;
    return undefined;
  }
}
