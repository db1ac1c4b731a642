import { assert, assertEquals } from "@std/assert";
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import { test } from "node:test";
import {
  openFileSystemSync,
  tellsWriteErrors,
} from "../../src/runtime/node_file_system_sync.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { openRuntime } from "#runtime";

const EXT = 0xef53;
/** Where the tests run may be any disk. */
const isTrusted = process.platform === "linux" &&
  statfsSync(tmpdir()).type === EXT;

test("tellsWriteErrors() is true from Linux 5.8 on", () => {
  for (const kernel of ["5.8.0", "5.10.0-30-amd64", "6.1.0", "10.0"]) {
    assert(tellsWriteErrors("linux", kernel), kernel);
    assert(!tellsWriteErrors("darwin", kernel), kernel);
  }
  for (const kernel of ["5.7.19", "4.19.0-27", "4.4.0", "", "unknown"]) {
    assert(!tellsWriteErrors("linux", kernel), kernel);
  }
});

test("openFileSystemSync() asks the system once a call, and no more once it is closed", async () => {
  const asked: number[] = [];
  const whole = openFileSystemSync(tmpdir(), (descriptor) => {
    asked.push(descriptor);
    if (asked.length === 2) throw new Error("of the thread");
    return Promise.resolve(asked.length !== 3);
  });
  assertEquals(whole !== undefined, isTrusted);
  if (whole === undefined) return;
  assert(whole.holds(tmpdir()));
  assert(!whole.holds("/proc"));
  assert(!whole.holds(`${tmpdir()}/no such name`));
  assertEquals(
    [await whole.sync(), await whole.sync(), await whole.sync()],
    [true, false, false],
  );
  whole.close();
  assertEquals(await whole.sync(), false);
  assertEquals(asked.length, 3);
  assertEquals(new Set(asked).size, 1);
});

test("openFileSystemSync() is undefined where files have to be synced one by one", () => {
  const syncFs = () => Promise.resolve(true);
  assertEquals(openFileSystemSync("/proc", syncFs), undefined);
  assertEquals(openFileSystemSync("/no such folder", syncFs), undefined);
  assertEquals(openFileSystemSync(tmpdir(), undefined), undefined);
});

test("FileSystem.openFileSystemSync() of this runtime reaches the kernel", () =>
  withTempDirectory(async (folder) => {
    const { fileSystem } = openRuntime();
    const whole = fileSystem.openFileSystemSync(folder);
    assertEquals(whole !== undefined, isTrusted);
    if (whole === undefined) return;
    const file = fileSystem.open(`${folder}/a`, "create");
    file.writeAt(0, new Uint8Array(5_000));
    assertEquals(await Promise.all([whole.sync(), whole.sync()]), [true, true]);
    file.close();
    whole.close();
  }));
