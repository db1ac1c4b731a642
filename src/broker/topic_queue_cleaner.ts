/**
 * TopicQueueCleaner: removes, on a slave, the queues of topics that its master
 * deleted, once dispatch has passed the place of the deletion: until then it
 * would only build them again.
 */
import type { Logger } from "../io/logger.ts";

/** What it needs of the store. */
export interface TopicQueueStore {
  readonly maxPhyOffset: number;
  /** Bytes of the log whose records have no unit yet. */
  readonly dispatchBehindBytes: number;
  /** Removes the queues of a topic whose records are all below `phyOffset`. */
  deleteQueuesBefore(topic: string, phyOffset: number): Promise<void>;
}

/** Waits and removes. */
export class TopicQueueCleaner {
  readonly #store: TopicQueueStore;
  readonly #logger: Logger;
  readonly #pending = new Map<string, number>();
  #isRunning = false;

  constructor(store: TopicQueueStore, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** The topic was deleted where the log was at `logEnd`. */
  add(topic: string, logEnd: number): void {
    this.#pending.set(topic, logEnd);
  }

  /** Every 100 ms. */
  tick(): void {
    if (this.#pending.size === 0 || this.#isRunning) return;
    const { maxPhyOffset, dispatchBehindBytes } = this.#store;
    const dispatched = maxPhyOffset - dispatchBehindBytes;
    const due = [...this.#pending].filter(([, it]) => it <= dispatched);
    if (due.length === 0) return;
    for (const [topic] of due) this.#pending.delete(topic);
    this.#isRunning = true;
    this.#run(due)
      .catch((error: unknown) =>
        // The next start tries it again.
        this.#logger.error("Cannot remove the queues of deleted topics", {
          error,
        })
      )
      .finally(() => {
        this.#isRunning = false;
      });
  }

  async #run(due: readonly [string, number][]): Promise<void> {
    for (const [topic, logEnd] of due) {
      await this.#store.deleteQueuesBefore(topic, logEnd);
    }
  }
}
