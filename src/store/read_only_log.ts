/** The files of a log, as tools that never write find them. */
import { tellMissingLog } from "./missing_log.ts";
import { ReadOnlyFiles, type ReadOnlyHandles } from "./read_only_files.ts";
import { readAsideNote } from "./store_aside.ts";
import { readStoreCheckpoint } from "./store_checkpoint.ts";
import type { StoreFindings } from "./store_finding.ts";

/** `path` is that of the store, or of an aside folder. Throws `FileError`. */
export function readOnlyLog(
  handles: ReadOnlyHandles,
  path: string,
  directory: string,
  findings: StoreFindings,
): ReadOnlyFiles {
  const { fileSystem } = handles;
  const checkpoint = readStoreCheckpoint(fileSystem, `${path}/checkpoint`);
  const files = ReadOnlyFiles.load(handles, directory, findings, {
    fileSize: checkpoint?.mappedFileSizeCommitLog ?? 0,
    isLog: true,
    isTail: readAsideNote(fileSystem, path)?.kind === "cut",
  });
  tellMissingLog(fileSystem, path, files, findings);
  return files;
}
