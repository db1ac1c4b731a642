/** Why a folder of MappedFiles cannot be loaded, and the cure. */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { mappedFileName } from "./mapped_file_name.ts";
import { StoreFileError } from "./store_file_error.ts";

/** A folder and what its files should be. */
export interface MappedFileFolder {
  readonly fileSystem: FileSystem;
  readonly directory: string;
  /** Bytes of every file. */
  readonly mappedFileSize: number;
  /** The configuration key of that size. */
  readonly sizeKey: string;
  readonly logger: Logger;
}

/** A file does not begin where the one before it ends. */
export class MissingFileError extends StoreFileError {
  constructor(path: string, previousEnd: number) {
    super(
      `Cannot load ${path}: the file before it ends at ${previousEnd}`,
      path,
      "Restore the missing files from a backup or a replica; to go on without them, move the " +
        "files before the gap away",
    );
  }
}

/**
 * The offsets of those of `files` (ascending) that are shorter than they should be, which an
 * unclean stop explains. Throws `StoreFileError` for a size that no stop explains.
 */
export function shortFiles(
  folder: MappedFileFolder,
  files: readonly { readonly offset: number; readonly size: number }[],
  lastExitOk: boolean,
): ReadonlySet<number> {
  const { directory, mappedFileSize, logger } = folder;
  const short = new Set<number>();
  files.forEach(({ offset, size }, index) => {
    if (size === mappedFileSize) return;
    const path = `${directory}/${mappedFileName(offset)}`;
    if (lastExitOk || size > mappedFileSize) {
      throw sizeError(path, size, folder, index === files.length - 1);
    }
    logger.warn("A file is short after an unclean stop", { path, size });
    short.add(offset);
  });
  return short;
}

/** Throws `MissingFileError` for the first gap between files that have their size. */
export function checkGaps(
  { directory, mappedFileSize }: MappedFileFolder,
  offsets: readonly number[],
): void {
  offsets.forEach((offset, index) => {
    const previousEnd = (offsets[index - 1] ?? offset) + mappedFileSize;
    if (index === 0 || offset === previousEnd) return;
    const path = `${directory}/${mappedFileName(offset)}`;
    throw new MissingFileError(path, previousEnd);
  });
}

function sizeError(
  path: string,
  size: number,
  { mappedFileSize, sizeKey, directory }: MappedFileFolder,
  isLast: boolean,
): StoreFileError {
  const fault = size === 0
    ? "it is empty but not the last file"
    : `it has ${size} bytes, ${sizeKey} is ${mappedFileSize}`;
  return new StoreFileError(
    `Cannot load ${path}: ${fault}`,
    path,
    sizeKey === "mappedFileSizeConsumeQueue"
      ? `Move ${directory} away: it is built again from the log`
      : "Restore this file from a backup or a replica; " +
        (size > mappedFileSize
          ? `to go on, shorten it to ${mappedFileSize} bytes: no log goes on behind them`
          : "to go on without the records that it has lost, make an empty file named abort in " +
            `storePathRootDir and start again: ${
              isLast
                ? "the log is then cut behind its last sound record"
                : "what is left of it is then served, and all other files"
            }`),
  );
}
