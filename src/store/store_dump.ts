/** storeDump: the records of a store, ours or Apache's, one by one; never writes. */
import type { FileSystem } from "../io/file_system.ts";
import type { MessageExt } from "../model/message_ext.ts";
import { decodeMessageRecord } from "../model/message_record.ts";
import { walkLog } from "./log_walk.ts";
import { ReadOnlyHandles } from "./read_only_files.ts";
import { readOnlyLog } from "./read_only_log.ts";
import { type StoreFinding, StoreFindings } from "./store_finding.ts";

const FINDINGS_MAX = 1_000;

/** Which records. */
export interface StoreDumpOptions {
  readonly topic?: string;
  readonly queueId?: number;
  /** CommitLog offset; need not be a record's. */
  readonly fromOffset?: number;
  /** At most so many records. */
  readonly count?: number;
  /** When the log is elsewhere than in `commitlog/`. */
  readonly commitLogDirectory?: string;
}

/** A record, or a place where one cannot be read. */
export type StoreDumpItem =
  | { readonly kind: "record"; readonly message: MessageExt }
  /** Of the files of the log, before any record. */
  | { readonly kind: "finding"; readonly finding: StoreFinding }
  | {
    readonly kind: "corrupt";
    readonly phyOffset: number;
    readonly path: string;
    readonly reason: string;
  };

/** `message.body` is valid until the next record. */
export async function* dumpStore(
  fileSystem: FileSystem,
  path: string,
  options: StoreDumpOptions = {},
): AsyncGenerator<StoreDumpItem, void, void> {
  const handles = new ReadOnlyHandles(fileSystem);
  const directory = options.commitLogDirectory ?? `${path}/commitlog`;
  const findings = new StoreFindings(FINDINGS_MAX);
  let left = options.count ?? Number.MAX_SAFE_INTEGER;
  try {
    const files = readOnlyLog(handles, path, directory, findings);
    for (const finding of findings.list) yield { kind: "finding", finding };
    // A torn end is what an unclean stop leaves; the next start cuts it.
    const lastExitOk = fileSystem.stat(`${path}/abort`) === undefined;
    const walk = walkLog(files, {
      checkCrc: true,
      looksBeyondEnd: true,
      fromOffset: options.fromOffset ?? 0,
    });
    for await (const item of walk) {
      if (left <= 0) return;
      if (item.kind !== "record") {
        const { phyOffset, reason } = item;
        if (item.kind === "end" && !lastExitOk || reason === null) continue;
        yield { kind: "corrupt", phyOffset, path: item.path, reason };
        continue;
      }
      const message = decodeMessageRecord(item.bytes, item.position);
      const { topic = message.topic, queueId = message.queueId } = options;
      if (topic !== message.topic || queueId !== message.queueId) continue;
      left -= 1;
      yield { kind: "record", message };
    }
  } finally {
    handles.close();
  }
}
