/**
 * CleanCommitLogService: deletes CommitLog files by age, by space, by size and by hand.
 *
 * Called with every tick, and whenever the log gets a new file under `maxStoreBytes`; it looks
 * every `cleanResourceInterval`, and at once above `maxStoreBytes`. The plan is made anew after
 * each step, so that nothing goes once there is space again.
 */
import type { Clock } from "../io/clock.ts";
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
import { WallClockTrust } from "./wall_clock_trust.ts";

/** Bytes that go in one turn of the loop at most, but a whole file at least. */
const STEP_BYTES_MAX = 67_108_864;
/** Runs that one call by hand is good for, as in Apache. */
const MANUAL_RUNS = 20;

/** What the service works with. */
export interface CleanCommitLogParts {
  readonly fileSystem: FileSystem;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly commitLog: MappedFileQueue;
  readonly logger: Logger;
  /** First offset that a connected slave still needs; undefined without one. */
  readonly neededFrom?: () => number | undefined;
}

/** Deletes from the front of the log. */
export class CleanCommitLogService {
  readonly #parts: CleanCommitLogParts;
  readonly #age = new CommitLogFileAge();
  readonly #trust = new WallClockTrust();
  #options: MessageStoreOptions;
  #lastRunMs = Number.NEGATIVE_INFINITY;
  #isRunning = false;
  /** The last run failed: the next one waits for its time. */
  #isFailing = false;
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
    const monotonicMs = this.#parts.clock.monotonicMs();
    this.#observe(nowMs, monotonicMs);
    const isTime = this.#isAboveSize() ||
      monotonicMs - this.#lastRunMs >= this.#options.cleanResourceInterval;
    if (this.#isRunning || !isTime) return 0;
    this.#isRunning = true;
    this.#lastRunMs = monotonicMs;
    this.#isFailing = true;
    try {
      const deleted = await this.#clean(nowMs);
      this.#isFailing = false;
      return deleted;
    } finally {
      this.#isRunning = false;
      // A call by hand waits for the clock.
      if (this.#manualRuns > 0 && this.#trust.isTrusted) this.#manualRuns -= 1;
    }
  }

  #observe(nowMs: number, monotonicMs: number): void {
    const { commitLog, logger } = this.#parts;
    this.#age.observe(commitLog.files, commitLog.maxOffset, monotonicMs);
    const wasTrusted = this.#trust.isTrusted;
    const jumpMs = this.#trust.observe(nowMs, monotonicMs);
    const { isTrusted } = this.#trust;
    if (wasTrusted && !isTrusted) {
      logger.warn(
        "The wall clock has jumped: commit log files are not deleted by age until it has kept pace with monotonic time for an hour",
        { jumpSeconds: Math.round(jumpMs / 1000) },
      );
    } else if (!wasTrusted && isTrusted) {
      logger.info("Commit log files are deleted by age again");
    }
  }

  #isAboveSize(): boolean {
    const { maxStoreBytes } = this.#options;
    const { commitLog } = this.#parts;
    return maxStoreBytes > 0 && !this.#isFailing &&
      commitLog.files.length > 1 &&
      commitLog.maxOffset - commitLog.minOffset > maxStoreBytes;
  }

  async #clean(nowMs: number): Promise<number> {
    this.#sparedCount = 0;
    const newest = await this.#newestTimes(nowMs);
    if (newest === undefined) return 0;
    const first = this.#plan(nowMs, newest);
    this.#sparedCount = first.sparedCount;
    let deleted = 0;
    // Above maxStoreBytes sizes alone count, and records may come faster than files go.
    for (let plan = first; plan.count > 0;) {
      const isBySize = plan.reason === "maxStoreBytes";
      if (!isBySize && deleted >= first.count) break;
      const count = isBySize ? Math.min(plan.count, this.#filesPerStep()) : 1;
      this.#tell(plan, count);
      const gone = await this.#parts.commitLog.deleteFirstFiles(count);
      this.deletedFileCount += gone;
      deleted += gone;
      plan = this.#plan(nowMs, newest.slice(deleted));
    }
    return deleted;
  }

  #filesPerStep(): number {
    const { mappedFileSize } = this.#parts.commitLog;
    return Math.max(1, Math.floor(STEP_BYTES_MAX / mappedFileSize));
  }

  /** Undefined when there is nothing to do: most of the time no file is looked at. */
  async #newestTimes(nowMs: number): Promise<number[] | undefined> {
    const { commitLog, fileSystem, clock } = this.#parts;
    if (commitLog.files.length < 2) return undefined;
    const situation = this.#situation(nowMs);
    // Age does not matter then.
    if (forcedReason(situation, this.#options) !== undefined) {
      return commitLog.files.slice(1).map(() => nowMs);
    }
    const isAged = agedReason(situation, this.#options) !== undefined;
    if (!isAged || !situation.isClockTrusted) return undefined;
    return await this.#age.newestOf(
      [...commitLog.files],
      nowMs,
      clock.monotonicMs(),
      fileSystem,
    );
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
      isClockTrusted: this.#trust.isTrusted,
      ...this.#disk(),
      isManual: this.#manualRuns > 0,
      storedBytes: commitLog.maxOffset - commitLog.minOffset,
    };
  }

  #disk(): Pick<CleanSituation, "diskUsedPercent" | "diskTotalBytes"> {
    try {
      const { fileSystem, commitLog } = this.#parts;
      const { totalBytes, freeBytes } = fileSystem.diskSpace(
        commitLog.directory,
      );
      return {
        diskUsedPercent: totalBytes > 0
          ? (totalBytes - freeBytes) * 100 / totalBytes
          : null,
        diskTotalBytes: totalBytes,
      };
    } catch {
      // Who cannot be asked decides nothing; age and size still do.
      return { diskUsedPercent: null, diskTotalBytes: 0 };
    }
  }

  #tell(plan: CleanPlan, files: number): void {
    this.#lastReason = plan.reason;
    const first = this.#parts.commitLog.files[0]!;
    const fields = { path: first.path, reason: plan.reason, files };
    if (plan.isAgainstSlave) {
      this.#parts.logger.warn(
        "Deleting commit log files that a connected slave still needs",
        fields,
      );
    } else this.#parts.logger.info("Deleting commit log files", fields);
  }
}
