/**
 * verifyStore: walks the log of a store, ours or Apache's, and compares queues and index with
 * it. Never writes. A store that is running, or was not stopped cleanly, may lag behind its
 * log: that is told as a warning.
 */
import { FileError, type FileSystem } from "../io/file_system.ts";
import {
  decodeDispatchRequest,
  isWithoutQueueOffset,
} from "./commit_log_record.ts";
import { readDeletedTopics } from "./deleted_topics.ts";
import { DelayLevelTable } from "./delay_level_table.ts";
import type { IndexGeometry } from "./index_file.ts";
import { type LogItem, walkLog } from "./log_walk.ts";
import { readIndexFiles } from "./read_index_files.ts";
import { ReadOnlyFiles, ReadOnlyHandles } from "./read_only_files.ts";
import { readOnlyLog } from "./read_only_log.ts";
import { readStoreCheckpoint } from "./store_checkpoint.ts";
import { type StoreFinding, StoreFindings } from "./store_finding.ts";
import { type ConfigReader, verifyConfig } from "./verify_config.ts";
import { IndexVerifier } from "./verify_index.ts";
import { QueueVerifier } from "./verify_queues.ts";

const FINDINGS_MAX = 1_000;

/** How to look. */
export interface StoreVerifyOptions {
  /** When the log is elsewhere than in `commitlog/`. */
  readonly commitLogDirectory?: string;
  /** When index files do not have four entries per slot. */
  readonly indexGeometry?: IndexGeometry;
  /** Findings listed; more are counted. */
  readonly findingsMax?: number;
  /** Of the files below `config/`, by name; none: they are not looked at. */
  readonly configReaders?: ReadonlyMap<string, ConfigReader>;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

/** What was found. */
export interface StoreVerification {
  /** True when no finding is an error. */
  readonly isSound: boolean;
  /** False: the store is running or was not stopped cleanly. */
  readonly lastExitOk: boolean;
  /** A process has it open: what it has not written yet is left out. */
  readonly isInUse: boolean;
  readonly minPhyOffset: number;
  /** End of the last sound record. */
  readonly maxPhyOffset: number;
  readonly recordCount: number;
  readonly corruptRecordCount: number;
  readonly queueCount: number;
  readonly unitCount: number;
  readonly indexFileCount: number;
  readonly indexEntryCount: number;
  readonly findings: readonly StoreFinding[];
  readonly omittedFindings: number;
}

/** Looks at everything under `path` (storePathRootDir). Throws `FileError` from the device. */
export async function verifyStore(
  fileSystem: FileSystem,
  path: string,
  options: StoreVerifyOptions = {},
): Promise<StoreVerification> {
  const handles = new ReadOnlyHandles(fileSystem);
  try {
    return await new StoreVerifier(handles, path, options).run();
  } finally {
    handles.close();
  }
}

/** True when another process holds the lock of the store. */
function isInUse(fileSystem: FileSystem, path: string): boolean {
  if (fileSystem.stat(`${path}/lock`) === undefined) return false;
  try {
    fileSystem.lock(`${path}/lock`).release();
    return false;
  } catch (error) {
    return error instanceof FileError && error.kind === "locked";
  }
}

class StoreVerifier {
  readonly #options: StoreVerifyOptions;
  readonly #findings: StoreFindings;
  readonly #log: ReadOnlyFiles;
  readonly #queues: QueueVerifier;
  readonly #index: IndexVerifier;
  readonly #lastExitOk: boolean;
  readonly #isInUse: boolean;
  readonly #indexFileCount: number;
  #recordCount = 0;
  #corruptCount = 0;
  #endOffset = 0;

  constructor(
    handles: ReadOnlyHandles,
    private readonly path: string,
    options: StoreVerifyOptions,
  ) {
    this.#options = options;
    this.#findings = new StoreFindings(options.findingsMax ?? FINDINGS_MAX);
    const findings = this.#findings;
    this.#lastExitOk = handles.fileSystem.stat(`${path}/abort`) === undefined;
    this.#isInUse = !this.#lastExitOk && isInUse(handles.fileSystem, path);
    const lagSeverity = this.#lastExitOk ? "error" : "warning";
    const recorded = readStoreCheckpoint(
      handles.fileSystem,
      `${path}/checkpoint`,
    );
    this.#log = readOnlyLog(
      handles,
      path,
      options.commitLogDirectory ?? `${path}/commitlog`,
      findings,
    );
    this.#queues = new QueueVerifier(
      handles,
      `${path}/consumequeue`,
      this.#log,
      findings,
      readDeletedTopics(handles.fileSystem, path),
      lagSeverity,
      this.#isInUse,
      recorded?.mappedFileSizeConsumeQueue ?? 0,
    );
    verifyConfig(
      handles.fileSystem,
      path,
      options.configReaders ?? new Map(),
      findings,
    );
    const directory = `${path}/index`;
    const files = readIndexFiles(
      handles,
      directory,
      findings,
      options.indexGeometry,
    );
    this.#indexFileCount = files.length;
    this.#index = new IndexVerifier({
      files,
      handles,
      log: this.#log,
      findings,
      lagSeverity,
      directory,
      isInUse: this.#isInUse,
    });
  }

  async run(): Promise<StoreVerification> {
    await this.#walk();
    this.#queues.finish(this.#log.minOffset, this.#endOffset);
    if (this.#indexFileCount > 0) this.#index.finish(this.#endOffset);
    if (this.#isInUse) this.#noteUse();
    const list = this.#findings.finish();
    const { omitted, errorCount } = this.#findings;
    return {
      isSound: errorCount === 0,
      lastExitOk: this.#lastExitOk,
      isInUse: this.#isInUse,
      minPhyOffset: this.#log.minOffset,
      maxPhyOffset: this.#endOffset,
      recordCount: this.#recordCount,
      corruptRecordCount: this.#corruptCount,
      queueCount: this.#queues.queueCount,
      unitCount: this.#queues.unitCount,
      indexFileCount: this.#indexFileCount,
      indexEntryCount: this.#index.entryCount,
      findings: list,
      omittedFindings: omitted,
    };
  }

  async #walk(): Promise<void> {
    const delayLevels = new DelayLevelTable("");
    const log = this.#log;
    this.#endOffset = log.minOffset;
    const walk = walkLog(log, { checkCrc: true, looksBeyondEnd: true });
    for await (const item of walk) {
      if (item.kind === "record") {
        const request = decodeDispatchRequest(
          item.bytes,
          item.view,
          item.position,
          delayLevels,
        );
        if (!isWithoutQueueOffset(request.sysFlag)) {
          this.#queues.onRecord(request);
        }
        if (this.#indexFileCount > 0) this.#index.onRecord(request);
        this.#endOffset = item.phyOffset + item.size;
        this.#recordCount += 1;
        if (this.#recordCount % 10_000 === 0) this.#progress();
      } else if (item.kind === "corrupt") {
        this.#corruptCount += 1;
        this.#endOffset = item.nextOffset;
        this.#queues.onCorrupt();
        this.#onCorrupt(item);
      } else if (item.reason !== null) this.#onTornTail(item.path, item);
    }
    this.#progress();
  }

  #onCorrupt(item: LogItem & { kind: "corrupt" }): void {
    const { phyOffset, nextOffset, path, reason, record } = item;
    const what = record === null
      ? "A record"
      : `The record of topic ${
        record.topic ?? "(unreadable)"
      }, queue ${record.queueId}, queue offset ${record.queueOffset}`;
    this.#findings.addSpan(
      {
        severity: "error",
        kind: "corrupt-record",
        path,
        offset: phyOffset,
        message:
          `${what} is broken: ${reason}; the ${
            nextOffset - phyOffset
          } bytes up to ${nextOffset} are passed over. To have it back, stop the broker and ` +
          "restore this file from a backup or a replica; else this is told until the file " +
          "expires (fileReservedTime)",
      },
      phyOffset,
      nextOffset,
    );
  }

  #noteUse(): void {
    const units = this.#queues.laggingCount;
    const keys = this.#index.laggingCount;
    this.#findings.add({
      severity: "note",
      kind: "in-use",
      path: this.path,
      offset: null,
      message: "The store is in use: what it has not written yet is left out " +
        `(${units} units, ${keys} keys)`,
    });
  }

  #onTornTail(
    path: string,
    item: { phyOffset: number; reason: string | null },
  ): void {
    // A write on its way.
    if (this.#isInUse) return;
    this.#findings.add({
      severity: this.#lastExitOk ? "error" : "warning",
      kind: "torn-tail",
      path,
      offset: item.phyOffset,
      message:
        `Behind the last sound record stands something else: ${item.reason}`,
    });
  }

  #progress(): void {
    const { minOffset, endOffset } = this.#log;
    this.#options.onProgress?.(
      this.#endOffset - minOffset,
      endOffset - minOffset,
    );
  }
}
