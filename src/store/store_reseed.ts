/**
 * Re-seeding: moves a whole store aside, so that the next start finds an empty one.
 *
 * The log goes first, by one rename: before it nothing has changed, behind it the store is
 * empty, whatever else is still there (recovery removes queues and index of an empty log, and
 * takes back what the checkpoint says of it). `config/` stays.
 */
import type { Clock } from "../io/clock.ts";
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { parentDirectory } from "./directories.ts";
import { offsetOfMappedFileName } from "./mapped_file_name.ts";
import {
  makeAsideFolder,
  removeTree,
  removeUnfinished,
} from "./store_aside.ts";
import { lockStore } from "./store_lock.ts";
import {
  commitLogDirectoryOf,
  type MessageStoreOptions,
} from "./store_options.ts";

/** What surgery on a closed store needs. */
export interface StoreSurgeryPorts {
  readonly fileSystem: FileSystem;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
}

/** What a re-seed has done. */
export interface StoreAsideReport {
  /** Where the old store is; null when there was none, or it was discarded. */
  readonly asideDirectory: string | null;
  /** Offsets of the log that is gone from the store. */
  readonly minOffset: number;
  readonly maxOffset: number;
}

/** What points into the log, ours and Apache's. */
const DERIVED_NAMES = [
  "consumequeue",
  "consumequeue_ext",
  "batchconsumequeue",
  "index",
  "timerlog",
  "timerwheel",
  "checkpoint",
] as const;

/**
 * Moves the store aside, durably when resolved; the store must be closed. With `isDiscarded` it
 * is removed afterwards: only for somebody who said so. `maxOffset`: end of the log, for the
 * note. Throws `StoreStartError` when the lock is held, `FileError` from the device; when the
 * log could not be moved, nothing has changed.
 */
export async function setStoreAside(
  ports: StoreSurgeryPorts,
  options: MessageStoreOptions,
  cause: {
    readonly reason: string;
    readonly maxOffset: number;
    readonly isDiscarded?: boolean;
  },
): Promise<StoreAsideReport> {
  const { fileSystem, clock, logger } = ports;
  const lock = await lockStore(fileSystem, options.storePathRootDir);
  try {
    const directory = commitLogDirectoryOf(options);
    const minOffset = firstOffsetIn(fileSystem, directory);
    if (minOffset === undefined) {
      return { asideDirectory: null, minOffset: 0, maxOffset: 0 };
    }
    removeUnfinished(fileSystem, options);
    const { reason, maxOffset } = cause;
    const asideDirectory = await makeAsideFolder(fileSystem, options, logger, {
      kind: "reseed",
      reason,
      at: new Date(clock.nowMs()).toISOString(),
      minOffset,
      maxOffset,
    });
    await moveStore(fileSystem, options, asideDirectory);
    if (cause.isDiscarded !== true) {
      return { asideDirectory, minOffset, maxOffset };
    }
    await discard(fileSystem, asideDirectory);
    return { asideDirectory: null, minOffset, maxOffset };
  } finally {
    lock.release();
  }
}

async function moveStore(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
  asideDirectory: string,
): Promise<void> {
  const directory = commitLogDirectoryOf(options);
  fileSystem.rename(directory, `${asideDirectory}/commitlog`);
  await fileSystem.syncDirectory(asideDirectory);
  await fileSystem.syncDirectory(parentDirectory(directory));
  const root = options.storePathRootDir;
  for (const name of DERIVED_NAMES) {
    const path = `${root}/${name}`;
    if (fileSystem.stat(path) === undefined) continue;
    fileSystem.rename(path, `${asideDirectory}/${name}`);
  }
  await fileSystem.syncDirectory(asideDirectory);
  await fileSystem.syncDirectory(root);
}

async function discard(fileSystem: FileSystem, path: string): Promise<void> {
  // The note goes last: what is left of a cut removal still says what it is.
  removeTree(fileSystem, path);
  await fileSystem.syncDirectory(parentDirectory(path));
}

function firstOffsetIn(
  fileSystem: FileSystem,
  directory: string,
): number | undefined {
  const offsets = fileSystem.list(directory)
    .filter((it) => !it.isDirectory)
    .map((it) => offsetOfMappedFileName(it.name))
    .filter((it) => it !== undefined);
  return offsets.length === 0 ? undefined : Math.min(...offsets);
}
