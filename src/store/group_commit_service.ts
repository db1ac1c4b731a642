/**
 * GroupCommitService: SYNC_FLUSH. One sync serves every put that waits for it (DESIGN 3).
 *
 * Invariants
 * - At most one sync runs. Puts that arrive meanwhile form the next group.
 * - A group starts when the turn that made it ends, so that all puts of the turn are in it.
 * - Waiters are ordered by `nextOffset` and, as the time-out is the same for all, by deadline.
 */
import type { PutMessageStatus } from "./put_message_result.ts";

/** How the wait for a sync ended. */
export type FlushStatus = Extract<
  PutMessageStatus,
  "PUT_OK" | "FLUSH_DISK_TIMEOUT"
>;

interface GroupCommitRequest {
  readonly nextOffset: number;
  readonly deadlineMs: number;
  readonly resolve: (status: FlushStatus) => void;
}

/** What the service needs of the log. */
export interface GroupCommitLog {
  readonly flushedOffset: number;
  flush(): Promise<void>;
}

/** Waits for syncs on behalf of puts. */
export class GroupCommitService {
  #requests: GroupCommitRequest[] = [];
  #isScheduled = false;
  #isFlushing = false;
  #wanted = false;
  #failed = false;

  constructor(
    private readonly log: GroupCommitLog,
    /** Called after every sync that succeeded, before waiters are answered. */
    private readonly onFlushed: () => void,
    /** Called once, with the first failure; the service then never syncs again. */
    private readonly onFailed: (error: unknown) => void,
  ) {}

  get pendingCount(): number {
    return this.#requests.length;
  }

  /** Resolves when everything below `nextOffset` is durable, or at the deadline (monotonic). */
  request(nextOffset: number, deadlineMs: number): Promise<FlushStatus> {
    if (this.#failed) return Promise.resolve("FLUSH_DISK_TIMEOUT");
    return new Promise((resolve) => {
      this.#requests.push({ nextOffset, deadlineMs, resolve });
      this.wakeup();
    });
  }

  /** Starts a sync at the end of this turn; nobody waits for it. */
  wakeup(): void {
    this.#wanted = true;
    if (this.#isScheduled || this.#isFlushing || this.#failed) return;
    this.#isScheduled = true;
    Promise.resolve().then(() => {
      this.#isScheduled = false;
      void this.#run();
    });
  }

  /** Answers those whose deadline has passed; takes monotonic milliseconds. */
  tick(nowMs: number): void {
    const requests = this.#requests;
    let count = 0;
    while (count < requests.length && requests[count]!.deadlineMs <= nowMs) {
      requests[count]!.resolve("FLUSH_DISK_TIMEOUT");
      count++;
    }
    if (count > 0) requests.splice(0, count);
  }

  async #run(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    while (this.#wanted && !this.#failed) {
      this.#wanted = false;
      try {
        await this.log.flush();
      } catch (error) {
        this.#fail(error);
        break;
      }
      this.onFlushed();
      this.#answer(this.log.flushedOffset);
    }
    this.#isFlushing = false;
  }

  #answer(flushedOffset: number): void {
    const requests = this.#requests;
    let count = 0;
    while (
      count < requests.length && requests[count]!.nextOffset <= flushedOffset
    ) {
      requests[count]!.resolve("PUT_OK");
      count++;
    }
    if (count === requests.length) this.#requests = [];
    else if (count > 0) requests.splice(0, count);
  }

  #fail(error: unknown): void {
    this.#failed = true;
    this.onFailed(error);
    const requests = this.#requests;
    this.#requests = [];
    for (const it of requests) it.resolve("FLUSH_DISK_TIMEOUT");
  }
}
