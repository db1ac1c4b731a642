// What only a real disk and a real process can show.
import {
  assertEquals,
  assertLess,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  constants,
  openSync,
  read,
  writeSync,
} from "node:fs";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { fileErrorOf } from "../../src/runtime/node_file_error.ts";
import { FileError } from "../../src/io/file_system.ts";
import {
  ReadGate,
  readGate,
  RUNNING_READS_MAX,
} from "../../src/runtime/read_gate.ts";
import { withoutOpenFiles } from "../support/leak_check.ts";
import { withTempDirectory } from "../support/temp_directory.ts";
import { openRuntime } from "#runtime";

const HOLDER = fileURLToPath(
  new URL("../support/lock_holder.ts", import.meta.url),
);

/** A second process of ours that tries the lock; resolves with what it says. */
async function tryInAnotherProcess(path: string) {
  const { name } = openRuntime();
  const args = name === "deno" ? ["run", "-A", HOLDER, path] : [HOLDER, path];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = await once(child.stdout, "data");
  const kill = async () => {
    const ended = once(child, "exit");
    if (child.exitCode === null && child.kill("SIGKILL")) await ended;
  };
  return { said: String(said[0]), kill };
}

/** As many as the read gate lets through: more than a small pool has threads. */
const STALLED_READS = RUNNING_READS_MAX;

describe("FileSystem on a real disk", () => {
  it("lock() keeps another process out and ends with its holder", async () => {
    await withTempDirectory(async (root) => {
      const { fileSystem } = openRuntime();
      const path = `${root}/lock`;
      const holder = await tryInAnotherProcess(path);
      assertEquals(holder.said, "locked\n");
      const error = assertThrows(() => fileSystem.lock(path), FileError);
      assertEquals(error.kind, "locked");
      assertStringIncludes(error.message, "another process");
      await holder.kill();
      const lock = fileSystem.lock(path);
      const late = await tryInAnotherProcess(path);
      assertStringIncludes(late.said, "another process holds it");
      await late.kill();
      lock.release();
    });
  });

  it("sync() takes its normal time while reads are stalled", async () => {
    await withTempDirectory(async (root) => {
      const { fileSystem } = openRuntime();
      const fifo = `${root}/fifo`;
      execFileSync("mkfifo", [fifo]);
      const stalled = openSync(fifo, constants.O_RDWR);
      const file = fileSystem.open(`${root}/a`, "create");
      await file.sync();
      const stalledRead = () =>
        new Promise<void>((resolve) =>
          read(stalled, new Uint8Array(1), 0, 1, null, () => resolve())
        );
      const reads = Array.from(
        { length: STALLED_READS },
        () => readGate.run(stalledRead),
      );
      file.writeAt(0, new Uint8Array(1024));
      const startMs = performance.now();
      await file.sync();
      await fileSystem.syncDirectory(root);
      const tookMs = performance.now() - startMs;
      writeSync(stalled, new Uint8Array(STALLED_READS));
      await Promise.all(reads);
      closeSync(stalled);
      file.close();
      assertLess(tookMs, 1000);
    });
  });

  it("ReadGate.run() lets through so many and no more", async () => {
    const gate = new ReadGate(2);
    const started: number[] = [];
    const steps = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
    const runs = steps.map((step, index) =>
      gate.run(() => {
        started.push(index);
        return step.promise;
      })
    );
    assertEquals(started, [0, 1]);
    steps[1]!.reject(new Error("gone"));
    await assertRejects(() => runs[1]!, Error, "gone");
    assertEquals(started, [0, 1, 2]);
    steps[0]!.resolve();
    await runs[0];
    assertEquals(started, [0, 1, 2, 3]);
    steps[2]!.resolve();
    steps[3]!.resolve();
    await Promise.all([runs[2], runs[3]]);
    await gate.run(() => Promise.resolve());
  });

  it("sync() reports what the system said", async () => {
    await withTempDirectory(async (root) => {
      const { fileSystem } = openRuntime();
      const fifo = `${root}/fifo`;
      execFileSync("mkfifo", [fifo]);
      const file = fileSystem.open(fifo, "write");
      const error = await assertRejects(() => file.sync(), FileError);
      assertEquals(error.errno, "EINVAL"); // A pipe cannot be synced.
      assertStringIncludes(error.message, fifo);
      file.close();
    });
  });

  it("checkWritable() asks the system for a folder", async () => {
    await withTempDirectory((directory) => {
      const { fileSystem } = openRuntime();
      fileSystem.checkWritable(directory);
      const missing = `${directory}/missing`;
      const gone = assertThrows(
        () => fileSystem.checkWritable(missing),
        FileError,
      );
      assertEquals([gone.kind, gone.path], ["not-found", missing]);
      if (process.getuid?.() === 0) return; // Root may write anywhere.
      chmodSync(directory, 0o500);
      const denied = assertThrows(
        () => fileSystem.checkWritable(directory),
        FileError,
      );
      assertEquals(denied.kind, "denied");
      chmodSync(directory, 0o700);
    });
  });

  it("a failed open() leaks nothing", async () => {
    const { fileSystem } = openRuntime();
    await withTempDirectory((root) =>
      withoutOpenFiles(root, () => {
        for (let count = 0; count < 10; count++) {
          for (const path of [`${root}/none/a`, root]) {
            assertThrows(() => fileSystem.open(path, "write"), FileError);
            assertThrows(() => fileSystem.lock(path), FileError);
          }
        }
      })
    );
  });

  it("a full device is named", () => {
    const { fileSystem } = openRuntime();
    if (!fileSystem.stat("/dev/full")) return; // Not Linux.
    const file = fileSystem.open("/dev/full", "write");
    const error = assertThrows(
      () => file.writeAt(0, new Uint8Array(10)),
      FileError,
      "free some space",
    );
    assertEquals(error.kind, "no-space");
    file.close();
  });

  it("every way to have no room is one kind, and says what to do", () => {
    for (
      const [code, advice] of [
        ["ENOSPC", "free some space"],
        ["EDQUOT", "free some space"],
        ["EFBIG", "ulimit -f"],
      ] as const
    ) {
      const error = fileErrorOf("truncate", "/a/b", { code });
      assertEquals([error.kind, error.errno], ["no-space", code]);
      assertStringIncludes(error.message, advice);
    }
  });
});
