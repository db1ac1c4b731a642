/**
 * SimFileSystem: a disk in memory that can lose power, fill up and fail.
 *
 * It keeps only what was asked for: content counts as kept once `sync` has
 * resolved, names (new, renamed, removed) once `syncDirectory` has.
 */
import type { Clock } from "../../src/io/clock.ts";
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
import { fileErrorOf } from "../../src/runtime/node_file_error.ts";
import { PAGE_SIZE, SimContent } from "./sim_content.ts";
import { normalPath, parentOf, SimDirectory } from "./sim_directory.ts";
import { SimFaults, type SyncCall } from "./sim_faults.ts";
import { SimFile } from "./sim_file.ts";
import { SimFileHandle } from "./sim_file_handle.ts";
import { SimRandom } from "./sim_random.ts";

/** What `diskSpace` says of a disk without a limit. */
const UNLIMITED_BYTES = 2 ** 40;

/** Folders that are there from the beginning, for good. */
export interface SimDisk {
  readonly random?: SimRandom;
  readonly clock?: Clock;
  readonly directories?: readonly string[];
}

/** One disk; it outlives the processes that use it. */
export class SimFileSystem implements FileSystem {
  readonly faults = new SimFaults();
  /** Every sync so far, dropped ones too: what a test can take out. */
  readonly syncCalls: SyncCall[] = [];
  readonly #random: SimRandom;
  readonly #clock: Clock | undefined;
  readonly #names = new SimDirectory();
  /** Given to the device by a sync of everything, which writes it out with the next file's. */
  #inDevice: (() => void)[] = [];
  readonly #modifiedMs = new WeakMap<SimFile, number>();
  #locks = new Set<string>();
  #openFiles = 0;
  #life = 1;

  constructor(disk: SimDisk = {}) {
    this.#random = disk.random ?? new SimRandom(1);
    this.#clock = disk.clock;
    for (const it of disk.directories ?? []) this.#addFolders(it, true);
  }

  /** Open handles: what a closed store must not leave. */
  get openFiles(): number {
    return this.#openFiles;
  }

  /** Bytes that files occupy. */
  get usedBytes(): number {
    const pages = this.#names.files()
      .reduce((sum, it) => sum + it.current.pageCount, 0);
    return pages * PAGE_SIZE;
  }

  /**
   * Power loss. Handles and locks of before are dead, running syncs and reads
   * never settle, and chance decides which unsynced changes are on the disk.
   */
  crash(): void {
    this.#life++;
    this.#locks = new Set();
    this.#openFiles = 0;
    const files = new Set(this.#names.files());
    this.#inDevice = [];
    this.#names.crash(this.#random);
    for (const it of this.#names.files()) files.add(it);
    for (const it of files) it.crash(this.#random);
  }

  /** kill -9: the process is gone, the disk keeps everything. */
  kill(): void {
    this.#life++;
    this.#locks = new Set();
    this.#openFiles = 0;
  }

  list(directory: string): DirectoryEntry[] {
    return this.#names.children(normalPath(directory))
      .map(({ name, node }) => ({ name, isDirectory: node === "directory" }));
  }

  stat(path: string): FileStat | undefined {
    const node = this.#names.get(normalPath(path));
    if (node === undefined) return undefined;
    if (node === "directory") {
      return { size: PAGE_SIZE, modifiedMs: 0, isDirectory: true };
    }
    const modifiedMs = this.#modifiedMs.get(node) ?? 0;
    return { size: node.current.size, modifiedMs, isDirectory: false };
  }

  createDirectory(path: string): void {
    const normal = normalPath(path);
    if (this.#names.get(normal) === "directory") return;
    this.checkWrite("create folder", path);
    this.#addFolders(normal, false);
  }

  open(path: string, mode: OpenMode): FileHandle {
    const normal = normalPath(path);
    if (this.#openFiles >= this.faults.openFilesMax) {
      throw fileErrorOf("open", path, { code: "EMFILE" });
    }
    if (mode !== "read") this.checkWrite("open", path);
    let node = this.#names.get(normal);
    if (node === undefined && mode.startsWith("create")) {
      this.#checkParent("open", normal);
      node = new SimFile();
      this.#names.add(normal, node);
      this.touch(node);
    }
    if (node === undefined) throw fileErrorOf("open", path, { code: "ENOENT" });
    if (node === "directory") {
      throw fileErrorOf("open", path, { code: "EISDIR" });
    }
    this.#openFiles++;
    return new SimFileHandle(this, node, path, mode !== "read", this.#life);
  }

  rename(from: string, to: string): void {
    this.checkWrite("rename", from);
    const [source, target] = [normalPath(from), normalPath(to)];
    if (this.#names.get(source) === undefined) {
      throw fileErrorOf("rename", from, { code: "ENOENT" });
    }
    this.#checkParent("rename", target);
    this.#names.rename(source, target);
  }

  remove(path: string): void {
    const normal = normalPath(path);
    if (this.#names.get(normal) === undefined) return;
    this.checkWrite("remove", path);
    if (this.#names.children(normal).length > 0) {
      throw fileErrorOf("remove", path, { code: "ENOTEMPTY" });
    }
    this.#names.remove(normal);
  }

  syncDirectory(path: string): Promise<void> {
    const normal = normalPath(path);
    if (this.#names.get(normal) !== "directory") {
      return Promise.reject(fileErrorOf("open", path, { code: "ENOENT" }));
    }
    const changes = this.#names.changesOf(normal);
    return this.runSync("directory", normal, (isWell) => {
      if (isWell) this.#names.commit(changes);
    });
  }

  openFileSystemSync(directory: string): FileSystemSync | undefined {
    const filesMin = this.faults.wholeSyncFilesMin;
    if (filesMin === Infinity) return undefined;
    const life = this.#life;
    return {
      filesMin,
      holds: () => true,
      sync: () => this.isAlive(life) ? this.#syncWhole(directory) : never(),
      close() {},
    };
  }

  /** Everything, as `syncfs` does; a failed one leaves the pages to the syncs of their files. */
  async #syncWhole(directory: string): Promise<boolean> {
    const files = this.#names.files().map((it) => [it, it.sequence] as const);
    const changes = this.#names.changes;
    try {
      await this.runSync("whole", normalPath(directory), (isWell) => {
        if (!isWell) return;
        this.#inDevice.push(() => {
          for (const [file, sequence] of files) file.commit(sequence);
          this.#names.commit(changes);
        });
      });
      return true;
    } catch {
      return false;
    }
  }

  lock(path: string): FileLock {
    const normal = normalPath(path);
    if (this.#locks.has(normal)) {
      throw new FileError(`Cannot lock ${path}: it is held`, "locked", path);
    }
    this.open(path, "create").close();
    const locks = this.#locks;
    locks.add(normal);
    return { release: () => void locks.delete(normal) };
  }

  checkWritable(directory: string): void {
    this.checkWrite("write into", directory);
    if (!this.faults.denyFolder?.(directory)) return;
    throw fileErrorOf("write into", directory, { code: "EACCES" });
  }

  diskSpace(_path: string): { totalBytes: number; freeBytes: number } {
    const totalBytes = Math.min(this.faults.capacityBytes, UNLIMITED_BYTES);
    const freeBytes = Math.max(totalBytes - this.usedBytes, 0);
    return { totalBytes, freeBytes };
  }

  /** The whole of a file. */
  readFile(path: string): Uint8Array {
    const handle = this.open(path, "read");
    const bytes = new Uint8Array(handle.size());
    handle.readAt(0, bytes);
    handle.close();
    return bytes;
  }

  /** Puts `bytes` into a file, made when missing, as if they had always been there. */
  plant(path: string, bytes: Uint8Array, position = 0): void {
    const normal = normalPath(path);
    this.#addFolders(parentOf(normal), true);
    let node = this.#names.get(normal);
    if (!(node instanceof SimFile)) {
      node = new SimFile();
      this.#names.add(normal, node);
      this.#names.commit(this.#names.changesOf(parentOf(normal)));
    }
    node.current.write(position, bytes);
    node.durable.write(position, bytes);
    this.touch(node);
  }

  // For SimFileHandle.

  isAlive(life: number): boolean {
    return life === this.#life;
  }

  released(): void {
    this.#openFiles--;
  }

  touch(file: SimFile): void {
    this.#modifiedMs.set(file, this.#clock?.nowMs() ?? 0);
  }

  /** How many of `size` bytes fit on the disk. */
  roomFor(content: SimContent, position: number, size: number): number {
    if (this.faults.capacityBytes === Infinity) return size;
    const free = this.diskSpace("/").freeBytes;
    const needed = content.missingPages(position, size) * PAGE_SIZE;
    if (needed <= free) return size;
    const first = PAGE_SIZE - position % PAGE_SIZE;
    return free < PAGE_SIZE ? 0 : Math.min(first, size);
  }

  checkWrite(action: string, path: string): void {
    if (!this.faults.isReadOnly) return;
    throw fileErrorOf(action, path, { code: "EROFS" });
  }

  async runSync(
    kind: SyncCall["kind"],
    path: string,
    finish: (isWell: boolean) => void,
  ): Promise<void> {
    const call = { number: this.syncCalls.length + 1, kind, path };
    this.syncCalls.push(call);
    await this.#delay(this.faults.syncDelayMs(call));
    if (this.faults.failSync?.(call)) {
      finish(false);
      throw fileErrorOf("sync", path, { code: "EIO" });
    }
    if (this.faults.dropSync?.(call)) return;
    finish(true);
    if (kind !== "file") return;
    for (const write of this.#inDevice.splice(0)) write();
  }

  async runRead(path: string): Promise<void> {
    await this.#delay(this.faults.readDelayMs(path));
  }

  /** Ends after `ms`, or never when the power goes first. */
  async #delay(ms: number): Promise<void> {
    const life = this.#life;
    const clock = this.#clock;
    if (ms > 0 && clock) await new Promise<void>((it) => clock.after(ms, it));
    else await Promise.resolve();
    if (life !== this.#life) await new Promise(() => {});
  }

  #checkParent(action: string, path: string): void {
    if (this.#names.get(parentOf(path)) === "directory") return;
    throw fileErrorOf(action, path, { code: "ENOENT" });
  }

  #addFolders(path: string, isDurable: boolean): void {
    const normal = normalPath(path);
    if (this.#names.get(normal) === "directory") return;
    const parent = parentOf(normal);
    this.#addFolders(parent, isDurable);
    this.#names.add(normal, "directory");
    if (isDurable) this.#names.commit(this.#names.changesOf(parent));
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
