/**
 * PlainAclFile: plain_acl.yml on disk, read again when it changes.
 *
 * Invariant: what is in force is always the last file that could be read as a whole; a fault is
 * told once, with the file's name and place, never with its content.
 */
import { FileError, type FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { parsePlainAcl, type PlainAcl } from "./plain_acl.ts";
import { AclFileError } from "./yaml_file.ts";

/** Apache looks each 5 s. */
const LOOK_INTERVAL_MS = 1_000;
const FILE_SIZE_MAX = 1024 * 1024;

/** What the file needs. */
export interface PlainAclFilePorts {
  readonly fileSystem: FileSystem;
  readonly logger: Logger;
}

/** One file. */
export class PlainAclFile {
  readonly #ports: PlainAclFilePorts;
  readonly #path: string;
  #acl: PlainAcl;
  /** How the file looked when it was last read, whether it could be read or not. */
  #look: string;
  #nextLookMs = -Infinity;

  /** Reads the file; throws AclFileError. */
  constructor(ports: PlainAclFilePorts, path: string) {
    this.#ports = ports;
    this.#path = path;
    this.#look = this.#lookNow();
    this.#acl = this.#read();
  }

  /** In force. */
  get acl(): PlainAcl {
    return this.#acl;
  }

  /** `nowMs` is monotonic. */
  tick(nowMs: number): void {
    if (nowMs < this.#nextLookMs) return;
    this.#nextLookMs = nowMs + LOOK_INTERVAL_MS;
    if (this.#lookNow() !== this.#look) this.reload();
  }

  /** Reads the file whether it has changed or not; one that is wrong changes nothing. */
  reload(): void {
    const { logger } = this.#ports;
    this.#look = this.#lookNow();
    try {
      this.#acl = this.#read();
      logger.info("The access control file was read again", {
        path: this.#path,
        accounts: this.#acl.accounts.size,
      });
    } catch (error) {
      if (!(error instanceof AclFileError)) throw error;
      logger.error(`${error.message}; what it said before holds`);
    }
  }

  #lookNow(): string {
    try {
      const stat = this.#ports.fileSystem.stat(this.#path);
      return stat === undefined ? "" : `${stat.size} ${stat.modifiedMs}`;
    } catch (error) {
      return String(error);
    }
  }

  #read(): PlainAcl {
    try {
      return parsePlainAcl(this.#text());
    } catch (error) {
      if (error instanceof AclFileError || error instanceof FileError) {
        throw new AclFileError(
          `Cannot use the access control file ${this.#path}: ${
            sentenceOf(error)
          }`,
          { cause: error },
        );
      }
      throw error;
    }
  }

  #text(): string {
    const file = this.#ports.fileSystem.open(this.#path, "read");
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
