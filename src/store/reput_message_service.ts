/**
 * ReputMessageService: dispatch, from the CommitLog to ConsumeQueue, index and long polling.
 *
 * What a put of this process has appended is dispatched from the fields known at that time;
 * everything else (a slave's bytes, what recovery left over) is read from the log. Both give
 * the same DispatchRequest.
 *
 * Invariants
 * - `reputFromOffset` <= `confirmOffset` <= end of the log, once the log has what it begins with.
 * - `#known` holds, from `#knownHead` on, every record at or beyond `#knownFrom`, in order.
 * - Records reach the dispatcher in the order of the log, each once.
 */
import { FileError } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import type { CommitLog } from "./commit_log.ts";
import { decodeDispatchRequest } from "./commit_log_record.ts";
import type { DelayLevelTable } from "./delay_level_table.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import { findNextRecord } from "./record_search.ts";
import { RecordScan } from "./record_scan.ts";

/** Records remembered while they are not visible yet; beyond it the log is read again. */
const KNOWN_MAX = 32_768;
/** Bytes read from the log in one go, so that other work of the turn is not delayed. */
const REPUT_SLICE_BYTES = 4_194_304;

/** What the service calls and asks. */
export interface ReputContext {
  /** Throws `FileError` and has then taken nothing. */
  dispatch(request: DispatchRequest): void;
  /** Called after `dispatch`, for long polling. */
  onArriving(request: DispatchRequest): void;
  /** End of what dispatch may see. */
  confirmOffset(): number;
  /** Called when `dispatch` threw, and with null when it works again. */
  onDispatchFailed(error: unknown): void;
  isSlave(): boolean;
}

/** Dispatches; a call, not a thread. */
export class ReputMessageService {
  reputFromOffset = 0;
  /** Broken records passed over since the start. */
  corruptRecordCount = 0;
  /** Why dispatch stands still although there is something; null when it does not. */
  stallReason: string | null = null;
  #known: DispatchRequest[] = [];
  #knownHead = 0;
  #knownFrom = Number.MAX_SAFE_INTEGER;
  /** End of the last record that a put has described; -1 when others have appended since. */
  #knownEnd = -1;
  #isFailing = false;
  #isReadFailing = false;
  readonly #scan: RecordScan;

  constructor(
    private readonly log: CommitLog,
    private readonly delayLevels: DelayLevelTable,
    private readonly context: ReputContext,
    private readonly logger: Logger,
  ) {
    this.#scan = new RecordScan(log, 0);
  }

  /** Bytes appended and not dispatched. */
  get dispatchBehindBytes(): number {
    return Math.max(0, this.log.maxOffset - this.reputFromOffset);
  }

  /** True from a failed dispatch to the next that succeeds. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Begins at `offset`, knowing nothing of what follows. */
  reset(offset: number): void {
    this.reputFromOffset = offset;
    this.#forgetKnown();
    this.#scan.reset(offset);
    this.stallReason = null;
  }

  /** A put has appended `request`; dispatches it at once when it is visible and next. */
  onAppended(request: DispatchRequest): void {
    const end = endOf(request);
    const isVisible = this.context.confirmOffset() >= end;
    if (this.#known.length === this.#knownHead) {
      const isNext = this.#isNext(request.phyOffset);
      if (isNext && isVisible && !this.#isFailing) {
        this.#knownEnd = end;
        this.#dispatch(request);
        return;
      }
      this.#knownFrom = request.phyOffset;
    }
    this.#knownEnd = end;
    if (this.#known.length - this.#knownHead >= KNOWN_MAX) {
      this.#known = [];
      this.#knownHead = 0;
      this.#knownFrom = end;
    } else this.#known.push(request);
    if (isVisible) this.doReput();
  }

  /** Bytes were appended that nobody has described: they will be read from the log. */
  onAppendedData(): void {
    this.#forgetKnown();
  }

  /**
   * Dispatches what has become visible, of what has to be read from the log about `sliceBytes`.
   * Returns true when more is left for another call.
   */
  doReput(sliceBytes = REPUT_SLICE_BYTES): boolean {
    const end = this.context.confirmOffset();
    if (this.reputFromOffset >= end) return false;
    if (this.reputFromOffset < this.log.minOffset) this.#skipDeleted();
    if (this.reputFromOffset < this.#knownFrom) {
      const until = Math.min(end, this.#knownFrom);
      return this.#reputFromLog(until, sliceBytes) ||
        (this.reputFromOffset >= this.#knownFrom && this.doReput(sliceBytes));
    }
    if (this.#knownHead === this.#known.length) {
      // Nobody told us: bytes of a master, or of before the start.
      return this.#reputFromLog(end, sliceBytes);
    }
    return this.#reputKnown(end);
  }

  /** What was deleted before it was dispatched is nobody's any more. */
  #skipDeleted(): void {
    const { minOffset } = this.log;
    this.logger.warn("Records were deleted before they were dispatched", {
      from: this.reputFromOffset,
      to: minOffset,
    });
    this.reputFromOffset = minOffset;
    this.#forgetKnown();
  }

  /** True when nothing but the blank end of a file lies before `phyOffset`. */
  #isNext(phyOffset: number): boolean {
    const from = this.reputFromOffset;
    return phyOffset === from || (from === this.#knownEnd &&
      phyOffset === this.log.nextFileOffset(from));
  }

  #reputKnown(end: number): boolean {
    const known = this.#known;
    while (this.#knownHead < known.length) {
      const request = known[this.#knownHead]!;
      if (endOf(request) > end) break;
      if (!this.#dispatch(request)) return false;
      // A listener that puts may have made the list overflow.
      if (this.#known !== known) return true;
      this.#knownHead++;
    }
    if (this.#knownHead === known.length) {
      this.#known = [];
      this.#knownHead = 0;
    } else if (this.#knownHead > KNOWN_MAX / 4) {
      this.#known = known.slice(this.#knownHead);
      this.#knownHead = 0;
    }
    return false;
  }

  /** A log that cannot be read holds dispatch up; the next call tries again. */
  #reputFromLog(end: number, sliceBytes: number): boolean {
    try {
      const isMore = this.#reputRecords(end, sliceBytes);
      if (this.#isReadFailing) {
        this.#isReadFailing = false;
        this.stallReason = null;
      }
      return isMore;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (!this.#isReadFailing) this.logger.error(error.message);
      this.#isReadFailing = true;
      this.stallReason = error.message;
      this.#scan.reset(this.reputFromOffset);
      return false;
    }
  }

  #reputRecords(end: number, sliceBytes: number): boolean {
    const scan = this.#scan;
    scan.offset = this.reputFromOffset;
    const sliceEnd = this.reputFromOffset + sliceBytes;
    while (this.reputFromOffset < end) {
      if (this.reputFromOffset > sliceEnd) return true;
      const step = scan.step(end, false);
      if (step.kind === "record") {
        const request = decodeDispatchRequest(
          scan.bytes,
          scan.view,
          step.position,
          this.delayLevels,
        );
        if (!this.#dispatch(request)) return false;
        scan.offset = this.reputFromOffset;
      } else if (step.kind === "blank") {
        const next = this.log.nextFileOffset(scan.offset);
        // A slave has not received the rest of the file yet.
        if (next > this.log.maxOffset) return false;
        scan.offset = this.reputFromOffset = next;
      } else if (step.kind === "corrupt") {
        if (!this.#passOver(step.reason, end)) return false;
        scan.reset(this.reputFromOffset);
      } else return false;
    }
    scan.reset(this.reputFromOffset);
    return false;
  }

  /** A master goes on behind a broken record; a slave waits, for its master has the truth. */
  #passOver(reason: string, end: number): boolean {
    const at = this.reputFromOffset;
    const sentence = `The record at ${at} of the log is broken: ${reason}`;
    if (this.context.isSlave()) {
      if (this.stallReason === null) this.logger.error(sentence, { at });
      this.stallReason = sentence;
      return false;
    }
    this.corruptRecordCount++;
    const next = findNextRecord(this.log, at, end) ?? end;
    this.logger.error(`${sentence}; dispatch goes on at ${next}`, { at, next });
    this.reputFromOffset = next;
    return true;
  }

  #dispatch(request: DispatchRequest): boolean {
    try {
      this.context.dispatch(request);
    } catch (error) {
      this.#onFailed(request, error);
      return false;
    }
    if (this.#isFailing) {
      this.#isFailing = false;
      this.context.onDispatchFailed(null);
    }
    this.reputFromOffset = endOf(request);
    this.context.onArriving(request);
    return true;
  }

  /** Everything stays as it was; the record is read from the log when `doReput` tries again. */
  #onFailed(request: DispatchRequest, error: unknown): void {
    this.#isFailing = true;
    this.reputFromOffset = Math.min(this.reputFromOffset, request.phyOffset);
    this.#forgetKnown();
    this.context.onDispatchFailed(error);
  }

  #forgetKnown(): void {
    this.#known = [];
    this.#knownHead = 0;
    this.#knownFrom = Number.MAX_SAFE_INTEGER;
    this.#knownEnd = -1;
  }
}

function endOf(request: DispatchRequest): number {
  return request.phyOffset + request.size;
}
