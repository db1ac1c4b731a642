/** HADrain: the last thing that a stopping master waits for: its slaves have everything. */

/** One stop. */
export class HADrain {
  #deadlineMs = 0;
  #resolve: (() => void) | null = null;

  /** Resolves once `look` sees every slave at the end of the log, or the deadline. */
  wait(deadlineMs: number): Promise<void> {
    this.#deadlineMs = deadlineMs;
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** To be called with every ack and at every tick. */
  look(
    slaveAckOffsets: readonly number[],
    maxOffset: number,
    nowMs: number,
  ): void {
    if (this.#resolve === null) return;
    const isDone = slaveAckOffsets.every((it) => it >= maxOffset);
    if (!isDone && nowMs < this.#deadlineMs) return;
    this.#resolve();
    this.#resolve = null;
  }
}
