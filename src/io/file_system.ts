/**
 * FileSystem: what the store needs from a disk. Nothing else may be added lightly.
 *
 * Paths are absolute or relative to the working folder and use "/".
 * Metadata calls are synchronous: they are rare and cost microseconds.
 */

/** One open file. */
export interface FileHandle {
  readonly path: string;
  /** Fills `target` from `position`; throws when the file ends before. */
  readAt(position: number, target: Uint8Array): void;
  /** Writes all of `source` at `position` or throws `FileError`. */
  writeAt(position: number, source: Uint8Array): void;
  /** As `readAt`, off the loop: for data that may have to come from the device. */
  readAtAsync(position: number, target: Uint8Array): Promise<void>;
  /** Resolves once everything written so far survives power loss; runs off the loop. */
  sync(): Promise<void>;
  /** Sets the length in bytes; growing makes a sparse, zero-filled tail. */
  truncate(size: number): void;
  size(): number;
  close(): void;
}

/** One name in a folder. */
export interface DirectoryEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

/** What is known of a path. */
export interface FileStat {
  readonly size: number;
  readonly modifiedMs: number;
  readonly isDirectory: boolean;
}

/** A held lock; released by `release` or by the end of the process. */
export interface FileLock {
  release(): void;
}

/**
 * `read`: must exist. `write`: must exist. `create`: opened for writing, made when missing.
 * `create-private`: the same, and what is made can be read by its owner alone.
 */
export type OpenMode = "read" | "write" | "create" | "create-private";

/** What kind of failure a disk reported; `other` keeps the errno name in `FileError.errno`. */
export type FileErrorKind =
  | "not-found"
  | "no-space"
  | "read-only"
  | "denied"
  | "io"
  | "locked"
  | "too-many-open"
  | "short-read"
  | "other";

/** A disk said no. The message is one sentence that names the path. */
export class FileError extends Error {
  override readonly name = "FileError";
  /** Name of the system's error, as `ENOSPC`, where there was one. */
  readonly errno: string | undefined;
  constructor(
    message: string,
    readonly kind: FileErrorKind,
    readonly path: string,
    options?: ErrorOptions & { errno?: string },
  ) {
    super(message, options);
    this.errno = options?.errno;
  }
}

/** Syncs everything of one file system at once: thousands of files take as many syncs else. */
export interface FileSystemSync {
  /** With fewer files, syncs of their own are the better way. */
  readonly filesMin: number;
  /** True when `path` lies in the file system. */
  holds(path: string): boolean;
  /**
   * True: what was written before the call has left the system's memory, but maybe not yet the
   * device's, until the next sync of a file there. False: nobody can promise that, sync the files.
   * Off the loop; never rejects.
   */
  sync(): Promise<boolean>;
  close(): void;
}

/** Opens, lists and replaces files. */
export interface FileSystem {
  /** Names in a folder, sorted; a folder that is missing has none. */
  list(directory: string): DirectoryEntry[];
  stat(path: string): FileStat | undefined;
  createDirectory(path: string): void;
  open(path: string, mode: OpenMode): FileHandle;
  /** Replaces `to` when it exists. */
  rename(from: string, to: string): void;
  /** Removes a file or an empty folder; a missing one is no error. */
  remove(path: string): void;
  /** Makes creations, renames and removals inside the folder durable. */
  syncDirectory(path: string): Promise<void>;
  /** For the file system of a folder; undefined where one call cannot be trusted with all of it. */
  openFileSystemSync(directory: string): FileSystemSync | undefined;
  /** Takes the POSIX record lock on byte 0 of `path` (as Java's FileLock), or throws `locked`. */
  lock(path: string): FileLock;
  /** Throws `FileError` when this process may not make or remove names in the folder. */
  checkWritable(directory: string): void;
  diskSpace(path: string): { totalBytes: number; freeBytes: number };
}
