import { assert, assertEquals, assertRejects } from "@std/assert";
import { test } from "node:test";
import { FileError } from "../../src/io/file_system.ts";
import { JsonFile } from "../../src/store/json_file.ts";
import { MemoryFileSystem, MemoryLogger } from "./memory_file_system.ts";

const PATH = "/store/config/topics.json";

interface Table {
  n: number;
}

function parse(text: string): Table {
  const value = JSON.parse(text) as Table;
  if (typeof value.n !== "number") throw new Error("n is missing");
  return value;
}

function open(fileSystem: MemoryFileSystem) {
  const logger = new MemoryLogger();
  return { file: new JsonFile(fileSystem, PATH, logger), logger };
}

test("JsonFile.read() is undefined and not degraded without files", () => {
  const { file } = open(new MemoryFileSystem());
  assertEquals(file.read(parse), undefined);
  assertEquals(file.isDegraded, false);
});

test("JsonFile.write() keeps the old content as .bak and syncs file, then folder", async () => {
  const fileSystem = new MemoryFileSystem();
  const { file } = open(fileSystem);
  await file.write('{"n":1}');
  assertEquals(fileSystem.events, [
    `sync ${PATH}.tmp`,
    "syncDirectory /store/config",
    "syncDirectory /store",
    "syncDirectory /",
  ]);
  fileSystem.events.length = 0;
  await file.write('{"n":2}');
  assertEquals(fileSystem.events, [
    `sync ${PATH}.tmp`,
    "syncDirectory /store/config",
  ]);
  assertEquals(fileSystem.text(PATH), '{"n":2}');
  assertEquals(fileSystem.text(`${PATH}.bak`), '{"n":1}');
  assertEquals(fileSystem.list("/store/config").length, 2);
  assertEquals(fileSystem.openCount, 0);
});

test("JsonFile.write() replaces a longer file without leaving its tail", async () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.put(`${PATH}.tmp`, "x".repeat(500));
  fileSystem.put(PATH, `{"n":1,"pad":"${"y".repeat(500)}"}`);
  const { file } = open(fileSystem);
  file.read(parse);
  await file.write('{"n":2}');
  assertEquals(fileSystem.text(PATH), '{"n":2}');
});

const BAD_CONTENTS = {
  "0 bytes": "",
  "null": "null",
  "[]": "[]",
  "<nil>": "<nil>",
  '"<nil>"': '"<nil>"',
  "a shape of someone else": '{"x":1}',
  "a cut object": '{"n":1',
  "junk after the object": '{"n":1}{"n":0}',
  "zeros": "\0\0\0\0",
};

for (const [name, content] of Object.entries(BAD_CONTENTS)) {
  test(`JsonFile.read() falls back to .bak when main holds ${name}`, async () => {
    const fileSystem = new MemoryFileSystem();
    fileSystem.put(PATH, content);
    fileSystem.put(`${PATH}.bak`, '{"n":7}');
    const { file, logger } = open(fileSystem);
    assertEquals(file.read(parse), { n: 7 });
    assert(file.degradedReason?.includes(PATH));
    assertEquals(logger.count("warn"), 1);
    await file.write('{"n":8}');
    assertEquals(fileSystem.text(`${PATH}.bak`), '{"n":7}');
    assertEquals(fileSystem.text(PATH), '{"n":8}');
    assertEquals(file.degradedReason, null);
  });

  test(`JsonFile.read() sets both aside when both hold ${name}`, async () => {
    const fileSystem = new MemoryFileSystem();
    fileSystem.put(PATH, content);
    fileSystem.put(`${PATH}.bak`, content);
    const { file } = open(fileSystem);
    assertEquals(file.read(parse), undefined);
    assert(file.degradedReason?.includes(PATH));
    assertEquals(fileSystem.text(`${PATH}.corrupt`), content);
    assertEquals(fileSystem.text(`${PATH}.bak.corrupt`), content);
    await file.write('{"n":1}');
    assertEquals(open(fileSystem).file.read(parse), { n: 1 });
  });
}

test("JsonFile: a main that goes bad twice never reaches the backup", async () => {
  const fileSystem = new MemoryFileSystem();
  await open(fileSystem).file.write('{"n":1}');
  fileSystem.put(`${PATH}.bak`, '{"n":1}');
  for (let round = 0; round < 2; round++) {
    fileSystem.put(PATH, "junk");
    const { file } = open(fileSystem);
    assertEquals(file.read(parse), { n: 1 });
    await file.write('{"n":1}');
  }
  fileSystem.put(PATH, "junk");
  assertEquals(open(fileSystem).file.read(parse), { n: 1 });
});

test("JsonFile.read() ignores a left-over temporary file and uses .bak when main is missing", () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.put(`${PATH}.tmp`, '{"n":9');
  fileSystem.put(`${PATH}.bak`, '{"n":3}');
  assertEquals(open(fileSystem).file.read(parse), { n: 3 });
});

test("JsonFile.read() survives a folder in the file's place", () => {
  const fileSystem = new MemoryFileSystem();
  fileSystem.createDirectory(PATH);
  const { file } = open(fileSystem);
  assertEquals(file.read(parse), undefined);
  assert(file.isDegraded);
});

test("JsonFile.write() rejects on a full disk and leaves main and .bak alone", async () => {
  const fileSystem = new MemoryFileSystem();
  const { file } = open(fileSystem);
  await file.write('{"n":1}');
  fileSystem.fail = (operation, path) =>
    operation === "writeAt"
      ? new FileError("No space", "no-space", path)
      : undefined;
  await assertRejects(() => file.write('{"n":2}'), FileError, "No space");
  fileSystem.fail = null;
  assertEquals(fileSystem.text(PATH), '{"n":1}');
  assertEquals(fileSystem.stat(`${PATH}.tmp`), undefined);
  await file.write('{"n":3}');
  assertEquals(fileSystem.text(`${PATH}.bak`), '{"n":1}');
});

test("JsonFile.write() during a write waits and keeps only the newest", async () => {
  const fileSystem = new MemoryFileSystem();
  const { file } = open(fileSystem);
  const writes = [1, 2, 3, 4].map((n) => file.write(`{"n":${n}}`));
  await Promise.all(writes);
  assertEquals(fileSystem.text(PATH), '{"n":4}');
  assertEquals(fileSystem.text(`${PATH}.bak`), '{"n":1}');
  assert(writes[1] === writes[3]);
});
