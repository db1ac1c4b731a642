/** TickPauses: pauses that end with the owner's tick, so that no timer of their own is left. */

interface Pause {
  readonly atMs: number;
  readonly end: () => void;
}

/** The running pauses of one owner. */
export class TickPauses {
  #pauses: Pause[] = [];
  #isClosed = false;

  /** Resolves at the first tick from `atMs` on, or when `endAll` is called. */
  until(atMs: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((end) => this.#pauses.push({ atMs, end }));
  }

  tick(nowMs: number): void {
    if (this.#pauses.length === 0) return;
    const due = this.#pauses.filter((it) => nowMs >= it.atMs);
    this.#pauses = this.#pauses.filter((it) => nowMs < it.atMs);
    for (const it of due) it.end();
  }

  endAll(): void {
    const pauses = this.#pauses;
    this.#pauses = [];
    for (const it of pauses) it.end();
  }

  /** Ends all, and later ones at once. */
  close(): void {
    this.#isClosed = true;
    this.endAll();
  }
}
