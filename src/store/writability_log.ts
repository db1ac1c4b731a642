/**
 * WritabilityLog: one line when writes begin to be refused for a reason that nobody has asked
 * for, one when they are taken again.
 *
 * A cause that comes and goes with every write (a quota that the disk does not tell of) is one
 * refusal: it is over when it has not been seen for a while.
 */
import type { Logger } from "../io/logger.ts";
import type { RunningFlags, UnwritableCause } from "./running_flags.ts";

/** Causes that are an operator's concern; a failed sync tells of itself. */
const CAUSES: readonly UnwritableCause[] = [
  "disk-full",
  "dispatch-failed",
  "start-unfinished",
  "files-removed",
];
const OVER_AFTER_MS = 2_000;

/** Looks at the flags; a `tick`, not a thread. */
export class WritabilityLog {
  /** The causes that were told of, and when they were seen last. */
  readonly #lastSeenMs = new Map<UnwritableCause, number>();

  constructor(
    private readonly flags: RunningFlags,
    private readonly logger: Logger,
  ) {}

  /** To be called before whoever clears a cause looks again. */
  tick(nowMs: number): void {
    for (const cause of CAUSES) {
      const reason = this.flags.reasonOf(cause);
      if (reason !== undefined) {
        if (!this.#lastSeenMs.has(cause)) {
          this.logger.error(`Writes are refused: ${reason}`, { cause });
        }
        this.#lastSeenMs.set(cause, nowMs);
      } else this.#lookIfOver(cause, nowMs);
    }
  }

  #lookIfOver(cause: UnwritableCause, nowMs: number): void {
    const lastSeenMs = this.#lastSeenMs.get(cause);
    if (lastSeenMs === undefined) return;
    const elapsed = nowMs - lastSeenMs;
    if (elapsed >= 0 && elapsed < OVER_AFTER_MS) return;
    this.#lastSeenMs.delete(cause);
    this.logger.info(
      this.flags.isWritable
        ? "Writes are taken again"
        : "Writes are still refused, but no longer for this",
      { cause, reason: this.flags.unwritableReason },
    );
  }
}
