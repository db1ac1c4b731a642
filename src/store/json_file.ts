/**
 * JsonFile: one JSON file of `config/`, replaced as a whole (DESIGN decision 8).
 *
 * Names beside `x.json`: `x.json.bak` holds the content before the last write (or the same
 * one, see below), `x.json.tmp` a write that was cut short (ignored), `x.json.corrupt` and `x.json.bak.corrupt` what nobody
 * could read.
 *
 * Invariants
 * - At every moment the main file or its .bak is whole, if one ever was.
 * - With `backup: "same"` the .bak holds what the main file holds, or is not there: content whose
 *   past is dangerous has none. The main file is never away during a write, so a missing one was
 *   removed by somebody, and the .bak goes with it.
 * - .bak only ever receives content that `read` has parsed or `write` has written.
 * - `write` calls are done in order; while one runs, only the newest of the others is kept.
 */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { Coalesced } from "./coalesced.ts";
import {
  createDirectories,
  parentDirectory,
  syncDirectories,
  withParents,
} from "./directories.ts";
import { type JsonOutcome, readJsonText, reasonOf } from "./json_text.ts";

/** `config/` in the store's root, and that in a folder that is there. */
const PARENT_LEVELS = 2;

/** What `x.json.bak` holds: the content before the last write, or the one of the last write. */
export type BackupKind = "previous" | "same";

/** One file and its backup. */
export class JsonFile {
  readonly #fileSystem: FileSystem;
  readonly #logger: Logger;
  /** True when the main file's present content may become the backup. */
  #mainIsGood = false;
  #degradedReason: string | null = null;
  #waitingText = "";
  /** A process that was killed may have made the folders above without a sync. */
  readonly #unsyncedDirectories: Set<string>;
  readonly #writing = new Coalesced(() => this.#writeWaiting());

  readonly #backup: BackupKind;
  readonly #mode: "create" | "create-private";

  constructor(
    fileSystem: FileSystem,
    readonly path: string,
    logger: Logger,
    backup: BackupKind = "previous",
    mode: "create" | "create-private" = "create",
  ) {
    this.#backup = backup;
    this.#mode = mode;
    this.#fileSystem = fileSystem;
    this.#logger = logger;
    this.#unsyncedDirectories = new Set(
      withParents(parentDirectory(path), PARENT_LEVELS),
    );
  }

  /** One sentence while the content came from the backup or was lost; null when all is well. */
  get degradedReason(): string | null {
    return this.#degradedReason;
  }

  get isDegraded(): boolean {
    return this.#degradedReason !== null;
  }

  /**
   * The content of the main file, else of the backup, as `parse` sees it; undefined when there
   * is none, or none that can be read (then both are set aside). `parse` throws on whatever it
   * cannot take, such as `null`, `[]` or another shape. Never throws for bad content; throws
   * `FileError` only when the device fails.
   */
  read<T>(parse: (text: string) => T): T | undefined {
    const main = this.#tryRead(this.path, parse);
    this.#mainIsGood = main.kind === "good";
    if (this.#backup === "same" && main.kind !== "bad") {
      this.#dropOtherBackup(main.kind === "good" ? main.text : null);
    }
    if (main.kind === "good") return main.value;
    if (this.#backup === "same" && main.kind === "absent") return undefined;
    const backup = this.#tryRead(`${this.path}.bak`, parse);
    if (main.kind === "absent" && backup.kind === "absent") return undefined;
    if (backup.kind === "good") {
      this.#degrade(
        `${this.path} ${reasonOf(main)}, its backup is used`,
      );
      return backup.value;
    }
    if (main.kind === "bad") this.#setAside(this.path);
    if (backup.kind === "bad") this.#setAside(`${this.path}.bak`);
    this.#degrade(
      `${this.path} ${reasonOf(main)} and its backup ${reasonOf(backup)}: ` +
        "set aside as *.corrupt, rebuilt from nothing",
    );
    return undefined;
  }

  /**
   * Replaces the content; resolves once that survives power loss. Calls during a running write
   * share the one after it, which writes the newest text.
   */
  write(text: string): Promise<void> {
    this.#waitingText = text;
    return this.#writing.run();
  }

  async #writeWaiting(): Promise<void> {
    const bytes = new TextEncoder().encode(this.#waitingText);
    const directory = parentDirectory(this.path);
    for (const it of createDirectories(this.#fileSystem, directory)) {
      this.#unsyncedDirectories.add(it);
    }
    this.#unsyncedDirectories.add(directory);
    const temporary = await this.#writeTemporary(bytes);
    if (this.#mainIsGood && this.#backup === "previous") {
      // The old main becomes the backup under its own name, so that no moment has neither.
      this.#fileSystem.rename(this.path, `${this.path}.bak`);
      this.#mainIsGood = false;
    }
    this.#fileSystem.rename(temporary, this.path);
    this.#mainIsGood = true;
    if (this.#backup === "same") await this.#writeBackup(directory, bytes);
    else await syncDirectories(this.#fileSystem, this.#unsyncedDirectories);
    this.#degradedReason = null;
  }

  /** The main file first: what was written counts, whatever becomes of its copy. */
  async #writeBackup(directory: string, bytes: Uint8Array): Promise<void> {
    await syncDirectories(this.#fileSystem, this.#unsyncedDirectories);
    const backup = `${this.path}.bak`;
    try {
      this.#fileSystem.rename(await this.#writeTemporary(bytes), backup);
      this.#unsyncedDirectories.add(directory);
      await syncDirectories(this.#fileSystem, this.#unsyncedDirectories);
    } catch (error) {
      this.#removeQuietly(backup);
      this.#logger.warn("Cannot write a backup", { path: backup, error });
    }
  }

  /** Resolves with the path once the bytes are durable there. */
  async #writeTemporary(bytes: Uint8Array): Promise<string> {
    const temporary = `${this.path}.tmp`;
    try {
      await this.#writeSynced(temporary, bytes);
    } catch (error) {
      this.#removeQuietly(temporary);
      throw error;
    }
    return temporary;
  }

  /** `text` is what the main file holds; null: somebody has removed it. */
  #dropOtherBackup(text: string | null): void {
    const path = `${this.path}.bak`;
    try {
      const backup = this.#tryRead(path, (it) => it);
      if (backup.kind === "absent") return;
      if (backup.kind === "good" && backup.text === text) return;
      this.#fileSystem.remove(path);
      if (text !== null) return;
      this.#logger.info(
        `${this.path} was removed, so its backup is removed too`,
        { path },
      );
    } catch (error) {
      this.#logger.warn("Cannot remove a backup that is not used", {
        path,
        error,
      });
    }
  }

  async #writeSynced(path: string, bytes: Uint8Array): Promise<void> {
    const handle = this.#fileSystem.open(path, this.#mode);
    try {
      handle.truncate(0);
      handle.writeAt(0, bytes);
      await handle.sync();
    } finally {
      handle.close();
    }
  }

  #tryRead<T>(path: string, parse: (text: string) => T): JsonOutcome<T> {
    return readJsonText(this.#fileSystem, path, parse);
  }

  #removeQuietly(path: string): void {
    try {
      this.#fileSystem.remove(path);
    } catch {
      // The error that led here says more; the next write replaces the file.
    }
  }

  #degrade(reason: string): void {
    this.#degradedReason = reason;
    this.#logger.warn(reason, { path: this.path });
  }

  #setAside(path: string): void {
    try {
      this.#fileSystem.rename(path, `${path}.corrupt`);
    } catch (error) {
      // No side file may block a start: the next write replaces it.
      this.#logger.warn("Cannot set a corrupt file aside", { path, error });
    }
  }
}
