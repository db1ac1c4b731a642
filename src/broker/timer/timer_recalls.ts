/** TimerRecalls: which messages must not be delivered, while they may come up. */

interface Recall {
  readonly dueMs: number;
  readonly queueOffset: number;
}

/** How long behind the time of a recall its message may be due: Apache floors times. */
export const RECALL_KEEP_MS = 2_000;

/** Those whose time has come. */
export class TimerRecalls {
  readonly #recalls = new Map<string, Recall>();

  /** `key` names the message, the rest is the recall's. */
  add(key: string, dueMs: number, queueOffset: number): void {
    this.#recalls.set(key, { dueMs, queueOffset });
  }

  has(key: string): boolean {
    return this.#recalls.has(key);
  }

  get size(): number {
    return this.#recalls.size;
  }

  /** Forgets those whose message has come up: all that is due up to `doneUntilMs` has. */
  purge(doneUntilMs: number): void {
    for (const [key, { dueMs }] of this.#recalls) {
      if (dueMs + RECALL_KEEP_MS < doneUntilMs) this.#recalls.delete(key);
    }
  }

  /** Of those that are kept; Infinity without. */
  minQueueOffset(): number {
    let min = Infinity;
    for (const { queueOffset } of this.#recalls.values()) {
      min = Math.min(min, queueOffset);
    }
    return min;
  }
}
