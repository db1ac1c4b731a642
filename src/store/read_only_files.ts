/** ReadOnlyFiles: the files of one log or queue, for tools that must never write. */
import type { FileHandle, FileSystem } from "../io/file_system.ts";
import { offsetOfMappedFileName } from "./mapped_file_name.ts";
import type { StoreFinding, StoreFindings } from "./store_finding.ts";

const CURE =
  ": what is missing is in a backup or a replica only; restore it while the broker is stopped";
const QUEUE_CURE =
  ": stop the broker and move the folder of the queue away; the next start builds it again " +
  "from the log";
const HANDLES_MAX = 64;
/** Nobody chooses log files of another unit: what is left of a cut file is one. */
const LOG_SIZE_UNIT = 1024;

/** Open files of a tool, the least used closed first. */
export class ReadOnlyHandles {
  readonly #open = new Map<string, FileHandle>();

  constructor(readonly fileSystem: FileSystem) {}

  get(path: string): FileHandle {
    const known = this.#open.get(path);
    if (known !== undefined) return known;
    if (this.#open.size >= HANDLES_MAX) {
      const [oldest] = this.#open;
      this.#open.delete(oldest![0]);
      oldest![1].close();
    }
    const handle = this.fileSystem.open(path, "read");
    this.#open.set(path, handle);
    return handle;
  }

  close(): void {
    for (const handle of this.#open.values()) handle.close();
    this.#open.clear();
  }
}

/** One file. */
export interface ReadOnlyFile {
  readonly path: string;
  readonly fileFromOffset: number;
  readonly size: number;
}

/** What is known of the files before they are looked at. */
export interface ReadOnlyFilesOptions {
  /** Bytes of each; 0: the most frequent size counts as the right one. */
  readonly fileSize?: number;
  /** Offsets are those of the log: what points to bytes that are missing follows from that. */
  readonly isLog?: boolean;
  /** The end of a log, cut off by store_aside.ts: its one file may have any size. */
  readonly isTail?: boolean;
}

/** Files in order; those that do not fit are told of and left out. */
export class ReadOnlyFiles {
  private constructor(
    readonly directory: string,
    readonly files: readonly ReadOnlyFile[],
    /** Bytes of each file; 0 without any. */
    readonly fileSize: number,
    readonly handles: ReadOnlyHandles,
    /** False where all that is there seems to be cut. */
    readonly isFileSizeKnown: boolean,
  ) {}

  static load(
    handles: ReadOnlyHandles,
    directory: string,
    findings: StoreFindings,
    options: ReadOnlyFilesOptions = {},
  ): ReadOnlyFiles {
    const { fileSystem } = handles;
    const files: ReadOnlyFile[] = [];
    for (const { name, isDirectory } of fileSystem.list(directory)) {
      const path = `${directory}/${name}`;
      const offset = isDirectory ? undefined : offsetOfMappedFileName(name);
      if (offset === undefined) {
        findings.warning("foreign-file", path, null, "It is not of the store");
        continue;
      }
      const size = fileSystem.stat(path)?.size ?? 0;
      files.push({ path, fileFromOffset: offset, size });
    }
    const fileSize = options.fileSize || usualSize(files.map((it) => it.size));
    const isKnown = options.isLog !== true || options.isTail === true ||
      (options.fileSize ?? 0) > 0 || fileSize % LOG_SIZE_UNIT === 0;
    if (!isKnown) tellUnknownSize(files, fileSize, findings);
    const tell = (finding: StoreFinding, from: number, to: number) =>
      options.isLog === true
        ? findings.addSpan(finding, from, to)
        : findings.add(finding);
    const sound = files.filter((it, index) => {
      if (it.size === fileSize) return true;
      if (index === 0 && isEndOfFile(it, fileSize)) return true;
      const isEmptyLast = it.size === 0 && index === files.length - 1;
      const end = it.fileFromOffset + it.size;
      tell(
        {
          severity: isEmptyLast ? "warning" : "error",
          kind: "wrong-size",
          path: it.path,
          offset: end,
          message:
            `It ends there, with ${it.size} bytes instead of ${fileSize}` +
            (isEmptyLast ? "" : options.isLog === true ? CURE : QUEUE_CURE),
        },
        end,
        it.fileFromOffset + fileSize,
      );
      // What is there of a cut file can be read.
      return it.size > 0 && it.size < fileSize;
    });
    sound.forEach((it, index) => {
      const previous = sound[index - 1];
      if (previous === undefined) return;
      const end = previous.fileFromOffset +
        (isEndOfFile(previous, fileSize) ? previous.size : fileSize);
      if (end === it.fileFromOffset) return;
      tell(
        {
          severity: "error",
          kind: "file-gap",
          path: it.path,
          offset: it.fileFromOffset,
          message: `The file before it ends at ${end}`,
        },
        end,
        it.fileFromOffset,
      );
    });
    return new ReadOnlyFiles(directory, sound, fileSize, handles, isKnown);
  }

  get minOffset(): number {
    return this.files[0]?.fileFromOffset ?? 0;
  }

  /** End of the last file. */
  get endOffset(): number {
    const last = this.files.at(-1);
    return last === undefined ? 0 : last.fileFromOffset + last.size;
  }

  fileAt(offset: number): ReadOnlyFile | undefined {
    const holds = (it: ReadOnlyFile | undefined) =>
      it !== undefined && offset >= it.fileFromOffset &&
      offset < it.fileFromOffset + it.size;
    const index = Math.floor((offset - this.minOffset) / this.fileSize);
    const likely = this.files[index];
    return holds(likely) ? likely : this.files.find(holds);
  }

  /** False when the bytes are not there; they must lie in one file. */
  readAt(offset: number, target: Uint8Array): boolean {
    const file = this.fileAt(offset);
    if (file === undefined) return false;
    const position = offset - file.fileFromOffset;
    if (position + target.length > file.size) return false;
    this.handles.get(file.path).readAt(position, target);
    return true;
  }
}

function tellUnknownSize(
  files: readonly ReadOnlyFile[],
  fileSize: number,
  findings: StoreFindings,
): void {
  const cut = files.find((it) => it.size === fileSize);
  if (cut === undefined) return;
  const end = cut.fileFromOffset + cut.size;
  findings.error(
    "wrong-size",
    cut.path,
    end,
    `It ends there, with ${fileSize} bytes, which is no size of log files: it was cut. ` +
      "Stop the broker and restore it from a backup or a replica; its size, " +
      "mappedFileSizeCommitLog, cannot be told from what is left",
  );
}

/** A log that was cut off another begins in the middle of a file (store_aside.ts). */
function isEndOfFile(
  { fileFromOffset, size }: ReadOnlyFile,
  fileSize: number,
): boolean {
  return size < fileSize && fileFromOffset % fileSize !== 0 &&
    (fileFromOffset + size) % fileSize === 0;
}

/** The most frequent size of the files of many queues; 0 without any. */
export function usualFileSize(
  fileSystem: FileSystem,
  directories: readonly string[],
): number {
  const sizes = directories.flatMap((directory) =>
    fileSystem.list(directory)
      .filter((it) => offsetOfMappedFileName(it.name) !== undefined)
      .map((it) => fileSystem.stat(`${directory}/${it.name}`)?.size ?? 0)
  );
  return usualSize(sizes);
}

function usualSize(sizes: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const size of sizes) {
    if (size > 0) counts.set(size, (counts.get(size) ?? 0) + 1);
  }
  let usual = 0;
  for (const [size, count] of counts) {
    const best = counts.get(usual) ?? 0;
    // Of two, the larger: a file is cut rather than grown.
    if (count > best || (count === best && size > usual)) usual = size;
  }
  return usual;
}
