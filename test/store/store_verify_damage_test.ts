import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { dumpStore } from "../../src/store/store_dump.ts";
import { inspectStore } from "../../src/store/store_inspect.ts";
import { verifyStore } from "../../src/store/store_verify.ts";
import { indexKeyHash } from "../../src/store/index_key.ts";
import { SimRandom } from "../sim/sim_random.ts";
import type { MemoryFileSystem } from "./memory_file_system.ts";
import { ROOT } from "./message_store_fixture.ts";
import {
  change,
  fileOf,
  findingsOf,
  makeStore,
  only,
  RECORD_COUNT,
} from "./store_tools_fixture.ts";

const ENTRY_SIZE = 20;
const INDEX_HEADER_SIZE = 40;
const ENTRIES_AT = INDEX_HEADER_SIZE + 16 * 4;
/** Each byte costs a whole look at the store. */
const FEW = 24;
/** One wrong byte may be seen from several sides, but it must not flood the list. */
const FINDINGS_PER_BYTE_MAX = 6;

/** Flips a bit of every byte of [from, to), one after the other; the bytes where nobody noticed. */
async function unnoticed(
  fileSystem: MemoryFileSystem,
  path: string,
  from: number,
  to: number,
): Promise<number[]> {
  const silent: number[] = [];
  const flip = (at: number) =>
    change(fileSystem, path, (bytes) => {
      bytes[at]! ^= 0x10;
    });
  for (let at = from; at < to; at++) {
    flip(at);
    const findings = await findingsOf(fileSystem);
    const errors = findings.filter((it) => it.severity === "error");
    if (errors.length === 0) silent.push(at);
    assert(
      errors.length <= FINDINGS_PER_BYTE_MAX,
      `byte ${at}: ${JSON.stringify(errors, null, 1)}`,
    );
    flip(at);
  }
  return silent;
}

test("verifyStore() notices a flipped bit anywhere in a record, but in what nothing vouches for", async () => {
  const fileSystem = await makeStore(true, {}, FEW);
  let phyOffset = 0;
  let size = 0;
  for await (const item of dumpStore(fileSystem, ROOT)) {
    if (item.kind !== "record" || item.message.queueOffset !== 3) continue;
    ({ phyOffset, storeSize: size } = item.message);
    break;
  }
  const silent = await unnoticed(
    fileSystem,
    fileOf("commitlog", 0),
    phyOffset,
    phyOffset + size,
  );
  // Flag and sysFlag, times and hosts, reconsumeTimes, preparedTransactionOffset.
  const free = (at: number) => at >= 16 && at < 20 || at >= 36 && at < 84;
  assertEquals(silent.filter((it) => !free(it - phyOffset)), []);
});

test("verifyStore() notices a flipped bit anywhere in a unit", async () => {
  const fileSystem = await makeStore(true, {}, FEW);
  const path = fileOf("consumequeue/T/0", 0);
  assertEquals(await unnoticed(fileSystem, path, 0, 100), []);
});

test("verifyStore() notices a flipped bit anywhere in an index file", async () => {
  const fileSystem = await makeStore();
  const [first] = fileSystem.list(`${ROOT}/index`);
  const path = `${ROOT}/index/${first!.name}`;
  // The number of slots in use; 4.x before 4.9 counts every entry there.
  const header = await unnoticed(fileSystem, path, 0, ENTRIES_AT);
  assertEquals(header, [32, 33, 34, 35]);
  // Seconds of the first entry: they count from a file that may be gone.
  const from = ENTRIES_AT + ENTRY_SIZE;
  const silent = await unnoticed(fileSystem, path, from, from + 5 * ENTRY_SIZE);
  assertEquals(silent, [12, 13, 14, 15].map((it) => from + it));
});

test("verifyStore() tells of one wrong index entry once, and goes on behind it", async () => {
  for (const phyOffset of [3, 5_000_000]) {
    const fileSystem = await makeStore();
    const [name] = fileSystem.list(`${ROOT}/index`).map((it) => it.name);
    const path = `${ROOT}/index/${name}`;
    const at = ENTRIES_AT + 7 * ENTRY_SIZE;
    change(fileSystem, path, (bytes) => {
      new DataView(bytes.buffer).setBigInt64(at + 4, BigInt(phyOffset));
    });
    const findings = await findingsOf(fileSystem);
    assertEquals(findings.map((it) => it.kind), [
      "index-entry",
      "index-missing",
    ]);
    const entry = only(findings, "index-entry");
    assertEquals([entry.path, entry.offset], [path, at]);
    assert(entry.message.includes(`Entry 7 points to ${phyOffset}, where no`));
    assert(only(findings, "index-missing").message.startsWith("1 keys"));
  }
});

test("verifyStore() takes the tags that 5.5.0 files in the index for keys of its own", async () => {
  const fileSystem = await makeStore();
  const [name] = fileSystem.list(`${ROOT}/index`).map((it) => it.name);
  const path = `${ROOT}/index/${name}`;
  const entry = ENTRIES_AT + 2 * ENTRY_SIZE;
  // The second of U's first record; its slot's chain is not what this is about.
  change(fileSystem, path, (bytes) => {
    const view = new DataView(bytes.buffer);
    view.setInt32(entry, indexKeyHash("U", "T#TagA"));
  });
  const findings = await findingsOf(fileSystem);
  assert(!findings.some((it) => it.message.includes("does not have")));
  change(fileSystem, path, (bytes) => {
    new DataView(bytes.buffer).setInt32(entry, indexKeyHash("U", "T#TagB"));
  });
  const strange = await findingsOf(fileSystem);
  assert(strange.some((it) => it.message.includes("does not have")));
});

test("verifyStore() finds the only file of a queue, or of the log, to be cut", async () => {
  for (
    const [path, size] of [
      [fileOf("consumequeue/U/0", 0), 399],
      [fileOf("commitlog", 0), 4095],
    ] as const
  ) {
    const fileSystem = await makeStore(true, {}, 12);
    change(fileSystem, path, (bytes) => bytes.subarray(0, size));
    const finding = only(await findingsOf(fileSystem), "wrong-size");
    assertEquals([finding.path, finding.offset], [path, size]);
  }
});

test("verifyStore(), inspectStore() and dumpStore() survive whatever lies in the files", async () => {
  const random = new SimRandom(60);
  for (let round = 0; round < 150; round++) {
    const fileSystem = await makeStore(random.oneIn(2), {}, FEW);
    const paths = [...fileSystem.files.keys()].filter((it) =>
      /consumequeue|commitlog|index|checkpoint/.test(it)
    );
    const path = paths[random.nextInt(paths.length)]!;
    change(fileSystem, path, (bytes) => {
      if (random.oneIn(4)) {
        return bytes.subarray(0, random.nextInt(bytes.length));
      }
      const from = random.nextInt(bytes.length);
      const to = Math.min(bytes.length, from + 1 + random.nextInt(200));
      bytes.set(random.bytes(to - from), from);
      return bytes;
    });
    await verifyStore(fileSystem, ROOT);
    await inspectStore(fileSystem, ROOT);
    for await (const _ of dumpStore(fileSystem, ROOT));
    assertEquals(fileSystem.openCount, 0);
  }
});

test("A file that Apache made ahead and was killed before it used it is no damage", async () => {
  for (const isStopped of [true, false]) {
    const fileSystem = await makeStore(isStopped);
    const before = await inspectStore(fileSystem, ROOT);
    const last = fileSystem.list(`${ROOT}/commitlog`).at(-1)!.name;
    const ahead = fileOf("commitlog", Number(last) + 4096);
    fileSystem.files.set(ahead, fileSystem.files.get(fileOf("commitlog", 0))!);
    change(fileSystem, ahead, () => new Uint8Array(4096));
    const { isSound, maxPhyOffset } = await verifyStore(fileSystem, ROOT);
    const after = await inspectStore(fileSystem, ROOT);
    assert(isSound);
    assertEquals(maxPhyOffset, before.commitLog.maxOffset);
    assertEquals(after.commitLog.maxOffset, before.commitLog.maxOffset);
    let count = 0;
    for await (const item of dumpStore(fileSystem, ROOT)) {
      assertEquals(item.kind, "record");
      count += 1;
    }
    assertEquals(count, RECORD_COUNT);
    // Something in it is what a power cut left.
    change(fileSystem, ahead, (bytes) => void bytes.fill(1, 2000, 2100));
    const { findings } = await verifyStore(fileSystem, ROOT);
    assertEquals(findings.some((it) => it.path === ahead), true);
  }
});

test("verifyStore() tells of a lost log file once, with what points into it", async () => {
  const fileSystem = await makeStore();
  fileSystem.files.delete(fileOf("commitlog", 4096));
  const findings = await findingsOf(fileSystem);
  const gap = only(findings, "file-gap");
  assert(/; \d+ entries of queues and index point to it$/.test(gap.message));
  const others = new Set(findings.map((it) => it.kind));
  assertEquals([...others].sort(), ["file-gap", "queue-offset"]);
});
