/**
 * checkLogFiles: refuses a folder whose files cannot be those of a log, before recovery would
 * fill them up or cut them.
 *
 * A file of a log begins with a record, with one that a power cut has torn, or with nothing yet.
 * Damage at the start of a file that holds sound records is for recovery to judge.
 */
import type { FileSystem } from "../io/file_system.ts";
import {
  BLANK_MAGIC_CODE,
  BLANK_MARKER_SIZE,
  MESSAGE_MAGIC_CODE_V1,
  MESSAGE_MAGIC_CODE_V2,
} from "../model/message_record.ts";
import { walkLog } from "./log_walk.ts";
import {
  type ReadOnlyFile,
  ReadOnlyFiles,
  ReadOnlyHandles,
} from "./read_only_files.ts";
import { StoreFileError } from "./store_file_error.ts";
import { StoreFindings } from "./store_finding.ts";
import {
  commitLogDirectoryOf,
  type MessageStoreOptions,
} from "./store_options.ts";

/** A size field above this is garbage, whatever the file size. */
const RECORD_SIZE_MAX = 268_435_456;
const MAGIC_POSITION = 4;

/** Throws `StoreFileError` for the first file that is none of a log. */
export async function checkLogFiles(
  fileSystem: FileSystem,
  options: MessageStoreOptions,
): Promise<void> {
  const directory = commitLogDirectoryOf(options);
  const handles = new ReadOnlyHandles(fileSystem);
  try {
    const files = ReadOnlyFiles.load(handles, directory, new StoreFindings(0));
    for (const file of files.files) {
      const head = new Uint8Array(BLANK_MARKER_SIZE);
      const size = Math.min(head.length, file.size);
      handles.get(file.path).readAt(0, head.subarray(0, size));
      if (isLogHead(head) || await holdsRecord(files, file)) continue;
      throw new StoreFileError(
        `Cannot load ${file.path}: it is no file of a RocketMQ log, ` +
          `since it begins with ${hexOf(head.subarray(0, size))} ` +
          "and holds no record",
        file.path,
        "Move it out of the folder, or restore it from a backup if it was a log",
      );
    }
  } finally {
    handles.close();
  }
}

/**
 * True for the first 8 bytes of a record, whole or torn (what is missing is zero), and for
 * zeros.
 */
export function isLogHead(head: Uint8Array): boolean {
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  const magicSize = head.findLastIndex((it) => it !== 0) + 1 - MAGIC_POSITION;
  const size = view.getInt32(0);
  if (magicSize <= 0) return size >= 0 && size <= RECORD_SIZE_MAX;
  if (size <= 0) return false;
  const magic = view.getInt32(MAGIC_POSITION);
  const mask = -1 << (8 * (4 - magicSize));
  return [MESSAGE_MAGIC_CODE_V1, MESSAGE_MAGIC_CODE_V2, BLANK_MAGIC_CODE]
    .some((it) => (it & mask) === magic);
}

async function holdsRecord(
  files: ReadOnlyFiles,
  { fileFromOffset, size }: ReadOnlyFile,
): Promise<boolean> {
  const walk = walkLog(files, {
    checkCrc: true,
    fromOffset: fileFromOffset,
    looksBeyondEnd: true,
  });
  for await (const item of walk) {
    if (item.phyOffset >= fileFromOffset + size) return false;
    if (item.kind === "record") return true;
  }
  return false;
}

function hexOf(bytes: Uint8Array): string {
  return `0x${
    [...bytes].map((it) => it.toString(16).padStart(2, "0")).join("")
  }`;
}
