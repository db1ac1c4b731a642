/**
 * Recovery of the CommitLog (reference 5.3-5.6): finds where it ends and hands every record
 * that queues or index may miss to dispatch.
 *
 * A torn tail is an outcome: the log ends before it. A broken record with newer, sound and
 * formerly durable ones behind it is damage: it is fenced, counted, and the rest is served.
 */
import type { Logger } from "../io/logger.ts";
import type { CommitLog } from "./commit_log.ts";
import { decodeDispatchRequest } from "./commit_log_record.ts";
import type { RecordPlace } from "./commit_log_dispatcher.ts";
import type { DelayLevelTable } from "./delay_level_table.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import { findNextRecord } from "./record_search.ts";
import { RecordScan } from "./record_scan.ts";
import type { RecoveryPace } from "./recovery_pace.ts";
import { isShortage } from "./unfinished_start.ts";

/** What recovery has to know. */
export interface RecoveryInput {
  readonly log: CommitLog;
  readonly delayLevels: DelayLevelTable;
  readonly logger: Logger;
  readonly lastExitOk: boolean;
  readonly checkCrc: boolean;
  /** Highest phyOffset + size in any queue; -1 without any. */
  readonly queueMaxPhyOffset: number;
  /** End of the log at the last clean stop; 0 when this one was not, or nobody noted it. */
  readonly cleanEndOffset: number;
  /** Records up to this store time are known to be durable, in log and queues. */
  readonly minTimestamp: number;
  /** Records up to this store time were synced to the log once. */
  readonly physicMsgTimestamp: number;
  /** Offset from which the index lacks records; undefined when it lacks none before the end. */
  readonly indexFrom: number | undefined;
  /** End of what may be dispatched (visibility). */
  readonly confirmOffset: number;
  readonly pace: RecoveryPace;
  /** Takes every record at or beyond the start, in order; idempotent. Throws `FileError`. */
  dispatch(request: DispatchRequest): void;
  /** Takes records beyond `confirmOffset`, and those for which the disk has no room. */
  remember(request: DispatchRequest): void;
}

/** What recovery has found. */
export interface RecoveryReport {
  /** Where the scan began. */
  readonly startOffset: number;
  /** End of the log: the next record goes here. */
  readonly endOffset: number;
  /** First offset that was not dispatched. */
  readonly reputFromOffset: number;
  readonly recordCount: number;
  readonly corruptRecordCount: number;
  readonly lastStoreTimestamp: number;
  /** The last whole record; null when the scan saw none. */
  readonly lastRecord: RecordPlace | null;
  /** What is at the end, when it is not just free space. */
  readonly tail: string | null;
  /** The words of a full disk that did not take all of what belongs to the log; null: it did. */
  readonly shortage: string | null;
}

/** Where the scan has to begin. */
export function recoveryStartOffset(input: RecoveryInput): number {
  const { log, indexFrom } = input;
  const start = input.lastExitOk ? cleanStart(input) : uncleanStart(input);
  if (indexFrom === undefined || indexFrom >= start) return start;
  const file = log.mappedFileQueue.fileAt(Math.max(indexFrom, log.minOffset));
  return file?.fileFromOffset ?? start;
}

/** The last file that begins at or before the end of the queues. */
function cleanStart(input: RecoveryInput): number {
  const { files } = input.log.mappedFileQueue;
  for (let index = files.length - 1; index > 0; index--) {
    const { fileFromOffset } = files[index]!;
    if (fileFromOffset <= input.queueMaxPhyOffset) return fileFromOffset;
  }
  return input.log.minOffset;
}

/** The last file whose first record was durable, in log and queues, before the stop. */
function uncleanStart(input: RecoveryInput): number {
  const { log } = input;
  const { files } = log.mappedFileQueue;
  for (let index = files.length - 1; index > 0; index--) {
    const { fileFromOffset } = files[index]!;
    const scan = new RecordScan(log, fileFromOffset);
    const step = scan.step(log.maxOffset, input.checkCrc);
    if (step.kind !== "record") continue;
    const first = decodeDispatchRequest(
      scan.bytes,
      scan.view,
      step.position,
      input.delayLevels,
    );
    const { storeTimestamp } = first;
    if (storeTimestamp > 0 && storeTimestamp <= input.minTimestamp) {
      return fileFromOffset;
    }
  }
  return log.minOffset;
}

/** Scans from `startOffset` to the end of what is sound. Changes nothing in the log. */
export function recoverCommitLog(
  input: RecoveryInput,
  startOffset: number,
): Promise<RecoveryReport> {
  return new LogRecovery(input, startOffset).run();
}

class LogRecovery {
  readonly #scan: RecordScan;
  readonly #limit: number;
  #reputFromOffset: number | undefined;
  #recordCount = 0;
  #corruptCount = 0;
  #lastStoreTimestamp = 0;
  #lastRecord: RecordPlace | null = null;
  #tail: string | null = null;
  #shortage: string | null = null;

  constructor(
    private readonly input: RecoveryInput,
    private readonly startOffset: number,
  ) {
    this.#scan = new RecordScan(input.log, startOffset);
    this.#limit = input.log.maxOffset;
  }

  async run(): Promise<RecoveryReport> {
    const scan = this.#scan;
    const { pace } = this.input;
    pace.begin(this.startOffset, this.#limit);
    while (this.#advance()) {
      const pause = pace.pause(scan.offset);
      if (pause !== undefined) await pause;
    }
    return {
      startOffset: this.startOffset,
      endOffset: scan.offset,
      reputFromOffset: this.#reputFromOffset ?? scan.offset,
      recordCount: this.#recordCount,
      corruptRecordCount: this.#corruptCount,
      lastStoreTimestamp: this.#lastStoreTimestamp,
      lastRecord: this.#lastRecord,
      tail: this.#tail,
      shortage: this.#shortage,
    };
  }

  /** One record or marker further; false at the end of the log. */
  #advance(): boolean {
    const { log, checkCrc } = this.input;
    const scan = this.#scan;
    const step = scan.step(this.#limit, checkCrc);
    switch (step.kind) {
      case "record":
        this.#take(decodeDispatchRequest(
          scan.bytes,
          scan.view,
          step.position,
          this.input.delayLevels,
        ));
        scan.offset += step.size;
        return true;
      case "blank":
        scan.offset = Math.min(log.nextFileOffset(scan.offset), this.#limit);
        return scan.offset < this.#limit;
      case "corrupt":
        return this.#passOver(step.reason);
      case "incomplete":
        this.#tail = "a record is cut off by the end of the log";
        return false;
      case "end":
        return false;
    }
  }

  #take(request: DispatchRequest): void {
    const { input } = this;
    this.#recordCount++;
    this.#lastStoreTimestamp = request.storeTimestamp;
    const { phyOffset, size } = request;
    this.#lastRecord = { phyOffset, size };
    const isVisible = this.#reputFromOffset === undefined &&
      request.phyOffset + request.size <= input.confirmOffset;
    if (isVisible && this.#dispatch(request)) return;
    this.#reputFromOffset ??= request.phyOffset;
    input.remember(request);
  }

  /** False when the disk is full: this record and those behind it are dispatched later. */
  #dispatch(request: DispatchRequest): boolean {
    try {
      this.input.dispatch(request);
      return true;
    } catch (error) {
      if (!isShortage(error)) throw error;
      this.#shortage = error.message;
      return false;
    }
  }

  /** The end of the log, or damage in the middle of it? */
  #passOver(reason: string): boolean {
    const { input } = this;
    const scan = this.#scan;
    const broken = scan.offset;
    this.#tail = reason;
    if (!this.#mayBeDamage(broken)) return false;
    const next = findNextRecord(input.log, broken, this.#limit);
    if (next === undefined || !this.#wasDurable(next)) return false;
    this.#corruptCount++;
    this.#tail = null;
    input.logger.error(
      `The record at ${broken} of the log is broken and passed over: ${reason}`,
      { phyOffset: broken, goesOnAt: next },
    );
    scan.reset(next);
    return true;
  }

  /** Only when something durable tells of later records is the rest worth looking through. */
  #mayBeDamage(broken: number): boolean {
    const { input } = this;
    return Math.max(input.queueMaxPhyOffset, input.cleanEndOffset) > broken ||
      (!input.lastExitOk &&
        input.physicMsgTimestamp >= this.#lastStoreTimestamp);
  }

  /**
   * Left-overs of an earlier life of the file, behind a cut, are older than what was written
   * since; records that power loss let through although one before them was lost are newer
   * than the last sync.
   */
  #wasDurable(offset: number): boolean {
    const { input } = this;
    const scan = new RecordScan(input.log, offset);
    const step = scan.step(this.#limit, true);
    if (step.kind !== "record") return false;
    const { storeTimestamp } = decodeDispatchRequest(
      scan.bytes,
      scan.view,
      step.position,
      input.delayLevels,
    );
    if (storeTimestamp < this.#lastStoreTimestamp) return false;
    return input.lastExitOk || storeTimestamp <= input.physicMsgTimestamp;
  }
}
