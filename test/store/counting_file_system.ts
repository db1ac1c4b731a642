/** CountingFileSystem: a disk, and how often it was asked for what. */
import type {
  FileHandle,
  FileSystem,
  OpenMode,
} from "../../src/io/file_system.ts";

/** Calls by name, and what `readAt` and `writeAt` have moved. */
export class DiskCounts {
  readonly calls = new Map<string, number>();
  readBytes = 0;
  writtenBytes = 0;

  note(name: string): void {
    this.calls.set(name, this.of(name) + 1);
  }

  of(...names: readonly string[]): number {
    return names.reduce((sum, it) => sum + (this.calls.get(it) ?? 0), 0);
  }

  get all(): number {
    return this.of(...this.calls.keys());
  }
}

/** `disk` with every call noted in `counts`, which may be replaced at any time. */
export class CountingFileSystem implements FileSystem {
  counts = new DiskCounts();

  constructor(private readonly disk: FileSystem) {}

  list(directory: string) {
    this.counts.note("list");
    return this.disk.list(directory);
  }
  stat(path: string) {
    this.counts.note("stat");
    return this.disk.stat(path);
  }
  createDirectory(path: string) {
    this.counts.note("createDirectory");
    this.disk.createDirectory(path);
  }
  open(path: string, mode: OpenMode): FileHandle {
    this.counts.note("open");
    return this.#handle(this.disk.open(path, mode));
  }
  rename(from: string, to: string) {
    this.counts.note("rename");
    this.disk.rename(from, to);
  }
  remove(path: string) {
    this.counts.note("remove");
    this.disk.remove(path);
  }
  syncDirectory(path: string) {
    this.counts.note("syncDirectory");
    return this.disk.syncDirectory(path);
  }
  openFileSystemSync(directory: string) {
    return this.disk.openFileSystemSync(directory);
  }
  lock(path: string) {
    return this.disk.lock(path);
  }
  checkWritable(directory: string) {
    this.disk.checkWritable(directory);
  }
  diskSpace(path: string) {
    this.counts.note("diskSpace");
    return this.disk.diskSpace(path);
  }

  #handle(handle: FileHandle): FileHandle {
    return {
      path: handle.path,
      readAt: (position, target) => {
        this.counts.note("readAt");
        this.counts.readBytes += target.length;
        handle.readAt(position, target);
      },
      readAtAsync: (position, target) => {
        this.counts.note("readAt");
        this.counts.readBytes += target.length;
        return handle.readAtAsync(position, target);
      },
      writeAt: (position, source) => {
        this.counts.note("writeAt");
        this.counts.writtenBytes += source.length;
        handle.writeAt(position, source);
      },
      sync: () => {
        this.counts.note("sync");
        return handle.sync();
      },
      truncate: (size) => {
        this.counts.note("truncate");
        handle.truncate(size);
      },
      size: () => handle.size(),
      close: () => handle.close(),
    };
  }
}
