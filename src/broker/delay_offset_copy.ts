/**
 * DelayOffsetCopy: when a slave takes over its master's answer to 45.
 *
 * Invariant: what the table calls delivered is in this slave's log, durably. Promoted it goes on
 * behind it, and would never deliver what it lacks.
 */
import { type DelayOffsetFile, deliveredUntilOf } from "./delay_offset_file.ts";

/** This slave's log. */
export interface DelayOffsetLog {
  readonly maxOffset: number;
  flush(): Promise<void>;
}

interface Answer {
  readonly master: string;
  readonly text: string;
  /** How long the log must be. */
  readonly until: number;
}

/** Keeps an answer until the log is long enough. */
export class DelayOffsetCopy {
  #waiting: Answer | null = null;

  constructor(
    private readonly file: DelayOffsetFile,
    private readonly log: DelayOffsetLog,
  ) {}

  /**
   * `maxOffsetOf` asks an Apache master, which does not say where its log ended, for its end
   * now. Rejects with `BodyError` or `FileError`, and then nothing has changed, or with what
   * `maxOffsetOf` rejects with.
   */
  async take(
    master: string,
    text: string,
    maxOffsetOf: () => Promise<number>,
  ): Promise<void> {
    if (this.file.holds(text)) {
      this.#waiting = null;
      return;
    }
    const until = deliveredUntilOf(text) ?? await maxOffsetOf();
    // What came before is worth something: under load an Apache master is always ahead.
    const before = this.#waiting?.master === master ? this.#waiting : null;
    this.#waiting = { master, text, until };
    for (const answer of [this.#waiting, before]) {
      if (answer === null || answer.until > this.log.maxOffset) continue;
      await this.log.flush();
      await this.file.replaceAll(answer.text);
      if (answer === this.#waiting) this.#waiting = null;
      return;
    }
  }
}
