/** A log without files, in a store of which something else shows that it had messages. */
import type { FileSystem } from "../io/file_system.ts";
import type { ReadOnlyFiles } from "./read_only_files.ts";
import { readStoreCheckpoint } from "./store_checkpoint.ts";
import type { StoreFindings } from "./store_finding.ts";

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
