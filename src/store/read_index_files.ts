/** The index files of a store that nobody has open for writing: sizes, geometry, headers. */
import { UnsafeIntegerError } from "../base/int64.ts";
import type { FileSystem } from "../io/file_system.ts";
import { parentDirectory } from "./directories.ts";
import { INDEX_ENTRY_SIZE, readIndexEntry } from "./index_entry.ts";
import { indexFileSize, type IndexGeometry } from "./index_file.ts";
import { indexGeometryOf } from "./index_files.ts";
import {
  decodeIndexHeader,
  INDEX_HEADER_SIZE,
  type IndexHeader,
} from "./index_header.ts";
import type { ReadOnlyHandles } from "./read_only_files.ts";
import { readStoreCheckpoint } from "./store_checkpoint.ts";
import type { StoreFindings } from "./store_finding.ts";

/** One index file as it lies there. */
export interface IndexFileFacts {
  readonly name: string;
  readonly path: string;
  readonly geometry: IndexGeometry;
  readonly header: IndexHeader;
}

/**
 * The index files of a folder, oldest first; what is none is told of. How they are divided is
 * what `configured` or else the checkpoint says; else the usual proportion decides.
 */
export function readIndexFiles(
  handles: ReadOnlyHandles,
  directory: string,
  findings: StoreFindings,
  configured: IndexGeometry | undefined,
): IndexFileFacts[] {
  const found: { facts: IndexFileFacts; place: number }[] = [];
  const known = configured ?? recordedGeometry(handles.fileSystem, directory);
  for (const { name, isDirectory } of handles.fileSystem.list(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory || !/^\d{17}$/.test(name)) {
      findings.warning("foreign-file", path, null, "It is not of the store");
      continue;
    }
    const size = handles.fileSystem.stat(path)?.size ?? 0;
    const geometry = known ?? indexGeometryOf(size);
    const expected = geometry === undefined ? 0 : indexFileSize(geometry);
    if (geometry === undefined || size !== expected) {
      const wanted = expected > 0
        ? `instead of ${expected}`
        : "and no numbers of slots and entries make that";
      findings.add({
        // Its creation was cut short.
        severity: size === 0 ? "warning" : "error",
        kind: "wrong-size",
        path,
        offset: size,
        message: `It ends there, with ${size} bytes ${wanted}: ` +
          "stop the broker and move the folder away; the next start builds the index again from the log",
      });
      continue;
    }
    const header = headerOf(handles, path, findings);
    if (header === undefined) continue;
    const facts = { name, path, geometry, header };
    found.push({ facts, place: placeOf(facts, handles) });
  }
  return found
    .sort((a, b) => a.place - b.place || (a.facts.name < b.facts.name ? -1 : 1))
    .map(({ facts }) => facts);
}

/** An offset of the log among those of the file, also when one number in it is wrong. */
function placeOf(
  { path, geometry, header }: IndexFileFacts,
  handles: ReadOnlyHandles,
): number {
  const entryCount = Math.min(header.indexCount, geometry.maxIndexNum) - 1;
  if (entryCount < 1) return header.beginPhyOffset;
  const bytes = new Uint8Array(INDEX_ENTRY_SIZE);
  const view = new DataView(bytes.buffer);
  const offsets = [1, Math.ceil(entryCount / 2)].map((number) => {
    const position = INDEX_HEADER_SIZE + geometry.maxHashSlotNum * 4 +
      number * INDEX_ENTRY_SIZE;
    handles.get(path).readAt(position, bytes);
    return readIndexEntry(view, 0).phyOffset;
  });
  return [header.beginPhyOffset, ...offsets].sort((a, b) => a - b)[1]!;
}

/** What the store noted of itself; undefined for a store of Apache. */
function recordedGeometry(
  fileSystem: FileSystem,
  directory: string,
): IndexGeometry | undefined {
  const checkpoint = readStoreCheckpoint(
    fileSystem,
    `${parentDirectory(directory)}/checkpoint`,
  );
  if (checkpoint === null || checkpoint.maxHashSlotNum === 0) return undefined;
  const { maxHashSlotNum, maxIndexNum } = checkpoint;
  return { maxHashSlotNum, maxIndexNum };
}

function headerOf(
  handles: ReadOnlyHandles,
  path: string,
  findings: StoreFindings,
): IndexHeader | undefined {
  const bytes = new Uint8Array(INDEX_HEADER_SIZE);
  handles.get(path).readAt(0, bytes);
  try {
    return decodeIndexHeader(bytes);
  } catch (error) {
    if (!(error instanceof UnsafeIntegerError)) throw error;
    findings.error("index-header", path, 0, error.message);
    return undefined;
  }
}
