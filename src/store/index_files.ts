/** The index files on disk: names, sizes, creation, removal. */
import { UnsafeIntegerError } from "../base/int64.ts";
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import type { DescriptorCache } from "./descriptor_cache.ts";
import {
  createDirectories,
  syncDirectories,
  withParents,
} from "./directories.ts";
import { IndexFile, indexFileSize, type IndexGeometry } from "./index_file.ts";
import { INDEX_HEADER_SIZE } from "./index_header.ts";
import { warnOfForeignFiles } from "./foreign_files.ts";
import { MappedFile } from "./mapped_file.ts";
import { StoreFileError } from "./store_file_error.ts";

const NAME_DIGITS = 17;
/** Bytes of a slot and of the four entries that come with it by default. */
const SLOT_AND_ENTRIES_SIZE = 84;

/** Local time as `yyyyMMddHHmmssSSS`. */
export function indexFileName(nowMs: number): string {
  const date = new Date(nowMs);
  const part = (value: number, digits: number) =>
    String(value).padStart(digits, "0");
  return part(date.getFullYear(), 4) + part(date.getMonth() + 1, 2) +
    part(date.getDate(), 2) + part(date.getHours(), 2) +
    part(date.getMinutes(), 2) + part(date.getSeconds(), 2) +
    part(date.getMilliseconds(), 3);
}

/**
 * The geometry behind a file size, when entries are four times the slots as by default;
 * undefined for other sizes.
 */
export function indexGeometryOf(fileSize: number): IndexGeometry | undefined {
  const slots = (fileSize - INDEX_HEADER_SIZE) / SLOT_AND_ENTRIES_SIZE;
  if (!Number.isInteger(slots) || slots <= 0) return undefined;
  return { maxHashSlotNum: slots, maxIndexNum: slots * 4 };
}

/** The folder `index/`. */
export class IndexFiles {
  readonly #place: {
    fileSystem: FileSystem;
    cache: DescriptorCache;
    directory: string;
  };
  readonly #logger: Logger;
  #changedDirectories = new Set<string>();

  constructor(
    fileSystem: FileSystem,
    directory: string,
    public geometry: IndexGeometry,
    logger: Logger,
    cache: DescriptorCache,
  ) {
    this.#place = { fileSystem, directory, cache };
    this.#logger = logger;
  }

  /**
   * The files, oldest first. Empty and unreadable ones are removed, after an unclean stop those
   * of another size too: the log can rebuild them. Throws `StoreFileError` for a size that no
   * geometry explains.
   */
  load(lastExitOk: boolean): IndexFile[] {
    const foreign: string[] = [];
    const files: IndexFile[] = [];
    const { fileSystem, directory } = this.#place;
    for (const entry of fileSystem.list(directory)) {
      if (entry.isDirectory || !isIndexFileName(entry.name)) {
        foreign.push(entry.name);
        continue;
      }
      const file = this.#open(entry.name, lastExitOk);
      if (file !== undefined) files.push(file);
    }
    if (!lastExitOk && fileSystem.stat(directory) !== undefined) {
      for (const it of withParents(directory, 2)) {
        this.#changedDirectories.add(it);
      }
    }
    warnOfForeignFiles(this.#logger, directory, foreign);
    // By place in the log: a clock that went back must not reorder them.
    return files.sort((a, b) =>
      a.header.beginPhyOffset - b.header.beginPhyOffset ||
      (a.file.name < b.file.name ? -1 : 1)
    );
  }

  /** Makes a file whose name sorts behind `previousName`; throws `FileError`. */
  create(nowMs: number, previousName: string | undefined): IndexFile {
    const { fileSystem, directory } = this.#place;
    for (const it of createDirectories(fileSystem, directory)) {
      this.#changedDirectories.add(it);
    }
    let name = indexFileName(nowMs);
    if (previousName !== undefined && name <= previousName) {
      name = String(BigInt(previousName) + 1n).padStart(NAME_DIGITS, "0");
    }
    while (fileSystem.stat(`${directory}/${name}`) !== undefined) {
      name = String(BigInt(name) + 1n).padStart(NAME_DIGITS, "0");
    }
    const size = indexFileSize(this.geometry);
    const file = MappedFile.create(this.#place, name, 0, size);
    this.#changedDirectories.add(directory);
    return new IndexFile(file, this.geometry);
  }

  remove(file: IndexFile): void {
    file.file.dispose();
    this.#place.fileSystem.remove(file.file.path);
    this.#changedDirectories.add(this.#place.directory);
  }

  /** Makes creations and removals durable. */
  syncDirectories(): Promise<void> {
    return syncDirectories(this.#place.fileSystem, this.#changedDirectories);
  }

  #open(name: string, lastExitOk: boolean): IndexFile | undefined {
    const { fileSystem, directory } = this.#place;
    const path = `${directory}/${name}`;
    const size = fileSystem.stat(path)?.size ?? 0;
    if (size === 0) {
      this.#drop(path, "its creation was cut short");
      return undefined;
    }
    if (size !== indexFileSize(this.geometry)) {
      if (!lastExitOk) {
        this.#drop(path, `it has ${size} bytes after an unclean stop`);
        return undefined;
      }
      this.#adopt(path, size);
    }
    const file = new IndexFile(
      new MappedFile(this.#place, name, 0, size, size),
      this.geometry,
    );
    try {
      file.load();
      if (lastExitOk || file.header.indexCount > 1) return file;
      file.file.dispose();
      this.#drop(path, "it holds nothing yet");
      return undefined;
    } catch (error) {
      if (!(error instanceof UnsafeIntegerError)) throw error;
      file.file.dispose();
      this.#drop(path, "its header cannot be read");
      return undefined;
    }
  }

  /** The size of an existing store wins over a default. */
  #adopt(path: string, size: number): void {
    const geometry = indexGeometryOf(size);
    if (geometry === undefined) {
      const { maxHashSlotNum, maxIndexNum } = this.geometry;
      throw new StoreFileError(
        `Cannot load ${path}: it has ${size} bytes, maxHashSlotNum=${maxHashSlotNum} ` +
          `and maxIndexNum=${maxIndexNum} make ${indexFileSize(this.geometry)}`,
        path,
        "Set both to the values that the file was made with, or move the folder away: " +
          "the index is built again from the log",
      );
    }
    this.#logger.warn("The size of existing index files is used", {
      path,
      ...geometry,
    });
    this.geometry = geometry;
  }

  #drop(path: string, reason: string): void {
    this.#logger.warn("Removing an index file", { path, reason });
    this.#place.fileSystem.remove(path);
    this.#changedDirectories.add(this.#place.directory);
  }
}

function isIndexFileName(name: string): boolean {
  return name.length === NAME_DIGITS && !/[^0-9]/.test(name);
}
