/**
 * Aside folders: what a re-seed or a cut takes out of a store is kept, never deleted.
 *
 * `aside/<UTC time>-reseed` and `aside/<UTC time>-cut` lie beside the folder of the log and have
 * the layout of a store, so that `pocketmq store dump` reads them. `aside.json` in each says why
 * it is there. Nothing here removes them, and no start looks into them.
 */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { createDirectories, parentDirectory } from "./directories.ts";
import { JsonFile } from "./json_file.ts";
import {
  commitLogDirectoryOf,
  type MessageStoreOptions,
} from "./store_options.ts";

/** What made a folder: the whole store went, or the end of its log. */
export type AsideKind = "reseed" | "cut";

/** What `aside.json` says. */
export interface AsideNote {
  readonly kind: AsideKind;
  /** One sentence. */
  readonly reason: string;
  /** UTC, ISO 8601. */
  readonly at: string;
  /** CommitLog offsets of what is kept: from the first byte to behind the last one. */
  readonly minOffset: number;
  readonly maxOffset: number;
}

/** One folder. */
export interface AsideFolder {
  readonly path: string;
  /** Null when it cannot be read. */
  readonly note: AsideNote | null;
}

const NOTE_NAME = "aside.json";
const FOLDER_NAME = /^\d{8}T\d{6}Z-(?:reseed|cut)(?:-\d+)?$/;

/** The folder that holds all of them: on the device of the log, which is moved by renaming. */
export function asideRootOf(options: MessageStoreOptions): string {
  return `${parentDirectory(commitLogDirectoryOf(options))}/aside`;
}

/** Every folder, oldest first. */
export function listAsideFolders(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
): AsideFolder[] {
  const root = asideRootOf(options);
  return fileSystem.list(root)
    .filter((it) => it.isDirectory && FOLDER_NAME.test(it.name))
    .map(({ name }) => {
      const path = `${root}/${name}`;
      return { path, note: readAsideNote(fileSystem, path) };
    });
}

/** True when the log was moved aside for its master's: an empty one then begins at the oldest. */
export function wasReseeded(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
): boolean {
  return listAsideFolders(fileSystem, options).some((it) =>
    it.note?.kind === "reseed" &&
    fileSystem.stat(`${it.path}/commitlog`) !== undefined
  );
}

/** Makes a folder with its note, durable when resolved. Returns its path. Throws `FileError`. */
export async function makeAsideFolder(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
  logger: Logger,
  note: AsideNote,
): Promise<string> {
  const time = note.at.replace(/\.\d+/, "").replace(/[-:]/g, "");
  const base = `${asideRootOf(options)}/${time}-${note.kind}`;
  let path = base;
  for (let n = 2; fileSystem.stat(path) !== undefined; n++) {
    path = `${base}-${n}`;
  }
  for (const it of createDirectories(fileSystem, path)) {
    await fileSystem.syncDirectory(it);
  }
  await writeAsideNote(fileSystem, logger, path, note);
  return path;
}

/**
 * Removes folders that an interrupted move or copy has left: what they were made for is still in
 * the store. For the holder of its lock. Throws `FileError`.
 */
export function removeUnfinished(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
): void {
  for (const { note, path } of listAsideFolders(fileSystem, options)) {
    const isEmpty = fileSystem.stat(`${path}/commitlog`) === undefined;
    const isHalf = note?.kind === "cut" && note.minOffset === note.maxOffset;
    if (isEmpty || isHalf) removeTree(fileSystem, path);
  }
}

/** Replaces the note of a folder; durable when resolved. Throws `FileError`. */
export function writeAsideNote(
  fileSystem: FileSystem,
  logger: Logger,
  path: string,
  note: AsideNote,
): Promise<void> {
  return new JsonFile(fileSystem, `${path}/${NOTE_NAME}`, logger)
    .write(JSON.stringify(note));
}

/** Removes a file, or a folder with everything in it. Throws `FileError`. */
export function removeTree(fileSystem: FileSystem, path: string): void {
  if (fileSystem.stat(path)?.isDirectory === true) {
    for (const { name } of fileSystem.list(path)) {
      removeTree(fileSystem, `${path}/${name}`);
    }
  }
  fileSystem.remove(path);
}

/** What `aside.json` in a folder says; null when there is none of use. Throws `FileError`. */
export function readAsideNote(
  fileSystem: FileSystem,
  folder: string,
): AsideNote | null {
  const path = `${folder}/${NOTE_NAME}`;
  const stat = fileSystem.stat(path);
  if (stat === undefined || stat.isDirectory) return null;
  const bytes = new Uint8Array(stat.size);
  const handle = fileSystem.open(path, "read");
  try {
    handle.readAt(0, bytes);
  } finally {
    handle.close();
  }
  try {
    const note = JSON.parse(new TextDecoder().decode(bytes)) as AsideNote;
    return note.kind === "reseed" || note.kind === "cut" ? note : null;
  } catch {
    return null;
  }
}
