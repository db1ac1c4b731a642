/** A log without files, in a store of which something else shows that it had messages. */
import type { FileSystem } from "../io/file_system.ts";
import { offsetOfMappedFileName } from "./mapped_file_name.ts";
import type { ReadOnlyFiles } from "./read_only_files.ts";
import { listAsideFolders } from "./store_aside.ts";
import { readStoreCheckpoint } from "./store_checkpoint.ts";
import type { StoreFindings } from "./store_finding.ts";
import {
  commitLogDirectoryOf,
  type MessageStoreOptions,
} from "./store_options.ts";
import { StoreStartError } from "./store_start_error.ts";

/**
 * Refuses to start on a log that is gone: recovery would empty queues and index, and positions of
 * consumers follow them. To be called before anything is written.
 *
 * Only the checkpoint counts: it speaks of messages once the log was synced, folder and all, and
 * retention never removes the last file. Queues and index may be on the disk before the log is.
 * Throws `StoreStartError`, `FileError`.
 */
export function checkLogIsThere(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
): void {
  const root = options.storePathRootDir;
  const directory = commitLogDirectoryOf(options);
  if (holdsLogFile(fileSystem, directory)) return;
  const checkpoint = `${root}/checkpoint`;
  const values = readStoreCheckpoint(fileSystem, checkpoint);
  const syncedMs = values?.physicMsgTimestamp ?? 0;
  if (syncedMs <= 0) return;
  if (isReseedUnfinished(fileSystem, options, syncedMs)) return;
  const key = directory === `${root}/commitlog`
    ? "storePathRootDir"
    : "storePathCommitLog";
  const cure =
    `mount or restore ${directory}, or correct ${key}; only if the log is lost ` +
    `for good, move ${root}/consumequeue, ${root}/index and ${checkpoint} away, and ` +
    `${root}/config/consumerOffset.json with its .bak, and the store begins empty`;
  const value = key === "storePathRootDir" ? root : directory;
  throw new StoreStartError(
    `Cannot open the store: ${directory} (${key}=${value}) holds no file of the log, though ` +
      `${checkpoint} says that there were messages; ${cure}`,
    key,
    value,
    cure,
  );
}

function holdsLogFile(fileSystem: FileSystem, directory: string): boolean {
  return fileSystem.list(directory).some(({ name, isDirectory }) =>
    !isDirectory && offsetOfMappedFileName(name) !== undefined &&
    (fileSystem.stat(`${directory}/${name}`)?.size ?? 0) > 0
  );
}

/** A crash came between the log and the checkpoint (store_reseed.ts): an empty log is meant. */
function isReseedUnfinished(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
  syncedMs: number,
): boolean {
  const last = listAsideFolders(fileSystem, options)
    .findLast((it) => it.note?.kind === "reseed");
  if (last === undefined) return false;
  if (fileSystem.stat(`${last.path}/commitlog`) === undefined) return false;
  if (fileSystem.stat(`${last.path}/checkpoint`) === undefined) return true;
  return syncedMs <= Date.parse(last.note!.at);
}

/** Tells of it; nothing is wrong with a store that never had a message. Throws `FileError`. */
export function tellMissingLog(
  fileSystem: FileSystem,
  root: string,
  log: ReadOnlyFiles,
  findings: StoreFindings,
): void {
  if (log.files.length > 0) return;
  const trace = traceOf(fileSystem, root);
  if (trace === undefined) return;
  findings.error(
    "log-missing",
    log.directory,
    null,
    `It holds no file of the log, though ${trace} says that there were messages: ` +
      "stop the broker and restore the folder from a backup or from the other broker of the pair",
  );
}

/** What shows that there were messages. */
function traceOf(fileSystem: FileSystem, root: string): string | undefined {
  const checkpoint = `${root}/checkpoint`;
  const values = readStoreCheckpoint(fileSystem, checkpoint);
  if ((values?.physicMsgTimestamp ?? 0) > 0) return checkpoint;
  const index = `${root}/index`;
  if (fileSystem.list(index).length > 0) return index;
  const queues = `${root}/consumequeue`;
  for (const topic of foldersOf(fileSystem, queues)) {
    for (const queue of foldersOf(fileSystem, topic)) {
      if (fileSystem.list(queue).length > 0) return queue;
    }
  }
  return undefined;
}

function foldersOf(fileSystem: FileSystem, directory: string): string[] {
  return fileSystem.list(directory)
    .filter((it) => it.isDirectory)
    .map((it) => `${directory}/${it.name}`);
}
