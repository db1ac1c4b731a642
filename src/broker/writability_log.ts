/** WritabilityLog: one log line when the store begins to refuse sends, one when it takes them again. */
import type { Logger } from "../io/logger.ts";

/** A disk on the edge flips with every try: only what lasts so long counts as over. */
const WRITABLE_MIN_MS = 5_000;

/** Looked at with every tick of the broker. */
export class WritabilityLog {
  readonly #logger: Logger;
  readonly #unwritableReason: () => string | null;
  #isRefusing = false;
  #writableSinceMs = 0;

  /** `unwritableReason` is one sentence, null while the store takes writes. */
  constructor(logger: Logger, unwritableReason: () => string | null) {
    this.#logger = logger;
    this.#unwritableReason = unwritableReason;
  }

  /** `nowMs` never goes back. */
  tick(nowMs: number): void {
    const reason = this.#unwritableReason();
    if (reason !== null) {
      this.#writableSinceMs = Infinity;
      if (!this.#isRefusing) {
        this.#logger.error(`Sends are refused from now on: ${reason}`);
      }
      this.#isRefusing = true;
      return;
    }
    if (!this.#isRefusing) return;
    this.#writableSinceMs = Math.min(this.#writableSinceMs, nowMs);
    if (nowMs - this.#writableSinceMs < WRITABLE_MIN_MS) return;
    this.#isRefusing = false;
    this.#logger.info("Sends are taken again");
  }
}
