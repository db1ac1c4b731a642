/**
 * MappedFileQueue: the contiguous fixed-size files of one log.
 *
 * Invariants
 * - file(n+1) begins where file(n) ends; all have `mappedFileSize` bytes.
 * - Only the last file is appended to, so dirty files form a suffix of `files`.
 * - `flushedOffset` <= `maxOffset`; everything below it survives power loss.
 */
import { assert } from "../base/assert.ts";
import { Coalesced } from "./coalesced.ts";
import { DescriptorCache } from "./descriptor_cache.ts";
import {
  createDirectories,
  parentDirectory,
  syncDirectories,
  withParents,
} from "./directories.ts";
import type { MappedFileFolder } from "./mapped_file_fault.ts";
import { MappedFile, type MappedFilePlace } from "./mapped_file.ts";
import { loadMappedFiles } from "./mapped_file_load.ts";
import { mappedFileName } from "./mapped_file_name.ts";

/** Where a queue lives and how big its files are. */
export interface MappedFileQueueOptions extends MappedFileFolder {
  /** Shared between queues; one of its own when absent. */
  readonly cache?: DescriptorCache;
  /**
   * Takes folders above this one whose entries changed: whoever owns the set syncs them, once for
   * all queues. Absent: `flush` syncs them.
   */
  readonly dirtyParents?: Set<string>;
}

/** Files in order, one write position at the end. */
export class MappedFileQueue {
  #options: MappedFileQueueOptions;
  readonly #place: MappedFilePlace;
  #files: MappedFile[] = [];
  #flushedOffset = 0;
  /** When the last file was modified, as `load` found it. */
  lastModifiedMs = 0;
  /** Called after a file was made to append to; must not throw. */
  onFileCreated: (() => void) | null = null;
  /** Called with every failed `flush`, whoever asked for it; must not throw. */
  onFlushFailed: ((error: unknown) => void) | null = null;
  /** Folders whose entries changed since their last sync. */
  #dirtyDirectories: Set<string> | undefined;
  /** What a running sync of the whole file system covers. */
  #covered:
    | { files: MappedFile[]; directories: Set<string>; end: number }
    | undefined;
  /** Made on first use: most queues of a big store are never written to. */
  #flushing: Coalesced | undefined;

  constructor(options: MappedFileQueueOptions) {
    this.#options = options;
    this.#place = {
      fileSystem: options.fileSystem,
      cache: options.cache ?? new DescriptorCache(),
      directory: options.directory,
    };
  }

  get directory(): string {
    return this.#options.directory;
  }

  get mappedFileSize(): number {
    return this.#options.mappedFileSize;
  }

  /** Files to come have `mappedFileSize` bytes; only while there is none. */
  adoptMappedFileSize(mappedFileSize: number): void {
    assert(this.#files.length === 0, "a log with files keeps their size");
    this.#options = { ...this.#options, mappedFileSize };
  }

  get files(): readonly MappedFile[] {
    return this.#files;
  }

  get minOffset(): number {
    return this.#files[0]?.fileFromOffset ?? 0;
  }

  /** Where the next byte goes; 0 without files. */
  get maxOffset(): number {
    const last = this.lastFile;
    return last === undefined ? 0 : last.fileFromOffset + last.wrotePosition;
  }

  get flushedOffset(): number {
    return this.#flushedOffset;
  }

  get lastFile(): MappedFile | undefined {
    return this.#files[this.#files.length - 1];
  }

  /**
   * Finds the files. Until `truncateDirtyFiles` says better, all count as written to their end.
   * A last file of 0 bytes (a creation cut short) goes; foreign names are left alone with one
   * warning. Throws `StoreFileError` for a wrong size or an empty middle file, and
   * `MissingFileError` for a gap: then only `destroy` and `close` may follow. After an unclean
   * stop a file may be short, since its size was not durable: it gets its full length.
   */
  load(lastExitOk = true): void {
    const loaded = loadMappedFiles(this.#options, this.#place, lastExitOk);
    this.#files = loaded.files;
    this.lastModifiedMs = loaded.lastModifiedMs;
    if (loaded.isFolderChanged) this.#markDirectoryDirty(this.directory);
    this.#flushedOffset = this.maxOffset;
    loaded.checkGaps();
  }

  /**
   * After an unclean stop: what the last files hold may be in the page cache only, and beyond
   * the end that recovery finds they may hold anything. The same holds for the names of the
   * folder and of `parentLevels` above it. To be called before recovery cuts.
   */
  markTailUnsynced(fileCount = 3, parentLevels = 2): void {
    for (const file of this.#files.slice(-fileCount)) file.markDirty();
    const first = this.#files.at(-fileCount) ?? this.#files[0];
    this.#flushedOffset = first?.fileFromOffset ?? 0;
    const { fileSystem, directory } = this.#options;
    if (fileSystem.stat(directory) === undefined) return;
    for (const it of withParents(directory, parentLevels)) {
      this.#markDirectoryDirty(it);
    }
  }

  /** The file that holds `offset`, or undefined; the end of the last file belongs to none. */
  fileAt(offset: number): MappedFile | undefined {
    const index = Math.floor((offset - this.minOffset) / this.mappedFileSize);
    return this.#files[index];
  }

  /**
   * The file that takes the next byte; a new one when the last is full or there is none.
   * `startOffset` says where an empty queue begins (rounded down to a file boundary).
   */
  fileForAppend(startOffset = 0): MappedFile {
    const last = this.lastFile;
    if (last !== undefined && !last.isFull) return last;
    return this.#createFile(
      last === undefined
        ? startOffset - startOffset % this.mappedFileSize
        : last.fileFromOffset + this.mappedFileSize,
    );
  }

  /**
   * A queue of one file without a byte begins at `startOffset` instead (rounded down to a file
   * boundary). One rename: whatever a crash leaves, there is one file. Throws `FileError`.
   */
  moveEmptyFile(startOffset: number): void {
    const file = this.#files[0]!;
    assert(this.#files.length === 1 && file.wrotePosition === 0, "not empty");
    const fileFromOffset = startOffset - startOffset % this.mappedFileSize;
    if (fileFromOffset === file.fileFromOffset) return;
    file.zeroFrom(0); // Of a torn write.
    const name = mappedFileName(fileFromOffset);
    this.#options.fileSystem.rename(file.path, `${this.directory}/${name}`);
    file.dispose();
    const size = this.mappedFileSize;
    const moved = new MappedFile(this.#place, name, fileFromOffset, size, 0);
    moved.markDirty();
    this.#files = [moved];
    this.#flushedOffset = fileFromOffset;
    this.#markDirectoryDirty(this.directory);
  }

  /** Reads `target.length` bytes from `offset`, across files; throws outside of them. */
  readAt(offset: number, target: Uint8Array): void {
    this.#parts(offset, target.length, (file, position, from, to) => {
      file.readAt(position, target.subarray(from, to));
    });
  }

  /** As `readAt`, off the loop. */
  async readAtAsync(offset: number, target: Uint8Array): Promise<void> {
    const reads: Promise<void>[] = [];
    this.#parts(offset, target.length, (file, position, from, to) => {
      reads.push(file.readAtAsync(position, target.subarray(from, to)));
    });
    await Promise.all(reads);
  }

  /**
   * Makes everything written before the call durable: dirty files in order, then folders.
   * Calls during a running sync share the one after it. Rejects for ever once a sync failed.
   */
  flush(): Promise<void> {
    return (this.#flushing ??= new Coalesced(() => this.#flushNow())).run();
  }

  /** True when a file has something that no sync has covered. */
  get isDirty(): boolean {
    return this.lastFile?.isDirty ?? false;
  }

  /** The whole file system is synced from now on; false when `flush` has to do it here. */
  beginWholeSync(): boolean {
    const files = this.#dirtyFiles();
    if (!files.every((it) => it.beginWholeSync())) return false;
    const directories = this.#dirtyDirectories ?? new Set();
    this.#covered = { files, directories, end: this.maxOffset };
    this.#dirtyDirectories = undefined;
    return true;
  }

  /** `isDone`: what was there at `beginWholeSync` is durable, names of folders too. */
  endWholeSync(isDone: boolean): void {
    const { files, directories, end } = this.#covered!;
    this.#covered = undefined;
    if (isDone) {
      for (const it of files) it.endWholeSync();
      this.#noteFlushed(end);
    } else for (const it of directories) this.#markDirectoryDirty(it);
  }

  /**
   * Cuts the log at `offset`: later files go, the tail of the last one becomes zero, the write
   * position is there. All of that is done when the call returns; it is durable when the
   * promise resolves. `tailIsZero`: after a clean stop nothing lies beyond the end; else the
   * whole rest of the file is looked through.
   */
  truncateDirtyFiles(offset: number, tailIsZero = false): Promise<void> {
    this.truncateNow(offset, tailIsZero);
    return this.flush();
  }

  /**
   * When no record of the file that begins at `offset`, where the log ends, is sound, but the
   * file holds something, it is kept under another name, and an empty one takes its place.
   * Returns that name; undefined when there was nothing to keep. Throws `FileError`.
   */
  setAside(offset: number): string | undefined {
    const file = this.fileAt(offset);
    if (file === undefined || file.fileFromOffset !== offset) return undefined;
    if (file.isZero()) return undefined;
    const { fileSystem } = this.#options;
    let aside = `${file.path}.aside`;
    for (let n = 2; fileSystem.stat(aside) !== undefined; n++) {
      aside = `${file.path}.aside${n}`;
    }
    this.#removeFrom(this.#files.indexOf(file) + 1);
    file.dispose();
    this.#files.pop();
    fileSystem.rename(file.path, aside);
    this.#createFile(offset);
    return aside;
  }

  /** As `truncateDirtyFiles`, without the sync: `flush` has to follow. */
  truncateNow(offset: number, tailIsZero = false): void {
    const last = this.#removeBehind(offset);
    if (last !== undefined) {
      const position = last.positionOf(offset);
      if (tailIsZero) last.assumeZeroFrom(position);
      else last.zeroFrom(position);
      last.wrotePosition = position;
    }
    this.#flushedOffset = Math.min(this.#flushedOffset, this.maxOffset);
  }

  /**
   * As `truncateNow`, for a queue whose appends end with a fence: only what was appended is zeroed,
   * and the rest of a file that may hold stale bytes is not read.
   */
  truncateAppended(offset: number): void {
    const last = this.#removeBehind(offset);
    last?.zeroAppended(last.positionOf(offset));
    this.#flushedOffset = Math.min(this.#flushedOffset, this.maxOffset);
  }

  /** Removes the files behind the one that ends at `offset` or holds it; returns that one. */
  #removeBehind(offset: number): MappedFile | undefined {
    // Everything cut away: what follows begins in an empty queue.
    let keep = this.#files.length;
    while (keep > 0 && this.#files[keep - 1]!.fileFromOffset >= offset) {
      keep -= 1;
    }
    // An end at a file boundary keeps the file that begins there: it is the one to append to.
    const next = this.#files[keep];
    if (next !== undefined && next.fileFromOffset === offset) keep += 1;
    this.#removeFrom(keep);
    return this.lastFile;
  }

  /** Removes the first `count` files, never the last one; durable when resolved. */
  async deleteFirstFiles(count: number): Promise<number> {
    const goes = Math.max(0, Math.min(count, this.#files.length - 1));
    for (let done = 0; done < goes; done++) {
      this.#removeFile(this.#files[0]!);
      this.#files.shift();
    }
    if (goes > 0) await this.flush();
    return goes;
  }

  /** Removes every file and the folder when nothing else is in it; `flush` has to follow. */
  destroyNow(): void {
    this.#removeFrom(0);
    this.#flushedOffset = 0;
    const { fileSystem, directory } = this.#options;
    if (fileSystem.stat(directory) === undefined) return;
    if (fileSystem.list(directory).length > 0) return;
    fileSystem.remove(directory);
    this.#dirtyDirectories?.delete(directory);
    this.#markDirectoryDirty(parentDirectory(directory));
  }

  /** Closes the descriptors; nothing is flushed. */
  close(): void {
    for (const file of this.#files) file.dispose();
  }

  #createFile(fileFromOffset: number): MappedFile {
    const { fileSystem, directory, dirtyParents } = this.#options;
    if (this.#files.length === 0) {
      const dirty = dirtyParents ?? (this.#dirtyDirectories ??= new Set());
      for (const it of createDirectories(fileSystem, directory)) dirty.add(it);
    }
    const file = MappedFile.create(
      this.#place,
      mappedFileName(fileFromOffset),
      fileFromOffset,
      this.mappedFileSize,
    );
    // Not before: without a file the queue ends at 0, and nothing beyond it is flushed.
    if (this.#files.length === 0) this.#flushedOffset = fileFromOffset;
    this.#markDirectoryDirty(directory);
    this.#files.push(file);
    this.onFileCreated?.();
    return file;
  }

  async #flushNow(): Promise<void> {
    const target = this.maxOffset;
    try {
      for (const file of this.#dirtyFiles()) await file.sync();
      const directories = this.#dirtyDirectories;
      if (directories !== undefined) {
        await syncDirectories(this.#options.fileSystem, directories);
        if (directories.size === 0) this.#dirtyDirectories = undefined;
      }
    } catch (error) {
      this.onFlushFailed?.(error);
      throw error;
    }
    this.#noteFlushed(target);
  }

  #dirtyFiles(): MappedFile[] {
    const clean = this.#files.findLastIndex((it) => !it.isDirty);
    return this.#files.slice(clean + 1);
  }

  #noteFlushed(target: number): void {
    const end = Math.min(target, this.maxOffset); // A cut has lowered the end.
    this.#flushedOffset = Math.max(this.#flushedOffset, end);
  }

  #parts(
    offset: number,
    size: number,
    use: (file: MappedFile, position: number, from: number, to: number) => void,
  ): void {
    for (let from = 0; from < size;) {
      const file = this.fileAt(offset + from);
      assert(file !== undefined, `no MappedFile at ${offset + from}`);
      const position = offset + from - file.fileFromOffset;
      const to = Math.min(size, from + this.mappedFileSize - position);
      use(file, position, from, to);
      from = to;
    }
  }

  #removeFrom(index: number): void {
    for (; this.#files.length > index; this.#files.pop()) {
      this.#removeFile(this.lastFile!);
    }
  }

  /** Throws `FileError`: the file is then as it was, and has to be synced like all others. */
  #removeFile(file: MappedFile): void {
    this.#options.fileSystem.remove(file.path);
    file.dispose();
    this.#markDirectoryDirty(this.directory);
  }

  #markDirectoryDirty(directory: string): void {
    (this.#dirtyDirectories ??= new Set()).add(directory);
  }
}
