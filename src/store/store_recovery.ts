/**
 * Recovery of the whole store (reference 5.1): load, recover queues, recover the log, cut
 * everything to the same end, rebuild the next queue offsets.
 *
 * When it returns, log and queues agree; unless the disk is full, which `RecoveryReport.shortage`
 * says. The log is durable. Queues that were built again after an unclean stop are not, until the
 * flush that moves the checkpoint: units that it claims already were not touched, and the next
 * unclean start builds the others again. What the checkpoint may claim and recovery had to take
 * out is durable too.
 */
import type { Logger } from "../io/logger.ts";
import type { CommitLog } from "./commit_log.ts";
import { isWithoutQueueOffset } from "./commit_log_record.ts";
import {
  recoverCommitLog,
  type RecoveryInput,
  type RecoveryReport,
  recoveryStartOffset,
} from "./commit_log_recovery.ts";
import type { ConsumeQueue } from "./consume_queue.ts";
import type { ConsumeQueueStore } from "./consume_queue_store.ts";
import type { DeletedTopics } from "./deleted_topics.ts";
import type { DelayLevelTable } from "./delay_level_table.ts";
import type { DispatchRequest } from "./dispatch_request.ts";
import type { IndexService } from "./index_service.ts";
import {
  queuesWithoutStart,
  resetLackingQueues,
  tellDoubtfulQueues,
} from "./lost_queue_files.ts";
import type { QueueOffsetTable } from "./queue_offset_table.ts";
import type { RecoveryPace } from "./recovery_pace.ts";
import type { StoreCheckpoint } from "./store_checkpoint.ts";
import { type MessageStoreOptions, visibilityOf } from "./store_options.ts";
import { shortageOf } from "./unfinished_start.ts";

/** The parts of a store, loaded by nobody yet. */
export interface StoreRecoveryParts {
  readonly log: CommitLog;
  readonly queues: ConsumeQueueStore;
  readonly index: IndexService;
  readonly checkpoint: StoreCheckpoint;
  readonly deletedTopics: DeletedTopics;
  readonly queueOffsets: QueueOffsetTable;
  readonly delayLevels: DelayLevelTable;
  readonly options: MessageStoreOptions;
  readonly logger: Logger;
  readonly lastExitOk: boolean;
  readonly pace: RecoveryPace;
  /** Whatever happens from now on, the next start takes this life for one that was cut short. */
  markUnclean(): Promise<void>;
}

/** Steps that change the memory first, then the disk: a full one is no reason to stop. */
class Steps {
  /** The words of the disk; null while it took everything. */
  shortage: string | null = null;

  async run(step: () => Promise<void>): Promise<void> {
    const shortage = await shortageOf(step);
    this.shortage ??= shortage;
  }
}

/** Loads and recovers. Throws `StoreFileError` for files that cannot be what they should be. */
export async function recoverStore(
  parts: StoreRecoveryParts,
): Promise<RecoveryReport> {
  const { log, queues, index, checkpoint, lastExitOk } = parts;
  parts.deletedTopics.load(lastExitOk);
  const steps = new Steps();
  await steps.run(() => parts.deletedTopics.flush());
  log.mappedFileQueue.load(lastExitOk);
  const lacking = queues.load(lastExitOk);
  checkpoint.load();
  await reset(parts, lacking);
  const { rebuildFrom } = index.load(lastExitOk);
  queues.recover(lastExitOk);
  const oldUnitsFrom = await removeOldUnits(parts);
  const headless = queuesWithoutStart(
    queues,
    checkpoint,
    log.minOffset,
    lastExitOk,
  );
  await reset(parts, headless.lacking);
  if (log.mappedFileQueue.files.length === 0) {
    return await recoverEmpty(parts, steps);
  }
  const beyond: DispatchRequest[] = [];
  const missing = new MissingUnits(queues);
  const input = inputOf(
    parts,
    queues.maxPhyOffset(),
    parts.options.messageIndexEnable ? rebuildFrom : undefined,
    beyond,
    missing,
  );
  const start = lacking.length + headless.lacking.length > 0
    ? log.minOffset
    : Math.min(recoveryStartOffset(input), oldUnitsFrom);
  if (start > log.minOffset) {
    tellDoubtfulQueues(headless.doubtful, parts.logger);
  }
  // What a power cut has left of newer units may be torn: they are all built again.
  if (!lastExitOk) queues.truncateDirty(start);
  let report = await recoverCommitLog(input, start);
  const isAll = await mustDispatchAll(parts, report, missing);
  if (isAll) {
    beyond.length = 0;
    report = await recoverCommitLog(input, log.minOffset);
  }
  queues.takeGaps();
  const isEmptied = isAll || oldUnitsFrom < Number.MAX_SAFE_INTEGER;
  await cut(parts, report, steps, lastExitOk || isEmptied);
  rebuildQueueOffsets(parts, beyond);
  return { ...report, shortage: report.shortage ?? steps.shortage };
}

async function reset(
  { queues, checkpoint, logger, markUnclean }: StoreRecoveryParts,
  lacking: readonly ConsumeQueue[],
): Promise<void> {
  await resetLackingQueues(queues, lacking, checkpoint, markUnclean, logger);
}

/** Without a log there is nothing that queues or index could point to. */
async function recoverEmpty(
  parts: StoreRecoveryParts,
  steps: Steps,
): Promise<RecoveryReport> {
  const topics = parts.queues.topics();
  if (topics.length > 0) {
    parts.logger.warn("The commit log is empty: all queues are removed", {
      topicCount: topics.length,
    });
  }
  for (const topic of topics) await parts.queues.deleteTopic(topic);
  // A checkpoint of an older log must not speak for the records to come.
  parts.checkpoint.limitTo(0, 0);
  await steps.run(() => parts.index.truncateDirty(0));
  await steps.run(() => parts.deletedTopics.limitTo(0));
  await parts.log.flush();
  return {
    startOffset: 0,
    endOffset: 0,
    reputFromOffset: 0,
    recordCount: 0,
    corruptRecordCount: 0,
    lastStoreTimestamp: 0,
    lastRecord: null,
    tail: null,
    shortage: steps.shortage,
  };
}

/**
 * Takes units of deleted topics out of the queues: a power cut may bring back files whose
 * removal was on its way. Where the scan has to begin, so that the topics made again since have
 * all of theirs.
 */
async function removeOldUnits(parts: StoreRecoveryParts): Promise<number> {
  const { log, queues, deletedTopics } = parts;
  let from = Number.MAX_SAFE_INTEGER;
  for (const topic of deletedTopics.topics()) {
    const minPhyOffset = deletedTopics.minPhyOffset(topic);
    const queueIds = queues.queueIds(topic);
    const old = queueIds.filter((it) =>
      queues.get(topic, it)!.holdsUnitsBelow(minPhyOffset)
    );
    if (old.length === 0) continue;
    if (old.length === queueIds.length) await queues.deleteTopic(topic);
    else for (const it of old) await queues.resetQueue(topic, it);
    const file = log.mappedFileQueue.fileAt(minPhyOffset);
    from = Math.min(from, file?.fileFromOffset ?? from);
  }
  return from;
}

/** True for records that have a place in a queue. */
function isCounted(
  parts: StoreRecoveryParts,
  { topic, phyOffset, sysFlag }: DispatchRequest,
): boolean {
  return !isWithoutQueueOffset(sysFlag) &&
    !parts.deletedTopics.includes(topic, phyOffset);
}

function inputOf(
  parts: StoreRecoveryParts,
  queueMaxPhyOffset: number,
  indexFrom: number | undefined,
  beyond: DispatchRequest[],
  missing: MissingUnits,
): RecoveryInput {
  const { queues, index, checkpoint, options, lastExitOk } = parts;
  return {
    log: parts.log,
    delayLevels: parts.delayLevels,
    logger: parts.logger,
    lastExitOk,
    checkCrc: options.checkCRCOnRecover,
    queueMaxPhyOffset,
    cleanEndOffset: lastExitOk ? checkpoint.cleanMaxPhyOffset : 0,
    minTimestamp: options.messageIndexEnable && options.messageIndexSafe
      ? checkpoint.minTimestampIndex()
      : checkpoint.minTimestamp(),
    physicMsgTimestamp: checkpoint.physicMsgTimestamp,
    indexFrom,
    confirmOffset: confirmOffsetAtStart(options, checkpoint),
    pace: parts.pace,
    dispatch: (request) => {
      if (isCounted(parts, request)) {
        missing.look(request);
        queues.putMessagePosition(request);
      }
      if (indexFrom !== undefined && request.phyOffset >= indexFrom) {
        index.buildIndex(request);
      }
    },
    remember: (request) => void beyond.push(request),
  };
}

/** What nobody has confirmed before the stop is not visible after it either. */
function confirmOffsetAtStart(
  options: MessageStoreOptions,
  checkpoint: StoreCheckpoint,
): number {
  const waits = visibilityOf(options) === "replicated" &&
    options.brokerRole !== "SLAVE";
  return waits ? checkpoint.confirmPhyOffset : Number.MAX_SAFE_INTEGER;
}

/**
 * The queues in which a record arrives that is not the next one: units of the part that
 * counted as complete are missing, a queue file was lost.
 */
class MissingUnits {
  readonly #found = new Map<string, { topic: string; queueId: number }>();

  constructor(private readonly queues: ConsumeQueueStore) {}

  get size(): number {
    return this.#found.size;
  }

  /** To be called before the unit is put. */
  look(request: DispatchRequest): void {
    const { topic, queueId, queueOffset, phyOffset } = request;
    const queue = this.queues.get(topic, queueId);
    if (queueOffset <= (queue?.maxOffsetInQueue ?? 0)) return;
    if (queue !== undefined && phyOffset < queue.maxPhyOffset) return;
    this.#found.set(`${topic}/${queueId}`, { topic, queueId });
  }

  /** Empties these queues, so that the whole log can be dispatched into them again. */
  async reset(): Promise<void> {
    for (const { topic, queueId } of this.#found.values()) {
      await this.queues.resetQueue(topic, queueId);
    }
  }
}

async function mustDispatchAll(
  parts: StoreRecoveryParts,
  report: RecoveryReport,
  missing: MissingUnits,
): Promise<boolean> {
  const { queues, checkpoint, log } = parts;
  const isSumKnown = parts.lastExitOk && checkpoint.cleanMaxPhyOffset > 0 &&
    checkpoint.cleanMaxPhyOffset === report.endOffset;
  const isSumWrong = isSumKnown &&
    checkpoint.cleanQueueOffsetSum !== queues.queueOffsetSum();
  if (missing.size === 0 && !isSumWrong) return false;
  // Units are missing because there is no room for them.
  if (missing.size === 0 && report.shortage !== null) return false;
  if (report.startOffset === log.minOffset) return false;
  parts.logger.warn(
    "Queues lack units that they had: they are built again from the whole log",
    { queueCount: missing.size },
  );
  await missing.reset();
  return true;
}

/**
 * Cuts log, queues and index at the end that was found; durable when resolved, queues only with
 * `syncQueues`.
 */
async function cut(
  parts: StoreRecoveryParts,
  report: RecoveryReport,
  steps: Steps,
  syncQueues: boolean,
): Promise<void> {
  const { log, queues, index, lastExitOk } = parts;
  const { endOffset, startOffset } = report;
  const files = log.mappedFileQueue;
  const isFreeSpace = report.tail === null || report.tail === FREE_SPACE;
  if (!lastExitOk) {
    const scanned = files.files.filter((it) =>
      it.fileFromOffset + it.fileSize > startOffset
    );
    files.markTailUnsynced(scanned.length);
  }
  if (!isFreeSpace) {
    parts.logger.warn("The commit log is cut behind its last sound record", {
      endOffset,
      wasThere: report.tail,
    });
  }
  const aside = files.setAside(endOffset);
  if (aside !== undefined) {
    parts.logger.error(
      "A log file without any sound record is set aside: remove it, or restore the file from it",
      { path: aside },
    );
  }
  await files.truncateDirtyFiles(endOffset, lastExitOk && isFreeSpace);
  await steps.run(() => parts.deletedTopics.limitTo(endOffset));
  let cutUnits = 0;
  await steps.run(async () => {
    cutUnits = queues.truncateDirty(endOffset);
    if (syncQueues) await queues.flush();
    else queues.endBatch();
  });
  const cleanEnd = lastExitOk ? parts.checkpoint.cleanMaxPhyOffset : 0;
  if (cutUnits > 0 || cleanEnd > endOffset) {
    parts.logger.error(
      "The end of the commit log is lost, and messages with it: stop, and restore its files from " +
        "a backup or a replica before more is sent",
      { endOffset, endAtCleanStop: cleanEnd, unitsBeyond: cutUnits },
    );
  }
  await steps.run(() => index.truncateDirty(endOffset));
  queues.correctMinOffset(log.minOffset);
}

/** What `checkMessageRecord` says of zeros. */
const FREE_SPACE = "its magic is 0x0";

function rebuildQueueOffsets(
  parts: StoreRecoveryParts,
  beyond: readonly DispatchRequest[],
): void {
  const { queues, queueOffsets } = parts;
  queueOffsets.clear();
  for (const topic of queues.topics()) {
    for (const queueId of queues.queueIds(topic)) {
      const max = queues.get(topic, queueId)!.maxOffsetInQueue;
      queueOffsets.set(topic, queueId, max);
    }
  }
  // Not visible yet, but their queue offsets are taken.
  for (const request of beyond) {
    if (!isCounted(parts, request)) continue;
    const { topic, queueId, queueOffset } = request;
    queueOffsets.raise(topic, queueId, queueOffset + 1);
  }
}
