/**
 * IndexCatchUp: after the disk refused index entries for a while, files those that are missing
 * (the log has them all), so that a query by key tells the truth again.
 */
import { FileError } from "../io/file_system.ts";
import type { CommitLog } from "./commit_log.ts";
import { decodeDispatchRequest } from "./commit_log_record.ts";
import type { DelayLevelTable } from "./delay_level_table.ts";
import type { IndexService } from "./index_service.ts";
import { RecordScan } from "./record_scan.ts";

const RETRY_INTERVAL_MS = 10_000;
/** Bytes of the log read in one tick. */
const SLICE_BYTES = 4_194_304;

/** Looks for trouble every 10 s; a `tick`, not a thread. */
export class IndexCatchUp {
  #lastTryMs = 0;
  #scan: RecordScan | undefined;

  constructor(
    private readonly log: CommitLog,
    private readonly index: IndexService,
    private readonly delayLevels: DelayLevelTable,
    /** End of what dispatch has handed to the index. */
    private readonly dispatchedOffset: () => number,
  ) {}

  tick(nowMs: number): void {
    if (this.index.offReason !== null) this.#tryResume(nowMs);
    if (this.#scan !== undefined) this.#catchUp(this.#scan);
  }

  #tryResume(nowMs: number): void {
    this.#scan = undefined;
    const elapsed = nowMs - this.#lastTryMs;
    if (elapsed >= 0 && elapsed < RETRY_INTERVAL_MS) return;
    this.#lastTryMs = nowMs;
    const { missedFrom } = this.index;
    if (!this.index.tryResume()) return;
    this.#scan = new RecordScan(
      this.log,
      Math.max(missedFrom, this.log.minOffset),
    );
  }

  #catchUp(scan: RecordScan): void {
    try {
      this.#fileSlice(scan);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      // The log cannot be read now: the next tick goes on where this one ended.
      scan.reset(scan.offset);
    }
  }

  #fileSlice(scan: RecordScan): void {
    // Files of the log may have been deleted since the last slice.
    if (scan.offset < this.log.minOffset) scan.reset(this.log.minOffset);
    const end = this.dispatchedOffset();
    const sliceEnd = Math.min(end, scan.offset + SLICE_BYTES);
    while (scan.offset < sliceEnd) {
      const step = scan.step(end, false);
      if (step.kind === "record") {
        this.index.catchUp(decodeDispatchRequest(
          scan.bytes,
          scan.view,
          step.position,
          this.delayLevels,
        ));
        scan.offset += step.size;
      } else scan.offset = Math.min(this.log.nextFileOffset(scan.offset), end);
    }
    if (scan.offset < end) return;
    this.#scan = undefined;
    this.index.endCatchUp();
  }
}
