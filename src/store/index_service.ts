/**
 * IndexService: finds records by key (reference 4.6).
 *
 * Invariants
 * - Records below `endPhyOffset` of the newest file are filed already and skipped.
 * - A failure of the disk never reaches the caller of `buildIndex`: the index is marked off,
 *   with a reason and the offset from which it is incomplete.
 * - After an unclean start only what `flush` made durable is kept; `rebuildFrom` says from
 *   where on the log has to be dispatched again.
 */
import type { Clock } from "../io/clock.ts";
import { FileError, type FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { Coalesced } from "./coalesced.ts";
import { DescriptorCache } from "./descriptor_cache.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import type { IndexFile, IndexGeometry } from "./index_file.ts";
import { IndexFiles } from "./index_files.ts";
import { indexKeyHash, indexKeyHashes } from "./index_key.ts";
import { selectPhyOffsets } from "./index_query.ts";
import { cutIndexFile, isHeaderSound, repairSlots } from "./index_repair.ts";
import type { StoreCheckpoint } from "./store_checkpoint.ts";

/** Tries before the index is marked off; each leaves nothing behind. */
const CREATE_ATTEMPTS_MAX = 3;
/** Times that `tryResume` tries again in the life of a process. */
const RESUME_ATTEMPTS_MAX = 100;

/** What IndexService works with. */
export interface IndexServicePorts {
  readonly fileSystem: FileSystem;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  readonly checkpoint: StoreCheckpoint;
  readonly cache?: DescriptorCache;
}

/** What IndexService needs to know. */
export interface IndexServiceOptions extends IndexGeometry {
  readonly storePathRootDir: string;
  /** Most offsets that one query returns. */
  readonly maxMsgsNumBatch: number;
}

/** Offsets of records that may have the key: the caller compares the key itself. */
export interface QueryOffsetResult {
  /** Newest first, without duplicates. */
  readonly phyOffsets: number[];
  readonly indexLastUpdateTimestamp: number;
  readonly indexLastUpdatePhyoffset: number;
}

/** All index files. */
export class IndexService {
  readonly #ports: IndexServicePorts;
  readonly #maxMsgsNumBatch: number;
  readonly #disk: IndexFiles;
  #files: IndexFile[] = [];
  readonly #hashes: number[] = [];
  /** Every key of a record that ends at or below it is filed. */
  #indexedPhyOffset = 0;
  #hasNewKeys = false;
  #offReason: string | null = null;
  #missedFrom = -1;
  #isCatchingUp = false;
  #resumeAttempts = 0;
  readonly #flushing = new Coalesced(() => this.#flushNow());

  constructor(ports: IndexServicePorts, options: IndexServiceOptions) {
    this.#ports = ports;
    this.#maxMsgsNumBatch = options.maxMsgsNumBatch;
    const { maxHashSlotNum, maxIndexNum } = options;
    this.#disk = new IndexFiles(
      ports.fileSystem,
      `${options.storePathRootDir}/index`,
      { maxHashSlotNum, maxIndexNum },
      ports.logger,
      ports.cache ?? new DescriptorCache(),
    );
  }

  /** One sentence when the index is not kept up to date; null when it is. */
  get offReason(): string | null {
    return this.#offReason;
  }

  /** First record that is not filed although dispatched; -1 when none is missing. */
  get missedFrom(): number {
    return this.#missedFrom;
  }

  get files(): readonly IndexFile[] {
    return this.#files;
  }

  get geometry(): IndexGeometry {
    return this.#disk.geometry;
  }

  /**
   * Finds the files; the checkpoint must be loaded. Every key below `rebuildFrom` is filed and
   * durable: recovery has to call `buildIndex` for each record from there on. 0: for all.
   * Throws `StoreFileError`.
   */
  load(lastExitOk: boolean): { rebuildFrom: number } {
    this.#files = this.#disk.load(lastExitOk);
    const { checkpoint } = this.#ports;
    if (!lastExitOk) {
      this.#dropFrom(
        this.#files.findIndex((it) =>
          it.header.endTimestamp > checkpoint.indexMsgTimestamp ||
          !isHeaderSound(it)
        ),
      );
    }
    // A file behind an unfinished one would hide the hole between them.
    const unfinished = this.#files.findIndex((it) => !it.isFull);
    if (unfinished >= 0) this.#dropFrom(unfinished + 1);
    const last = this.#files.at(-1);
    if (last !== undefined && !lastExitOk) repairSlots(last);
    last?.slots.dropPages();
    const end = endOf(last);
    // The checkpoint knows of records without keys, if it speaks of these very files.
    this.#indexedPhyOffset = end === checkpoint.indexEndPhyOffset
      ? Math.max(end, checkpoint.indexedPhyOffset)
      : Math.max(0, end);
    return { rebuildFrom: this.#indexedPhyOffset };
  }

  /** Forgets records at or beyond `phyOffset`, where the log ends; durable when resolved. */
  async truncateDirty(phyOffset: number): Promise<void> {
    this.endBatch();
    const count = this.#files.length;
    for (;;) {
      const last = this.#files.at(-1);
      if (last === undefined || last.header.endPhyOffset < phyOffset) break;
      last.writeEntries();
      if (cutIndexFile(last, phyOffset)) break;
      this.#files.pop();
      this.#disk.remove(last);
    }
    if (count > 0 && this.#files.length === 0) {
      this.#ports.logger.warn("The index was ahead of the log and is reset", {
        logEnd: phyOffset,
      });
    }
    this.#indexedPhyOffset = Math.min(this.#indexedPhyOffset, phyOffset);
    await this.flush();
    // What the checkpoint on disk says of the old files must not be believed of new ones.
    await this.#ports.checkpoint.flush();
  }

  /** Files the keys of one record; skipped when that was done before. Never throws. */
  buildIndex(request: DispatchRequest): void {
    if (this.#offReason === null && !this.#isCatchingUp) this.#build(request);
  }

  /** Hands the entries of the dispatch batch to the page cache. Never throws. */
  endBatch(): void {
    try {
      this.#files.at(-1)?.writeEntries();
    } catch (error) {
      // They stay buffered; when the buffer is full, the index is marked off.
      if (!(error instanceof FileError)) throw error;
    }
  }

  /**
   * After a failure: true when the disk takes entries again. Then the owner calls `catchUp` for
   * every record from `missedFrom` to its dispatch position, and `endCatchUp` there.
   */
  tryResume(): boolean {
    if (this.#offReason === null) return false;
    if (++this.#resumeAttempts > RESUME_ATTEMPTS_MAX) return false;
    try {
      this.#files.at(-1)?.writeEntries();
      this.#fileForPut();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return false;
    }
    this.#offReason = null;
    this.#isCatchingUp = true;
    return true;
  }

  catchUp(request: DispatchRequest): void {
    if (this.#isCatchingUp) this.#build(request);
  }

  endCatchUp(): void {
    if (!this.#isCatchingUp) return;
    this.#isCatchingUp = false;
    this.#missedFrom = -1;
  }

  /** Looks a key up, off the loop. */
  async queryOffset(
    topic: string,
    key: string,
    maxNum: number,
    beginMs: number,
    endMs: number,
  ): Promise<QueryOffsetResult> {
    const query = {
      keyHash: indexKeyHash(topic, key),
      maxNum: Math.min(maxNum, this.#maxMsgsNumBatch),
      beginMs,
      endMs,
    };
    const found = new Set<number>();
    const last = this.#files.at(-1)?.header;
    const indexLastUpdateTimestamp = last?.endTimestamp ?? 0;
    const indexLastUpdatePhyoffset = last?.endPhyOffset ?? 0;
    for (const file of [...this.#files].reverse()) {
      if (file.isTimeMatched(beginMs, endMs)) {
        await this.#select(file, query, found);
      }
      if (found.size >= query.maxNum) break;
      if (file.header.beginTimestamp < beginMs) break;
    }
    return {
      phyOffsets: [...found],
      indexLastUpdateTimestamp,
      indexLastUpdatePhyoffset,
    };
  }

  /** Makes all keys filed so far durable and tells the checkpoint. Rejects when a sync fails. */
  flush(): Promise<void> {
    return this.#flushing.run();
  }

  /** Removes files whose records are all below `minPhyOffset`, never the last one. */
  async deleteExpired(minPhyOffset: number): Promise<number> {
    let count = 0;
    while (
      this.#files.length > 1 &&
      this.#files[0]!.header.endPhyOffset < minPhyOffset
    ) {
      this.#disk.remove(this.#files.shift()!);
      count += 1;
    }
    if (count > 0) await this.#disk.syncDirectories();
    return count;
  }

  /** Closes the descriptors; nothing is flushed. */
  close(): void {
    for (const file of this.#files) file.file.dispose();
  }

  #build(request: DispatchRequest): void {
    const { phyOffset, storeTimestamp } = request;
    const last = this.#files.at(-1);
    if (last !== undefined && phyOffset < last.header.endPhyOffset) return;
    const count = indexKeyHashes(request, this.#hashes);
    try {
      for (let index = 0; index < count; index++) {
        const file = this.#fileForPut();
        file.putKey(this.#hashes[index]!, phyOffset, storeTimestamp);
      }
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.#turnOff(error, phyOffset);
      return;
    }
    if (count > 0) this.#hasNewKeys = true;
    const end = phyOffset + request.size;
    if (end > this.#indexedPhyOffset) this.#indexedPhyOffset = end;
  }

  #fileForPut(): IndexFile {
    const last = this.#files.at(-1);
    if (last !== undefined && !last.isFull) return last;
    // `endBatch` looks at the newest file only.
    last?.writeEntries();
    for (let attempt = 1;; attempt++) {
      try {
        return this.#createFile(last);
      } catch (error) {
        if (attempt === CREATE_ATTEMPTS_MAX) throw error;
      }
    }
  }

  #createFile(previous: IndexFile | undefined): IndexFile {
    const nowMs = this.#ports.clock.nowMs();
    const file = this.#disk.create(nowMs, previous?.file.name);
    if (previous !== undefined) {
      try {
        const { endPhyOffset, endTimestamp } = previous.header;
        file.inherit(endPhyOffset, endTimestamp);
      } catch (error) {
        this.#disk.remove(file);
        throw error;
      }
    }
    this.#files.push(file);
    return file;
  }

  #turnOff(error: FileError, phyOffset: number): void {
    this.#offReason = `Messages are not indexed by key: ${error.message}`;
    if (this.#missedFrom < 0) this.#missedFrom = phyOffset;
    this.#isCatchingUp = false;
    this.#ports.logger.error(this.#offReason, {
      path: error.path,
      from: phyOffset,
      kind: error.kind,
    });
  }

  async #select(
    file: IndexFile,
    query: Parameters<typeof selectPhyOffsets>[1],
    found: Set<number>,
  ): Promise<void> {
    try {
      await selectPhyOffsets(file, query, found);
    } catch (error) {
      // The file expired while it was being read: its records are gone too.
      if (this.#files.includes(file)) throw error;
    }
  }

  async #flushNow(): Promise<void> {
    this.endBatch();
    const { checkpoint } = this.#ports;
    const indexed = this.#indexedPhyOffset;
    const isIdle = !this.#hasNewKeys;
    this.#hasNewKeys = false;
    await this.#disk.syncDirectories();
    let end = endOf(this.#files.at(-1));
    for (const file of this.#files.filter((it) => it.isDirty)) {
      // Keys of younger records are in a file that is not durable yet.
      const isLast = file === this.#files.at(-1);
      const covered = Math.min(indexed, file.header.endPhyOffset);
      end = await this.#flushFile(file, isLast ? indexed : covered);
      if (file.isFull) file.dropBuffers();
    }
    checkpoint.indexEndPhyOffset = end;
    checkpoint.indexedPhyOffset = indexed;
    if (isIdle) this.#files.at(-1)?.dropBuffers();
  }

  /** Resolves with the end offset that is durable now. */
  async #flushFile(file: IndexFile, indexed: number): Promise<number> {
    const { checkpoint } = this.#ports;
    let end = 0;
    try {
      await file.flush((header) => {
        end = header.endPhyOffset;
        checkpoint.indexMsgTimestamp = Math.max(
          checkpoint.indexMsgTimestamp,
          header.endTimestamp,
        );
        checkpoint.indexEndPhyOffset = end;
        checkpoint.indexedPhyOffset = indexed;
        return checkpoint.flush();
      });
    } catch (error) {
      // It expired or was cut away meanwhile: nothing of it has to be durable.
      if (this.#files.includes(file)) throw error;
    }
    return end;
  }

  #dropFrom(index: number): void {
    if (index < 0) return;
    for (const file of this.#files.splice(index)) {
      this.#ports.logger.warn("Removing an unfinished index file", {
        path: file.file.path,
        from: file.header.beginPhyOffset,
      });
      this.#disk.remove(file);
    }
  }
}

/** -1 without any entry: a record at offset 0 is something else. */
function endOf(file: IndexFile | undefined): number {
  if (file === undefined) return -1;
  const { indexCount, endPhyOffset } = file.header;
  return indexCount <= 1 && endPhyOffset === 0 ? -1 : endPhyOffset;
}
