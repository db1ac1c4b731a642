/** Compares the index files of two stores, ours or Apache's, also of running brokers. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import {
  findProperty,
  MessageConst,
} from "../../src/model/message_properties.ts";
import {
  checkMessageRecord,
  decodeMessageRecord,
} from "../../src/model/message_record.ts";
import { indexKeyHash } from "../../src/store/index_key.ts";

const HEADER_SIZE = 40;
const SLOT_SIZE = 4;
const ENTRY_SIZE = 20;
/** A slot and its four entries, as every test sets them. */
const SLOT_AND_ENTRIES_SIZE = SLOT_SIZE + 4 * ENTRY_SIZE;

/** The common range of two logs. */
export interface ComparedLog {
  minOffset: number;
  maxOffset: number;
  /** The bytes of the record that begins there, and what follows. */
  recordAt(phyOffset: number): Uint8Array;
}

/**
 * Differences as sentences, and the number of entries that are equal. Entries count as a set of
 * key hash and place in the log, of records in [minOffset, maxOffset): a broker that was killed
 * may file a record twice, and files begin elsewhere where a slave joined late.
 */
export function compareIndexes(
  master: string,
  slave: string,
  log: ComparedLog,
): { differences: string[]; entryCount: number } {
  const theirs = readEntries(master, log);
  const ours = readEntries(slave, log);
  const beside = (left: Set<string>, right: Set<string>) =>
    new Set([...left.difference(right)].filter((it) => !isTagEntry(it, log)));
  const missing = beside(theirs, ours);
  const beyond = beside(ours, theirs);
  const differences = [[missing, "lacks"], [
    beyond,
    "has in addition",
  ]] as const;
  return {
    differences: differences.filter(([entries]) => entries.size > 0)
      .map(([entries, what]) =>
        `the index ${what} ${entries.size} entries, as ${[...entries][0]}`
      ),
    entryCount: ours.intersection(theirs).size,
  };
}

/** The newest 5.x files tags too, under a key of their own; older ones and ours do not. */
function isTagEntry(entry: string, log: ComparedLog): boolean {
  const phyOffset = Number(entry.split("@")[1]);
  const bytes = log.recordAt(phyOffset);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // A record that is still being written is compared the next time.
  const { kind } = checkMessageRecord(bytes, view, 0, bytes.length, {
    checkCrc: false,
  });
  if (kind !== "record") return false;
  const record = decodeMessageRecord(bytes);
  const tags = findProperty(record.propertiesText, MessageConst.TAGS);
  return tags !== undefined &&
    entry === `${indexKeyHash(record.topic, `T#${tags}`)}@${phyOffset}`;
}

/**
 * `keyHash@phyOffset`. A header may be older than the entries behind it: they are read up to
 * the first that was never written.
 */
function readEntries(
  storePath: string,
  { minOffset, maxOffset }: ComparedLog,
): Set<string> {
  const folder = `${storePath}/index`;
  const entries = new Set<string>();
  if (!existsSync(folder)) return entries;
  for (const name of readdirSync(folder).filter((it) => /^\d{17}$/.test(it))) {
    const bytes = readFileSync(`${folder}/${name}`);
    const slotCount = (bytes.length - HEADER_SIZE) / SLOT_AND_ENTRIES_SIZE;
    // Entry 0 is unused.
    let at = HEADER_SIZE + slotCount * SLOT_SIZE + ENTRY_SIZE;
    for (; at + ENTRY_SIZE <= bytes.length; at += ENTRY_SIZE) {
      const keyHash = bytes.readInt32BE(at);
      const phyOffset = Number(bytes.readBigInt64BE(at + 4));
      if (keyHash === 0 && phyOffset === 0) break;
      if (phyOffset < minOffset || phyOffset >= maxOffset) continue;
      entries.add(`${keyHash}@${phyOffset}`);
    }
  }
  return entries;
}
