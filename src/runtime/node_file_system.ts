/** NodeFileSystem: the FileSystem port over node:fs, for both runtimes. */
import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statfsSync,
  statSync,
  unlinkSync,
} from "node:fs";
import {
  type DirectoryEntry,
  FileError,
  type FileHandle,
  type FileLock,
  type FileStat,
  type FileSystem,
  type FileSystemSync,
  type OpenMode,
} from "../io/file_system.ts";
import type { FileSyncer } from "./file_syncer.ts";
import { codeOf, fileErrorOf } from "./node_file_error.ts";
import { NodeFileHandle } from "./node_file_handle.ts";
import { openFileSystemSync, type SyncFs } from "./node_file_system_sync.ts";
import type { PosixLock } from "./posix_lock.ts";

const OPEN_FLAGS: Record<OpenMode, number> = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT,
  "create-private": constants.O_RDWR | constants.O_CREAT,
};

const FILE_PERMISSIONS = 0o644;
const PRIVATE_PERMISSIONS = 0o600;

/**
 * Real paths locked by this process. A POSIX lock does not keep its own process
 * out, and is lost as soon as that process closes any descriptor of the file.
 */
const lockedPaths = new Set<string>();

/** Files of the machine. */
export class NodeFileSystem implements FileSystem {
  readonly #syncer: FileSyncer;
  readonly #posixLock: PosixLock;
  readonly #syncFs: SyncFs | undefined;

  /** Without `syncFs` all files are synced one by one. */
  constructor(syncer: FileSyncer, posixLock: PosixLock, syncFs?: SyncFs) {
    this.#syncer = syncer;
    this.#posixLock = posixLock;
    this.#syncFs = syncFs;
  }

  list(directory: string): DirectoryEntry[] {
    try {
      return readdirSync(directory, { withFileTypes: true })
        .map((it) => ({
          name: it.name,
          isDirectory: it.isSymbolicLink()
            ? this.stat(`${directory}/${it.name}`)?.isDirectory === true
            : it.isDirectory(),
        }))
        .sort((a, b) => a.name < b.name ? -1 : 1);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw fileErrorOf("list", directory, error);
    }
  }

  stat(path: string): FileStat | undefined {
    try {
      const stat = statSync(path);
      return {
        size: stat.size,
        modifiedMs: stat.mtimeMs,
        isDirectory: stat.isDirectory(),
      };
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return undefined;
      throw fileErrorOf("look at", path, error);
    }
  }

  createDirectory(path: string): void {
    attempt("create folder", path, () => mkdirSync(path, { recursive: true }));
  }

  open(path: string, mode: OpenMode): FileHandle {
    const descriptor = attempt("open", path, () => openFile(path, mode));
    return new NodeFileHandle(path, descriptor, this.#syncer);
  }

  rename(from: string, to: string): void {
    attempt("rename", from, () => renameSync(from, to));
  }

  remove(path: string): void {
    try {
      if (lstatSync(path).isDirectory()) rmdirSync(path);
      else unlinkSync(path);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw fileErrorOf("remove", path, error);
    }
  }

  async syncDirectory(path: string): Promise<void> {
    const descriptor = attempt("open", path, () => openFile(path, "read"));
    try {
      await this.#syncer.sync(descriptor, "all");
    } catch (error) {
      throw fileErrorOf("sync folder", path, error);
    } finally {
      closeSync(descriptor);
    }
  }

  openFileSystemSync(directory: string): FileSystemSync | undefined {
    return openFileSystemSync(directory, this.#syncFs);
  }

  lock(path: string): FileLock {
    // Looked at before it is opened: see `lockedPaths`.
    if (this.stat(path) && lockedPaths.has(realpathSync(path))) {
      throw lockedError(path, "this process");
    }
    const descriptor = attempt("open", path, () => openFile(path, "create"));
    const outcome = this.#posixLock(descriptor);
    if (outcome !== "taken") {
      closeSync(descriptor);
      throw outcome === "held"
        ? lockedError(path, "another process")
        : fileErrorOf("lock", path, { code: `errno ${outcome.errno}` });
    }
    const realPath = realpathSync(path);
    lockedPaths.add(realPath);
    return {
      release(): void {
        if (lockedPaths.delete(realPath)) closeSync(descriptor);
      },
    };
  }

  checkWritable(directory: string): void {
    attempt(
      "write into",
      directory,
      () => accessSync(directory, constants.W_OK | constants.X_OK),
    );
  }

  diskSpace(path: string): { totalBytes: number; freeBytes: number } {
    const stat = attempt("measure the disk of", path, () => statfsSync(path));
    return {
      totalBytes: stat.blocks * stat.bsize,
      freeBytes: stat.bavail * stat.bsize,
    };
  }
}

function openFile(path: string, mode: OpenMode): number {
  const permissions = mode === "create-private"
    ? PRIVATE_PERMISSIONS
    : FILE_PERMISSIONS;
  return openSync(path, OPEN_FLAGS[mode], permissions);
}

function attempt<T>(action: string, path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw fileErrorOf(action, path, error);
  }
}

function lockedError(path: string, holder: string): FileError {
  return new FileError(
    `Cannot lock ${path}: ${holder} holds it; ` +
      "end it, or give this one another store path",
    "locked",
    path,
  );
}
