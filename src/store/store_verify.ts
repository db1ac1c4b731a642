/**
 * verifyStore: walks the log of a store, ours or Apache's, and compares queues and index with
 * it. Never writes. A store that is running, or was not stopped cleanly, may lag behind its
 * log: that is told as a warning.
 */
import type { FileSystem } from "../io/file_system.ts";
import {
  decodeDispatchRequest,
  isWithoutQueueOffset,
} from "./commit_log_record.ts";
import { readDeletedTopics } from "./deleted_topics.ts";
import { DelayLevelTable } from "./delay_level_table.ts";
import type { IndexGeometry } from "./index_file.ts";
import { walkLog } from "./log_walk.ts";
import { ReadOnlyFiles, ReadOnlyHandles } from "./read_only_files.ts";
import { type StoreFinding, StoreFindings } from "./store_finding.ts";
import { IndexVerifier, readIndexFiles } from "./verify_index.ts";
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
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

/** What was found. */
export interface StoreVerification {
  /** True when no finding is an error. */
  readonly isSound: boolean;
  /** False: the store is running or was not stopped cleanly. */
  readonly lastExitOk: boolean;
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

class StoreVerifier {
  readonly #options: StoreVerifyOptions;
  readonly #findings: StoreFindings;
  readonly #log: ReadOnlyFiles;
  readonly #queues: QueueVerifier;
  readonly #index: IndexVerifier;
  readonly #lastExitOk: boolean;
  readonly #indexFileCount: number;
  #recordCount = 0;
  #corruptCount = 0;
  #endOffset = 0;

  constructor(
    handles: ReadOnlyHandles,
    path: string,
    options: StoreVerifyOptions,
  ) {
    this.#options = options;
    this.#findings = new StoreFindings(options.findingsMax ?? FINDINGS_MAX);
    const findings = this.#findings;
    this.#lastExitOk = handles.fileSystem.stat(`${path}/abort`) === undefined;
    const lagSeverity = this.#lastExitOk ? "error" : "warning";
    this.#log = ReadOnlyFiles.load(
      handles,
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
    );
    const directory = `${path}/index`;
    const files = readIndexFiles(
      handles,
      directory,
      findings,
      options.indexGeometry,
    );
    this.#indexFileCount = files.length;
    this.#index = new IndexVerifier(
      files,
      handles,
      findings,
      lagSeverity,
      directory,
      this.#log.minOffset,
    );
  }

  async run(): Promise<StoreVerification> {
    await this.#walk();
    this.#queues.finish(this.#log.minOffset, this.#endOffset);
    if (this.#indexFileCount > 0) this.#index.finish(this.#endOffset);
    const { list, omitted, errorCount } = this.#findings;
    return {
      isSound: errorCount === 0,
      lastExitOk: this.#lastExitOk,
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
        const lost = item.nextOffset - item.phyOffset;
        this.#findings.error(
          "corrupt-record",
          item.path,
          item.phyOffset,
          `No sound record: ${item.reason}; ${lost} bytes are skipped`,
        );
      } else if (item.reason !== null) this.#onTornTail(item.path, item);
    }
    this.#progress();
  }

  #onTornTail(
    path: string,
    item: { phyOffset: number; reason: string | null },
  ): void {
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
