/**
 * Sizes of an existing store: they win over defaults, and contradict what was set by hand
 * (DESIGN decision 7).
 */
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { mappedFileName, offsetOfMappedFileName } from "./mapped_file_name.ts";
import { StoreCheckpoint } from "./store_checkpoint.ts";
import {
  commitLogDirectoryOf,
  type MessageStoreOptions,
} from "./store_options.ts";
import { StoreStartError } from "./store_start_error.ts";

const INDEX_HEADER_SIZE = 40;
const INDEX_SLOT_SIZE = 4;
const INDEX_UNIT_SIZE = 20;
/** Index entries per hash slot, in Apache's defaults and in ours. */
const INDEX_ENTRIES_PER_SLOT = 4;
const UNIT_SIZE = 20;
/** Sizes of log files are whole kibibytes; others are left-overs of a cut file. */
const LOG_SIZE_UNIT = 1024;
/** Files whose names are compared. */
const PAIRS_MAX = 64;

/**
 * `options` with the sizes that the files under the root have. The checkpoint knows them when
 * we made the files (a power cut may leave short ones); else the files say it themselves.
 * Throws `StoreStartError`.
 */
export function adoptStoreSizes(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
  logger: Logger,
): MessageStoreOptions {
  const root = options.storePathRootDir;
  const adopted: { -readonly [K in SizeKey]?: number } = {};
  const recorded = new StoreCheckpoint(
    fileSystem,
    `${root}/checkpoint`,
    logger,
  );
  recorded.load();
  const log = sizeOf(
    recorded.mappedFileSizeCommitLog,
    sizeOfFiles(fileSystem, commitLogDirectoryOf(options)),
  );
  if (log !== undefined && log !== options.mappedFileSizeCommitLog) {
    adopted.mappedFileSizeCommitLog = log;
  }
  const queue = sizeOf(
    recorded.mappedFileSizeConsumeQueue,
    sizeOfFirstQueue(fileSystem, `${root}/consumequeue`),
  );
  const wanted = Math.ceil(options.mappedFileSizeConsumeQueue / UNIT_SIZE) *
    UNIT_SIZE;
  if (queue !== undefined && queue !== wanted && queue % UNIT_SIZE === 0) {
    adopted.mappedFileSizeConsumeQueue = queue;
  }
  adoptIndexSizes(fileSystem, options, adopted, recorded);
  for (const key of Object.keys(adopted) as SizeKey[]) {
    checkExplicit(key, options, adopted[key]!);
    logger.info("The existing store decides a size", {
      key,
      configured: options[key],
      adopted: adopted[key],
    });
  }
  return Object.freeze({ ...options, ...adopted });
}

const SIZE_KEYS = [
  "mappedFileSizeCommitLog",
  "mappedFileSizeConsumeQueue",
  "maxHashSlotNum",
  "maxIndexNum",
] as const;
type SizeKey = typeof SIZE_KEYS[number];

function checkExplicit(
  key: SizeKey,
  options: MessageStoreOptions,
  adopted: number,
): void {
  if (!options.explicitKeys.includes(key)) return;
  throw new StoreStartError(
    `Cannot open the store in ${options.storePathRootDir}: ${key} is set to ${
      options[key]
    }, its files were made with ${adopted}; set ${key}=${adopted} or remove the setting`,
    key,
    String(options[key]),
    `Set ${key}=${adopted}, or remove the setting`,
  );
}

/** `options` with the sizes of `running`: those of the files, whatever a change says. */
export function withSizesOf(
  running: MessageStoreOptions,
  options: MessageStoreOptions,
): MessageStoreOptions {
  const sizes = SIZE_KEYS.map((key) => [key, running[key]]);
  return Object.freeze({ ...options, ...Object.fromEntries(sizes) });
}

/** Undefined without files: the store has no size yet. */
function sizeOf(
  recorded: number,
  inFile: number | undefined,
): number | undefined {
  return inFile === undefined || recorded === 0 ? inFile : recorded;
}

/** Notes the sizes in force, for the next start. False when they were known. */
export function recordStoreSizes(
  checkpoint: StoreCheckpoint,
  options: MessageStoreOptions,
): boolean {
  let isChanged = false;
  for (const key of SIZE_KEYS) {
    isChanged ||= checkpoint[key] !== options[key];
    checkpoint[key] = options[key];
  }
  return isChanged;
}

/**
 * The names of two files tell the size of the first, whatever was cut off. A single file counts
 * when somebody may have chosen its size.
 */
function sizeOfFiles(
  fileSystem: FileSystem,
  directory: string,
  unit = LOG_SIZE_UNIT,
): number | undefined {
  const offsets: number[] = [];
  for (const { name, isDirectory } of fileSystem.list(directory)) {
    const offset = isDirectory ? undefined : offsetOfMappedFileName(name);
    if (offset !== undefined) offsets.push(offset);
  }
  offsets.sort((a, b) => a - b);
  const [first, second] = offsets;
  if (first === undefined) return undefined;
  if (second !== undefined) {
    // A file may be missing in between: then the next pair knows better.
    return Math.min(
      ...offsets.slice(1, PAIRS_MAX).map((it, index) => it - offsets[index]!),
    );
  }
  const path = `${directory}/${mappedFileName(first)}`;
  const size = fileSystem.stat(path)?.size ?? 0;
  return size > 0 && size % unit === 0 ? size : undefined;
}

function sizeOfFirstQueue(
  fileSystem: FileSystem,
  directory: string,
): number | undefined {
  for (const topic of fileSystem.list(directory)) {
    if (!topic.isDirectory) continue;
    const topicPath = `${directory}/${topic.name}`;
    for (const queue of fileSystem.list(topicPath)) {
      const size = queue.isDirectory
        ? sizeOfFiles(fileSystem, `${topicPath}/${queue.name}`, UNIT_SIZE)
        : undefined;
      if (size !== undefined) return size;
    }
  }
  return undefined;
}

/** An index file does not say how it is divided: the usual proportion decides. */
function adoptIndexSizes(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
  adopted: { maxHashSlotNum?: number; maxIndexNum?: number },
  recorded: StoreCheckpoint,
): void {
  const directory = `${options.storePathRootDir}/index`;
  const first = fileSystem.list(directory).find((it) =>
    !it.isDirectory && /^\d{17}$/.test(it.name)
  );
  if (first === undefined) return;
  const { maxHashSlotNum, maxIndexNum } = recorded;
  if (maxHashSlotNum > 0 && maxIndexNum > 0) {
    if (maxHashSlotNum !== options.maxHashSlotNum) {
      adopted.maxHashSlotNum = maxHashSlotNum;
    }
    if (maxIndexNum !== options.maxIndexNum) adopted.maxIndexNum = maxIndexNum;
    return;
  }
  const size = fileSystem.stat(`${directory}/${first.name}`)?.size ?? 0;
  const configured = INDEX_HEADER_SIZE +
    INDEX_SLOT_SIZE * options.maxHashSlotNum +
    INDEX_UNIT_SIZE * options.maxIndexNum;
  const slots = (size - INDEX_HEADER_SIZE) /
    (INDEX_SLOT_SIZE + INDEX_ENTRIES_PER_SLOT * INDEX_UNIT_SIZE);
  if (size === configured || slots < 1 || !Number.isInteger(slots)) return;
  adopted.maxHashSlotNum = slots;
  adopted.maxIndexNum = slots * INDEX_ENTRIES_PER_SLOT;
}
