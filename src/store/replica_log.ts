/**
 * ReplicaLog: the log as replication sees it: raw bytes out, raw bytes in.
 *
 * A transfer may begin and end inside a record; file ends are bytes like all others.
 */
import type { CommitLog } from "./commit_log.ts";
import type { RecordPlace } from "./commit_log_dispatcher.ts";
import type { RecordReader } from "./record_reader.ts";
import type { RunningFlags } from "./running_flags.ts";

/** What lies behind it. */
export interface ReplicaLogParts {
  readonly log: CommitLog;
  readonly reader: RecordReader;
  readonly flags: RunningFlags;
  append(phyOffset: number, bytes: Uint8Array): boolean;
  adoptFileSize(size: number): Promise<void>;
  lastRecord(): RecordPlace | undefined;
}

/** One store's log. */
export class ReplicaLog {
  readonly #parts: ReplicaLogParts;

  constructor(parts: ReplicaLogParts) {
    this.#parts = parts;
  }

  get minOffset(): number {
    return this.#parts.log.minOffset;
  }

  get maxOffset(): number {
    return this.#parts.log.maxOffset;
  }

  get flushedOffset(): number {
    return this.#parts.log.flushedOffset;
  }

  get mappedFileSize(): number {
    return this.#parts.log.mappedFileQueue.mappedFileSize;
  }

  /** True while there is no file: the log may begin anywhere. */
  get isEmpty(): boolean {
    return this.#parts.log.mappedFileQueue.files.length === 0;
  }

  /** The newest record that was dispatched; undefined when none was since the start. */
  get lastRecord(): RecordPlace | undefined {
    return this.#parts.lastRecord();
  }

  /** Why a master's bytes cannot be appended; null when they can. */
  get unappendableReason(): string | null {
    return this.#parts.flags.unappendableReason;
  }

  /** True when `read` answers at once. */
  isHot(phyOffset: number): boolean {
    return this.#parts.reader.isHot(phyOffset);
  }

  /**
   * Fills `target` from `phyOffset`, within one file: at once near the end of the log, off the
   * loop (a few reads at a time) elsewhere. False when the bytes are not there.
   */
  read(phyOffset: number, target: Uint8Array): boolean | Promise<boolean> {
    return this.#parts.reader.readRaw(phyOffset, target);
  }

  /** Appends at the end; false when `phyOffset` is not the end. Throws `FileError`. */
  append(phyOffset: number, bytes: Uint8Array): boolean {
    return this.#parts.append(phyOffset, bytes);
  }

  /** Makes everything appended so far durable. Rejects with `FileError`. */
  flush(): Promise<void> {
    return this.#parts.log.flush();
  }

  /** Takes the file size of the master; only while the log is empty. */
  adoptFileSize(size: number): Promise<void> {
    return this.#parts.adoptFileSize(size);
  }
}
