/**
 * TimerUnits: reads parts of rmq_sys_wheel_timer with their records, which tell the times; what
 * Apache has put again is not pending any more.
 */
import { CorruptRecordError } from "../../model/corrupt_record_error.ts";
import type { MessageExt } from "../../model/message_ext.ts";
import {
  decodeMessageRecord,
  PHY_OFFSET_POSITION,
} from "../../model/message_record.ts";
import type { RecordsRead } from "../../store/record_reader.ts";
import type { TimerMessages, TimerUnit } from "../../store/timer_messages.ts";
import { timerTimeOf } from "../../store/timer_time.ts";
import type { TimerQueuePart } from "./timer_message_store.ts";
import type { TimerProgress } from "./timer_progress.ts";

/** timerRollWindowSlot of an Apache broker that does not say otherwise, seconds. */
const APACHE_ROLL_WINDOW_MS = 172_800_000;
/** Bytes of records that are read at once. */
const READ_BYTES_MAX = 1_048_576;

/** A record, or why it is none. */
export type TimerRecord = MessageExt | string;

/** The records at `units`, by their place in the log; those that are gone are missing. */
export async function readTimerRecords(
  messages: Pick<TimerMessages, "readRecords">,
  units: readonly { readonly phyOffset: number; readonly size: number }[],
  use: (records: ReadonlyMap<number, TimerRecord>) => void,
): Promise<void> {
  const places = [...units].sort((a, b) => a.phyOffset - b.phyOffset);
  const read = await messages.readRecords(places);
  try {
    use(recordsIn(read));
  } finally {
    read.release();
  }
}

function recordsIn({ body, count }: RecordsRead): Map<number, TimerRecord> {
  const records = new Map<number, TimerRecord>();
  const view = new DataView(body.buffer, body.byteOffset);
  let position = 0;
  for (let index = 0; index < count; index++) {
    const size = view.getInt32(position);
    const phyOffset = Number(view.getBigInt64(position + PHY_OFFSET_POSITION));
    try {
      const record = decodeMessageRecord(
        body.subarray(position, position + size),
      );
      records.set(phyOffset, record);
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error;
      records.set(phyOffset, error.message);
    }
    position += size;
  }
  return records;
}

/** Units at the front of `all` whose records are read at once; at least one. */
export function withinBytes<T extends { readonly size: number }>(
  all: readonly T[],
): readonly T[] {
  let bytes = 0;
  const end = all.findIndex(({ size }) => (bytes += size) > READ_BYTES_MAX);
  return end < 0 ? all : all.slice(0, Math.max(1, end));
}

/** The units of `part`, with their times. Rejects with `FileError`. */
export async function readTimedUnits(
  messages: TimerMessages,
  part: TimerQueuePart,
  progress: TimerProgress,
  onJunk: (unit: TimerUnit, reason: string) => void,
): Promise<TimerUnit[]> {
  const units = await messages.readUnits(part.offset, part.count);
  const unknown = units.filter((it) => !it.isGone);
  if (unknown.length === 0) return units;
  const told = new Map<number, TimerUnit>();
  for (let rest: readonly TimerUnit[] = unknown; rest.length > 0;) {
    const now = withinBytes(rest);
    rest = rest.slice(now.length);
    await readTimerRecords(messages, now, (records) => {
      for (const unit of now) {
        const record = records.get(unit.phyOffset);
        const it = timedBy(unit, record, progress);
        if (typeof it === "string") onJunk(unit, it);
        told.set(unit.queueOffset, typeof it === "string" ? unit : it);
      }
    });
  }
  return units.map((it) => told.get(it.queueOffset) ?? it);
}

function isOfApache({ queueOffset }: TimerUnit, it: TimerProgress): boolean {
  return it.isApaches === true && queueOffset < it.queueOffset;
}

function timedBy(
  unit: TimerUnit,
  record: TimerRecord | undefined,
  progress: TimerProgress,
): TimerUnit | string {
  if (record === undefined) return { ...unit, isGone: true };
  if (typeof record === "string") return record;
  const { propertiesText, storeTimestamp } = record;
  const time = timerTimeOf(propertiesText, storeTimestamp);
  if (time === undefined) return "it has no time in TIMER_OUT_MS";
  const isRolled = isOfApache(unit, progress) &&
    rollMs(time.dueMs, storeTimestamp) < progress.doneUntil.atMs;
  return { ...unit, time: isRolled ? undefined : time };
}

/** When Apache puts it again, Infinity: never. */
function rollMs(dueMs: number, storeTimestamp: number): number {
  const window = APACHE_ROLL_WINDOW_MS;
  const beyond = dueMs - storeTimestamp - window;
  if (beyond < 0) return Infinity;
  return storeTimestamp + (beyond < window / 3 ? window / 2 : window);
}
