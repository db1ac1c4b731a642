/**
 * UnfinishedStart: what a start could not write because the disk is full, tried again until it
 * is there.
 *
 * What recovery found can be read meanwhile. Nothing is appended: a log that grows behind a cut
 * that queues, index and tables on the disk know nothing of would be taken for the old one.
 */
import { FileError } from "../io/file_system.ts";
import type { RunningFlags } from "./running_flags.ts";

const RETRY_INTERVAL_MS = 500;

/** Keeps writes away until everything is written. */
export class UnfinishedStart {
  #lastTryMs = Number.NEGATIVE_INFINITY;
  #isTrying = false;

  constructor(
    private readonly flags: RunningFlags,
    /** Writes whatever a start may owe; without effect when nothing is owed. */
    private readonly finish: () => Promise<void>,
  ) {}

  /** True while something is owed. */
  get isOwed(): boolean {
    return this.flags.has("start-unfinished");
  }

  /** Writes are refused from now on, with the words of the disk. */
  owe(shortage: string): void {
    this.flags.set(
      "start-unfinished",
      `The start is not finished and only reads are served (${shortage})`,
    );
  }

  /** Runs a step of the start; a full disk is not its end. Rejects with everything else. */
  async attempt(step: () => Promise<void>): Promise<void> {
    const shortage = await shortageOf(step);
    if (shortage !== null) this.owe(shortage);
  }

  tick(nowMs: number): void {
    if (!this.isOwed || this.#isTrying || this.flags.has("disk-full")) return;
    const elapsed = nowMs - this.#lastTryMs;
    if (elapsed >= 0 && elapsed < RETRY_INTERVAL_MS) return;
    this.#lastTryMs = nowMs;
    void this.#try();
  }

  async #try(): Promise<void> {
    this.#isTrying = true;
    try {
      await this.finish();
      this.flags.clear("start-unfinished");
    } catch (error) {
      this.owe(error instanceof Error ? error.message : String(error));
    } finally {
      this.#isTrying = false;
    }
  }
}

/** The words of a disk that was full; null when the step is done. Rejects with everything else. */
export async function shortageOf(
  step: () => Promise<void>,
): Promise<string | null> {
  try {
    await step();
    return null;
  } catch (error) {
    if (!isShortage(error)) throw error;
    return error.message;
  }
}

/** True when the disk is full. */
export function isShortage(error: unknown): error is FileError {
  return error instanceof FileError && error.kind === "no-space";
}
