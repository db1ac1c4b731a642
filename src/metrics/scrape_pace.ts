/**
 * ScrapePace: a scrape of many topics and groups goes on in short turns of the loop, so that
 * sends and pulls between them wait for one turn at most.
 */
import type { Clock } from "../io/clock.ts";

/** A turn, in milliseconds; what is done between two looks at the clock comes on top. */
const TURN_MS = 2;
/** Rows between two looks at the clock. */
const ROWS_PER_LOOK = 64;

/** Of one scrape. */
export class ScrapePace {
  readonly #clock: Clock;
  #turnEndMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#turnEndMs = clock.monotonicMs() + TURN_MS;
  }

  /** True when others wait long enough. */
  get isOver(): boolean {
    return this.#clock.monotonicMs() >= this.#turnEndMs;
  }

  /** Lets the loop do what waits, if this turn is over. */
  async rest(): Promise<void> {
    if (!this.isOver) return;
    await new Promise<void>((resolve) => this.#clock.after(0, resolve));
    this.#turnEndMs = this.#clock.monotonicMs() + TURN_MS;
  }

  /** What `read` makes of each row, without those that it leaves out as undefined. */
  async map<Row, Made>(
    rows: Iterable<Row>,
    read: (row: Row) => Made | undefined,
  ): Promise<Made[]> {
    const made: Made[] = [];
    await this.each(rows, (row) => {
      const it = read(row);
      if (it !== undefined) made.push(it);
    });
    return made;
  }

  /** Shows every row to `see`. */
  async each<Row>(
    rows: Iterable<Row>,
    see: (row: Row) => void,
  ): Promise<void> {
    let left = ROWS_PER_LOOK;
    for (const row of rows) {
      see(row);
      if (--left > 0) continue;
      left = ROWS_PER_LOOK;
      if (this.isOver) await this.rest();
    }
  }
}
