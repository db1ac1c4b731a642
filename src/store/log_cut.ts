/**
 * Cutting a log: takes what lies at or beyond an offset out of a closed store.
 *
 * | step | what is durable behind it | a crash behind it |
 * | --- | --- | --- |
 * | 1 | a copy of the bytes in an aside folder | leaves the old store |
 * | 2 | `config/pendingCut.json` | the next start goes on with step 3 |
 * | 3 | `abort`, a checkpoint that claims nothing beyond the cut | the same |
 * | 4 | zeros, from the offset to the end of its file | the same |
 * | 5 | no later files | the same |
 * | 6 | no `pendingCut.json` | leaves the cut store |
 *
 * Queues and index are cut by the recovery of the next start, which ends every part at the end
 * of the log. Cut bytes are zero and synced before anything else is written.
 */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { DescriptorCache } from "./descriptor_cache.ts";
import { JsonFile } from "./json_file.ts";
import { copyLogTail } from "./log_tail_copy.ts";
import { MappedFile } from "./mapped_file.ts";
import { mappedFileName, offsetOfMappedFileName } from "./mapped_file_name.ts";
import { firstStoreTimestamp } from "./record_time.ts";
import {
  makeAsideFolder,
  removeTree,
  removeUnfinished,
  writeAsideNote,
} from "./store_aside.ts";
import { StoreCheckpoint } from "./store_checkpoint.ts";
import { StoreFileError } from "./store_file_error.ts";
import { createAbortFile, lockStore } from "./store_lock.ts";
import {
  commitLogDirectoryOf,
  type MessageStoreOptions,
} from "./store_options.ts";
import type { StoreSurgeryPorts } from "./store_reseed.ts";
import { adoptStoreSizes } from "./store_sizes.ts";

/** What a cut has done. */
export interface LogCutReport {
  /** The end of the log now. */
  readonly offset: number;
  /** The end of what the log held; `offset` when there was nothing to cut. */
  readonly endOffset: number;
  /** Where the cut bytes are; null when there were none. */
  readonly asideDirectory: string | null;
}

/**
 * Cuts the log of a closed store at `offset`, the end of a record; the cut bytes are kept aside.
 * Durable when resolved. Throws `StoreFileError` when nothing of the log would be left,
 * `StoreStartError` when the store is in use, `FileError` from the device (`no-space` for the
 * copy); unless the copy was complete, nothing has changed then.
 */
export async function cutLog(
  ports: StoreSurgeryPorts,
  configured: MessageStoreOptions,
  offset: number,
  reason: string,
): Promise<LogCutReport> {
  const { fileSystem, clock, logger } = ports;
  const root = configured.storePathRootDir;
  const lock = await lockStore(fileSystem, root);
  try {
    await finishPendingCut(fileSystem, configured, logger);
    const options = adoptStoreSizes(fileSystem, configured, logger);
    const directory = commitLogDirectoryOf(options);
    const [first] = logOffsets(fileSystem, directory);
    if (first === undefined || offset <= first) {
      throw new StoreFileError(
        `Cannot cut the log in ${directory} at ${offset}: it begins at ${
          first ?? 0
        }, so nothing would be left`,
        directory,
        "Re-seed the whole store instead",
      );
    }
    removeUnfinished(fileSystem, options);
    const note = {
      kind: "cut",
      reason,
      at: new Date(clock.nowMs()).toISOString(),
      minOffset: offset,
      maxOffset: offset,
    } as const;
    const aside = await makeAsideFolder(fileSystem, options, logger, note);
    let endOffset = offset;
    try {
      endOffset = await copyLogTail(fileSystem, directory, {
        fileSize: options.mappedFileSizeCommitLog,
        fromOffset: offset,
        toDirectory: `${aside}/commitlog`,
      });
    } catch (error) {
      removeTree(fileSystem, aside);
      throw error;
    }
    const asideDirectory = endOffset > offset ? aside : null;
    if (asideDirectory === null) removeTree(fileSystem, aside);
    else {
      const maxOffset = endOffset;
      await writeAsideNote(fileSystem, logger, aside, { ...note, maxOffset });
    }
    await pendingFile(fileSystem, root, logger).write(
      JSON.stringify({ offset, asideDirectory }),
    );
    await finishPendingCut(fileSystem, options, logger);
    return { offset, endOffset, asideDirectory };
  } finally {
    lock.release();
  }
}

/**
 * Completes a cut that a crash has interrupted, for the holder of the store's lock, before
 * anything reads the log. Throws `FileError`.
 */
export async function finishPendingCut(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
  logger: Logger,
): Promise<void> {
  const root = options.storePathRootDir;
  const path = pendingPath(root);
  if (fileSystem.stat(path) === undefined) return;
  const pending = pendingFile(fileSystem, root, logger).read(parse);
  if (pending === undefined) return;
  const { asideDirectory, offset } = pending;
  const directory = commitLogDirectoryOf(options);
  const where = asideDirectory === null ? "" : ` in ${asideDirectory}`;
  logger.warn(`The log is cut: what was beyond is kept aside${where}`, {
    offset,
    log: directory,
  });
  await createAbortFile(fileSystem, root, 0);
  await lowerCheckpoint(fileSystem, options, logger, offset);
  await zeroTail(fileSystem, options, offset);
  const later = logOffsets(fileSystem, directory).filter((it) => it >= offset);
  for (const it of later.reverse()) {
    fileSystem.remove(`${directory}/${mappedFileName(it)}`);
  }
  await fileSystem.syncDirectory(directory);
  fileSystem.remove(path);
  await fileSystem.syncDirectory(`${root}/config`);
}

/** Recovery must not take records to come for durable because cut ones were. */
async function lowerCheckpoint(
  fileSystem: FileSystem,
  { storePathRootDir, ...options }: MessageStoreOptions,
  logger: Logger,
  offset: number,
): Promise<void> {
  const path = `${storePathRootDir}/checkpoint`;
  if (fileSystem.stat(path) === undefined) return;
  const checkpoint = new StoreCheckpoint(fileSystem, path, logger);
  checkpoint.load();
  const directory = commitLogDirectoryOf({ ...options, storePathRootDir });
  const file = fileBelow(fileSystem, directory, offset);
  const firstTime = firstStoreTimestamp(
    fileSystem,
    `${directory}/${mappedFileName(file)}`,
  );
  checkpoint.limitTo(offset, firstTime);
  await checkpoint.flush();
}

/** Zeroes the rest of the file that `offset` lies in. */
async function zeroTail(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
  offset: number,
): Promise<void> {
  const directory = commitLogDirectoryOf(options);
  const start = fileBelow(fileSystem, directory, offset);
  const name = mappedFileName(start);
  const size = fileSystem.stat(`${directory}/${name}`)?.size ?? 0;
  if (offset - start >= size) return;
  const place = { fileSystem, directory, cache: new DescriptorCache() };
  const file = new MappedFile(place, name, start, size, size);
  try {
    file.markDirty();
    file.zeroFrom(offset - start);
    await file.sync();
  } finally {
    file.dispose();
  }
}

/** Start of the file that holds the byte before `offset`. */
function fileBelow(
  fileSystem: FileSystem,
  directory: string,
  offset: number,
): number {
  return logOffsets(fileSystem, directory).findLast((it) => it < offset)!;
}

function logOffsets(fileSystem: FileSystem, directory: string): number[] {
  return fileSystem.list(directory)
    .map((it) => it.isDirectory ? undefined : offsetOfMappedFileName(it.name))
    .filter((it) => it !== undefined)
    .sort((a, b) => a - b);
}

function pendingPath(root: string): string {
  return `${root}/config/pendingCut.json`;
}

function pendingFile(
  fileSystem: FileSystem,
  root: string,
  logger: Logger,
): JsonFile {
  return new JsonFile(fileSystem, pendingPath(root), logger);
}

interface PendingCut {
  readonly offset: number;
  /** Null when nothing was beyond. */
  readonly asideDirectory: string | null;
}

function parse(text: string): PendingCut {
  const { asideDirectory, offset } = JSON.parse(text) as {
    offset: unknown;
    asideDirectory: unknown;
  };
  if (Number.isSafeInteger(offset) && (offset as number) > 0) {
    return {
      offset: offset as number,
      asideDirectory: typeof asideDirectory === "string"
        ? asideDirectory
        : null,
    };
  }
  throw new SyntaxError("offset is no offset");
}
