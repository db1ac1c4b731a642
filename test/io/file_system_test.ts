import {
  assert,
  assertEquals,
  assertGreater,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { describe, it } from "node:test";
import { FileError, type FileSystem } from "../../src/io/file_system.ts";
import { SimFileSystem } from "../sim/sim_file_system.ts";
import { withoutOpenFiles } from "../support/leak_check.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { openRuntime } from "#runtime";

type Story = (fileSystem: FileSystem, root: string) => void | Promise<void>;

/** Runs a story in an empty folder of a disk. */
const DISKS: Record<string, (story: Story) => Promise<void>> = {
  runtime: (story) =>
    withTempDirectory((root) =>
      withoutOpenFiles(root, () => story(openRuntime().fileSystem, root))
    ),
  simulated: async (story) => {
    const fileSystem = new SimFileSystem({ directories: ["/root"] });
    await story(fileSystem, "/root");
    assertEquals(fileSystem.openFiles, 0);
  },
};

const bytes = (...values: number[]) => Uint8Array.from(values);

function fails(kind: string, path: string, run: () => unknown): void {
  const error = assertThrows(run, FileError);
  assertEquals(error.kind, kind, error.message);
  assertEquals(error.path, path);
  assertStringIncludes(error.message, path);
}

const STORIES: Record<string, Story> = {
  "open() makes a file only when asked to"(disk, root) {
    const path = `${root}/a`;
    fails("not-found", path, () => disk.open(path, "read"));
    fails("not-found", path, () => disk.open(path, "write"));
    disk.open(path, "create").close();
    disk.open(path, "create").close();
    assertEquals(disk.stat(path)?.size, 0);
  },

  "open() names a missing folder"(disk, root) {
    const path = `${root}/none/a`;
    fails("not-found", path, () => disk.open(path, "create"));
  },

  "readAt() gives what writeAt() took, at any position"(disk, root) {
    const file = disk.open(`${root}/a`, "create");
    file.writeAt(5, bytes(1, 2, 3));
    file.writeAt(6, bytes(9));
    file.writeAt(100_000, bytes(7));
    file.writeAt(3, bytes());
    const target = bytes(8, 8, 8, 8, 8, 8);
    file.readAt(4, target);
    assertEquals(target, bytes(0, 1, 9, 3, 0, 0));
    assertEquals(file.size(), 100_001);
    file.close();
  },

  "writeAt() takes a view into a larger buffer"(disk, root) {
    const file = disk.open(`${root}/a`, "create");
    file.writeAt(0, bytes(1, 2, 3, 4).subarray(1, 3));
    const target = new Uint8Array(4);
    file.readAt(0, target.subarray(2, 4));
    assertEquals(target, bytes(0, 0, 2, 3));
    file.close();
  },

  async "both reads refuse to go beyond the end"(disk, root) {
    const path = `${root}/a`;
    const file = disk.open(path, "create");
    file.writeAt(0, bytes(1, 2, 3));
    fails("short-read", path, () => file.readAt(1, new Uint8Array(3)));
    fails("short-read", path, () => file.readAt(9, new Uint8Array(1)));
    const error = await assertRejects(
      () => file.readAtAsync(1, new Uint8Array(3)),
      FileError,
    );
    assertEquals(error.kind, "short-read");
    file.close();
  },

  async "readAtAsync() gives the same, many at a time"(disk, root) {
    const file = disk.open(`${root}/a`, "create");
    const size = 256 * 1024;
    const content = Uint8Array.from({ length: size }, (_, it) => it * 7);
    file.writeAt(0, content);
    const parts = Array.from({ length: 16 }, () => new Uint8Array(size / 16));
    await Promise.all(
      parts.map((part, index) => file.readAtAsync(index * part.length, part)),
    );
    for (const [index, part] of parts.entries()) {
      const start = index * part.length;
      assertEquals(part, content.subarray(start, start + part.length));
    }
    file.close();
  },

  "truncate() cuts, and grows with zeros"(disk, root) {
    const file = disk.open(`${root}/a`, "create");
    file.writeAt(0, bytes(1, 2, 3, 4));
    file.truncate(2);
    file.truncate(1_000_000);
    assertEquals(file.size(), 1_000_000);
    const target = new Uint8Array(4);
    file.readAt(0, target);
    assertEquals(target, bytes(1, 2, 0, 0));
    file.close();
  },

  "a file opened for reading takes nothing"(disk, root) {
    const path = `${root}/a`;
    disk.open(path, "create").close();
    const file = disk.open(path, "read");
    assertThrows(() => file.writeAt(0, bytes(1)), FileError);
    assertThrows(() => file.truncate(1), FileError);
    file.close();
  },

  async "a closed file refuses everything, close() may be repeated"(
    disk,
    root,
  ) {
    const file = disk.open(`${root}/a`, "create");
    file.close();
    file.close();
    assertThrows(() => file.readAt(0, bytes(1)), FileError, "closed");
    assertThrows(() => file.writeAt(0, bytes(1)), FileError, "closed");
    assertThrows(() => file.truncate(1), FileError, "closed");
    assertThrows(() => file.size(), FileError, "closed");
    await assertRejects(() => file.sync(), FileError, "closed");
    await assertRejects(() => file.readAtAsync(0, bytes(1)), FileError);
  },

  async "close() lets running reads and syncs end"(disk, root) {
    const file = disk.open(`${root}/a`, "create");
    file.writeAt(0, bytes(1, 2));
    const target = new Uint8Array(2);
    const running = [file.readAtAsync(0, target), file.sync(), file.sync()];
    file.close();
    await Promise.all(running);
    assertEquals(target, bytes(1, 2));
  },

  async "sync() and syncDirectory() resolve"(disk, root) {
    const file = disk.open(`${root}/a`, "create");
    file.writeAt(0, bytes(1));
    await Promise.all([file.sync(), file.sync(), disk.syncDirectory(root)]);
    file.close();
    await assertRejects(() => disk.syncDirectory(`${root}/none`), FileError);
  },

  "list() is sorted and knows folders; a missing folder has no names"(
    disk,
    root,
  ) {
    disk.createDirectory(`${root}/b/c`);
    disk.createDirectory(`${root}/b/c`);
    disk.open(`${root}/d`, "create").close();
    disk.open(`${root}/a`, "create").close();
    assertEquals(disk.list(root), [
      { name: "a", isDirectory: false },
      { name: "b", isDirectory: true },
      { name: "d", isDirectory: false },
    ]);
    assertEquals(disk.list(`${root}/none`), []);
  },

  "stat() tells size, kind and absence"(disk, root) {
    const file = disk.open(`${root}/a`, "create");
    file.writeAt(0, bytes(1, 2, 3));
    file.close();
    assertEquals(disk.stat(`${root}/a`)?.size, 3);
    assertEquals(disk.stat(`${root}/a`)?.isDirectory, false);
    assertEquals(disk.stat(root)?.isDirectory, true);
    assertEquals(disk.stat(`${root}/none`), undefined);
    assertEquals(disk.stat(`${root}/a/b`), undefined);
  },

  "rename() replaces, and an open file follows its content"(disk, root) {
    const file = disk.open(`${root}/a`, "create");
    file.writeAt(0, bytes(1, 2));
    disk.open(`${root}/b`, "create").close();
    disk.rename(`${root}/a`, `${root}/b`);
    file.writeAt(2, bytes(3));
    file.close();
    assertEquals(disk.list(root).map((it) => it.name), ["b"]);
    assertEquals(disk.stat(`${root}/b`)?.size, 3);
    const path = `${root}/none`;
    fails("not-found", path, () => disk.rename(path, `${root}/c`));
  },

  "rename() moves a folder with what it holds"(disk, root) {
    disk.createDirectory(`${root}/a`);
    disk.open(`${root}/a/x`, "create").close();
    disk.rename(`${root}/a`, `${root}/b`);
    assertEquals(disk.list(`${root}/b`).map((it) => it.name), ["x"]);
    assertEquals(disk.stat(`${root}/a`), undefined);
  },

  "remove() takes files and empty folders; a missing one is no error"(
    disk,
    root,
  ) {
    disk.createDirectory(`${root}/a`);
    disk.open(`${root}/a/x`, "create").close();
    fails("other", `${root}/a`, () => disk.remove(`${root}/a`));
    disk.remove(`${root}/a/x`);
    disk.remove(`${root}/a`);
    disk.remove(`${root}/a`);
    assertEquals(disk.list(root), []);
  },

  "lock() is held once, and again after release()"(disk, root) {
    const path = `${root}/lock`;
    const lock = disk.lock(path);
    fails("locked", path, () => disk.lock(path));
    lock.release();
    lock.release();
    disk.lock(path).release();
    assert(disk.stat(path));
  },

  "diskSpace() is plausible"(disk, root) {
    const { totalBytes, freeBytes } = disk.diskSpace(root);
    assertGreater(totalBytes, 1024 * 1024);
    assert(freeBytes >= 0 && freeBytes <= totalBytes);
  },
};

for (const [name, run] of Object.entries(DISKS)) {
  describe(`FileSystem (${name})`, () => {
    for (const [title, story] of Object.entries(STORIES)) {
      it(title, () => run(story));
    }
  });
}
