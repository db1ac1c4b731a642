/**
 * TlsFiles: certificates and keys on disk, read again when they change.
 *
 * Invariants
 * - What is in force is always the last set of files of which a context could be made.
 * - Files that are wrong are told once, not at every look.
 * - A change counts once it has stayed for one look: a certificate and its key are two files.
 */
import { FileError, type FileSystem } from "../../io/file_system.ts";
import type { Logger } from "../../io/logger.ts";
import { type TlsContext, TlsError } from "../../io/tls.ts";
import type { TlsSource } from "./tls_ports.ts";

/** Apache looks each 500 ms. */
const LOOK_INTERVAL_MS = 500;
const FILE_SIZE_MAX = 1024 * 1024;

type Part = TlsError["part"];

/** One file: by which key it is configured, and its path; empty: none. */
export interface TlsFile {
  readonly key: string;
  readonly path: string;
}

/** Which files there are. */
export type TlsFileSet = Readonly<Record<Part, TlsFile>>;

/** What they hold; null where there is none. */
export type TlsTexts = Readonly<Record<Part, string | null>>;

/** A file that cannot be used. */
export class TlsFileError extends Error {
  override readonly name = "TlsFileError";
  constructor(readonly file: TlsFile, readonly hint: string) {
    super(`Cannot use ${file.key}=${file.path}: ${hint}`);
  }
}

/** What the files need. */
export interface TlsFilesPorts {
  readonly fileSystem: FileSystem;
  readonly logger: Logger;
}

/** One identity and whom it trusts. */
export class TlsFiles implements TlsSource {
  readonly #ports: TlsFilesPorts;
  readonly #files: TlsFileSet;
  readonly #open: (texts: TlsTexts) => TlsContext;
  #context: TlsContext;
  /** How the files looked when they were last read, and at the last look. */
  #readLook: string;
  #lastLook: string;
  #nextLookMs = -Infinity;

  /** Reads the files; `open` may throw TlsError. Throws TlsFileError. */
  constructor(
    ports: TlsFilesPorts,
    files: TlsFileSet,
    open: (texts: TlsTexts) => TlsContext,
  ) {
    this.#ports = ports;
    this.#files = files;
    this.#open = open;
    this.#readLook = this.#lastLook = this.#look();
    this.#context = this.#read();
  }

  context(): TlsContext {
    return this.#context;
  }

  /** `nowMs` is monotonic. */
  tick(nowMs: number): void {
    if (nowMs < this.#nextLookMs) return;
    this.#nextLookMs = nowMs + LOOK_INTERVAL_MS;
    const look = this.#look();
    const isSettled = look === this.#lastLook;
    this.#lastLook = look;
    if (isSettled && look !== this.#readLook) this.reload();
  }

  /** Reads the files whether they have changed or not; what is wrong changes nothing. */
  reload(): void {
    const { logger } = this.#ports;
    this.#readLook = this.#look();
    try {
      this.#context = this.#read();
      logger.info("Certificate and key were read again", {
        [this.#files.certificate.key]: this.#files.certificate.path,
      });
    } catch (error) {
      if (!(error instanceof TlsFileError)) throw error;
      logger.error(`${error.message}; what was read before stays in force`);
    }
  }

  #look(): string {
    return Object.values(this.#files).map(({ path }) => {
      if (path === "") return "";
      try {
        const stat = this.#ports.fileSystem.stat(path);
        return stat === undefined ? "" : `${stat.size} ${stat.modifiedMs}`;
      } catch (error) {
        return String(error);
      }
    }).join();
  }

  #read(): TlsContext {
    const texts: TlsTexts = {
      certificate: this.#textOf(this.#files.certificate),
      key: this.#textOf(this.#files.key),
      trust: this.#textOf(this.#files.trust),
    };
    try {
      return this.#open(texts);
    } catch (error) {
      if (!(error instanceof TlsError)) throw error;
      throw new TlsFileError(this.#files[error.part], error.message);
    }
  }

  #textOf(file: TlsFile): string | null {
    if (file.path === "") return null;
    try {
      return readText(this.#ports.fileSystem, file);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      throw new TlsFileError(
        file,
        error.kind === "not-found" ? "there is no such file" : error.message,
      );
    }
  }
}

function readText(fileSystem: FileSystem, file: TlsFile): string {
  const handle = fileSystem.open(file.path, "read");
  try {
    const size = handle.size();
    if (size > FILE_SIZE_MAX) {
      throw new TlsFileError(file, `it has more than ${FILE_SIZE_MAX} bytes`);
    }
    const bytes = new Uint8Array(size);
    handle.readAt(0, bytes);
    return new TextDecoder().decode(bytes);
  } finally {
    handle.close();
  }
}
