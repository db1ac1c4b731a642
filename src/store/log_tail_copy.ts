/** copyLogTail: the end of a log, byte for byte, in a folder of its own. */
import type { FileHandle, FileSystem } from "../io/file_system.ts";
import { createDirectories } from "./directories.ts";
import { isZero } from "./mapped_file.ts";
import { mappedFileName, offsetOfMappedFileName } from "./mapped_file_name.ts";

const CHUNK_SIZE = 1_048_576;

/** What to copy where. */
export interface LogTail {
  /** Bytes of every file of the log. */
  readonly fileSize: number;
  readonly fromOffset: number;
  readonly toDirectory: string;
}

/**
 * Copies what lies at or beyond `fromOffset`, durably when resolved. Names are offsets of first
 * bytes, as in the log: the first copy begins in the middle of a file and is that much shorter.
 * Parts of zeros stay holes. Returns the end of the last byte that is not zero, `fromOffset`
 * without any. Throws `FileError`.
 */
export async function copyLogTail(
  fileSystem: FileSystem,
  directory: string,
  { fileSize, fromOffset, toDirectory }: LogTail,
): Promise<number> {
  for (const it of createDirectories(fileSystem, toDirectory)) {
    await fileSystem.syncDirectory(it);
  }
  let endOffset = fromOffset;
  for (const { name, isDirectory } of fileSystem.list(directory)) {
    const start = isDirectory ? undefined : offsetOfMappedFileName(name);
    if (start === undefined || start + fileSize <= fromOffset) continue;
    const skipped = Math.max(0, fromOffset - start);
    const source = fileSystem.open(`${directory}/${name}`, "read");
    try {
      const path = `${toDirectory}/${mappedFileName(start + skipped)}`;
      const end = await copyFile(fileSystem, source, skipped, path);
      if (end > 0) endOffset = start + skipped + end;
    } finally {
      source.close();
    }
  }
  await fileSystem.syncDirectory(toDirectory);
  return endOffset;
}

/** Returns the end of the last byte that is not zero, from `position` on. */
async function copyFile(
  fileSystem: FileSystem,
  source: FileHandle,
  position: number,
  path: string,
): Promise<number> {
  const size = source.size() - position;
  const target = fileSystem.open(path, "create");
  let end = 0;
  try {
    target.truncate(size);
    const chunk = new Uint8Array(Math.min(CHUNK_SIZE, size));
    for (let at = 0; at < size; at += chunk.length) {
      const part = chunk.subarray(0, Math.min(chunk.length, size - at));
      await source.readAtAsync(position + at, part);
      if (isZero(part)) continue;
      target.writeAt(at, part);
      end = at + part.findLastIndex((it) => it !== 0) + 1;
    }
    await target.sync();
  } finally {
    target.close();
  }
  return end;
}
