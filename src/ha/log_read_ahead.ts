/**
 * LogReadAhead: old data of the log for one link, read off the loop in blocks, the next one while
 * the last one is sent: the way to another thread and back costs more than the read of a batch.
 *
 * Invariants
 * - A block lies in one MappedFile, below the end of the log: its bytes never change.
 * - The memory of a block is used again only once the block has been read and left behind.
 */
import type { ReplicaLog } from "../store/replica_log.ts";

const BLOCK_BYTES = 4_194_304;

/** What is read. */
export type AheadLog = Pick<
  ReplicaLog,
  "isHot" | "mappedFileSize" | "maxOffset" | "read"
>;

interface Block {
  readonly start: number;
  readonly bytes: Uint8Array;
  /** False: the bytes are not there any more. */
  isRead: boolean | Promise<boolean>;
  failure?: unknown;
}

/** One link's. */
export class LogReadAhead {
  readonly #log: AheadLog;
  #current: Block | undefined;
  #next: Block | undefined;
  #spare: Uint8Array | undefined;

  constructor(log: AheadLog) {
    this.#log = log;
  }

  /** As `ReplicaLog.read`. */
  read(phyOffset: number, target: Uint8Array): boolean | Promise<boolean> {
    for (let done = 0; done < target.length;) {
      const from = phyOffset + done;
      const block = this.#blockAt(from);
      if (block === undefined) {
        return this.#log.read(from, target.subarray(done));
      }
      if (block.isRead === false) return false;
      if (block.isRead !== true) {
        const rest = target.subarray(done);
        return block.isRead.then(() => {
          if (block.failure !== undefined) throw block.failure;
          return this.read(from, rest);
        });
      }
      const at = from - block.start;
      const part = block.bytes.subarray(at, at + target.length - done);
      target.set(part, done);
      done += part.length;
    }
    return true;
  }

  /** Gives the memory back. */
  clear(): void {
    this.#current = this.#next = this.#spare = undefined;
  }

  /** Undefined for data that is read at once. */
  #blockAt(offset: number): Block | undefined {
    if (!covers(this.#current, offset)) {
      if (covers(this.#next, offset)) {
        this.#spare = memoryOf(this.#current);
        this.#current = this.#next;
      } else this.#current = this.#begin(offset);
      this.#next = undefined;
    }
    const block = this.#current;
    if (block !== undefined) {
      this.#next ??= this.#begin(block.start + block.bytes.length);
    }
    return block;
  }

  #begin(start: number): Block | undefined {
    const { mappedFileSize, maxOffset } = this.#log;
    const size = Math.min(
      BLOCK_BYTES,
      maxOffset - start,
      mappedFileSize - start % mappedFileSize,
    );
    if (size <= 0 || this.#log.isHot(start)) return undefined;
    const memory = this.#spare ?? new Uint8Array(BLOCK_BYTES);
    this.#spare = undefined;
    const bytes = memory.subarray(0, size);
    const block: Block = { start, bytes, isRead: false };
    const read = this.#log.read(start, bytes);
    block.isRead = typeof read === "boolean" ? read : read.then(
      (isThere) => block.isRead = isThere,
      (error: unknown) => {
        // Whoever asks for it next tries again.
        if (this.#current === block) this.#current = undefined;
        if (this.#next === block) this.#next = undefined;
        block.failure = error;
        return block.isRead = false;
      },
    );
    return block;
  }
}

function covers(block: Block | undefined, offset: number): boolean {
  return block !== undefined && offset >= block.start &&
    offset < block.start + block.bytes.length;
}

/** Undefined while something is still written to it. */
function memoryOf(block: Block | undefined): Uint8Array | undefined {
  if (typeof block?.isRead !== "boolean") return undefined;
  return new Uint8Array(block.bytes.buffer);
}
