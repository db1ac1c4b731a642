/**
 * Looks at the tables below `config/` as a broker that starts would: which of them it cannot
 * read, what it takes instead, and what of them it leaves out.
 */
import type { FileSystem } from "../io/file_system.ts";
import { type JsonOutcome, readJsonText, reasonOf } from "./json_text.ts";
import { readAsideNote } from "./store_aside.ts";
import { readStoreCheckpoint } from "./store_checkpoint.ts";
import type { StoreFindings } from "./store_finding.ts";

/**
 * Reads the whole text of one file; throws when it is of no use, gives the entries that are left
 * out, each with the reason.
 */
export type ConfigReader = (text: string) => readonly string[];

const TOPICS = "topics.json";
/** Entries named per file. */
const LEFT_OUT_MAX = 10;
const CURE =
  "stop the broker and restore it from a backup of config/ or from " +
  "the other broker of the pair";

/** Tells of a broken checkpoint and of every file of `readers` that is damaged; never writes. Throws `FileError`. */
export function verifyConfig(
  fileSystem: FileSystem,
  root: string,
  readers: ReadonlyMap<string, ConfigReader>,
  findings: StoreFindings,
): void {
  tellCheckpoint(fileSystem, `${root}/checkpoint`, findings);
  if (readers.has(TOPICS)) tellMissingTopics(fileSystem, root, findings);
  for (const [name, reader] of readers) {
    const path = `${root}/config/${name}`;
    const main = readJsonText(fileSystem, path, reader);
    const backup = readJsonText(fileSystem, `${path}.bak`, reader);
    if (main.kind === "good") {
      tellLeftOut(path, main.value, findings);
      if (backup.kind === "bad") tellBackup(path, backup.reason, findings);
    } else tellUnread(path, main, backup, findings);
  }
}

function tellCheckpoint(
  fileSystem: FileSystem,
  path: string,
  findings: StoreFindings,
): void {
  if (fileSystem.stat(path) === undefined) return;
  if (readStoreCheckpoint(fileSystem, path) !== null) return;
  findings.warning(
    "checkpoint",
    path,
    null,
    "It is cut or holds nonsense: a start ignores it, reads the whole log after an unclean " +
      "stop, and writes it anew",
  );
}

/** Every broker writes its topics, Apache's too; what is set aside has no config/. */
function tellMissingTopics(
  fileSystem: FileSystem,
  root: string,
  findings: StoreFindings,
): void {
  const path = `${root}/config/${TOPICS}`;
  const isThere = (it: string) => fileSystem.stat(it) !== undefined;
  if (isThere(path) || isThere(`${path}.bak`)) return;
  if (readAsideNote(fileSystem, root) !== null) return;
  const queues = fileSystem.list(`${root}/consumequeue`);
  const count = queues.filter((it) => it.isDirectory).length;
  if (count === 0) return;
  findings.warning(
    "config-file",
    path,
    null,
    `It is missing, and so is its backup, though ${count} topics have queues: a start begins ` +
      `with an empty table, and clients find none of them; before that, ${CURE}`,
  );
}

/** The main file is of no use. */
function tellUnread(
  path: string,
  main: JsonOutcome<unknown>,
  backup: JsonOutcome<readonly string[]>,
  findings: StoreFindings,
): void {
  if (main.kind === "absent" && backup.kind === "absent") return;
  const what = `It ${reasonOf(main)}`;
  if (backup.kind === "good") {
    const message =
      `${what}: a start takes ${path}.bak instead, which may be ` +
      `one write older; to keep what is newer, ${CURE}`;
    if (main.kind === "absent") {
      findings.warning("config-file", path, null, message);
    } else findings.error("config-file", path, null, message);
    tellLeftOut(`${path}.bak`, backup.value, findings);
    return;
  }
  findings.error(
    "config-file",
    path,
    null,
    `${what}, and its backup ${reasonOf(backup)}: a start sets it aside as ` +
      `*.corrupt and begins with an empty table; before that, ${CURE}`,
  );
}

function tellBackup(
  path: string,
  reason: string,
  findings: StoreFindings,
): void {
  findings.warning(
    "config-file",
    `${path}.bak`,
    null,
    `It ${reason}: while ${path} is sound it is not read, and the next write replaces it`,
  );
}

function tellLeftOut(
  path: string,
  leftOut: readonly string[],
  findings: StoreFindings,
): void {
  for (const it of leftOut.slice(0, LEFT_OUT_MAX)) {
    findings.error(
      "config-entry",
      path,
      null,
      `A start leaves out the entry ${it}; correct it there, or ${CURE}`,
    );
  }
  const more = leftOut.length - LEFT_OUT_MAX;
  if (more <= 0) return;
  findings.error(
    "config-entry",
    path,
    null,
    `A start leaves out ${more} more entries`,
  );
}
