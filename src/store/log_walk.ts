/** LogWalk: visits the records of a CommitLog that nobody has open for writing. */
import {
  BLANK_MARKER_SIZE,
  checkMessageRecord,
  type RecordCheck,
} from "../model/message_record.ts";
import { type BrokenRecord, readBrokenRecord } from "./broken_record.ts";
import { isZero } from "./mapped_file.ts";
import type { ReadOnlyFile, ReadOnlyFiles } from "./read_only_files.ts";

const CHUNK_SIZE = 1_048_576;
/** A record is at most maxMessageSize + 64 KiB; nobody configures more than this. */
const RECORD_SIZE_MAX = 268_435_456;

/** What stands at one offset. Bytes and view are valid until the next step. */
export type LogItem =
  | {
    readonly kind: "record";
    readonly phyOffset: number;
    readonly size: number;
    readonly bytes: Uint8Array;
    readonly view: DataView;
    readonly position: number;
  }
  | {
    readonly kind: "corrupt";
    readonly phyOffset: number;
    readonly path: string;
    readonly reason: string;
    /** Whose it was; null when that cannot be read. */
    readonly record: BrokenRecord | null;
    /** Where sound records go on. */
    readonly nextOffset: number;
  }
  /** Zeros, or a torn record, from here to the end of the last file. */
  | {
    readonly kind: "end";
    readonly phyOffset: number;
    readonly path: string;
    /** Null for zeros. */
    readonly reason: string | null;
  };

/** A window over one file. */
class FileWindow {
  bytes = new Uint8Array(CHUNK_SIZE);
  view = new DataView(this.bytes.buffer);
  start = 0;
  size = 0;

  constructor(
    readonly file: ReadOnlyFile,
    private readonly files: ReadOnlyFiles,
  ) {}

  /** Makes at least `wanted` bytes from `position` on present, if the file has them. */
  async fill(position: number, wanted: number): Promise<void> {
    const end = this.start + this.size;
    if (position >= this.start && position + wanted <= end) return;
    const size = Math.min(
      Math.max(wanted, CHUNK_SIZE),
      this.file.size - position,
    );
    if (this.bytes.length < size) {
      this.bytes = new Uint8Array(size);
      this.view = new DataView(this.bytes.buffer);
    }
    const handle = this.files.handles.get(this.file.path);
    await handle.readAtAsync(position, this.bytes.subarray(0, size));
    this.start = position;
    this.size = size;
  }
}

/** How to walk. */
export interface LogWalkOptions {
  readonly checkCrc: boolean;
  /** Skips what lies before; a record boundary need not be known. */
  readonly fromOffset?: number;
  /** Reads the rest of the last file, for sound records behind a broken one. */
  readonly looksBeyondEnd: boolean;
}

/** All records in order; ends with the item `end`, or without when the last file is full. */
export async function* walkLog(
  files: ReadOnlyFiles,
  options: LogWalkOptions,
): AsyncGenerator<LogItem, void, void> {
  const from = options.fromOffset ?? 0;
  const used = await usedFiles(files, options);
  for (const file of used) {
    if (file.fileFromOffset + file.size <= from) continue;
    const isLast = file === used.at(-1);
    const window = new FileWindow(file, files);
    for (let position = 0; position < file.size;) {
      const item = await itemAt(window, position, options, isLast);
      if (item === undefined) break;
      if (item.phyOffset >= from || item.kind === "end") yield item;
      if (item.kind === "end") return;
      position = item.kind === "record"
        ? position + item.size
        : item.nextOffset - file.fileFromOffset;
    }
  }
}

/** Without the files that Apache makes ahead: when it is killed, they stay, full of zeros. */
async function usedFiles(
  files: ReadOnlyFiles,
  options: LogWalkOptions,
): Promise<readonly ReadOnlyFile[]> {
  const used = [...files.files];
  while (used.length > 1) {
    const file = used.at(-1)!;
    const window = new FileWindow(file, files);
    await window.fill(0, Math.min(file.size, BLANK_MARKER_SIZE));
    if (!isFreeSpace(window, 0)) break;
    if (options.looksBeyondEnd && await nonZeroFrom(window, 0) >= 0) break;
    used.pop();
  }
  return used;
}

/** Undefined at a blank marker: the next file goes on. */
async function itemAt(
  window: FileWindow,
  position: number,
  options: LogWalkOptions,
  isLast: boolean,
): Promise<LogItem | undefined> {
  const { file } = window;
  const phyOffset = file.fileFromOffset + position;
  const check = await checkAt(window, position, options.checkCrc);
  if (check.kind === "record") {
    return {
      kind: "record",
      phyOffset,
      size: check.size,
      bytes: window.bytes,
      view: window.view,
      position: position - window.start,
    };
  }
  if (check.kind === "blank") {
    if (position + check.size === file.size) return undefined;
  }
  const reason = check.kind === "corrupt"
    ? check.reason
    : check.kind === "blank"
    ? `a blank marker of ${check.size} bytes is not at the end of its file`
    : "it goes beyond the end of its file";
  const end = { kind: "end", phyOffset, path: file.path } as const;
  if (isLast && !options.looksBeyondEnd) {
    return { ...end, reason: isFreeSpace(window, position) ? null : reason };
  }
  const record = readBrokenRecord(
    window.bytes,
    window.view,
    position - window.start,
    window.size,
    phyOffset,
  );
  const something = await nonZeroFrom(window, position);
  if (something < 0 && isLast) return { ...end, reason: null };
  const next = something < 0
    ? undefined
    : await findNextRecord(window, Math.max(position + 1, something - 7));
  if (next === undefined && isLast) return { ...end, reason };
  const nextOffset = file.fileFromOffset + (next ?? file.size);
  return {
    kind: "corrupt",
    phyOffset,
    path: file.path,
    reason,
    record,
    nextOffset,
  };
}

/** Size and magic are zero: nothing was ever written here. */
function isFreeSpace(window: FileWindow, position: number): boolean {
  const at = position - window.start;
  return isZero(
    window.bytes.subarray(at, Math.min(at + BLANK_MARKER_SIZE, window.size)),
  );
}

async function checkAt(
  window: FileWindow,
  position: number,
  checkCrc: boolean,
): Promise<RecordCheck> {
  const { file } = window;
  const left = file.size - position;
  if (left < BLANK_MARKER_SIZE) return { kind: "incomplete" };
  await window.fill(position, BLANK_MARKER_SIZE);
  const size = window.view.getInt32(position - window.start);
  const isPlausible = size > 0 && size <= Math.min(left, RECORD_SIZE_MAX);
  if (isPlausible) await window.fill(position, size);
  return checkMessageRecord(
    window.bytes,
    window.view,
    position - window.start,
    window.size,
    { checkCrc, phyOffset: file.fileFromOffset + position },
  );
}

/** The next place in the file that holds a sound record or ends it. */
async function findNextRecord(
  window: FileWindow,
  from: number,
): Promise<number | undefined> {
  const { file } = window;
  for (let position = from; position + BLANK_MARKER_SIZE <= file.size;) {
    await window.fill(position, BLANK_MARKER_SIZE);
    const end = window.start + window.size;
    const found = nextMagic(
      window.bytes,
      position - window.start,
      window.size,
    );
    if (found < 0) {
      if (end === file.size) return undefined;
      // The last bytes may begin a record.
      position = end - BLANK_MARKER_SIZE + 1;
      continue;
    }
    position = window.start + found;
    // A record with a wrong CRC is told of at its own place.
    const check = await checkAt(window, position, false);
    if (check.kind === "record") return position;
    const isEnd = check.kind === "blank" && position + check.size === file.size;
    if (isEnd) return position;
    position += 1;
  }
  return undefined;
}

/** Where a size field with one of the three magics behind it may begin; -1 for nowhere. */
function nextMagic(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from + 4; at + 4 <= end; at++) {
    const first = bytes[at];
    if (first === 0xda && bytes[at + 1] === 0xa3) return at - 4;
    if (first === 0xcb && bytes[at + 1] === 0xd4) return at - 4;
  }
  return -1;
}

/** The first byte from `position` on that is not zero; -1 without. */
async function nonZeroFrom(
  window: FileWindow,
  position: number,
): Promise<number> {
  for (let at = position; at < window.file.size;) {
    await window.fill(at, 1);
    const from = at - window.start;
    const part = window.bytes.subarray(from, window.size);
    if (!isZero(part)) return at + part.findIndex((it) => it !== 0);
    at = window.start + window.size;
  }
  return -1;
}
