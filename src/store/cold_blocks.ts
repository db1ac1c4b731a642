/**
 * ColdBlocks: stretches of old log, read once for all readers that pass by.
 *
 * The queues of a topic interleave in the log: readers of eight queues each want every eighth
 * record of the same stretch, and a reader goes on where it ended. Blocks are aligned within
 * their file. Bytes below the end of the log never change, so a block holds as long as its file.
 *
 * Invariants
 * - At most `BLOCKS_MAX` blocks are kept, whether read or being read.
 * - A reader keeps the block it is in, so that a hundred readers, too, read each block once.
 * - The memory of a block is used again once nobody is in it: fresh pages cost more than the read.
 */
import type { ColdPace } from "./cold_pace.ts";
import type { ColdReader } from "./cold_reader.ts";
import type { CommitLog } from "./commit_log.ts";
import type { MappedFile } from "./mapped_file.ts";

const BLOCK_BYTES = 262_144;
/** 4 MiB in all: readers of sixteen places do not push each other out. */
const BLOCKS_MAX = 16;
const SPARE_MAX = 4;

interface Block {
  readonly file: MappedFile;
  /** Offset in the log of the first byte. */
  readonly start: number;
  /** `BLOCK_BYTES` long. */
  readonly memory: Uint8Array;
  /** The part of `memory` that is read. */
  readonly bytes: Uint8Array;
  /** Who needs `memory`: the reading itself, the list of blocks, cursors. */
  users: number;
  /** True once `bytes` are there, false when the file went before. */
  isRead: boolean | Promise<boolean>;
}

/** The blocks that were read last. */
export class ColdBlocks {
  /** By start offset, the one used least recently first. */
  readonly #blocks = new Map<number, Block>();
  readonly #spare: Uint8Array[] = [];

  constructor(
    private readonly log: CommitLog,
    private readonly coldReader: ColdReader,
    private readonly pace: ColdPace,
  ) {}

  /** For one pull. */
  cursor(): ColdCursor {
    return new ColdCursor(
      (from, to) => this.#blockAt(from, to),
      (block) => this.#release(block),
    );
  }

  /** The block that holds `from`, with what of [from, to) lies in it. */
  #blockAt(from: number, to: number): Block | undefined {
    const { mappedFileQueue, maxOffset } = this.log;
    const file = mappedFileQueue.fileAt(from);
    if (file === undefined || to > maxOffset) return undefined;
    const start = from - (from - file.fileFromOffset) % BLOCK_BYTES;
    const fileEnd = file.fileFromOffset + file.fileSize;
    const end = Math.min(start + BLOCK_BYTES, fileEnd, maxOffset);
    const known = this.#blocks.get(start);
    // The newest block was shorter when it was read.
    const isUsable = known?.file === file &&
      start + known.bytes.length >= Math.min(to, end);
    const block = isUsable ? known : this.#read(file, start, end - start);
    if (block !== known) {
      this.#forget(known);
      block.users++;
    }
    this.#blocks.delete(start);
    this.#blocks.set(start, block);
    if (this.#blocks.size > BLOCKS_MAX) {
      this.#forget(this.#blocks.values().next().value);
    }
    block.users++;
    return block;
  }

  #read(file: MappedFile, start: number, size: number): Block {
    const memory = this.#spare.pop() ?? new Uint8Array(BLOCK_BYTES);
    const bytes = memory.subarray(0, size);
    const block: Block = {
      file,
      start,
      memory,
      bytes,
      users: 1,
      isRead: false,
    };
    block.isRead = this.#fill(block).then((isRead) => {
      if (!isRead) this.#forget(block);
      return block.isRead = isRead;
    }, (error: unknown) => {
      this.#forget(block);
      throw error;
    }).finally(() => this.#release(block));
    return block;
  }

  /** Takes `block` out of the list, if it is still there. */
  #forget(block: Block | undefined): void {
    if (block === undefined || this.#blocks.get(block.start) !== block) return;
    this.#blocks.delete(block.start);
    this.#release(block);
  }

  #release(block: Block): void {
    if (--block.users > 0 || this.#spare.length >= SPARE_MAX) return;
    this.#spare.push(block.memory);
  }

  async #fill({ file, start, bytes }: Block): Promise<boolean> {
    let isThere = false;
    await this.pace.next(bytes.length);
    await this.coldReader.read(async () => {
      // Asked now: the file may have been deleted while this read was in line.
      isThere = this.log.mappedFileQueue.fileAt(start) === file;
      if (isThere) await this.log.readAtAsync(start, bytes);
    });
    return isThere;
  }
}

/** The way of one pull through the blocks. */
export class ColdCursor {
  #block: Block | undefined;

  constructor(
    private readonly blockAt: (from: number, to: number) => Block | undefined,
    private readonly release: (block: Block) => void,
  ) {}

  /** The pull is done. */
  close(): void {
    if (this.#block !== undefined) this.release(this.#block);
    this.#block = undefined;
  }

  /**
   * Copies the bytes at `phyOffset` into `target` from `done` on, at once when they have been
   * read; false when they are not, or no longer, there. Rejects with `FileError`.
   */
  copy(
    phyOffset: number,
    target: Uint8Array,
    done = 0,
  ): boolean | Promise<boolean> {
    for (let end = done; end < target.length;) {
      const from = phyOffset + end;
      const block = this.#covering(from, phyOffset + target.length);
      if (block === undefined || block.isRead === false) return false;
      if (block.isRead !== true) {
        const copied = end;
        return block.isRead.then((isRead) =>
          isRead && this.copy(phyOffset, target, copied)
        );
      }
      const at = from - block.start;
      const part = block.bytes.subarray(at, at + target.length - end);
      target.set(part, end);
      end += part.length;
    }
    return true;
  }

  #covering(from: number, to: number): Block | undefined {
    const block = this.#block;
    const isCovering = block !== undefined && from >= block.start &&
      from < block.start + block.bytes.length;
    if (isCovering) return block;
    this.close();
    return this.#block = this.blockAt(from, to);
  }
}
