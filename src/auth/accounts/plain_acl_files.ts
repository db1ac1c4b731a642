/**
 * PlainAclFiles: plain_acl.yml and the files of the folder `acl` beside it, as one; read again when
 * any of them changes, comes or goes.
 *
 * Invariants
 * - What is in force was read from whole files, all of them at one moment; a fault is told once,
 *   with the file's name and place, never with its content.
 * - An accessKey counts where it stands first: files of the folder by name, then plain_acl.yml.
 * - What this broker writes itself is in force at once, and not read again.
 */
import { FileError, type FileSystem } from "../../io/file_system.ts";
import type { Logger } from "../../io/logger.ts";
import {
  parsePlainAcl,
  type PlainAccount,
  type PlainAcl,
} from "../plain_acl.ts";
import { AclFileError } from "../yaml_file.ts";

/** Apache looks each 5 s. */
const LOOK_INTERVAL_MS = 1_000;
const FILE_SIZE_MAX = 1024 * 1024;
const FILES_MAX = 1_000;
/** Folders in folders. */
const DEPTH_MAX = 8;

/** What the files need. */
export interface PlainAclFilePorts {
  readonly fileSystem: FileSystem;
  readonly logger: Logger;
  /** Replaces a file as a whole, durably, for its owner alone. Rejects with FileError. */
  replace(path: string, text: string): Promise<void>;
}

/** One file as it was read. */
export interface PlainAclText {
  readonly path: string;
  readonly text: string;
  readonly acl: PlainAcl;
  /** When it was changed last. */
  readonly modifiedMs: number;
}

/** All of them. */
export class PlainAclFiles {
  readonly #ports: PlainAclFilePorts;
  readonly #path: string;
  #files: readonly PlainAclText[];
  #acl: PlainAcl;
  /** How the files looked when they were last read, whether they could be read or not. */
  #look: string;
  #nextLookMs = -Infinity;
  #last: Promise<void> = Promise.resolve();

  /** Reads the files; `path` is that of plain_acl.yml. Throws AclFileError. */
  constructor(ports: PlainAclFilePorts, path: string) {
    this.#ports = ports;
    this.#path = path;
    this.#look = this.#lookNow();
    this.#files = this.#read();
    this.#acl = this.#merged();
  }

  /** In force. */
  get acl(): PlainAcl {
    return this.#acl;
  }

  get files(): readonly PlainAclText[] {
    return this.#files;
  }

  /** Where new accounts go. */
  get defaultPath(): string {
    return this.#path;
  }

  /** `nowMs` is monotonic. */
  tick(nowMs: number): void {
    if (nowMs < this.#nextLookMs) return;
    this.#nextLookMs = nowMs + LOOK_INTERVAL_MS;
    if (this.#lookNow() !== this.#look) this.reload();
  }

  /** Reads the files whether they have changed or not; one that is wrong changes nothing. */
  reload(): void {
    this.#look = this.#lookNow();
    try {
      this.#take();
    } catch (error) {
      if (!(error instanceof AclFileError)) throw error;
      this.#ports.logger.error(`${error.message}; what it said before holds`);
    }
  }

  /** Throws AclFileError, and then nothing has changed. */
  #take(): void {
    const look = this.#lookNow();
    this.#files = this.#read();
    this.#acl = this.#merged();
    this.#look = look;
    this.#ports.logger.info("The access control file was read again", {
      path: this.#files.map((it) => it.path).join(", "),
      accounts: this.#acl.accounts.size,
    });
  }

  /**
   * Writes one file; one change after the other. `change` gets the files in force and gives path
   * and text of one; what it throws is passed on, as is what the disk says, and then nothing has
   * changed.
   */
  change(
    change: (files: readonly PlainAclText[]) => {
      readonly path: string;
      readonly text: string;
    },
  ): Promise<void> {
    const done = this.#last.then(async () => {
      // What somebody has just written by hand must not be lost; where it is wrong, it is said.
      if (this.#lookNow() !== this.#look) this.#take();
      const { path, text } = change(this.#files);
      const acl = parsePlainAcl(text);
      await this.#ports.replace(path, text);
      this.#look = this.#lookNow();
      const modifiedMs = this.#ports.fileSystem.stat(path)?.modifiedMs ?? 0;
      const changed = { path, text, acl, modifiedMs };
      this.#files = this.#files.some((it) => it.path === path)
        ? this.#files.map((it) => it.path === path ? changed : it)
        : [...this.#files, changed];
      this.#acl = this.#merged();
    });
    this.#last = done.catch(() => {
      // Whoever asked for that change was told.
    });
    return done;
  }

  #merged(): PlainAcl {
    const accounts = new Map<string, PlainAccount>();
    for (const { acl, path } of this.#files) {
      for (const [accessKey, account] of acl.accounts) {
        if (!accounts.has(accessKey)) accounts.set(accessKey, account);
        else {
          this.#ports.logger.warn(
            `The accessKey ${accessKey} of ${path} stands in another file too, which counts`,
          );
        }
      }
    }
    return {
      globalWhiteRemoteAddresses: this.#files.flatMap((it) =>
        it.acl.globalWhiteRemoteAddresses
      ),
      accounts,
    };
  }

  #lookNow(): string {
    const { fileSystem } = this.#ports;
    try {
      return this.#paths().map((path) => {
        const stat = fileSystem.stat(path);
        return `${path} ${stat?.size} ${stat?.modifiedMs}`;
      }).join("\n");
    } catch (error) {
      return String(error);
    }
  }

  /** Files of the folder, then the one of all, which may be missing where there are others. */
  #paths(): string[] {
    const { fileSystem } = this.#ports;
    const folder = `${this.#path.replace(/[^/]*$/, "")}acl`;
    const inFolder = ymlFilesIn(fileSystem, folder, DEPTH_MAX);
    const isMissing = inFolder.length > 0 &&
      fileSystem.stat(this.#path) === undefined;
    return isMissing ? inFolder : [...inFolder, this.#path];
  }

  #read(): PlainAclText[] {
    return this.#paths().map((path) => this.#readOne(path));
  }

  #readOne(path: string): PlainAclText {
    try {
      const text = this.#text(path);
      const modifiedMs = this.#ports.fileSystem.stat(path)?.modifiedMs ?? 0;
      return { path, text, acl: parsePlainAcl(text), modifiedMs };
    } catch (error) {
      if (error instanceof AclFileError || error instanceof FileError) {
        throw new AclFileError(
          `Cannot use the access control file ${path}: ${sentenceOf(error)}`,
          { cause: error },
        );
      }
      throw error;
    }
  }

  #text(path: string): string {
    const file = this.#ports.fileSystem.open(path, "read");
    try {
      const size = file.size();
      if (size > FILE_SIZE_MAX) {
        throw new AclFileError(`it has more than ${FILE_SIZE_MAX} bytes`);
      }
      const bytes = new Uint8Array(size);
      file.readAt(0, bytes);
      return textOf(bytes);
    } finally {
      file.close();
    }
  }
}

/** By name, those of folders in it too; tools.yml is the tools' own. */
function ymlFilesIn(
  fileSystem: FileSystem,
  folder: string,
  depth: number,
): string[] {
  if (depth === 0 || fileSystem.stat(folder)?.isDirectory !== true) return [];
  const entries = [...fileSystem.list(folder)]
    .sort((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap(({ isDirectory, name }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return ymlFilesIn(fileSystem, path, depth - 1);
    return /\.ya?ml$/.test(name) && name !== "tools.yml" ? [path] : [];
  }).slice(0, FILES_MAX);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new AclFileError("it is no text in UTF-8");
  }
}

function sentenceOf(error: AclFileError | FileError): string {
  if (error instanceof FileError && error.kind === "not-found") {
    return "there is no such file; write one, as Apache's conf/plain_acl.yml";
  }
  return error.message;
}
