/** Compares the files of a master's and a slave's store, ours or Apache's, also of running brokers. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import {
  BLANK_MAGIC_CODE,
  MESSAGE_MAGIC_CODE_V2,
} from "../../src/model/message_record.ts";
import { compareIndexes } from "./index_compare.ts";

const UNIT_SIZE = 20;
/** Size in the units that fill a queue's first file before its first message. */
const FILLER_SIZE = 0x7fffffff;

/** What one store's files hold. */
interface LogFiles {
  /** Start offset and bytes, in order. */
  files: { start: number; bytes: Buffer }[];
  minOffset: number;
  /** End of the last record. */
  maxOffset: number;
  recordCount: number;
  /** Of those, with topics of more than 127 bytes. */
  v2RecordCount: number;
}

/** What was compared, and every difference as a sentence. */
export interface StoreComparison {
  differences: string[];
  minOffset: number;
  maxOffset: number;
  fileCount: number;
  recordCount: number;
  v2RecordCount: number;
  unitCount: number;
  indexEntryCount: number;
}

/**
 * The slave's log must be byte-identical from its own first file up to the
 * master's end, and both must hold the same ConsumeQueue units and index entries for that range.
 */
export function compareStores(master: string, slave: string): StoreComparison {
  const ours = readLog(slave);
  const theirs = readLog(master);
  const differences: string[] = [];
  if (ours.maxOffset !== theirs.maxOffset) {
    differences.push(`ends at ${ours.maxOffset}, master ${theirs.maxOffset}`);
  }
  const end = Math.min(ours.maxOffset, theirs.maxOffset);
  let fileCount = 0;
  for (const { start, bytes } of ours.files) {
    if (start >= end) continue;
    fileCount++;
    const other = theirs.files.find((it) => it.start === start);
    if (other === undefined || other.bytes.length !== bytes.length) {
      differences.push(`no file ${start} of ${bytes.length} on the master`);
      continue;
    }
    const size = Math.min(bytes.length, end - start);
    const at = differenceOf(bytes, other.bytes, size);
    if (at >= 0) differences.push(`log differs at ${start + at}`);
  }
  const unitCount = compareQueues(master, slave, ours.minOffset, differences);
  const index = compareIndexes(master, slave, {
    minOffset: ours.minOffset,
    maxOffset: end,
    recordAt: (phyOffset) => recordAt(ours, phyOffset),
  });
  differences.push(...index.differences);
  return {
    differences,
    minOffset: ours.minOffset,
    maxOffset: ours.maxOffset,
    fileCount,
    recordCount: ours.recordCount,
    v2RecordCount: ours.v2RecordCount,
    unitCount,
    indexEntryCount: index.entryCount,
  };
}

/** End of the last record in a store's log; 0 when it is empty. */
export function logEndOf(storePath: string): number {
  return readLog(storePath).maxOffset;
}

function readLog(storePath: string): LogFiles {
  const files = readFiles(`${storePath}/commitlog`)
    .filter(({ bytes }) => bytes.length > 0 && bytes.readInt32BE(0) !== 0);
  const minOffset = files[0]?.start ?? 0;
  let maxOffset = minOffset;
  let recordCount = 0;
  let v2RecordCount = 0;
  for (const { start, bytes } of files) {
    let at = 0;
    while (at + 8 <= bytes.length) {
      const size = bytes.readInt32BE(at);
      const magic = bytes.readInt32BE(at + 4);
      if (size <= 0) break;
      if (magic === BLANK_MAGIC_CODE) at = bytes.length;
      else {
        // A record that is still being written is not counted.
        if (at + size > bytes.length || bytes.readInt32BE(at + 4) === 0) break;
        if (bytes.readBigInt64BE(at + 28) !== BigInt(start + at)) break;
        at += size;
        recordCount++;
        if (magic === MESSAGE_MAGIC_CODE_V2) v2RecordCount++;
      }
    }
    maxOffset = start + at;
  }
  return { files, minOffset, maxOffset, recordCount, v2RecordCount };
}

function recordAt({ files }: LogFiles, phyOffset: number): Uint8Array {
  const file = files.findLast(({ start }) => start <= phyOffset)!;
  return file.bytes.subarray(phyOffset - file.start);
}

function readFiles(folder: string): { start: number; bytes: Buffer }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => /^\d{20}$/.test(name)).sort()
    .map((name) => ({
      start: Number(name),
      bytes: readFileSync(`${folder}/${name}`),
    }));
}

function differenceOf(left: Buffer, right: Buffer, size: number): number {
  if (left.subarray(0, size).equals(right.subarray(0, size))) return -1;
  for (let at = 0; at < size; at++) if (left[at] !== right[at]) return at;
  return -1;
}

/** Adds differences; returns how many units are equal. */
function compareQueues(
  master: string,
  slave: string,
  minOffset: number,
  differences: string[],
): number {
  const theirs = readQueues(master, minOffset);
  const ours = readQueues(slave, minOffset);
  const inBatches = new Set([...batchTopics(master), ...batchTopics(slave)]);
  let count = 0;
  for (const name of new Set([...theirs.keys(), ...ours.keys()])) {
    if (inBatches.has(name.split("/")[0]!)) continue;
    const expected = theirs.get(name) ?? new Map<number, string>();
    const actual = ours.get(name) ?? new Map<number, string>();
    if (actual.size !== expected.size) {
      differences.push(
        `queue ${name} has ${actual.size} units, master ${expected.size}`,
      );
      continue;
    }
    for (const [index, unit] of expected) {
      if (actual.get(index) !== unit) {
        differences.push(`queue ${name} differs at unit ${index}`);
        break;
      }
      count++;
    }
  }
  return count;
}

/** Topics of inner batches: Apache's 5.x has queues of another format for them, ours has not. */
function batchTopics(storePath: string): string[] {
  const root = `${storePath}/batchconsumequeue`;
  return existsSync(root) ? readdirSync(root) : [];
}

/** `topic/queueId` → index → the unit's bytes, for records from `minOffset` on. */
function readQueues(
  storePath: string,
  minOffset: number,
): Map<string, Map<number, string>> {
  const root = `${storePath}/consumequeue`;
  const queues = new Map<string, Map<number, string>>();
  if (!existsSync(root)) return queues;
  for (const topic of readdirSync(root)) {
    for (const queueId of readdirSync(`${root}/${topic}`)) {
      const units = readUnits(`${root}/${topic}/${queueId}`, minOffset);
      if (units.size > 0) queues.set(`${topic}/${queueId}`, units);
    }
  }
  return queues;
}

function readUnits(folder: string, minOffset: number): Map<number, string> {
  const units = new Map<number, string>();
  for (const { start, bytes } of readFiles(folder)) {
    for (let at = 0; at + UNIT_SIZE <= bytes.length; at += UNIT_SIZE) {
      const size = bytes.readInt32BE(at + 8);
      if (size <= 0 || size === FILLER_SIZE) continue;
      if (bytes.readBigInt64BE(at) < BigInt(minOffset)) continue;
      units.set(
        (start + at) / UNIT_SIZE,
        bytes.toString("hex", at, at + UNIT_SIZE),
      );
    }
  }
  return units;
}
