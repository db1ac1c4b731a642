/** Damage that is not in records, units or entries: tables, folders, whole files of the log. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { CONFIG_FILE_READERS } from "../../src/broker/config_file_readers.ts";
import { dumpStore } from "../../src/store/store_dump.ts";
import type { StoreFinding } from "../../src/store/store_finding.ts";
import { inspectStore } from "../../src/store/store_inspect.ts";
import { verifyStore } from "../../src/store/store_verify.ts";
import type { MemoryFileSystem } from "./memory_file_system.ts";
import { ROOT } from "./message_store_fixture.ts";
import {
  change,
  fileOf,
  makeStore,
  only,
  place,
} from "./store_tools_fixture.ts";

const TOPICS = `${ROOT}/config/topics.json`;
/** As the broker writes them, one entry each where there are entries. */
const SOUND: Readonly<Record<string, string>> = {
  "topics.json":
    '{"dataVersion":{"counter":1},"topicConfigTable":{"T":{"topicName":"T","readQueueNums":4,"writeQueueNums":4,"perm":6}}}',
  "subscriptionGroup.json":
    '{"subscriptionGroupTable":{"g":{"groupName":"g","consumeEnable":true}}}',
  "consumerOffset.json": '{"offsetTable":{"T@g":{0:3,"1":2}}}',
  "delayOffset.json": '{"offsetTable":{3:17}}',
  "consumerFilter.json": '{"filterDataByTopic":{}}',
  "messageRequestMode.json": '{"messageRequestModeMap":{}}',
  "haRole.json":
    '{"role":"SYNC_MASTER","brokerId":0,"epoch":2,"promotedAtOffset":0}',
  "haPeers.json": '{"peers":["127.0.0.1:10911"]}',
};

const store = makeStore(true, {}, 12);

/** What is said of a sound store with these files. */
async function withTables(
  tables: Readonly<Record<string, string>>,
): Promise<readonly StoreFinding[]> {
  const fileSystem = await store;
  // Without one a store that has queues lacks it.
  const topics = `${ROOT}/config/topics.json`;
  const hasTopics = Object.keys(tables).some((it) => it.startsWith("topics."));
  if (!hasTopics) put(fileSystem, { [topics]: SOUND["topics.json"]! });
  put(fileSystem, tables);
  const result = await verifyStore(fileSystem, ROOT, {
    configReaders: CONFIG_FILE_READERS,
  });
  const isSound = !result.findings.some((it) => it.severity === "error");
  assertEquals(result.isSound, isSound);
  for (const name of Object.keys(tables)) {
    fileSystem.files.delete(`${ROOT}/config/${name}`);
  }
  fileSystem.files.delete(topics);
  assertEquals(fileSystem.openCount, 0);
  return result.findings;
}

function put(
  fileSystem: MemoryFileSystem,
  files: Readonly<Record<string, string>>,
): void {
  for (const [name, text] of Object.entries(files)) {
    const path = name.startsWith("/") ? name : `${ROOT}/config/${name}`;
    place(fileSystem, path, new TextEncoder().encode(text));
  }
}

test("verifyStore() takes every table that a broker takes", async () => {
  assertEquals(
    [...CONFIG_FILE_READERS.keys()].sort(),
    [
      ...Object.keys(SOUND),
    ].sort(),
  );
  assertEquals(await withTables(SOUND), []);
});

test("verifyStore() tells of a table that cannot be read, and of what a start does then", async () => {
  for (const [name, text] of Object.entries(SOUND)) {
    for (const damaged of ["", text.slice(0, -2), "[]", "\0".repeat(64)]) {
      const path = `${ROOT}/config/${name}`;
      const alone = only(await withTables({ [name]: damaged }), "config-file");
      assertEquals([alone.severity, alone.path], ["error", path]);
      assert(alone.message.includes("begins with an empty table"));
      assert(alone.message.includes("restore it from a backup"));
      const backed = { [name]: damaged, [`${name}.bak`]: text };
      const finding = only(await withTables(backed), "config-file");
      assertEquals([finding.severity, finding.path], ["error", path]);
      assert(finding.message.includes(`a start takes ${path}.bak instead`));
    }
  }
});

test("verifyStore() warns of a backup of no use, and of a table that lives by its backup", async () => {
  const sound = SOUND["topics.json"]!;
  const bad = await withTables({ "topics.json": sound, "topics.json.bak": "" });
  const warning = only(bad, "config-file");
  assertEquals([warning.severity, warning.path], ["warning", `${TOPICS}.bak`]);
  const [missing] = await withTables({ "topics.json.bak": sound });
  assertEquals([missing!.severity, missing!.path], ["warning", TOPICS]);
  assert(missing!.message.startsWith("It is missing"));
});

test("verifyStore() names the entries that a start leaves out", async () => {
  const findings = await withTables({
    "topics.json": '{"topicConfigTable":{"T":{"readQueueNums":"x"},"U":{}}}',
    "consumerOffset.json": '{"offsetTable":{"nobody":{"0":1},"T@g":{"0":1}}}',
  });
  assertEquals(findings.map((it) => it.kind), ["config-entry", "config-entry"]);
  const [topic, offset] = findings;
  assertEquals(topic!.path, TOPICS);
  assert(topic!.message.startsWith("A start leaves out the entry T: "));
  assert(offset!.message.includes("nobody: the key is no topic@group"));
});

test("verifyStore() and inspectStore() warn of what does not belong into consumequeue/", async () => {
  const queues = `${ROOT}/consumequeue`;
  const fileSystem = await makeStore(true, {}, 12);
  const foreign = [
    `${queues}/notes.txt`,
    `${queues}/T/00/00000000000000000000`,
    `${queues}/T/0/readme`,
    `${queues}/backup/monday/0/00000000000000000000`,
  ];
  put(fileSystem, Object.fromEntries(foreign.map((it) => [it, "x"])));
  const expected = [
    `${queues}/T/0/readme`,
    `${queues}/T/00`,
    `${queues}/backup`,
    `${queues}/notes.txt`,
  ];
  const verified = await verifyStore(fileSystem, ROOT);
  const inspected = await inspectStore(fileSystem, ROOT);
  for (const { findings, isSound } of [verified, inspected]) {
    assert(isSound);
    assert(findings.every((it) => it.kind === "foreign-file"));
    assertEquals(findings.map((it) => it.path).sort(), expected);
  }
  assertEquals(verified.queueCount, 4);
});

test("A cut log file never tells the size of the store's files", async () => {
  for (const isRecorded of [true, false]) {
    for (const size of [2048 - 10, 4095]) {
      const fileSystem = await makeStore(true, {}, 12);
      change(fileSystem, fileOf("commitlog", 0), (it) => it.subarray(0, size));
      if (!isRecorded) {
        change(fileSystem, `${ROOT}/checkpoint`, (it) => void it.fill(0, 40));
      }
      const found = await inspectStore(fileSystem, ROOT);
      assertEquals(
        found.apacheKeys["mappedFileSizeCommitLog"],
        isRecorded ? "4096" : undefined,
      );
      assert(!found.isSound);
      const finding = only(
        found.findings.filter((it) => it.severity === "error"),
        "wrong-size",
      );
      assertEquals(finding.path, fileOf("commitlog", 0));
      assertEquals((await dumped(fileSystem))[0], "error wrong-size");
    }
  }
});

test("A log that is gone is an error for every tool; one that never was is none", async () => {
  const fileSystem = await makeStore(true, {}, 12);
  fileSystem.files.delete(fileOf("commitlog", 0));
  const { findings } = await verifyStore(fileSystem, ROOT);
  assertEquals(only(findings, "log-missing").path, `${ROOT}/commitlog`);
  const inspected = await inspectStore(fileSystem, ROOT);
  assert(!inspected.isSound);
  only(inspected.findings, "log-missing");
  assertEquals(await dumped(fileSystem), ["error log-missing"]);
  // Whatever is left of the store shows it.
  fileSystem.files.delete(`${ROOT}/checkpoint`);
  assertEquals(await dumped(fileSystem), ["error log-missing"]);
  const empty = await makeStore(true, {}, 0);
  assertEquals((await verifyStore(empty, ROOT)).findings, []);
  assert((await inspectStore(empty, ROOT)).isSound);
  assertEquals(await dumped(empty), []);
});

test("The end of a log that was stopped cleanly is not torn; after a kill that is no error", async () => {
  for (const isStopped of [true, false]) {
    const fileSystem = await makeStore(isStopped, {}, 12);
    const { commitLog } = await inspectStore(fileSystem, ROOT);
    change(
      fileSystem,
      fileOf("commitlog", 0),
      (bytes) => void bytes.fill(7, commitLog.maxOffset, 4090),
    );
    const { isSound, findings } = await inspectStore(fileSystem, ROOT);
    assertEquals(isSound, !isStopped);
    only(findings, "torn-tail");
    const corrupt = (await dumped(fileSystem)).filter((it) => it === "corrupt");
    assertEquals(corrupt.length, isStopped ? 1 : 0);
  }
});

/** What is said beside records. */
async function dumped(fileSystem: MemoryFileSystem): Promise<string[]> {
  const said: string[] = [];
  for await (const item of dumpStore(fileSystem, ROOT)) {
    if (item.kind === "record") continue;
    said.push(
      item.kind === "corrupt"
        ? "corrupt"
        : `${item.finding.severity} ${item.finding.kind}`,
    );
  }
  assertEquals(fileSystem.openCount, 0);
  return said;
}
