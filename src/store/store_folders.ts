/** The folders of a store must be there and writable before anything is promised to a sender. */
import { FileError, type FileSystem } from "../io/file_system.ts";
import { parentDirectory } from "./directories.ts";
import { checkLogIsThere } from "./missing_log.ts";
import {
  commitLogDirectoryOf,
  type MessageStoreOptions,
} from "./store_options.ts";
import { StoreStartError } from "./store_start_error.ts";

const CURE =
  "give the whole store to the user of this process, or choose another folder";

/**
 * Throws `StoreStartError` for the first folder in which this process may not make files, and
 * for a log that is gone.
 */
export function checkStoreFolders(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
): void {
  const root = options.storePathRootDir;
  const commitLog = commitLogDirectoryOf(options);
  const others = ["config", "consumequeue", "index"].map((it) =>
    `${root}/${it}`
  );
  for (const directory of [root, commitLog, ...others]) {
    const isOwn = directory === commitLog;
    checkFolder(
      fileSystem,
      directory,
      isOwn ? ["storePathCommitLog", commitLog] : ["storePathRootDir", root],
    );
  }
  checkLogIsThere(fileSystem, options);
}

/** A folder that is missing will be made in the first one above it that is there. */
function checkFolder(
  fileSystem: FileSystem,
  directory: string,
  [key, value]: readonly [string, string],
): void {
  let at = directory;
  while (fileSystem.stat(at) === undefined && parentDirectory(at) !== at) {
    at = parentDirectory(at);
  }
  try {
    fileSystem.checkWritable(at);
  } catch (error) {
    const isTold = error instanceof FileError &&
      ["denied", "read-only"].includes(error.kind);
    if (!isTold) throw error;
    throw new StoreStartError(
      `Cannot open the store: its folder ${at} cannot be written ` +
        `(${error.errno}, ${key}=${value}); ${CURE}`,
      key,
      value,
      CURE,
      { cause: error },
    );
  }
}
