/** CleanService: log, queue and index files that are no longer needed go, in this order. */
import type { Logger } from "../io/logger.ts";
import type { CleanCommitLogService } from "./clean_commit_log_service.ts";
import type { CleanConsumeQueueService } from "./clean_consume_queue_service.ts";
import type { CommitLog } from "./commit_log.ts";

/** Runs both cleaners; a `tick`, not a thread. */
export class CleanService {
  #isRunning = false;

  constructor(
    private readonly log: CommitLog,
    readonly commitLogCleaner: CleanCommitLogService,
    private readonly consumeQueueCleaner: CleanConsumeQueueService,
    private readonly logger: Logger,
  ) {}

  tick(nowMs: number): void {
    if (!this.#isRunning) void this.#run(nowMs);
  }

  async #run(nowMs: number): Promise<void> {
    this.#isRunning = true;
    try {
      await this.commitLogCleaner.run(nowMs);
      await this.consumeQueueCleaner.run(this.log.minOffset);
    } catch (error) {
      this.logger.error("Cannot delete files that are no longer needed", {
        error: error instanceof Error ? error.message : String(error),
      });
    } finally {
      this.#isRunning = false;
    }
  }
}
