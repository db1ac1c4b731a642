/**
 * NodeFileSystemSync: syncfs(2) of Linux, where its answer can be relied on.
 *
 * Kernels before 5.8 keep write errors to themselves, and file systems over a network, in user
 * space or on top of others need not pass the call on.
 */
import { closeSync, constants, openSync, statfsSync, statSync } from "node:fs";
import { release } from "node:os";
import process from "node:process";
import type { FileSystemSync } from "../io/file_system.ts";

/** Calls syncfs off the loop: true for 0. */
export type SyncFs = (descriptor: number) => Promise<boolean>;

/** Measured: with fewer files their own syncs are done sooner. */
const FILES_MIN = 256;

/** `f_type` of statfs(2): ext2 to ext4, xfs, btrfs, f2fs. */
const TRUSTED_TYPES: ReadonlySet<number> = new Set([
  0xef53,
  0x58465342,
  0x9123683e,
  0xf2f52010,
]);

/** True for a kernel whose syncfs tells of failed writes; `kernel` as in `6.1.0-18-amd64`. */
export function tellsWriteErrors(os: string, kernel: string): boolean {
  if (os !== "linux") return false;
  const [major, minor] = kernel.split(".").map((it) => Number.parseInt(it, 10));
  return major! > 5 || (major === 5 && minor! >= 8);
}

/** Undefined where files have to be synced one by one. */
export function openFileSystemSync(
  directory: string,
  syncFs: SyncFs | undefined,
): FileSystemSync | undefined {
  if (syncFs === undefined || !tellsWriteErrors(process.platform, release())) {
    return undefined;
  }
  try {
    if (!TRUSTED_TYPES.has(statfsSync(directory).type >>> 0)) return undefined;
    // Kept open: it is told of errors since now, whoever else asks meanwhile.
    const descriptor = openSync(
      directory,
      constants.O_RDONLY | constants.O_DIRECTORY,
    );
    return new NodeFileSystemSync(descriptor, statSync(directory).dev, syncFs);
  } catch {
    // A folder that cannot be opened: whoever syncs its files will tell.
    return undefined;
  }
}

class NodeFileSystemSync implements FileSystemSync {
  readonly filesMin = FILES_MIN;
  #isOpen = true;
  #isClosed = false;
  #running = 0;

  constructor(
    private readonly descriptor: number,
    private readonly device: number,
    private readonly syncFs: SyncFs,
  ) {}

  holds(path: string): boolean {
    return statSync(path, { throwIfNoEntry: false })?.dev === this.device;
  }

  async sync(): Promise<boolean> {
    if (!this.#isOpen) return false;
    this.#running++;
    try {
      return await this.syncFs(this.descriptor);
    } catch {
      return false;
    } finally {
      this.#running--;
      this.#closeUnused();
    }
  }

  close(): void {
    this.#isOpen = false;
    this.#closeUnused();
  }

  /** Not under a running call: its number could come to mean another file. */
  #closeUnused(): void {
    if (this.#isOpen || this.#running > 0 || this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.descriptor);
  }
}
