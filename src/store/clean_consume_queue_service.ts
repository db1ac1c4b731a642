/** CleanConsumeQueueService: queue and index files go with the part of the log they speak of. */
import type { ConsumeQueueStore } from "./consume_queue_store.ts";
import type { IndexService } from "./index_service.ts";

/** How many files went. */
export interface CleanedFiles {
  readonly queueFiles: number;
  readonly indexFiles: number;
}

const NOTHING: CleanedFiles = { queueFiles: 0, indexFiles: 0 };

/** Cleans behind CleanCommitLogService. */
export class CleanConsumeQueueService {
  #doneFor = -1;
  #isRunning = false;

  constructor(
    private readonly queues: Pick<ConsumeQueueStore, "cleanExpired">,
    private readonly index: Pick<IndexService, "deleteExpired"> | undefined,
  ) {}

  /** Cheap to call with every tick: does something only when the log's start has moved. */
  async run(minPhyOffset: number): Promise<CleanedFiles> {
    if (this.#isRunning || minPhyOffset === this.#doneFor) return NOTHING;
    this.#isRunning = true;
    try {
      const queueFiles = await this.queues.cleanExpired(minPhyOffset);
      const indexFiles = await this.index?.deleteExpired(minPhyOffset) ?? 0;
      this.#doneFor = minPhyOffset;
      return { queueFiles, indexFiles };
    } finally {
      this.#isRunning = false;
    }
  }
}
