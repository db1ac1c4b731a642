/**
 * CleanCommitLogService: deletes CommitLog files by age, by space, by size and by hand.
 *
 * Called with every tick; it looks every `cleanResourceInterval`. The plan is made anew after
 * each file, so that nothing goes once there is space again.
 */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import {
  agedReason,
  type CleanFile,
  type CleanPlan,
  type CleanReason,
  type CleanSituation,
  forcedReason,
  planCleanCommitLog,
} from "./clean_commit_log_plan.ts";
import { CommitLogFileAge } from "./commit_log_file_age.ts";
import type { MappedFileQueue } from "./mapped_file_queue.ts";
import type { MessageStoreOptions } from "./store_options.ts";

/** Runs that one call by hand is good for, as in Apache. */
const MANUAL_RUNS = 20;

/** What the service works with. */
export interface CleanCommitLogParts {
  readonly fileSystem: FileSystem;
  readonly commitLog: MappedFileQueue;
  readonly logger: Logger;
  /** First offset that a connected slave still needs; undefined without one. */
  readonly neededFrom?: () => number | undefined;
}

/** Deletes from the front of the log. */
export class CleanCommitLogService {
  readonly #parts: CleanCommitLogParts;
  readonly #age = new CommitLogFileAge();
  #options: MessageStoreOptions;
  #lastRunMs = Number.NEGATIVE_INFINITY;
  #isRunning = false;
  #manualRuns = 0;
  #lastReason: CleanReason | null = null;
  #sparedCount = 0;
  deletedFileCount = 0;

  constructor(parts: CleanCommitLogParts, options: MessageStoreOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Why the last files went; null when none did in this process. */
  get lastReason(): CleanReason | null {
    return this.#lastReason;
  }

  /** Files that would have gone in the last run, but for a connected slave. */
  get sparedCount(): number {
    return this.#sparedCount;
  }

  reconfigure(options: MessageStoreOptions): void {
    this.#options = options;
  }

  /** The next 20 runs delete what is beyond `fileReservedTime`, at any hour. */
  executeDeleteFilesManually(): void {
    this.#manualRuns = MANUAL_RUNS;
    this.#lastRunMs = Number.NEGATIVE_INFINITY;
  }

  /** Resolves with the number of files deleted; 0 at once when it is not yet time. */
  async run(nowMs: number): Promise<number> {
    const elapsed = nowMs - this.#lastRunMs;
    const isTime = elapsed < 0 ||
      elapsed >= this.#options.cleanResourceInterval;
    if (this.#isRunning || !isTime) return 0;
    this.#isRunning = true;
    this.#lastRunMs = nowMs;
    try {
      return await this.#clean(nowMs);
    } finally {
      this.#isRunning = false;
      if (this.#manualRuns > 0) this.#manualRuns -= 1;
    }
  }

  async #clean(nowMs: number): Promise<number> {
    this.#sparedCount = 0;
    const newest = await this.#newestTimes(nowMs);
    if (newest === undefined) return 0;
    let deleted = 0;
    while (deleted < this.#options.deleteFileBatchMax) {
      const plan = this.#plan(nowMs, newest.slice(deleted));
      if (deleted === 0) this.#sparedCount = plan.sparedCount;
      if (plan.count === 0) break;
      this.#tell(plan);
      deleted += await this.#parts.commitLog.deleteFirstFiles(1);
    }
    this.deletedFileCount += deleted;
    return deleted;
  }

  /** Undefined when there is nothing to do: most of the time no file is looked at. */
  async #newestTimes(nowMs: number): Promise<number[] | undefined> {
    const { commitLog, fileSystem } = this.#parts;
    if (commitLog.files.length < 2) return undefined;
    const situation = this.#situation(nowMs);
    // Age does not matter then.
    if (forcedReason(situation, this.#options) !== undefined) {
      return commitLog.files.slice(1).map(() => nowMs);
    }
    if (agedReason(situation, this.#options) === undefined) return undefined;
    return await this.#age.newestOf([...commitLog.files], nowMs, fileSystem);
  }

  #plan(nowMs: number, newest: readonly number[]): CleanPlan {
    const { commitLog, neededFrom } = this.#parts;
    const files: CleanFile[] = commitLog.files.map((it, index) => ({
      fileFromOffset: it.fileFromOffset,
      endOffset: it.fileFromOffset + it.fileSize,
      newestMs: newest[index] ?? nowMs,
    }));
    return planCleanCommitLog(
      this.#situation(nowMs),
      files,
      this.#options,
      neededFrom?.(),
    );
  }

  #situation(nowMs: number): CleanSituation {
    const { commitLog } = this.#parts;
    return {
      nowMs,
      localHour: new Date(nowMs).getHours(),
      diskUsedPercent: this.#diskUsedPercent(),
      isManual: this.#manualRuns > 0,
      storedBytes: commitLog.maxOffset - commitLog.minOffset,
    };
  }

  #diskUsedPercent(): number | null {
    try {
      const { fileSystem, commitLog } = this.#parts;
      const { totalBytes, freeBytes } = fileSystem.diskSpace(
        commitLog.directory,
      );
      return totalBytes > 0
        ? (totalBytes - freeBytes) * 100 / totalBytes
        : null;
    } catch {
      // Who cannot be asked decides nothing; age and size still do.
      return null;
    }
  }

  #tell(plan: CleanPlan): void {
    this.#lastReason = plan.reason;
    const first = this.#parts.commitLog.files[0]!;
    const fields = { path: first.path, reason: plan.reason };
    if (plan.isAgainstSlave) {
      this.#parts.logger.warn(
        "Deleting a commit log file that a connected slave still needs",
        fields,
      );
    } else this.#parts.logger.info("Deleting a commit log file", fields);
  }
}
