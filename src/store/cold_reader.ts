/**
 * ColdReader: asynchronous reads of old data, a few at a time in the whole process.
 *
 * A runtime's I/O pool may have as few threads as the machine has cores, and syncs go through
 * the same pool: two stalled reads kept a sync waiting for more than 1.5 s (DESIGN 3).
 */
export class ColdReader {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(public readsMax: number) {}

  get pendingCount(): number {
    return this.#waiting.length + this.#running;
  }

  /** Runs `read` when its turn comes. */
  async read(read: () => Promise<void>): Promise<void> {
    if (this.#running >= this.readsMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      await read();
    } finally {
      // A turn passes directly to the next in line.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
