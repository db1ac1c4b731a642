/** TimerCheckpointFile: reads and replaces `config/timercheck`, and what Apache derives from it. */
import { FileError, type FileSystem } from "../../io/file_system.ts";
import type { Logger } from "../../io/logger.ts";
import { createDirectories, syncDirectories } from "../../store/directories.ts";
import {
  decodeTimerCheckpoint,
  encodeTimerCheckpoint,
  TIMER_CHECKPOINT_FILE_SIZE,
  TIMER_CHECKPOINT_SIZE,
  type TimerCheckpoint,
} from "./timer_checkpoint.ts";

/** The file that begins at offset 0. */
const FIRST_FILE = "00000000000000000000";

/** The file below one store's root. */
export class TimerCheckpointFile {
  readonly #directory: string;
  readonly #path: string;

  constructor(
    private readonly fileSystem: FileSystem,
    private readonly root: string,
    private readonly logger: Logger,
  ) {
    this.#directory = `${root}/config`;
    this.#path = `${this.#directory}/timercheck`;
  }

  /** Undefined when there is none that can be read. */
  read(): TimerCheckpoint | undefined {
    const stat = this.fileSystem.stat(this.#path);
    if (stat === undefined || stat.isDirectory || stat.size === 0) {
      return undefined;
    }
    try {
      const bytes = new Uint8Array(Math.min(stat.size, TIMER_CHECKPOINT_SIZE));
      const handle = this.fileSystem.open(this.#path, "read");
      try {
        handle.readAt(0, bytes);
      } finally {
        handle.close();
      }
      return decodeTimerCheckpoint(bytes);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.logger.warn(
        `${this.#path} cannot be read, and is not used: ${error.message}`,
      );
      return undefined;
    }
  }

  /** Replaces it, durably. Rejects with `FileError`. */
  async write(checkpoint: TimerCheckpoint): Promise<void> {
    const { fileSystem } = this;
    const touched = new Set([
      ...createDirectories(fileSystem, this.#directory),
      this.#directory,
    ]);
    const bytes = new Uint8Array(TIMER_CHECKPOINT_FILE_SIZE);
    bytes.set(encodeTimerCheckpoint(checkpoint));
    const temporary = `${this.#path}.tmp`;
    const handle = fileSystem.open(temporary, "create");
    try {
      handle.truncate(0);
      handle.writeAt(0, bytes);
      await handle.sync();
    } finally {
      handle.close();
    }
    fileSystem.rename(temporary, this.#path);
    await syncDirectories(fileSystem, touched);
  }

  /**
   * Removes Apache's wheel and log: from now on they would be out of date. The checkpoint must
   * be one of ours, which makes Apache read the queue instead.
   */
  removeDerived(): void {
    const { fileSystem, root } = this;
    const log = `${root}/timerlog`;
    const wheel = `${root}/timerwheel`;
    if (fileSystem.stat(wheel) !== undefined) fileSystem.remove(wheel);
    if (fileSystem.stat(log)?.isDirectory !== true) return;
    for (const { isDirectory, name } of fileSystem.list(log)) {
      if (!isDirectory) fileSystem.remove(`${log}/${name}`);
    }
  }

  /** The only file of `timerlog/`, of `size` bytes with `parts` at its beginning. */
  async writeTimerLog(
    parts: readonly Uint8Array[],
    size: number,
  ): Promise<void> {
    const { fileSystem, root } = this;
    this.removeDerived();
    const directory = `${root}/timerlog`;
    const touched = new Set([
      ...createDirectories(fileSystem, directory),
      directory,
    ]);
    const handle = fileSystem.open(`${directory}/${FIRST_FILE}`, "create");
    try {
      handle.truncate(size);
      let position = 0;
      for (const part of parts) {
        handle.writeAt(position, part);
        position += part.length;
      }
      await handle.sync();
    } finally {
      handle.close();
    }
    await syncDirectories(fileSystem, touched);
  }
}
