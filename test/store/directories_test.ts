import { assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { FileError, type FileErrorKind } from "../../src/io/file_system.ts";
import {
  createDirectories,
  parentDirectory,
  syncDirectories,
  withParents,
} from "../../src/store/directories.ts";
import { MemoryFileSystem } from "./memory_file_system.ts";

test("parentDirectory() and withParents() stop at the top", () => {
  assertEquals(parentDirectory("/a/b"), "/a");
  assertEquals(parentDirectory("/a"), "/");
  assertEquals(parentDirectory("a"), ".");
  assertEquals(withParents("/a/b", 5), ["/a/b", "/a", "/"]);
  assertEquals(withParents("/a/b/c", 1), ["/a/b/c", "/a/b"]);
  assertEquals(withParents("a", 5), ["a", "."]);
});

test("createDirectories() names the folders that got an entry", () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.createDirectory("/a");
  assertEquals(createDirectories(fileSystem, "/a/b/c"), ["/a", "/a/b"]);
  assertEquals(createDirectories(fileSystem, "/a/b/c"), []);
});

function failing(kind: FileErrorKind): MemoryFileSystem {
  const fileSystem = new MemoryFileSystem();
  fileSystem.createDirectory("/a/b");
  fileSystem.fail = (operation, path) =>
    operation === "syncDirectory" && path === "/a"
      ? new FileError("No", kind, path)
      : undefined;
  return fileSystem;
}

test("syncDirectories() leaves out what is gone or may not be opened", async () => {
  const fileSystem = failing("denied");
  const directories = new Set(["/gone", "/a", "/a/b"]);
  await syncDirectories(fileSystem, directories);
  assertEquals(directories.size, 0);
  assertEquals(fileSystem.events.at(-1), "syncDirectory /a/b");
});

test("syncDirectories() keeps what failed and what came meanwhile", async () => {
  const fileSystem = failing("io");
  const directories = new Set(["/a/b", "/a"]);
  const done = syncDirectories(fileSystem, directories);
  directories.add("/a/b");
  await assertRejects(() => done, FileError, "No");
  assertEquals([...directories].sort(), ["/a", "/a/b"]);
});
