/**
 * ReplicaDispatch: how a slave dispatches what its master sends.
 *
 * Dispatch costs several times what the append costs. A slave that is far behind takes the bytes
 * first, for only they are safe from the end of the master: while many arrive, dispatch gets a
 * small part of the time, and what it is behind grows, up to what can still be read from memory.
 * Afterwards it goes on slice by slice, each read off the loop before, until it is at the end.
 */
import { FileError } from "../io/file_system.ts";
import type { CommitLog } from "./commit_log.ts";
import type { ReputMessageService } from "./reput_message_service.ts";

/** Bytes between two ticks (100 ms) above which a slave counts as catching up. */
const BULK_BYTES = 4_194_304;
/** Part of what arrives in bulk that is dispatched with it. */
const BULK_SHARE = 1 / 32;
/** More than what arrives, so that dispatch gets to the end in every other case. */
const STEADY_SHARE = 2;
/** Bytes dispatched in one turn of the loop: some milliseconds. */
const SLICE_BYTES = 1_048_576;

/** One store's. */
export class ReplicaDispatch {
  #arrivedBytes = 0;
  /** Of the last tick too: pieces come in bursts. */
  #arrivedBefore = 0;
  #isDraining = false;
  #isStopped = false;

  /** `behindBytesMax`: what dispatch may be behind while bytes arrive in bulk. */
  constructor(
    private readonly log: Pick<CommitLog, "minOffset" | "readAtAsync">,
    private readonly reput: Pick<
      ReputMessageService,
      "dispatchBehindBytes" | "doReput" | "reputFromOffset"
    >,
    private readonly behindBytesMax: number,
  ) {}

  /** True while dispatch is in good hands here: the tick must not take the loop for it. */
  get isBusy(): boolean {
    return this.#isBulk || this.#isDraining;
  }

  /** `size` bytes of the master are in the log. */
  onAppended(size: number): void {
    this.#arrivedBytes += size;
    const isHurried = this.#isBulk &&
      this.reput.dispatchBehindBytes <= this.behindBytesMax;
    const share = isHurried ? BULK_SHARE : STEADY_SHARE;
    this.reput.doReput(Math.ceil(size * share));
  }

  /** Every 100 ms. */
  tick(): void {
    this.#arrivedBefore = this.#arrivedBytes;
    this.#arrivedBytes = 0;
    if (this.#hasSlice && !this.isBusy) void this.#drain();
  }

  /** The store shuts down. */
  stop(): void {
    this.#isStopped = true;
  }

  get #isBulk(): boolean {
    return Math.max(this.#arrivedBytes, this.#arrivedBefore) > BULK_BYTES;
  }

  get #hasSlice(): boolean {
    return !this.#isStopped && this.reput.dispatchBehindBytes > SLICE_BYTES;
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    const slice = new Uint8Array(SLICE_BYTES);
    try {
      while (this.#hasSlice && !this.#isBulk) {
        const { reputFromOffset } = this.reput;
        if (reputFromOffset < this.log.minOffset) break; // Deleted: `doReput` knows.
        // Brings the slice into the page cache, and lets the loop do other things meanwhile.
        await this.log.readAtAsync(reputFromOffset, slice);
        if (this.#isStopped || !this.reput.doReput(SLICE_BYTES)) break;
      }
    } catch (error) {
      // The tick meets it too, and says so.
      if (!(error instanceof FileError)) throw error;
    } finally {
      this.#isDraining = false;
    }
  }
}
