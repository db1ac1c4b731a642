/**
 * TimerExport: what is pending as Apache's `timerlog` has it, written by a clean stop, so that an
 * Apache broker goes on where this one ended. Its wheel is made anew from it.
 *
 * One unit a message, in the order of the queue; all integers big-endian (reference 4.10):
 *
 * | offset | size | field      | meaning                                              |
 * | -----: | ---: | ---------- | ---------------------------------------------------- |
 * |      0 |    4 | size       | 52                                                   |
 * |      4 |    8 | prevPos    | of the unit before it in the same second; -1: none   |
 * |     12 |    4 | magic      | 1, and 2 to be put again, and 4 for a recall         |
 * |     16 |    8 | writeTime  | ms                                                   |
 * |     24 |    4 | delay      | ms from writeTime to TIMER_OUT_MS                    |
 * |     28 |    8 | phyOffset  | of the record                                        |
 * |     36 |    4 | recordSize |                                                      |
 * |     40 |    4 | topicHash  | of Apache's check of its counts; 0                   |
 * |     44 |    8 | reserved   | 0                                                    |
 *
 * Apache takes the record of the last unit for the last one that it has read from the queue: a
 * unit of the past stands for it.
 */
import { writeInt64 } from "../../base/int64.ts";
import type { TimerMessages, TimerUnit } from "../../store/timer_messages.ts";
import type { TimerCheckpointFile } from "./timer_checkpoint_file.ts";
import { NO_PROGRESS } from "./timer_progress.ts";
import type { TimerMessageStore } from "./timer_message_store.ts";
import { readTimedUnits } from "./timer_units.ts";

const UNIT_SIZE = 52;
/** mappedFileSizeTimerLog; a last unit of 52 bytes and the end of the file must fit. */
export const TIMER_LOG_FILE_SIZE = 104_857_600;
const UNITS_MAX = Math.floor(TIMER_LOG_FILE_SIZE / UNIT_SIZE) - 2;
const MAGIC_DEFAULT = 1;
const MAGIC_ROLL = 2;
const MAGIC_DELETE = 4;
/** Apache's timerRollWindowSlot and precision. */
const ROLL_WINDOW_MS = 172_800_000;
const PRECISION_MS = 1_000;
const PAST_MS = 8 * 86_400_000;
const PART_UNITS = 4_096;

/** Resolves when it is written; nothing is when too much is pending. Rejects with `FileError`. */
export async function exportTimerLog(
  { checkpointFile, messages }: {
    readonly checkpointFile: TimerCheckpointFile;
    readonly messages: TimerMessages;
  },
  store: TimerMessageStore,
  nowMs: number,
): Promise<void> {
  const { tail } = store;
  if (!store.isCaughtUp || tail === 0 || store.pendingCount > UNITS_MAX) return;
  const log = new TimerLogWriter(nowMs - nowMs % PRECISION_MS);
  let offset = store.progress(true).minQueueOffset;
  let last: TimerUnit | undefined;
  while (offset < tail) {
    const count = Math.min(PART_UNITS, tail - offset);
    const units = await readTimedUnits(
      messages,
      { offset, count },
      NO_PROGRESS,
      () => {},
    );
    if (units.length === 0) break;
    for (const unit of units) if (store.isPending(unit)) log.add(unit);
    last = units.at(-1)!;
    offset = last.queueOffset + 1;
  }
  last ??= (await messages.readUnits(tail - 1, 1))[0];
  if (last !== undefined && last.queueOffset === tail - 1) log.addPast(last);
  await checkpointFile.writeTimerLog(log.parts, TIMER_LOG_FILE_SIZE);
}

/** Builds the units. */
class TimerLogWriter {
  readonly parts: Uint8Array[] = [];
  readonly #writeMs: number;
  readonly #lastPositions = new Map<number, number>();
  #position = 0;
  #part = new Uint8Array(0);
  #used = 0;

  constructor(writeMs: number) {
    this.#writeMs = writeMs;
  }

  add({ phyOffset, size, time }: TimerUnit): void {
    const { dueMs, isRecall } = time!;
    const restMs = dueMs - 1 - this.#writeMs;
    const isFar = restMs >= ROLL_WINDOW_MS;
    const window = restMs - ROLL_WINDOW_MS < ROLL_WINDOW_MS / 3
      ? ROLL_WINDOW_MS / 2
      : ROLL_WINDOW_MS;
    this.#append(
      phyOffset,
      size,
      // What is overdue is delivered with the next second.
      isFar ? window : Math.max(0, restMs),
      MAGIC_DEFAULT | (isFar ? MAGIC_ROLL : 0) | (isRecall ? MAGIC_DELETE : 0),
    );
  }

  /** Never delivered: Apache reads no older seconds than those of the last 7 days. */
  addPast({ phyOffset, size }: TimerUnit): void {
    this.#append(phyOffset, size, -PAST_MS, MAGIC_DEFAULT);
  }

  #append(phyOffset: number, size: number, delay: number, magic: number): void {
    const slot = Math.floor((this.#writeMs + delay) / PRECISION_MS);
    if (this.#used + UNIT_SIZE > this.#part.length) this.#nextPart();
    const view = new DataView(this.#part.buffer, this.#used, UNIT_SIZE);
    view.setInt32(0, UNIT_SIZE);
    writeInt64(view, 4, this.#lastPositions.get(slot) ?? -1);
    view.setInt32(12, magic);
    writeInt64(view, 16, this.#writeMs);
    view.setInt32(24, delay);
    writeInt64(view, 28, phyOffset);
    view.setInt32(36, size);
    this.#lastPositions.set(slot, this.#position);
    this.#position += UNIT_SIZE;
    this.#used += UNIT_SIZE;
  }

  #nextPart(): void {
    this.#part = new Uint8Array(PART_UNITS * UNIT_SIZE);
    this.#used = 0;
    this.parts.push(this.#part);
  }
}
