/**
 * What may be wrong with a store on disk, ours or Apache's, and that `pocketmq store verify` says
 * so: exit 1, and one line with the file and the offset. And what is not wrong.
 */
import { assert, assertEquals } from "@std/assert";
import { spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { runPocketMQ } from "./pocketmq_process.ts";

const UNIT_SIZE = 20;
const INDEX_HEADER_SIZE = 40;
/** Bytes of a slot and its four entries, the proportion of all stores here. */
const SLOT_AND_ENTRIES_SIZE = 84;

/** A message with a body whose log file is full, and whose queue goes on behind it. */
export interface Victim {
  topic: string;
  queueId: number;
  queueOffset: number;
  phyOffset: number;
}

/** One thing that is wrong, and where `store verify` sees it. */
interface Damage {
  kind: string;
  /** In the store. */
  path: string;
  /** Null: of the whole file. */
  offset: number | null;
  /** What else follows from it, and may stand beside it. */
  beside: string[];
  make(path: string): void;
}

/** Copies `store` for each kind of damage, one after the other. */
export async function checkDamages(
  store: string,
  victim: Victim,
): Promise<void> {
  for (const damage of damagesOf(store, victim)) {
    const copy = `${store}-damaged`;
    assertEquals(spawnSync("cp", ["-a", store, copy]).status, 0);
    const path = `${copy}/${damage.path}`;
    damage.make(path);
    const done = await runPocketMQ(["store", "verify", copy]);
    const lines = done.stdout.split("\n");
    const at = damage.offset === null ? "" : ` at ${damage.offset}`;
    const told = `error ${damage.kind}: ${path}${at}: `;
    const what = `${told}\n${done.stdout.slice(0, 4_000)}${done.stderr}`;
    assertEquals(done.code, 1, what);
    assertEquals(lines.filter((it) => it.startsWith(told)).length, 1, what);
    const others = lines.filter((it) =>
      it.startsWith("error ") && !it.startsWith(told) &&
      !damage.beside.some((kind) => it.startsWith(`error ${kind}: `))
    );
    assertEquals(others, [], what);
    rmSync(copy, { recursive: true });
  }
}

/** A store whose oldest files have expired is sound. */
export async function checkDeletedBeginning(store: string): Promise<void> {
  const copy = `${store}-shortened`;
  assertEquals(spawnSync("cp", ["-a", store, copy]).status, 0);
  const [first, second] = readdirSync(`${copy}/commitlog`).sort();
  assert(second !== undefined, "one log file cannot go");
  rmSync(`${copy}/commitlog/${first}`);
  for (const round of ["units below the log", "without their first file"]) {
    const done = await runPocketMQ(["store", "verify", copy]);
    assertEquals(done.code, 0, `${round}: ${done.stdout.slice(0, 4_000)}`);
    deleteExpiredQueueFiles(copy, Number(second));
  }
  rmSync(copy, { recursive: true });
}

/** As a broker does it: files whose last unit is below the log, if others follow. */
function deleteExpiredQueueFiles(store: string, minPhyOffset: number): void {
  const root = `${store}/consumequeue`;
  for (const topic of readdirSync(root)) {
    for (const queueId of readdirSync(`${root}/${topic}`)) {
      const folder = `${root}/${topic}/${queueId}`;
      const [first, ...others] = readdirSync(folder).sort();
      if (others.length === 0) continue;
      const path = `${folder}/${first}`;
      const last = readAt(path, statSync(path).size - UNIT_SIZE, UNIT_SIZE);
      if (last.readBigInt64BE(0) < BigInt(minPhyOffset)) rmSync(path);
    }
  }
}

function damagesOf(store: string, victim: Victim): Damage[] {
  const { topic, queueId, queueOffset, phyOffset } = victim;
  const logs = readdirSync(`${store}/commitlog`).sort();
  const log = logs.findLast((it) => Number(it) <= phyOffset)!;
  const logSize = statSync(`${store}/commitlog/${log}`).size;
  const queue = `consumequeue/${topic}/${queueId}`;
  const queueFile = `${queue}/${readdirSync(`${store}/${queue}`).sort()[0]}`;
  const unitAt = queueOffset * UNIT_SIZE;
  const index = `index/${readdirSync(`${store}/index`).sort()[0]}`;
  const indexSize = statSync(`${store}/${index}`).size;
  const slots = (indexSize - INDEX_HEADER_SIZE) / SLOT_AND_ENTRIES_SIZE;
  const entryAt = INDEX_HEADER_SIZE + 4 * slots + UNIT_SIZE * 10;
  assert(existsSync(`${store}/${queueFile}`) && Number.isInteger(slots));
  return [
    {
      kind: "config-file",
      path: "config/topics.json",
      offset: null,
      beside: [],
      make: (path) => truncateSync(path, statSync(path).size - 5),
    },
    {
      kind: "corrupt-record",
      path: `commitlog/${log}`,
      offset: phyOffset,
      beside: [],
      make: (path) => flip(path, phyOffset - Number(log) + 90),
    },
    {
      kind: "wrong-size",
      path: `commitlog/${log}`,
      offset: Number(log) + logSize / 2,
      // Records and keys behind the cut are gone, for every queue.
      beside: ["queue-offset", "corrupt-record"],
      make: (path) => truncateSync(path, logSize / 2),
    },
    {
      kind: "wrong-size",
      path: queueFile,
      offset: unitAt,
      beside: ["unit-missing"],
      make: (path) => truncateSync(path, unitAt),
    },
    {
      kind: "wrong-size",
      path: index,
      offset: indexSize - 1,
      beside: ["index-missing"],
      make: (path) => truncateSync(path, indexSize - 1),
    },
    {
      kind: "unit-dangling",
      path: queueFile,
      offset: queueOffset,
      beside: ["unit-wrong"],
      make: (path) => pointAt(path, unitAt, phyOffset + 3),
    },
    {
      kind: "unit-dangling",
      path: queueFile,
      offset: queueOffset,
      beside: ["unit-wrong"],
      make: (path) => pointAt(path, unitAt, 2 ** 40),
    },
    {
      kind: "index-entry",
      path: index,
      offset: entryAt,
      beside: ["index-missing"],
      make: (path) => pointAt(path, entryAt + 4, phyOffset + 3),
    },
    {
      kind: "index-entry",
      path: index,
      offset: entryAt,
      beside: ["index-missing"],
      make: (path) => pointAt(path, entryAt + 4, 2 ** 40),
    },
  ];
}

function readAt(path: string, position: number, size: number): Buffer {
  const file = openSync(path, "r");
  const bytes = Buffer.alloc(size);
  readSync(file, bytes, 0, size, position);
  closeSync(file);
  return bytes;
}

function writeAt(path: string, position: number, bytes: Uint8Array): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}

function flip(path: string, position: number): void {
  const bytes = readAt(path, position, 1);
  bytes[0]! ^= 1;
  writeAt(path, position, bytes);
}

/** Overwrites an offset of the log. */
function pointAt(path: string, position: number, phyOffset: number): void {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(phyOffset));
  writeAt(path, position, bytes);
}
