/** The folders of queues below `consumequeue/`, for tools; what is none of them is told of. */
import type { DirectoryEntry, FileSystem } from "../io/file_system.ts";
import type { StoreFindings } from "./store_finding.ts";

/** One topic that has queues, or had some. */
export interface TopicFolder {
  readonly topic: string;
  /** In ascending order. */
  readonly queueIds: readonly number[];
}

const QUEUE_ID_MAX = 0x7fff_ffff;

/** Topics in the order of the folder. */
export function topicFolders(
  fileSystem: FileSystem,
  directory: string,
  findings: StoreFindings,
): TopicFolder[] {
  const topics: TopicFolder[] = [];
  for (const { name: topic, isDirectory } of fileSystem.list(directory)) {
    const path = `${directory}/${topic}`;
    if (!isDirectory) {
      tell(findings, path);
      continue;
    }
    const below = fileSystem.list(path);
    const queueIds = below.filter(isQueue).map((it) => Number(it.name));
    if (queueIds.length === 0 && below.length > 0) {
      tell(findings, path);
      continue;
    }
    for (const it of below) {
      if (!isQueue(it)) tell(findings, `${path}/${it.name}`);
    }
    topics.push({ topic, queueIds: queueIds.sort((a, b) => a - b) });
  }
  return topics;
}

function tell(findings: StoreFindings, path: string): void {
  findings.warning(
    "foreign-file",
    path,
    null,
    "It is not of the store, and no start reads it: move it elsewhere",
  );
}

/** Its name is a number as it is written: `0`, not `00`. */
function isQueue({ name, isDirectory }: DirectoryEntry): boolean {
  const id = Number(name);
  return isDirectory && /^\d{1,10}$/.test(name) && id <= QUEUE_ID_MAX &&
    String(id) === name;
}
