/**
 * CommitLogDispatcher: hands a record to ConsumeQueue and index; the same code for a put, a
 * slave's bytes and recovery.
 *
 * Units of a running batch are readable at once and reach the files in `endBatch`: a kill -9
 * in between costs nothing, recovery dispatches again.
 */
import { FileError } from "../io/file_system.ts";
import { isWithoutQueueOffset } from "./commit_log_record.ts";
import type { ConsumeQueueStore } from "./consume_queue_store.ts";
import type { DeletedTopics } from "./deleted_topics.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import type { IndexService } from "./index_service.ts";
import type { RunningFlags } from "./running_flags.ts";

/** Where a record lies. */
export interface RecordPlace {
  readonly phyOffset: number;
  readonly size: number;
}

/** Builds what is derived from the log. */
export class CommitLogDispatcher {
  /** Store time of the newest record dispatched; milliseconds. */
  lastStoreTimestamp = 0;
  /** The newest record dispatched, in this life or by recovery. */
  lastRecord: RecordPlace | undefined;
  #isDispatchFailing = false;
  #isBatchFailing = false;

  constructor(
    private readonly queues: ConsumeQueueStore,
    private readonly index: IndexService,
    private readonly deletedTopics: DeletedTopics,
    private readonly flags: RunningFlags,
    private readonly messageIndexEnable: boolean,
  ) {}

  /** Throws `FileError` and has then taken nothing. */
  dispatch(request: DispatchRequest): void {
    const { topic, phyOffset, sysFlag } = request;
    const isCounted = !isWithoutQueueOffset(sysFlag) &&
      !this.deletedTopics.includes(topic, phyOffset);
    if (isCounted) {
      this.queues.putMessagePosition(request);
    }
    if (this.messageIndexEnable) this.index.buildIndex(request);
    this.lastStoreTimestamp = request.storeTimestamp;
    this.lastRecord = request;
  }

  /** Writes what the batch brought; what cannot be written stays for the next call. */
  endBatch(): void {
    try {
      this.queues.endBatch();
      this.index.endBatch();
      this.#isBatchFailing = false;
    } catch (error) {
      this.#isBatchFailing = true;
      this.#refuse(error);
      return;
    }
    this.#allow();
  }

  /** `dispatch` has thrown; null: it works again. Writes are refused meanwhile. */
  onDispatchFailed(error: unknown): void {
    this.#isDispatchFailing = error !== null;
    if (error === null) this.#allow();
    else this.#refuse(error);
  }

  #refuse(error: unknown): void {
    if (!(error instanceof FileError)) throw error;
    this.flags.set(
      "dispatch-failed",
      `Cannot write a consume queue: ${error.message}`,
    );
  }

  #allow(): void {
    if (this.#isDispatchFailing || this.#isBatchFailing) return;
    this.flags.clear("dispatch-failed");
  }
}
