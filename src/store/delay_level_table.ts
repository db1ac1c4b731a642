/** DelayLevelTable: messageDelayLevel, and what dispatch makes of it (reference 4.9). */
import { findProperty, MessageConst } from "../model/message_properties.ts";

export const SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX";
const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** Delay of a level that the table does not know. */
const UNKNOWN_LEVEL_DELAY_MS = 1_000;

/** The delays of levels 1..n. */
export class DelayLevelTable {
  readonly #delaysMs: readonly number[];

  /** Reads `1s 5s … 2h`; parts that are no time count as unknown levels. */
  constructor(messageDelayLevel: string) {
    this.#delaysMs = messageDelayLevel.trim().split(/\s+/).map((it) =>
      Number.parseInt(it, 10) * (UNIT_MS[it.slice(-1)] ?? Number.NaN)
    );
  }

  get maxDelayLevel(): number {
    return this.#delaysMs.length;
  }

  /** Milliseconds of the longest level. */
  get longestMs(): number {
    return Math.max(...this.#delaysMs.filter((it) => !Number.isNaN(it)), 0);
  }

  /** Milliseconds; undefined for a level that the table does not know. */
  delayMs(delayLevel: number): number | undefined {
    const delayMs = this.#delaysMs[delayLevel - 1];
    return Number.isNaN(delayMs) ? undefined : delayMs;
  }

  /** When a record of this level, stored at `storeTimestamp`, is due. */
  deliverTimestamp(delayLevel: number, storeTimestamp: number): number {
    return storeTimestamp +
      (this.delayMs(delayLevel) ?? UNKNOWN_LEVEL_DELAY_MS);
  }

  /** The tags code of a SCHEDULE_TOPIC_XXXX record: its delivery time; undefined without a level. */
  scheduleTagsCode(
    propertiesText: string,
    storeTimestamp: number,
  ): number | undefined {
    const text = findProperty(propertiesText, MessageConst.DELAY);
    const level = Math.min(Number.parseInt(text ?? "", 10), this.maxDelayLevel);
    return level > 0 ? this.deliverTimestamp(level, storeTimestamp) : undefined;
  }
}
