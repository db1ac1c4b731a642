/**
 * MappedFile: one fixed-size file of a log, by positional reads and writes.
 *
 * The name is the format's: nothing is mapped (DESIGN decision 2). A file has its full length
 * from creation on and is sparse.
 *
 * Invariants
 * - Bytes from `writtenEnd` to the end of the file are zero.
 * - `isDirty` is false only when a sync that began after the last write has succeeded.
 * - After a failed sync every later one fails too: the kernel may have dropped the pages.
 */
import { assert } from "../base/assert.ts";
import type { FileHandle, FileSystem } from "../io/file_system.ts";
import type { CachedFile, DescriptorCache } from "./descriptor_cache.ts";

const ZERO_BLOCK_SIZE = 4096;
const ZERO_BLOCK = new Uint8Array(ZERO_BLOCK_SIZE);
const SCAN_CHUNK_SIZE = 262_144;

/** What a file needs to be opened again. */
export interface MappedFilePlace {
  readonly fileSystem: FileSystem;
  readonly cache: DescriptorCache;
  readonly directory: string;
}

/** One fixed-size file. */
export class MappedFile implements CachedFile {
  /** Where the next append goes, in bytes from the start of the file. */
  wrotePosition: number;
  isRecentlyUsed = true;
  /** False while nobody has looked for what a crash has left behind the first units of a queue. */
  isTailKnown = true;
  /** No byte at or beyond this position was ever written, or it is zero again. */
  #writtenEnd: number;
  #handle: FileHandle | undefined;
  #pins = 0;
  #isDisposed = false;
  /** Counts writes; compared with `#syncedWrites`. */
  #writes = 0;
  #syncedWrites = 0;
  /** What a sync of the whole file system that is running will have covered. */
  #coveredWrites = 0;
  #syncFailure: unknown;

  constructor(
    readonly place: MappedFilePlace,
    readonly name: string,
    /** Offset in the log of the first byte. */
    readonly fileFromOffset: number,
    readonly fileSize: number,
    wrotePosition: number,
  ) {
    this.wrotePosition = wrotePosition;
    this.#writtenEnd = wrotePosition;
  }

  /** Makes the file, sparse, with its full length; throws `FileError`, leaving nothing. */
  static create(
    place: MappedFilePlace,
    name: string,
    fileFromOffset: number,
    fileSize: number,
  ): MappedFile {
    const file = new MappedFile(place, name, fileFromOffset, fileSize, 0);
    place.cache.beforeOpen(file);
    try {
      file.#handle = place.fileSystem.open(file.path, "create");
      // A left-over of an earlier attempt must not show through.
      if (file.#handle.size() !== 0) file.#handle.truncate(0);
      file.#handle.truncate(fileSize);
    } catch (error) {
      file.dispose();
      place.fileSystem.remove(file.path);
      throw error;
    }
    file.#writes = 1;
    return file;
  }

  get path(): string {
    return `${this.place.directory}/${this.name}`;
  }

  get isFull(): boolean {
    return this.wrotePosition === this.fileSize;
  }

  get isDirty(): boolean {
    return this.#writes !== this.#syncedWrites;
  }

  get isPinned(): boolean {
    return this.#pins > 0;
  }

  get isOpen(): boolean {
    return this.#handle !== undefined;
  }

  /** End of the bytes that may differ from zero. */
  get writtenEnd(): number {
    return this.#writtenEnd;
  }

  /**
   * Appends at `wrotePosition`; throws `FileError` and then has appended nothing. Only the
   * first `size` bytes count as data: what follows them is a terminator.
   */
  append(source: Uint8Array, size = source.length): void {
    const position = this.wrotePosition;
    try {
      this.writeAt(position, source);
    } catch (error) {
      this.#eraseTornWrite(position, position + source.length);
      throw error;
    }
    this.wrotePosition = position + size;
  }

  /** Writes inside the file; `wrotePosition` does not move. */
  writeAt(position: number, source: Uint8Array): void {
    const end = position + source.length;
    assert(position >= 0 && end <= this.fileSize, "write beyond a MappedFile");
    this.#writes += 1;
    if (end > this.#writtenEnd) this.#writtenEnd = end;
    this.#open().writeAt(position, source);
  }

  /** Fills `target` from `position`. */
  readAt(position: number, target: Uint8Array): void {
    this.#open().readAt(position, target);
  }

  /** Fills `target` from `position` off the loop; the file stays open meanwhile. */
  async readAtAsync(position: number, target: Uint8Array): Promise<void> {
    const handle = this.#open();
    this.#pins += 1;
    try {
      await handle.readAtAsync(position, target);
    } finally {
      this.#unpin();
    }
  }

  /** Gives a file that lost its length in a crash its full one; the new part is zero. */
  restoreSize(): void {
    this.#writes += 1;
    this.#open().truncate(this.fileSize);
  }

  /** What was written by other means, or before the start, has to be synced too. */
  markDirty(): void {
    this.#writes += 1;
  }

  /** As if every byte of the file might have been written: before `zeroFrom` after a crash. */
  assumeWritten(): void {
    this.#writtenEnd = this.fileSize;
  }

  /** The caller knows that everything beyond `position` is zero (clean stop). */
  assumeZeroFrom(position: number): void {
    this.#writtenEnd = position;
  }

  /** Makes what was written so far durable; rejects for ever once it has failed. */
  async sync(): Promise<void> {
    if (this.#syncFailure !== undefined) throw this.#syncFailure;
    if (!this.isDirty || this.#isDisposed) return;
    const writes = this.#writes;
    const handle = this.#open();
    this.#pins += 1;
    try {
      await handle.sync();
      if (writes > this.#syncedWrites) this.#syncedWrites = writes;
    } catch (error) {
      this.#syncFailure = error;
      throw error;
    } finally {
      this.#unpin();
    }
  }

  /** The whole file system is synced from now on; false when the file needs a sync of its own. */
  beginWholeSync(): boolean {
    this.#coveredWrites = this.#writes;
    return this.#syncFailure === undefined;
  }

  /** What was written before `beginWholeSync` is durable. */
  endWholeSync(): void {
    if (this.#coveredWrites > this.#syncedWrites) {
      this.#syncedWrites = this.#coveredWrites;
    }
  }

  /** Reads the whole file, unless something else than zero comes first. */
  isZero(): boolean {
    const chunk = new Uint8Array(Math.min(SCAN_CHUNK_SIZE, this.fileSize));
    for (let start = 0; start < this.fileSize; start += chunk.length) {
      const part = chunk.subarray(0, this.fileSize - start);
      this.readAt(start, part);
      if (!isZero(part)) return false;
    }
    return true;
  }

  /** Zeroes everything from `position` on that is not zero yet; `wrotePosition` goes there. */
  zeroFrom(position: number): void {
    this.#zeroRange(position, this.#writtenEnd);
    this.#writtenEnd = position;
    this.wrotePosition = position;
  }

  /**
   * Takes back what was appended from `position` on; `wrotePosition` goes there. What lies behind
   * it is as well known as before, and is not read.
   */
  zeroAppended(position: number): void {
    const end = this.wrotePosition;
    this.#zeroRange(position, end);
    if (this.#writtenEnd === end) this.#writtenEnd = position;
    this.wrotePosition = position;
  }

  /**
   * Zeroes what a crash may have left behind `position`, until `cleanBytes` in a row are zero.
   * When the file goes on behind them, `writtenEnd` stays at its end.
   */
  zeroStale(position: number, cleanBytes: number): void {
    const chunk = new Uint8Array(Math.min(cleanBytes, this.fileSize));
    let start = position;
    while (start < this.fileSize) {
      const part = chunk.subarray(0, this.fileSize - start);
      this.readAt(start, part);
      start += part.length;
      if (isZero(part)) break;
      this.#zeroRange(start - part.length, start);
    }
    this.#writtenEnd = start < this.fileSize ? this.fileSize : position;
  }

  closeDescriptor(): void {
    assert(!this.isPinned, "closing a pinned MappedFile");
    const handle = this.#handle;
    this.#handle = undefined;
    handle?.close();
  }

  /** Where an offset of the queue lies in this file, at most its end. */
  positionOf(offset: number): number {
    return Math.min(offset - this.fileFromOffset, this.fileSize);
  }

  /** Closes for good, as soon as no read or sync is running. */
  dispose(): void {
    this.#isDisposed = true;
    if (this.isPinned) return;
    this.place.cache.forget(this);
    this.closeDescriptor();
  }

  #open(): FileHandle {
    this.isRecentlyUsed = true;
    if (this.#handle !== undefined) return this.#handle;
    this.place.cache.beforeOpen(this);
    try {
      this.#handle = this.place.fileSystem.open(this.path, "write");
    } catch (error) {
      this.place.cache.forget(this);
      throw error;
    }
    return this.#handle;
  }

  #unpin(): void {
    this.#pins -= 1;
    if (this.#isDisposed && this.#pins === 0) this.dispose();
  }

  /** Half a write must not be taken for data when a shorter one follows it. */
  #eraseTornWrite(position: number, end: number): void {
    try {
      this.#zeroRange(position, end);
      if (this.#writtenEnd === end) this.#writtenEnd = position;
    } catch {
      // The disk refuses everything: `#writtenEnd` still covers the torn bytes.
    }
  }

  /** Reads first and writes only blocks that differ: sparse parts stay sparse. */
  #zeroRange(from: number, to: number): void {
    if (from >= to) return;
    const chunk = new Uint8Array(Math.min(SCAN_CHUNK_SIZE, to - from));
    for (let start = from; start < to; start += chunk.length) {
      const part = chunk.subarray(0, Math.min(chunk.length, to - start));
      this.readAt(start, part);
      if (isZero(part)) continue;
      for (let at = 0; at < part.length; at += ZERO_BLOCK_SIZE) {
        const block = part.subarray(at, at + ZERO_BLOCK_SIZE);
        if (isZero(block)) continue;
        this.#writes += 1;
        this.#open().writeAt(start + at, ZERO_BLOCK.subarray(0, block.length));
      }
    }
  }
}

/** True when no byte of `bytes` is set. */
export function isZero(bytes: Uint8Array): boolean {
  let position = 0;
  if (bytes.byteOffset % 4 === 0) {
    const words = new Int32Array(
      bytes.buffer,
      bytes.byteOffset,
      bytes.length >> 2,
    );
    for (let index = 0; index < words.length; index++) {
      if (words[index] !== 0) return false;
    }
    position = words.length << 2;
  }
  for (; position < bytes.length; position++) {
    if (bytes[position] !== 0) return false;
  }
  return true;
}
