/** inspectStore: what a store directory, ours or Apache's, consists of; never writes. */
import type { FileSystem } from "../io/file_system.ts";
import { decodeMessageRecord } from "../model/message_record.ts";
import { firstUnitFrom, type UnitSource } from "./consume_queue_search.ts";
import {
  CONSUME_QUEUE_UNIT_SIZE as UNIT_SIZE,
  isValidUnit,
} from "./consume_queue_unit.ts";
import type { IndexGeometry } from "./index_file.ts";
import { type LogItem, walkLog } from "./log_walk.ts";
import { topicFolders } from "./queue_folders.ts";
import { readIndexFiles } from "./read_index_files.ts";
import { ReadOnlyFiles, ReadOnlyHandles } from "./read_only_files.ts";
import { readOnlyLog } from "./read_only_log.ts";
import {
  readStoreCheckpoint,
  type StoreCheckpointValues,
} from "./store_checkpoint.ts";
import { type StoreFinding, StoreFindings } from "./store_finding.ts";

const FINDINGS_MAX = 1_000;

/** The log. */
export interface CommitLogFacts {
  readonly directory: string;
  readonly fileSize: number;
  readonly fileCount: number;
  readonly minOffset: number;
  /** End of the last sound record of the last file. */
  readonly maxOffset: number;
  /** Store times in ms; null without records. */
  readonly firstStoreTimestamp: number | null;
  readonly lastStoreTimestamp: number | null;
}

/** One queue. */
export interface QueueFacts {
  readonly queueId: number;
  readonly fileCount: number;
  readonly minOffset: number;
  readonly maxOffset: number;
}

/** Everything that can be said without reading the whole store. */
export interface StoreInspection {
  readonly path: string;
  /** False: running, or not stopped cleanly. */
  readonly lastExitOk: boolean;
  readonly commitLog: CommitLogFacts;
  readonly consumeQueue: {
    readonly fileSize: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly queues: readonly QueueFacts[];
    }[];
  };
  readonly index: {
    readonly files: readonly {
      readonly name: string;
      readonly beginTimestamp: number;
      readonly endTimestamp: number;
      readonly beginPhyOffset: number;
      readonly endPhyOffset: number;
      readonly entryCount: number;
      readonly usedSlotCount: number;
    }[];
  };
  /** Null when there is none, or it is too short. */
  readonly checkpoint: StoreCheckpointValues | null;
  readonly config: readonly { readonly name: string; readonly size: number }[];
  /** What broker.conf must say so that Apache RocketMQ, or PocketMQ, opens the store. */
  readonly apacheKeys: Readonly<Record<string, string>>;
  /** False when one of the findings is an error. */
  readonly isSound: boolean;
  readonly findings: readonly StoreFinding[];
}

/** Where to look. */
export interface StoreInspectOptions {
  /** When the log is elsewhere than in `commitlog/`. */
  readonly commitLogDirectory?: string;
  /** When index files do not have four entries per slot. */
  readonly indexGeometry?: IndexGeometry;
}

/** Looks at the store under `path` (storePathRootDir). Throws `FileError` from the device. */
export async function inspectStore(
  fileSystem: FileSystem,
  path: string,
  options: StoreInspectOptions = {},
): Promise<StoreInspection> {
  const handles = new ReadOnlyHandles(fileSystem);
  try {
    return await inspect(handles, path, options);
  } finally {
    handles.close();
  }
}

async function inspect(
  handles: ReadOnlyHandles,
  path: string,
  options: StoreInspectOptions,
): Promise<StoreInspection> {
  const { fileSystem } = handles;
  const findings = new StoreFindings(FINDINGS_MAX);
  const directory = options.commitLogDirectory ?? `${path}/commitlog`;
  const checkpoint = readStoreCheckpoint(fileSystem, `${path}/checkpoint`);
  const log = readOnlyLog(handles, path, directory, findings);
  const lastExitOk = fileSystem.stat(`${path}/abort`) === undefined;
  const commitLog = await commitLogFacts(log, lastExitOk, findings);
  const queues = queueFacts(
    handles,
    `${path}/consumequeue`,
    log.minOffset,
    checkpoint?.mappedFileSizeConsumeQueue ?? 0,
    findings,
  );
  const index = readIndexFiles(
    handles,
    `${path}/index`,
    findings,
    options.indexGeometry,
  );
  const keys: Record<string, string> = {
    storePathRootDir: path,
    // Before 4.9.4 Apache looks for it in the user's home, and then drops the queues.
    storePathCommitLog: directory,
  };
  const logFileSize = log.isFileSizeKnown ? log.fileSize : 0;
  setKey(keys, "mappedFileSizeCommitLog", logFileSize);
  setKey(keys, "mappedFileSizeConsumeQueue", queues.fileSize);
  setKey(keys, "maxHashSlotNum", index[0]?.geometry.maxHashSlotNum ?? 0);
  setKey(keys, "maxIndexNum", index[0]?.geometry.maxIndexNum ?? 0);
  return {
    path,
    lastExitOk,
    commitLog,
    consumeQueue: queues,
    index: {
      files: index.map(({ name, header }) => ({
        name,
        beginTimestamp: header.beginTimestamp,
        endTimestamp: header.endTimestamp,
        beginPhyOffset: header.beginPhyOffset,
        endPhyOffset: header.endPhyOffset,
        entryCount: header.indexCount - 1,
        usedSlotCount: header.hashSlotCount,
      })),
    },
    checkpoint,
    config: fileSystem.list(`${path}/config`)
      .filter((it) => !it.isDirectory)
      .map(({ name }) => ({
        name,
        size: fileSystem.stat(`${path}/config/${name}`)?.size ?? 0,
      })),
    apacheKeys: keys,
    isSound: findings.errorCount === 0,
    findings: findings.finish(),
  };
}

function setKey(keys: Record<string, string>, key: string, value: number) {
  if (value > 0) keys[key] = String(value);
}

/** Reads the first record and the last file. */
async function commitLogFacts(
  log: ReadOnlyFiles,
  lastExitOk: boolean,
  findings: StoreFindings,
): Promise<CommitLogFacts> {
  let maxOffset = log.minOffset;
  let first: number | null = null;
  let last: number | null = null;
  const quick = { checkCrc: false, looksBeyondEnd: false };
  for await (const item of walkLog(log, quick)) {
    if (item.kind === "record") {
      first = decodeMessageRecord(item.bytes, item.position).storeTimestamp;
    }
    break;
  }
  // The newest file may be new and empty: its predecessor tells the time then.
  const fromOffset = log.files.at(-2)?.fileFromOffset ?? log.minOffset;
  for await (const item of walkLog(log, { ...quick, fromOffset })) {
    if (item.kind === "end") maxOffset = item.phyOffset;
    if (item.kind !== "record") {
      tellUnreadable(item, lastExitOk, findings);
      continue;
    }
    maxOffset = item.phyOffset + item.size;
    last = decodeMessageRecord(item.bytes, item.position).storeTimestamp;
  }
  return {
    directory: log.directory,
    fileSize: log.fileSize,
    fileCount: log.files.length,
    minOffset: log.minOffset,
    maxOffset,
    firstStoreTimestamp: first,
    lastStoreTimestamp: last,
  };
}

/** A torn end is what an unclean stop leaves; the next start cuts it. */
function tellUnreadable(
  item: Exclude<LogItem, { kind: "record" }>,
  lastExitOk: boolean,
  findings: StoreFindings,
): void {
  if (item.reason === null) return;
  findings.add({
    severity: item.kind === "corrupt" || lastExitOk ? "error" : "warning",
    kind: item.kind === "corrupt" ? "corrupt-record" : "torn-tail",
    path: item.path,
    offset: item.phyOffset,
    message:
      `No record can be read there: ${item.reason}; pocketmq store verify tells of everything`,
  });
}

function queueFacts(
  handles: ReadOnlyHandles,
  directory: string,
  minPhyOffset: number,
  recordedFileSize: number,
  findings: StoreFindings,
) {
  let fileSize = recordedFileSize;
  const folders = topicFolders(handles.fileSystem, directory, findings);
  const topics = folders.map(({ topic, queueIds }) => ({
    topic,
    queues: queueIds.map((queueId): QueueFacts => {
      const files = ReadOnlyFiles.load(
        handles,
        `${directory}/${topic}/${queueId}`,
        findings,
        { fileSize: recordedFileSize },
      );
      fileSize = Math.max(fileSize, files.fileSize);
      return { queueId, ...rangeOf(files, minPhyOffset) };
    }),
  }));
  return { fileSize: topics.length === 0 ? 0 : fileSize, topics };
}

/** The end by halving: valid units come first in a sound queue. */
function rangeOf(
  files: ReadOnlyFiles,
  minPhyOffset: number,
): Omit<QueueFacts, "queueId"> {
  const unit = new Uint8Array(UNIT_SIZE);
  const view = new DataView(unit.buffer);
  let low = files.minOffset / UNIT_SIZE;
  let high = Math.floor(files.endOffset / UNIT_SIZE);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const isValid = files.readAt(middle * UNIT_SIZE, unit) &&
      isValidUnit(view, 0);
    if (isValid) low = middle + 1;
    else high = middle;
  }
  const maxOffset = low;
  const source: UnitSource = {
    maxOffsetInQueue: maxOffset,
    readUnits: (queueOffset, target) => {
      const part = target.subarray(0, UNIT_SIZE);
      return files.readAt(queueOffset * UNIT_SIZE, part) ? 1 : 0;
    },
  };
  const minOffset = firstUnitFrom(
    source,
    files.minOffset / UNIT_SIZE,
    (phyOffset) => phyOffset >= minPhyOffset,
  );
  return { fileCount: files.files.length, minOffset, maxOffset };
}
