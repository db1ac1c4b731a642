/**
 * When the newest record of each CommitLog file was stored.
 *
 * No single clock is trusted: store times come from a clock that may have been wrong, and a
 * copy renews modification times. The order of the files is certain. So a file is at most as
 * young as its successors' first records say and not younger than now, and at least as young
 * as its modification time says. What was written in this process's life is also no older
 * than monotonic time says, wherever the wall clock was set to. In doubt a file is kept.
 */
import type { FileSystem } from "../io/file_system.ts";
import {
  MESSAGE_MAGIC_CODE_V1,
  MESSAGE_MAGIC_CODE_V2,
  storeTimestampPosition,
  SYS_FLAG_POSITION,
} from "../model/message_record.ts";
import { unitPhyOffset } from "./consume_queue_unit.ts";
import type { MappedFile } from "./mapped_file.ts";

/** Bytes of a record up to its store time, whatever its born host. */
const RECORD_HEAD_SIZE = 76;

/** Remembers the store time of each file's first record: it never changes. */
export class CommitLogFileAge {
  #firstStoreTimes = new Map<number, number>();
  /** Monotonic time at which files were last seen growing, by their start. */
  #grownMs = new Map<number, number>();
  #maxOffset: number | undefined;

  /** Notes which files have grown since the last call: call it often, it is cheap. */
  observe(
    files: readonly MappedFile[],
    maxOffset: number,
    monotonicMs: number,
  ): void {
    const before = this.#maxOffset ?? maxOffset;
    this.#maxOffset = maxOffset;
    if (maxOffset === before) return;
    for (let index = files.length - 1; index >= 0; index--) {
      const { fileFromOffset, fileSize } = files[index]!;
      if (fileFromOffset + fileSize <= before) break;
      this.#grownMs.set(fileFromOffset, monotonicMs);
    }
    for (const start of this.#grownMs.keys()) {
      if (start < files[0]!.fileFromOffset) this.#grownMs.delete(start);
    }
  }

  /** Newest store times of all files but the last, in order. Off the loop. */
  async newestOf(
    files: readonly MappedFile[],
    nowMs: number,
    monotonicMs: number,
    fileSystem: FileSystem,
  ): Promise<number[]> {
    const known = new Map<number, number>();
    for (const file of files) {
      const offset = file.fileFromOffset;
      const time = this.#firstStoreTimes.get(offset) ??
        await firstStoreTimestamp(file);
      if (time !== undefined) known.set(offset, time);
    }
    this.#firstStoreTimes = known;
    const newest: number[] = [];
    let bound = nowMs;
    for (let index = files.length - 2; index >= 0; index--) {
      const next = known.get(files[index + 1]!.fileFromOffset);
      if (next !== undefined && next < bound) bound = next;
      const modified = fileSystem.stat(files[index]!.path)?.modifiedMs ?? 0;
      const grownMs = this.#grownMs.get(files[index]!.fileFromOffset);
      const grown = grownMs === undefined ? 0 : nowMs - monotonicMs + grownMs;
      newest[index] = Math.max(bound, Math.min(nowMs, modified), grown);
    }
    return newest;
  }
}

/** Store time of the record at the start of a file; undefined when there is none. */
export async function firstStoreTimestamp(
  file: MappedFile,
): Promise<number | undefined> {
  if (file.fileSize < RECORD_HEAD_SIZE) return undefined;
  const head = new Uint8Array(RECORD_HEAD_SIZE);
  await file.readAtAsync(0, head);
  const view = new DataView(head.buffer);
  const magic = view.getInt32(4);
  if (magic !== MESSAGE_MAGIC_CODE_V1 && magic !== MESSAGE_MAGIC_CODE_V2) {
    return undefined;
  }
  const at = storeTimestampPosition(view.getInt32(SYS_FLAG_POSITION));
  const time = unitPhyOffset(view, at);
  return time > 0 ? time : undefined;
}
