import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { FileError } from "../../src/io/file_system.ts";
import {
  dumpStore,
  type StoreDumpOptions,
} from "../../src/store/store_dump.ts";
import { inspectStore } from "../../src/store/store_inspect.ts";
import { verifyStore } from "../../src/store/store_verify.ts";
import { MemoryFileSystem } from "./memory_file_system.ts";
import { ROOT } from "./message_store_fixture.ts";
import {
  change,
  fileOf,
  findingsOf,
  makeStore,
  only,
  RECORD_COUNT,
} from "./store_tools_fixture.ts";

async function dump(
  fileSystem: MemoryFileSystem,
  options: StoreDumpOptions = {},
): Promise<string[]> {
  const lines: string[] = [];
  for await (const item of dumpStore(fileSystem, ROOT, options)) {
    if (item.kind === "corrupt") lines.push(`corrupt ${item.phyOffset}`);
    else if (item.kind === "finding") lines.push(item.finding.kind);
    else {
      const { topic, queueId, queueOffset, body } = item.message;
      const text = new TextDecoder().decode(body).slice(0, 10).trim();
      lines.push(`${topic}/${queueId}/${queueOffset} ${text}`);
    }
  }
  assertEquals(fileSystem.openCount, 0);
  return lines;
}

test("verifyStore() finds nothing wrong in a store that was stopped cleanly", async () => {
  const fileSystem = await makeStore();
  const progress: number[] = [];
  const result = await verifyStore(fileSystem, ROOT, {
    onProgress: (done) => void progress.push(done),
  });
  assertEquals(result.findings, []);
  assert(result.isSound && result.lastExitOk);
  assertEquals(result.recordCount, RECORD_COUNT);
  assertEquals(result.unitCount, RECORD_COUNT);
  assertEquals(result.queueCount, 4);
  assertEquals(result.indexEntryCount, RECORD_COUNT * 2);
  assert(result.indexFileCount > 1);
  assertEquals(progress.at(-1), result.maxPhyOffset);
  assertEquals(fileSystem.openCount, 0);
});

test("verifyStore() knows how own index files are divided, as inspectStore() does", async () => {
  const sizes = { maxHashSlotNum: 10, maxIndexNum: 20 };
  const fileSystem = await makeStore(true, sizes);
  const { findings, indexEntryCount, isSound } = await verifyStore(
    fileSystem,
    ROOT,
  );
  assertEquals(findings, []);
  assertEquals([isSound, indexEntryCount], [true, 2 * RECORD_COUNT]);
  const { apacheKeys } = await inspectStore(fileSystem, ROOT);
  assertEquals(apacheKeys["maxHashSlotNum"], "10");
  assertEquals(apacheKeys["maxIndexNum"], "20");
});

test("verifyStore() calls a running store sound", async () => {
  const result = await verifyStore(await makeStore(false), ROOT);
  assert(result.isSound, JSON.stringify(result.findings));
  assertEquals([result.lastExitOk, result.isInUse], [false, false]);
});

test("verifyStore() leaves out what a running store has not written yet", async () => {
  const fileSystem = await makeStore(false);
  fileSystem.lock = (path) => {
    throw new FileError(`Cannot lock ${path}`, "locked", path);
  };
  // The newest unit is still in memory.
  const path = fileOf("consumequeue/T/1", 0);
  change(fileSystem, path, (bytes) => void bytes.fill(0, 19 * 20, 20 * 20));
  const result = await verifyStore(fileSystem, ROOT);
  assert(result.isSound && result.isInUse);
  assertEquals(result.findings.map((it) => it.kind), ["in-use"]);
  const [note] = result.findings;
  assertEquals(note!.severity, "note");
  assert(note!.message.includes("(1 units, "), note!.message);
  assert(!note!.message.includes(" 0 keys"), note!.message);
  // A hole in the middle is none of those.
  change(fileSystem, path, (bytes) => void bytes.fill(0, 5 * 20, 6 * 20));
  const findings = await findingsOf(fileSystem);
  assertEquals(only(findings, "unit-missing").offset, 5);
});

test("verifyStore() finds a flipped byte of a body and reads on behind it", async () => {
  const fileSystem = await makeStore();
  let phyOffset = -1;
  for await (const item of dumpStore(fileSystem, ROOT)) {
    if (item.kind === "record" && item.message.queueOffset === 3) {
      phyOffset = item.message.phyOffset;
      break;
    }
  }
  change(fileSystem, fileOf("commitlog", 0), (bytes) => {
    bytes[phyOffset + 95]! ^= 1;
  });
  const result = await verifyStore(fileSystem, ROOT);
  assert(!result.isSound);
  const finding = only(result.findings, "corrupt-record");
  assertEquals(finding.path, fileOf("commitlog", 0));
  assertEquals(finding.offset, phyOffset);
  assert(finding.message.includes("CRC"));
  assert(
    finding.message.startsWith(
      "The record of topic T, queue 0, queue offset 3 is broken",
    ),
    finding.message,
  );
  assert(finding.message.includes("restore this file"), "the cure");
  assert(finding.message.includes("2 entries of queues and index point to it"));
  assertEquals(result.findings.length, 1, "nothing but the record");
  assertEquals(finding.followUps?.length, 2);
  assertEquals(result.recordCount, RECORD_COUNT - 1);
  const lines = await dump(fileSystem);
  assertEquals(lines.length, RECORD_COUNT);
  assert(lines.includes(`corrupt ${phyOffset}`));
});

test("verifyStore() finds a flipped size field and the next sound record", async () => {
  const fileSystem = await makeStore();
  change(fileSystem, fileOf("commitlog", 4096), (bytes) => {
    bytes[1]! ^= 0x40;
  });
  const result = await verifyStore(fileSystem, ROOT);
  assertEquals(only(result.findings, "corrupt-record").offset, 4096);
  assertEquals(result.recordCount, RECORD_COUNT - 1);
  const { followUps = [] } = only(result.findings, "corrupt-record");
  assert(followUps.some((it) => it.kind === "unit-dangling"));
});

test("verifyStore() finds a cut file", async () => {
  const fileSystem = await makeStore();
  const path = fileOf("commitlog", 4096);
  change(fileSystem, path, (bytes) => bytes.subarray(0, 1000));
  const findings = await findingsOf(fileSystem);
  const finding = only(findings, "wrong-size");
  assertEquals([finding.path, finding.severity], [path, "error"]);
  assertEquals(finding.offset, 5096);
  assert(finding.message.includes("1000 bytes"));
});

test("verifyStore() finds a missing file", async () => {
  const fileSystem = await makeStore();
  fileSystem.files.delete(fileOf("commitlog", 4096));
  const findings = await findingsOf(fileSystem);
  assertEquals(only(findings, "file-gap").path, fileOf("commitlog", 8192));
});

test("verifyStore() finds a unit that points nowhere", async () => {
  const fileSystem = await makeStore();
  const path = fileOf("consumequeue/T/0", 0);
  change(fileSystem, path, (bytes) => {
    new DataView(bytes.buffer).setBigInt64(2 * 20, 77n);
  });
  const findings = await findingsOf(fileSystem);
  const dangling = only(findings, "unit-dangling");
  assertEquals(dangling.path, path);
  assertEquals(dangling.offset, 2);
  assert(dangling.message.includes("77"));
  assertEquals(only(findings, "unit-wrong").offset, 2);
});

test("verifyStore() finds units beyond the log, with another tag, and missing ones", async () => {
  const fileSystem = await makeStore();
  change(fileSystem, fileOf("consumequeue/U/0", 0), (bytes) => {
    const view = new DataView(bytes.buffer);
    view.setInt32(16, 5);
    view.setBigInt64(9 * 20, 1_000_000n);
    view.setInt32(9 * 20 + 8, 100);
  });
  const path = fileOf("consumequeue/T/1", 0);
  change(fileSystem, path, (bytes) => void bytes.fill(0, 18 * 20, 20 * 20));
  const findings = await findingsOf(fileSystem);
  assert(findings.some((it) => it.message.includes("tags code 5")));
  const dangling = findings.filter((it) => it.kind === "unit-dangling");
  assert(dangling.some((it) => it.message.includes("beyond the end")));
  const missing = only(findings, "unit-missing");
  assertEquals([missing.offset, missing.severity], [18, "error"]);
});

test("verifyStore() finds wrong index entries, slots and missing keys", async () => {
  const fileSystem = await makeStore();
  const [first] = fileSystem.list(`${ROOT}/index`);
  const path = `${ROOT}/index/${first!.name}`;
  const entries = 40 + 16 * 4;
  change(fileSystem, path, (bytes) => {
    const view = new DataView(bytes.buffer);
    view.setInt32(entries + 3 * 20, 12345);
    view.setInt32(40, 1);
  });
  const findings = await findingsOf(fileSystem);
  assert(findings.some((it) => it.kind === "index-entry"));
  assertEquals(only(findings, "index-missing").severity, "error");
  assert(findings.some((it) => it.kind === "index-slot" && it.path === path));
});

test("verifyStore() finds bytes behind the end, warns of foreign files and empty last ones", async () => {
  const fileSystem = await makeStore();
  const last = fileSystem.list(`${ROOT}/commitlog`).at(-1)!.name;
  change(fileSystem, `${ROOT}/commitlog/${last}`, (bytes) => {
    bytes[4090] = 1;
  });
  const { fail } = fileSystem;
  fileSystem.fail = null;
  fileSystem.put(`${ROOT}/commitlog/.DS_Store`, "x");
  fileSystem.put(
    fileOf("commitlog", Number(last) + 4096),
    "",
  );
  fileSystem.fail = fail;
  const findings = await findingsOf(fileSystem);
  assertEquals(only(findings, "foreign-file").severity, "warning");
  assertEquals(only(findings, "wrong-size").severity, "warning");
  assertEquals(only(findings, "torn-tail").severity, "error");
});

test("verifyStore() warns once of a topic that has no queues", async () => {
  const fileSystem = await makeStore();
  const folder = `${ROOT}/consumequeue/U`;
  for (const set of [fileSystem.files, fileSystem.directories]) {
    for (const path of [...set.keys()]) {
      if (path.startsWith(folder)) set.delete(path);
    }
  }
  const result = await verifyStore(fileSystem, ROOT);
  assert(result.isSound);
  assertEquals(only(result.findings, "unit-missing").path, folder);
});

test("verifyStore() limits its list and counts the rest", async () => {
  const fileSystem = await makeStore();
  for (const { name } of fileSystem.list(`${ROOT}/commitlog`)) {
    change(fileSystem, `${ROOT}/commitlog/${name}`, (bytes) => {
      for (let at = 100; at < bytes.length; at += 200) bytes[at]! ^= 1;
    });
  }
  const result = await verifyStore(fileSystem, ROOT, { findingsMax: 2 });
  assertEquals(result.findings.length, 2);
  assert(result.omittedFindings > 10);
  assert(!result.isSound);
});

test("verifyStore(), inspectStore() and dumpStore() take a folder without a store", async () => {
  const fileSystem = new MemoryFileSystem();
  const result = await verifyStore(fileSystem, "/nowhere");
  assertEquals([result.isSound, result.recordCount], [true, 0]);
  const inspection = await inspectStore(fileSystem, "/nowhere");
  assertEquals(inspection.commitLog.maxOffset, 0);
  assertEquals(inspection.apacheKeys, {
    storePathRootDir: "/nowhere",
    storePathCommitLog: "/nowhere/commitlog",
  });
  assertEquals(await dump(fileSystem), []);
});

test("inspectStore() tells sizes, offsets, times and Apache's keys", async () => {
  const fileSystem = await makeStore();
  const found = await inspectStore(fileSystem, ROOT);
  assertEquals(found.lastExitOk, true);
  assertEquals(found.findings, []);
  assertEquals(found.apacheKeys, {
    storePathRootDir: ROOT,
    storePathCommitLog: `${ROOT}/commitlog`,
    mappedFileSizeCommitLog: "4096",
    mappedFileSizeConsumeQueue: "400",
    maxHashSlotNum: "16",
    maxIndexNum: "64",
  });
  const { commitLog, consumeQueue, checkpoint } = found;
  assertEquals(commitLog.minOffset, 0);
  assertEquals(commitLog.maxOffset, checkpoint!.cleanMaxPhyOffset);
  assert(commitLog.firstStoreTimestamp! < commitLog.lastStoreTimestamp!);
  assertEquals(commitLog.lastStoreTimestamp, checkpoint!.physicMsgTimestamp);
  assertEquals(consumeQueue.topics.map((it) => it.topic), ["T", "U"]);
  assertEquals(consumeQueue.topics[1]!.queues, [
    { queueId: 0, fileCount: 1, minOffset: 0, maxOffset: 10 },
    { queueId: 1, fileCount: 1, minOffset: 0, maxOffset: 10 },
  ]);
  assertEquals(
    found.index.files.reduce((sum, it) => sum + it.entryCount, 0),
    RECORD_COUNT * 2,
  );
  assertEquals(fileSystem.openCount, 0);
});

test("inspectStore() corrects min offsets by the start of the log", async () => {
  const fileSystem = await makeStore();
  fileSystem.files.delete(fileOf("commitlog", 0));
  const found = await inspectStore(fileSystem, ROOT);
  assertEquals(found.commitLog.minOffset, 4096);
  const [queue] = found.consumeQueue.topics[0]!.queues;
  assert(queue!.minOffset > 0 && queue!.minOffset < queue!.maxOffset);
});

test("dumpStore() picks by topic, queue, offset and count", async () => {
  const fileSystem = await makeStore();
  const all = await dump(fileSystem);
  assertEquals(all.length, RECORD_COUNT);
  assertEquals(all[0], "U/0/0 message 0");
  const some = await dump(fileSystem, { topic: "U", queueId: 1, count: 3 });
  assertEquals(some, [
    "U/1/0 message 3",
    "U/1/1 message 9",
    "U/1/2 message 15",
  ]);
  const later = await dump(fileSystem, { fromOffset: 4097 });
  assert(later.length < RECORD_COUNT && later.length > 10);
  assertEquals(all.slice(-later.length), later);
});
