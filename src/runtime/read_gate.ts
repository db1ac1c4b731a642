/**
 * ReadGate: bounds the asynchronous reads of the process.
 *
 * Reads from a stalled device each hold a thread of the runtime's pool. Deno's
 * pool ends at 32 threads and its syncs run there too, so reads must not be
 * able to take them all.
 */

/** Enough to keep a device busy, well below Deno's pool. */
export const RUNNING_READS_MAX = 16;

/** Hands out places in the order of asking. */
export class ReadGate {
  readonly #placesMax: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
    this.#free = placesMax;
  }

  /** Reads that run now. */
  get running(): number {
    return this.#placesMax - this.#free;
  }

  /** Runs `read` when there is a place. */
  async run(read: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await read();
    } finally {
      const next = this.#waiting.shift();
      if (next) next(); // The place passes on.
      else this.#free++;
    }
  }
}

/** The gate of the process: the pool behind it is one too. */
export const readGate: ReadGate = new ReadGate(RUNNING_READS_MAX);
