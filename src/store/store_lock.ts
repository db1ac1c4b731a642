/**
 * The files `lock` and `abort` of a store (reference 4.7).
 *
 * `lock` is written before it is locked and never opened again afterwards: closing any
 * descriptor of it would drop the POSIX lock of the whole process.
 */
import {
  FileError,
  type FileLock,
  type FileSystem,
} from "../io/file_system.ts";
import { createDirectories } from "./directories.ts";
import { StoreStartError } from "./store_start_error.ts";
import { isShortage } from "./unfinished_start.ts";

const encoder = new TextEncoder();

/** Makes the root folder and takes the lock; throws `StoreStartError`. */
export async function lockStore(
  fileSystem: FileSystem,
  root: string,
): Promise<FileLock> {
  const path = `${root}/lock`;
  try {
    const changed = createDirectories(fileSystem, root);
    for (const directory of changed) await fileSystem.syncDirectory(directory);
    if ((fileSystem.stat(path)?.size ?? 0) === 0) {
      writeTextFile(fileSystem, path, "lock");
    }
    return fileSystem.lock(path);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const locked = error.kind === "locked";
    const cure = locked
      ? "stop the other process or choose another folder"
      : "choose a folder that this user may write, or change its owner";
    throw new StoreStartError(
      `Cannot open the store: storePathRootDir=${root} ${
        locked
          ? "is in use by another process"
          : `cannot be written (${error.message})`
      }; ${cure}`,
      "storePathRootDir",
      root,
      cure,
      { cause: error },
    );
  }
}

/** True when the last process did not stop cleanly. */
export function hasAbortFile(fileSystem: FileSystem, root: string): boolean {
  return fileSystem.stat(`${root}/abort`) !== undefined;
}

/** From now on a stop is unclean until `removeAbortFile`. Only the name has to be durable. */
export async function createAbortFile(
  fileSystem: FileSystem,
  root: string,
  pid: number,
): Promise<void> {
  writeTextFile(fileSystem, `${root}/abort`, String(pid));
  await fileSystem.syncDirectory(root);
}

/**
 * The stop was clean: everything else is durable already. Nothing waits for the disk here:
 * a power cut that brings the file back makes the next start look closer than it must.
 */
export function removeAbortFile(fileSystem: FileSystem, root: string): void {
  fileSystem.remove(`${root}/abort`);
}

function writeTextFile(
  fileSystem: FileSystem,
  path: string,
  text: string,
): void {
  const handle = fileSystem.open(path, "create");
  try {
    const bytes = encoder.encode(text);
    // Over what is there: a full disk has no other room.
    handle.writeAt(0, bytes);
    handle.truncate(bytes.length);
  } catch (error) {
    // The name is there, and nobody needs the content.
    if (!isShortage(error)) throw error;
  } finally {
    handle.close();
  }
}
