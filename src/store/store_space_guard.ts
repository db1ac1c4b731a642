/**
 * StoreSpaceGuard: refuses writes on a full disk, and takes them again when there is space; refuses
 * them for good when the log is no longer there.
 *
 * It looks by itself, apart from whoever deletes files: refusal must begin within a second of
 * crossing the line, and end within one check of being below it.
 */
import type { FileSystem } from "../io/file_system.ts";
import type { RunningFlags } from "./running_flags.ts";
import type { MessageStoreOptions } from "./store_options.ts";

const CHECK_INTERVAL_MS = 500;
/** Free bytes below which a disk counts as full whatever its size. */
const FREE_BYTES_MIN = 1_048_576;

/** Watches the disk of the store. */
export class StoreSpaceGuard {
  #lastCheckMs = Number.NEGATIVE_INFINITY;
  /** Percent in use at the last look; null when it could not be asked. */
  usedPercent: number | null = null;

  constructor(
    private readonly fileSystem: FileSystem,
    private readonly path: string,
    private readonly flags: RunningFlags,
    private options: MessageStoreOptions,
    /** The file that is written to; undefined without any. */
    private readonly logPath: () => string | undefined,
  ) {}

  reconfigure(options: MessageStoreOptions): void {
    this.options = options;
  }

  tick(nowMs: number): void {
    const elapsed = nowMs - this.#lastCheckMs;
    if (elapsed >= 0 && elapsed < CHECK_INTERVAL_MS) return;
    this.#lastCheckMs = nowMs;
    this.check();
  }

  check(): void {
    this.#lookForLog();
    const space = this.#space();
    if (space === undefined) return;
    const { totalBytes, freeBytes } = space;
    const ratio = this.options.diskSpaceWarningLevelRatio;
    const used = totalBytes > 0
      ? (totalBytes - freeBytes) * 100 / totalBytes
      : 0;
    this.usedPercent = used;
    if (used > ratio || freeBytes < FREE_BYTES_MIN) {
      this.flags.set(
        "disk-full",
        `The disk of ${this.path} is ${used.toFixed(1)} % full with ${
          Math.floor(freeBytes / 1_048_576)
        } MiB left, writes are refused above diskSpaceWarningLevelRatio=${ratio}`,
      );
    } else this.flags.clear("disk-full");
  }

  /** Somebody may have removed the store: the system keeps open files, and nobody finds them. */
  #lookForLog(): void {
    const path = this.logPath();
    if (path === undefined || this.#isThere(path)) return;
    this.flags.set(
      "files-removed",
      `${path} was removed while it is written to, and what is sent would be lost with it; ` +
        "stop this broker, and restore its store or begin a new one",
    );
  }

  #isThere(path: string): boolean {
    try {
      return this.fileSystem.stat(path) !== undefined;
    } catch {
      return true; // Nobody knows: writes will tell.
    }
  }

  #space(): { totalBytes: number; freeBytes: number } | undefined {
    try {
      return this.fileSystem.diskSpace(this.path);
    } catch {
      // A disk that cannot be asked is judged by its writes.
      this.usedPercent = null;
      this.flags.clear("disk-full");
      return undefined;
    }
  }
}
