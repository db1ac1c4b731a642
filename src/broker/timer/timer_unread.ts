/** How long the first timer message that was not read yet has waited for it. */
import { FileError } from "../../io/file_system.ts";
import type { TimerMessages } from "../../store/timer_messages.ts";
import { readTimerRecords } from "./timer_units.ts";

/**
 * Milliseconds since the message at `queueOffset` was stored, 0 when there is none; null when the
 * device does not tell.
 */
export async function unreadForMs(
  messages: Pick<TimerMessages, "readRecords" | "readUnits">,
  queueOffset: number,
  nowMs: number,
): Promise<number | null> {
  try {
    const [unit] = await messages.readUnits(queueOffset, 1);
    if (unit === undefined || unit.isGone) return 0;
    let storedMs = nowMs;
    await readTimerRecords(messages, [unit], (records) => {
      const record = records.get(unit.phyOffset);
      if (typeof record === "object") storedMs = record.storeTimestamp;
    });
    return Math.max(0, nowMs - storedMs);
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}
