/** MemoryFileSystem: files in memory, sparse, counting and failing on demand. */
import {
  type DirectoryEntry,
  FileError,
  type FileHandle,
  type FileLock,
  type FileStat,
  type FileSystem,
  type FileSystemSync,
  type OpenMode,
} from "../../src/io/file_system.ts";
import type { LogFields, Logger } from "../../src/io/logger.ts";

const PAGE_SIZE = 16_384;

/** One file's bytes; pages that were never written are absent. */
class MemoryFile {
  readonly pages = new Map<number, Uint8Array>();
  size = 0;
  modifiedMs = 0;

  read(position: number, target: Uint8Array): void {
    for (let done = 0; done < target.length;) {
      const at = position + done;
      const inPage = at % PAGE_SIZE;
      const part = target.subarray(done, done + PAGE_SIZE - inPage);
      const page = this.pages.get((at - inPage) / PAGE_SIZE);
      if (page === undefined) part.fill(0);
      else part.set(page.subarray(inPage, inPage + part.length));
      done += part.length;
    }
  }

  write(position: number, source: Uint8Array): void {
    for (let done = 0; done < source.length;) {
      const at = position + done;
      const inPage = at % PAGE_SIZE;
      const number = (at - inPage) / PAGE_SIZE;
      let page = this.pages.get(number);
      if (page === undefined) {
        page = new Uint8Array(PAGE_SIZE);
        this.pages.set(number, page);
      }
      const part = source.subarray(done, done + PAGE_SIZE - inPage);
      page.set(part, inPage);
      done += part.length;
    }
    this.size = Math.max(this.size, position + source.length);
  }

  truncate(size: number): void {
    for (const [number, page] of this.pages) {
      if (number * PAGE_SIZE >= size) this.pages.delete(number);
      else if ((number + 1) * PAGE_SIZE > size) {
        page.fill(0, size - number * PAGE_SIZE);
      }
    }
    this.size = size;
  }
}

/** The disk of one test. */
export class MemoryFileSystem implements FileSystem {
  readonly files = new Map<string, MemoryFile>();
  readonly directories = new Set<string>(["/"]);
  /** What happened, as `sync /a/b` or `syncDirectory /a`. */
  readonly events: string[] = [];
  openCount = 0;
  openCountMax = 0;
  opens = 0;
  /** Thrown by the next matching operation, for as long as it is set. */
  fail: ((operation: string, path: string) => Error | undefined) | null = null;
  /** When set, syncs wait for `releaseSyncs`. */
  holdSyncs = false;
  space = { totalBytes: 1_000_000, freeBytes: 900_000 };
  nowMs = 1_000;
  #held: (() => void)[] = [];

  releaseSyncs(): void {
    const held = this.#held;
    this.#held = [];
    for (const release of held) release();
  }

  heldSyncs(): number {
    return this.#held.length;
  }

  list(directory: string): DirectoryEntry[] {
    const prefix = directory + "/";
    const found: DirectoryEntry[] = [];
    for (const path of this.files.keys()) {
      if (path.startsWith(prefix) && !path.slice(prefix.length).includes("/")) {
        found.push({ name: path.slice(prefix.length), isDirectory: false });
      }
    }
    for (const path of this.directories) {
      if (path.startsWith(prefix) && !path.slice(prefix.length).includes("/")) {
        found.push({ name: path.slice(prefix.length), isDirectory: true });
      }
    }
    return found.sort((a, b) => a.name < b.name ? -1 : 1);
  }

  stat(path: string): FileStat | undefined {
    const file = this.files.get(path);
    if (file !== undefined) {
      return {
        size: file.size,
        modifiedMs: file.modifiedMs,
        isDirectory: false,
      };
    }
    if (!this.directories.has(path)) return undefined;
    return { size: 0, modifiedMs: 0, isDirectory: true };
  }

  createDirectory(path: string): void {
    this.#check("createDirectory", path);
    for (let at = path; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
      this.directories.add(at);
    }
  }

  open(path: string, mode: OpenMode): FileHandle {
    this.#check("open", path);
    let file = this.files.get(path);
    if (file === undefined) {
      const parent = path.slice(0, path.lastIndexOf("/"));
      if (mode !== "create" || !this.directories.has(parent || "/")) {
        throw new FileError(`No file ${path}`, "not-found", path);
      }
      file = new MemoryFile();
      file.modifiedMs = this.nowMs;
      this.files.set(path, file);
    }
    this.opens += 1;
    this.openCount += 1;
    this.openCountMax = Math.max(this.openCountMax, this.openCount);
    return this.#handle(path, file, mode);
  }

  rename(from: string, to: string): void {
    this.#check("rename", from);
    const file = this.files.get(from);
    if (file === undefined) {
      throw new FileError(`No file ${from}`, "not-found", from);
    }
    this.files.delete(from);
    this.files.set(to, file);
  }

  remove(path: string): void {
    this.#check("remove", path);
    this.files.delete(path);
    this.directories.delete(path);
  }

  syncDirectory(path: string): Promise<void> {
    this.events.push(`syncDirectory ${path}`);
    return this.#sync("syncDirectory", path);
  }

  /** What `openFileSystemSync` gives. */
  whole: FileSystemSync | undefined;

  openFileSystemSync(): FileSystemSync | undefined {
    return this.whole;
  }

  lock(path: string): FileLock {
    throw new FileError(`Locks are not simulated: ${path}`, "other", path);
  }

  checkWritable(_directory: string): void {}

  diskSpace(): { totalBytes: number; freeBytes: number } {
    return this.space;
  }

  /** Puts `text` or bytes into a file, making folders as needed. */
  put(path: string, content: string | Uint8Array): void {
    this.createDirectory(path.slice(0, path.lastIndexOf("/")));
    const file = new MemoryFile();
    file.modifiedMs = this.nowMs;
    file.write(
      0,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    this.files.set(path, file);
  }

  bytes(path: string): Uint8Array {
    const file = this.files.get(path);
    if (file === undefined) throw new Error(`No file ${path}`);
    const bytes = new Uint8Array(file.size);
    file.read(0, bytes);
    return bytes;
  }

  text(path: string): string {
    return new TextDecoder().decode(this.bytes(path));
  }

  #handle(path: string, file: MemoryFile, mode: OpenMode): FileHandle {
    let isClosed = false;
    const check = (operation: string) => {
      if (isClosed) throw new Error(`${operation} on closed ${path}`);
      if (mode === "read" && operation !== "readAt" && operation !== "size") {
        throw new Error(`${operation} on read-only ${path}`);
      }
      this.#check(operation, path);
    };
    const readAt = (position: number, target: Uint8Array) => {
      check("readAt");
      if (position + target.length > file.size) {
        throw new FileError(`${path} ends before`, "short-read", path);
      }
      file.read(position, target);
    };
    return {
      path,
      readAt,
      readAtAsync: async (position, target) => {
        await Promise.resolve();
        readAt(position, target);
      },
      writeAt: (position, source) => {
        check("writeAt");
        file.modifiedMs = this.nowMs;
        file.write(position, source);
      },
      sync: () => {
        check("sync");
        this.events.push(`sync ${path}`);
        return this.#sync("sync", path);
      },
      truncate: (size) => {
        check("truncate");
        file.truncate(size);
      },
      size: () => {
        check("size");
        return file.size;
      },
      close: () => {
        if (isClosed) throw new Error(`${path} closed twice`);
        isClosed = true;
        this.openCount -= 1;
      },
    };
  }

  async #sync(operation: string, path: string): Promise<void> {
    await Promise.resolve();
    if (this.holdSyncs) {
      await new Promise<void>((resolve) => this.#held.push(resolve));
    }
    this.#check(operation === "sync" ? "syncEnd" : operation, path);
  }

  #check(operation: string, path: string): void {
    const error = this.fail?.(operation, path);
    if (error !== undefined) throw error;
  }
}

/** Keeps the lines instead of printing them. */
export class MemoryLogger implements Logger {
  readonly lines: { level: string; message: string; fields?: LogFields }[] = [];

  debug(message: string, fields?: LogFields): void {
    this.#add("debug", message, fields);
  }
  info(message: string, fields?: LogFields): void {
    this.#add("info", message, fields);
  }
  warn(message: string, fields?: LogFields): void {
    this.#add("warn", message, fields);
  }
  error(message: string, fields?: LogFields): void {
    this.#add("error", message, fields);
  }
  child(): Logger {
    return this;
  }
  count(level: string): number {
    return this.lines.filter((it) => it.level === level).length;
  }
  #add(level: string, message: string, fields: LogFields | undefined): void {
    this.lines.push(
      fields === undefined ? { level, message } : { level, message, fields },
    );
  }
}
