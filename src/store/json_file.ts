/**
 * JsonFile: one JSON file of `config/`, replaced as a whole (DESIGN decision 8).
 *
 * Names beside `x.json`: `x.json.bak` holds the content before the last write, `x.json.tmp` a
 * write that was cut short (ignored), `x.json.corrupt` and `x.json.bak.corrupt` what nobody
 * could read.
 *
 * Invariants
 * - At every moment the main file or its .bak is whole, if one ever was.
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

/** Bigger files are not ours. */
const JSON_FILE_SIZE_MAX = 268_435_456;
/** `config/` in the store's root, and that in a folder that is there. */
const PARENT_LEVELS = 2;

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

  constructor(fileSystem: FileSystem, readonly path: string, logger: Logger) {
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
    if (main.kind === "good") return main.value;
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
    const temporary = `${this.path}.tmp`;
    try {
      await this.#writeSynced(temporary, bytes);
    } catch (error) {
      this.#removeQuietly(temporary);
      throw error;
    }
    if (this.#mainIsGood) {
      // The old main becomes the backup under its own name, so that no moment has neither.
      this.#fileSystem.rename(this.path, `${this.path}.bak`);
      this.#mainIsGood = false;
    }
    this.#fileSystem.rename(temporary, this.path);
    this.#mainIsGood = true;
    await syncDirectories(this.#fileSystem, this.#unsyncedDirectories);
    this.#degradedReason = null;
  }

  async #writeSynced(path: string, bytes: Uint8Array): Promise<void> {
    const handle = this.#fileSystem.open(path, "create");
    try {
      handle.truncate(0);
      handle.writeAt(0, bytes);
      await handle.sync();
    } finally {
      handle.close();
    }
  }

  #tryRead<T>(path: string, parse: (text: string) => T): ReadOutcome<T> {
    const stat = this.#fileSystem.stat(path);
    if (stat === undefined) return { kind: "absent" };
    if (stat.isDirectory) return { kind: "bad", reason: "is a folder" };
    if (stat.size === 0) return { kind: "bad", reason: "is empty" };
    if (stat.size > JSON_FILE_SIZE_MAX) {
      return { kind: "bad", reason: `has ${stat.size} bytes` };
    }
    const bytes = new Uint8Array(stat.size);
    const handle = this.#fileSystem.open(path, "read");
    try {
      handle.readAt(0, bytes);
    } finally {
      handle.close();
    }
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      if (!isObjectText(text)) {
        return { kind: "bad", reason: "is not a JSON object" };
      }
      return { kind: "good", value: parse(text) };
    } catch (error) {
      return { kind: "bad", reason: `cannot be parsed (${messageOf(error)})` };
    }
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

type ReadOutcome<T> =
  | { kind: "good"; value: T }
  | { kind: "absent" }
  | { kind: "bad"; reason: string };

function reasonOf(outcome: ReadOutcome<unknown>): string {
  if (outcome.kind === "bad") return outcome.reason;
  return outcome.kind === "absent" ? "is missing" : "is good";
}

/** `null`, `[]`, `"<nil>"` and a longer old tail parse as something, but not as ours. */
function isObjectText(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith("{") && trimmed.endsWith("}");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
