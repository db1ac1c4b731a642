/** Why a folder of MappedFiles cannot be loaded, and the cure. */
import { StoreFileError } from "./store_file_error.ts";

/** A file that does not begin where the one before it ends. */
export function gapError(path: string, previousEnd: number): StoreFileError {
  return new StoreFileError(
    `Cannot load ${path}: the file before it ends at ${previousEnd}`,
    path,
    "Restore the missing files, or move the files before the gap away",
  );
}

/** A file of another size than `sizeKey` says. */
export function sizeError(
  path: string,
  size: number,
  options: {
    readonly mappedFileSize: number;
    readonly sizeKey: string;
    readonly directory: string;
  },
): StoreFileError {
  const { mappedFileSize, sizeKey, directory } = options;
  const fault = size === 0
    ? "it is empty but not the last file"
    : `it has ${size} bytes, ${sizeKey} is ${mappedFileSize}`;
  return new StoreFileError(
    `Cannot load ${path}: ${fault}`,
    path,
    sizeKey === "mappedFileSizeConsumeQueue"
      ? `Move ${directory} away: it is built again from the log`
      : "Restore this file from a backup or a replica; to go on without its records, move it " +
        "and all files with a smaller name away",
  );
}
