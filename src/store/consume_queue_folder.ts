/** The folder `consumequeue/<topic>/<queueId>/`: what is in it, and what may be. */
import type { FileSystem } from "../io/file_system.ts";

const TOPIC_NAME_SIZE_MAX = 255;

/** One queue that has a folder. */
export interface QueueFolder {
  readonly topic: string;
  readonly queueId: number;
}

/** The queues under `directory`, and the names that are none. */
export function listQueueFolders(
  fileSystem: FileSystem,
  directory: string,
): { queues: QueueFolder[]; foreign: string[] } {
  const queues: QueueFolder[] = [];
  const foreign: string[] = [];
  for (const { name: topic, isDirectory } of fileSystem.list(directory)) {
    if (!isDirectory) {
      foreign.push(topic);
      continue;
    }
    for (const entry of fileSystem.list(`${directory}/${topic}`)) {
      const queueId = entry.isDirectory ? queueIdOf(entry.name) : undefined;
      if (queueId === undefined) foreign.push(`${topic}/${entry.name}`);
      else queues.push({ topic, queueId });
    }
  }
  return { queues, foreign };
}

/** Records of a peer may hold anything; a queue must not leave its folder. */
export function isTopicFolderName(topic: string): boolean {
  return topic !== "" && topic !== "." && topic !== ".." &&
    topic.length <= TOPIC_NAME_SIZE_MAX && !topic.includes("/") &&
    !topic.includes("\\") && !topic.includes("\0");
}

function queueIdOf(name: string): number | undefined {
  const queueId = Number(name);
  return String(queueId) === name && Number.isInteger(queueId) && queueId >= 0
    ? queueId
    : undefined;
}
