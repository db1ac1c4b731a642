/**
 * CommitLog: every record of the broker, one behind the other (reference 4.2, 4.4).
 *
 * Invariants
 * - A record lies in one file; what does not fit moves whole to the next one, and a blank
 *   marker (size, magic) tells readers to go on there.
 * - `flushedOffset` <= `maxOffset`. Bytes below `maxOffset` never change.
 */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import {
  BLANK_MAGIC_CODE,
  BLANK_MARKER_SIZE,
} from "../model/message_record.ts";
import type { DescriptorCache } from "./descriptor_cache.ts";
import type { MappedFile } from "./mapped_file.ts";
import { MappedFileQueue } from "./mapped_file_queue.ts";
import {
  commitLogDirectoryOf,
  type MessageStoreOptions,
} from "./store_options.ts";

/** The log of one store. */
export class CommitLog {
  readonly mappedFileQueue: MappedFileQueue;
  readonly #marker = new Uint8Array(BLANK_MARKER_SIZE);
  /** The file that `reserve` chose. */
  #file: MappedFile | undefined;

  constructor(
    fileSystem: FileSystem,
    options: MessageStoreOptions,
    logger: Logger,
    cache: DescriptorCache,
  ) {
    this.mappedFileQueue = new MappedFileQueue({
      fileSystem,
      directory: commitLogDirectoryOf(options),
      mappedFileSize: options.mappedFileSizeCommitLog,
      sizeKey: "mappedFileSizeCommitLog",
      logger,
      cache,
    });
  }

  get minOffset(): number {
    return this.mappedFileQueue.minOffset;
  }

  get maxOffset(): number {
    return this.mappedFileQueue.maxOffset;
  }

  get flushedOffset(): number {
    return this.mappedFileQueue.flushedOffset;
  }

  /** The largest record, or batch, that a file can hold. */
  get recordSizeMax(): number {
    return this.mappedFileQueue.mappedFileSize - BLANK_MARKER_SIZE;
  }

  /**
   * Where the next `size` bytes will go; ends the current file with a blank marker and makes
   * the next one when they do not fit. Throws `FileError`; the log is then as it was, or ends
   * at a file boundary. `startOffset`: where an empty log begins.
   */
  reserve(size: number, startOffset = 0): number {
    let file = this.mappedFileQueue.fileForAppend(startOffset);
    const free = file.fileSize - file.wrotePosition;
    if (size + BLANK_MARKER_SIZE > free) {
      this.#writeBlankMarker(file, free);
      file = this.mappedFileQueue.fileForAppend();
    }
    this.#file = file;
    return file.fileFromOffset + file.wrotePosition;
  }

  /** Appends at the offset that `reserve` gave; throws `FileError`, leaving nothing of it. */
  append(bytes: Uint8Array): void {
    this.#file!.append(bytes);
  }

  /**
   * Appends raw bytes of a master at `phyOffset`, which must be the end of the log (an empty
   * log begins there). Bytes may end inside a record and may cross files. Throws `FileError`.
   */
  appendData(phyOffset: number, bytes: Uint8Array): void {
    const queue = this.mappedFileQueue;
    for (let from = 0; from < bytes.length;) {
      const file = queue.fileForAppend(phyOffset);
      if (from === 0 && queue.files.length === 1 && file.wrotePosition === 0) {
        file.wrotePosition = phyOffset - file.fileFromOffset;
      }
      const to = Math.min(
        bytes.length,
        from + file.fileSize - file.wrotePosition,
      );
      file.append(bytes.subarray(from, to));
      from = to;
    }
  }

  /** True when `size` bytes from `phyOffset` are there, in one file. */
  holds(phyOffset: number, size: number): boolean {
    if (phyOffset < this.minOffset || phyOffset + size > this.maxOffset) {
      return false;
    }
    const { mappedFileSize } = this.mappedFileQueue;
    return phyOffset % mappedFileSize + size <= mappedFileSize;
  }

  readAt(phyOffset: number, target: Uint8Array): void {
    this.mappedFileQueue.readAt(phyOffset, target);
  }

  readAtAsync(phyOffset: number, target: Uint8Array): Promise<void> {
    return this.mappedFileQueue.readAtAsync(phyOffset, target);
  }

  /** Resolves once everything appended before the call survives power loss. */
  flush(): Promise<void> {
    return this.mappedFileQueue.flush();
  }

  /** Start of the file behind the one that holds `phyOffset`. */
  nextFileOffset(phyOffset: number): number {
    const { mappedFileSize } = this.mappedFileQueue;
    return phyOffset - phyOffset % mappedFileSize + mappedFileSize;
  }

  #writeBlankMarker(file: MappedFile, free: number): void {
    const view = new DataView(this.#marker.buffer);
    view.setInt32(0, free);
    view.setInt32(4, BLANK_MAGIC_CODE);
    file.writeAt(file.wrotePosition, this.#marker);
    file.wrotePosition = file.fileSize;
  }
}
