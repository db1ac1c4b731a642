import { assert, assertEquals, assertThrows } from "@std/assert";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { FileError } from "../../src/io/file_system.ts";
import {
  readInputFile,
  readInputStream,
} from "../../src/runtime/node_input.ts";
import { run } from "../cli/fake_process.ts";
import { withTempDirectory } from "../support/temp_directory.ts";

test("readInputFile() reads a pipe to its end, though its size is 0", () =>
  withTempDirectory(async (folder) => {
    const pipe = `${folder}/pipe`;
    execFileSync("mkfifo", [pipe]);
    const writer = spawn("sh", ["-c", 'printf hello > "$0"', pipe]);
    const ended = once(writer, "exit");
    const { bytes, isRegular } = readInputFile(pipe, 5);
    assertEquals([new TextDecoder().decode(bytes), isRegular], [
      "hello",
      false,
    ]);
    await ended;
  }));

test("readInputFile() and readInputStream() refuse what has no end", async () => {
  assertThrows(() => readInputFile("/dev/zero", 100_000), FileError, "100000");
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1_000)),
  });
  const failure = await readInputStream(endless, 10_000).catch((it) => it);
  assert(failure instanceof FileError);
});

test("produce --file and -c say what is wrong with a device", async () => {
  const produced = await run(["produce", "T", "--file", "/dev/zero"]);
  assertEquals(produced.code, 2);
  assert(produced.stderr.includes("more than 67108864 bytes"));
  const checked = await run(["check-config", "/dev/null"]);
  assertEquals(checked.code, 2);
  assert(checked.stderr.includes("no regular file"), checked.stderr);
});
