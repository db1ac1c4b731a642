/** The work of `pocketmq store`. */
import { CONFIG_FILE_READERS } from "../broker/config_file_readers.ts";
import { FileError } from "../io/file_system.ts";
import { dumpStore as dump, type StoreDumpItem } from "../store/store_dump.ts";
import {
  inspectStore as inspect,
  type StoreInspection,
} from "../store/store_inspect.ts";
import type { StoreFinding } from "../store/store_finding.ts";
import { verifyStore as verify } from "../store/store_verify.ts";
import { type CliContext, printLine, printWarning } from "./cli_context.ts";
import { CliError } from "./cli_error.ts";
import { absolutePath } from "./files.ts";
import { messageJson } from "./message_output.ts";
import { messageView } from "./message_view.ts";
import { printFields, printJson, tableText } from "./output.ts";
import type { DumpFlags, StoreFlags } from "./store_command.ts";
import { timeText } from "./time.ts";

/** Throws CliError unless there is a store. */
function checkStore(context: CliContext, path: string): void {
  const { fileSystem } = context.runtime;
  const isFolder = (it: string) => {
    try {
      return fileSystem.stat(it)?.isDirectory === true;
    } catch (error) {
      if (error instanceof FileError) return false;
      throw error;
    }
  };
  if (!isFolder(path)) {
    throw new CliError(
      `Cannot look at ${path}: there is no such folder; name the storePathRootDir of a broker`,
      2,
    );
  }
  if (!isFolder(`${path}/commitlog`) && !isFolder(`${path}/config`)) {
    const below = fileSystem.list(path).map(({ name }) => `${path}/${name}`)
      .filter((it) => isFolder(`${it}/commitlog`)).sort();
    if (below.length > 0) {
      const others = below.length > 1 ? ` (or another of ${below.length})` : "";
      throw new CliError(
        `Cannot look at ${path}: it is no store, but has one below: name ${
          below.at(-1)
        }${others}`,
        2,
      );
    }
    throw new CliError(
      `Cannot look at ${path}: it is no store; name the storePathRootDir, which holds commitlog/`,
      2,
    );
  }
}

/** `store verify`: exit 1 when something is broken. */
export async function verifyStore(
  context: CliContext,
  path: string,
  flags: StoreFlags,
): Promise<void> {
  checkStore(context, path);
  const { findings, omittedFindings, ...result } = await verify(
    context.runtime.fileSystem,
    path,
    { configReaders: CONFIG_FILE_READERS },
  );
  context.exitCode = result.isSound ? 0 : 1;
  if (flags.json === true) {
    printJson(context, { path, ...result, findings, omittedFindings });
    return;
  }
  for (const it of findings) {
    const at = it.offset === null ? "" : ` at ${it.offset}`;
    printLine(
      context,
      `${it.severity} ${it.kind}: ${it.path}${at}: ${it.message}`,
    );
  }
  if (omittedFindings > 0) printLine(context, `and ${omittedFindings} more`);
  printLine(
    context,
    `${
      result.isSound ? "sound" : "broken"
    }: ${result.recordCount} records in ${result.minPhyOffset}..${result.maxPhyOffset}, ${result.unitCount} units in ${result.queueCount} queues, ${result.indexEntryCount} entries in ${result.indexFileCount} index files`,
  );
  if (!result.lastExitOk) {
    printLine(context, "the store is running or was not stopped cleanly");
  }
}

/** `store dump`. */
export async function dumpStore(
  context: CliContext,
  path: string,
  flags: DumpFlags,
): Promise<void> {
  checkStore(context, path);
  const items = dump(context.runtime.fileSystem, path, {
    fromOffset: flags.from,
    count: flags.count,
    ...(flags.topic === undefined ? {} : { topic: flags.topic }),
    ...(flags.queue === undefined ? {} : { queueId: flags.queue }),
  });
  for await (const item of items) {
    if (item.kind === "finding") {
      tellFinding(context, item.finding);
      continue;
    }
    if (item.kind === "corrupt") context.exitCode = 1;
    printLine(
      context,
      flags.json === true ? dumpJson(item) : dumpLine(item, flags),
    );
  }
}

/** On standard error; exit 1 for what is broken. */
function tellFinding(context: CliContext, finding: StoreFinding): void {
  const { severity, kind, path, message } = finding;
  if (severity === "error") context.exitCode = 1;
  printWarning(context, `${severity} ${kind}: ${path}: ${message}`);
}

type DumpedItem = Exclude<StoreDumpItem, { kind: "finding" }>;

function dumpJson(item: DumpedItem): string {
  return JSON.stringify(
    item.kind === "corrupt" ? item : messageJson(messageView(item.message)),
  );
}

function dumpLine(item: DumpedItem, flags: DumpFlags): string {
  if (item.kind === "corrupt") {
    return `${item.phyOffset} corrupt: ${item.reason} (${item.path})`;
  }
  const view = messageView(item.message);
  const place = `${view.topic}/${view.queueId}@${view.queueOffset}`;
  const line =
    `${view.commitLogOffset} ${view.storeSize} ${place} ${view.msgId} ${
      timeText(view.storeTimestamp)
    }`;
  if (flags.body !== true) return line;
  return `${line} ${messageJson(view).body}`;
}

/** `store inspect`. */
export async function inspectStore(
  context: CliContext,
  path: string,
  flags: StoreFlags,
): Promise<void> {
  checkStore(context, path);
  const { fileSystem } = context.runtime;
  // The keys go into a file that is read elsewhere.
  const root = absolutePath(context.process.workingDirectory(), path);
  const found = await inspect(fileSystem, root);
  context.exitCode = found.isSound ? 0 : 1;
  if (flags.json === true) {
    printJson(context, found);
    return;
  }
  const { commitLog, consumeQueue, index } = found;
  printFields(context, flags, [
    ["store", path],
    [
      "state",
      found.lastExitOk
        ? "stopped cleanly"
        : "running, or was not stopped cleanly",
    ],
    [
      "commit log",
      `${commitLog.minOffset}..${commitLog.maxOffset} in ${commitLog.fileCount} files of ${commitLog.fileSize} bytes`,
    ],
    ["first message", timeText(commitLog.firstStoreTimestamp ?? 0)],
    ["last message", timeText(commitLog.lastStoreTimestamp ?? 0)],
    ["index files", index.files.length],
    ["config files", found.config.map((it) => it.name).join(" ")],
  ], found);
  printTopics(context, consumeQueue.topics);
  printLine(context, "\nkeys to open it with Apache RocketMQ or PocketMQ:");
  for (const [key, value] of Object.entries(found.apacheKeys)) {
    printLine(context, `${key}=${value}`);
  }
  for (const it of found.findings) tellFinding(context, it);
}

function printTopics(
  context: CliContext,
  topics: StoreInspection["consumeQueue"]["topics"],
): void {
  printLine(context, "");
  printLine(
    context,
    tableText(
      ["TOPIC", "QUEUE", "MIN", "MAX", "FILES"],
      topics.flatMap(({ topic, queues }) =>
        queues.map((it) => [
          topic,
          it.queueId,
          it.minOffset,
          it.maxOffset,
          it.fileCount,
        ])
      ),
    ),
  );
}
