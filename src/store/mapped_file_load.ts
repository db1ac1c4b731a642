/** The MappedFiles of a folder, as a start finds them. */
import type { FileStat } from "../io/file_system.ts";
import { warnOfForeignFiles } from "./foreign_files.ts";
import {
  checkGaps,
  type MappedFileFolder,
  shortFiles,
} from "./mapped_file_fault.ts";
import { MappedFile, type MappedFilePlace } from "./mapped_file.ts";
import { mappedFileName, offsetOfMappedFileName } from "./mapped_file_name.ts";

/** One file that is there. */
interface FoundFile {
  readonly offset: number;
  readonly stat: FileStat | undefined;
}

/** What `loadMappedFiles` has found. */
export interface LoadedFiles {
  readonly files: MappedFile[];
  /** When the last file was modified; 0 without any. */
  readonly lastModifiedMs: number;
  /** A name went from the folder. */
  readonly isFolderChanged: boolean;
  /** Throws `MissingFileError` when files are not contiguous. */
  checkGaps(): void;
}

/**
 * Looks at every file once. A last file of 0 bytes (a creation cut short) goes; foreign names are
 * left alone with one warning; after an unclean stop a short file gets its full length. Throws
 * `StoreFileError` for a wrong size or an empty middle file.
 */
export function loadMappedFiles(
  folder: MappedFileFolder,
  place: MappedFilePlace,
  lastExitOk: boolean,
): LoadedFiles {
  const { mappedFileSize } = folder;
  const found = findFiles(folder);
  const isFolderChanged = dropEmptyLast(folder, found);
  const short = shortFiles(
    folder,
    found.map(({ offset, stat }) => ({ offset, size: stat?.size ?? 0 })),
    lastExitOk,
  );
  const files = found.map(({ offset }) => {
    const file = new MappedFile(
      place,
      mappedFileName(offset),
      offset,
      mappedFileSize,
      mappedFileSize,
    );
    file.isRecentlyUsed = false;
    if (short.has(offset)) file.restoreSize();
    return file;
  });
  return {
    files,
    lastModifiedMs: found.at(-1)?.stat?.modifiedMs ?? 0,
    isFolderChanged,
    checkGaps: () => checkGaps(folder, found.map(({ offset }) => offset)),
  };
}

/** In the order of the log. */
function findFiles(
  { fileSystem, directory, logger }: MappedFileFolder,
): FoundFile[] {
  const foreign: string[] = [];
  const found: FoundFile[] = [];
  for (const { name, isDirectory } of fileSystem.list(directory)) {
    const offset = isDirectory ? undefined : offsetOfMappedFileName(name);
    if (offset === undefined) foreign.push(name);
    else found.push({ offset, stat: fileSystem.stat(`${directory}/${name}`) });
  }
  warnOfForeignFiles(logger, directory, foreign);
  return found.sort((a, b) => a.offset - b.offset);
}

/** True when there was one. */
function dropEmptyLast(
  { fileSystem, directory, logger }: MappedFileFolder,
  found: FoundFile[],
): boolean {
  const last = found.at(-1);
  if (last?.stat?.size !== 0) return false;
  const path = `${directory}/${mappedFileName(last.offset)}`;
  logger.warn("Removing an empty last file, made but not filled", { path });
  fileSystem.remove(path);
  found.pop();
  return true;
}
