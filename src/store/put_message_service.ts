/**
 * PutMessageService: a message becomes a record of the log and is dispatched (reference 6).
 *
 * All of it happens in one turn: encode, reserve, stamp, append, dispatch. Under SYNC_FLUSH
 * the answer waits for the group's sync, nothing else does.
 *
 * Invariants
 * - A queue offset is used up only when its record is in the log.
 * - Whatever fails before or in the append leaves nothing that a reader could see.
 */
import type { Clock } from "../io/clock.ts";
import { FileError } from "../io/file_system.ts";
import { CorruptRecordError } from "../model/corrupt_record_error.ts";
import { decodeMessageBatch } from "../model/message_batch.ts";
import type {
  MessageExtBatch,
  MessageExtBrokerInner,
} from "../model/message_ext.ts";
import {
  MessageRecordEncoder,
  PROPERTIES_TOO_LONG,
  recordSysFlag,
} from "../model/message_record_encoder.ts";
import { PROPERTIES_SIZE_MAX } from "../model/message_properties.ts";
import type { CommitLog } from "./commit_log.ts";
import {
  isTimed,
  isWithoutQueueOffset,
  tagsCodeOf,
} from "./commit_log_record.ts";
import type { DelayLevelTable } from "./delay_level_table.ts";
import type { GroupCommitService } from "./group_commit_service.ts";
import { messageFault } from "./put_check.ts";
import type {
  PutMessageResult,
  PutMessageStatus,
} from "./put_message_result.ts";
import type { QueueOffsetTable } from "./queue_offset_table.ts";
import type { ReputMessageService } from "./reput_message_service.ts";
import type { RunningFlags } from "./running_flags.ts";
import type { MessageStoreOptions } from "./store_options.ts";

/** What the put path works with. */
export interface PutMessageParts {
  readonly clock: Clock;
  readonly log: CommitLog;
  readonly flags: RunningFlags;
  readonly queueOffsets: QueueOffsetTable;
  readonly groupCommit: GroupCommitService;
  readonly reput: ReputMessageService;
  readonly delayLevels: DelayLevelTable;
  /** The wall clock was set back below the last store time. */
  onClockSetBack(nowMs: number): void;
}

/** One record of a batch, encoded in the scratch array. */
interface BatchRecord {
  readonly position: number;
  readonly size: number;
  readonly propertiesText: string;
}

/** Stores messages. */
export class PutMessageService {
  /** Store time of the newest record; milliseconds. */
  lastStoreTimestamp = 0;
  putCount = 0;
  putBytes = 0;
  failedCount = 0;
  readonly #encoder = new MessageRecordEncoder();

  constructor(
    private readonly parts: PutMessageParts,
    private options: MessageStoreOptions,
  ) {}

  reconfigure(options: MessageStoreOptions): void {
    this.options = options;
  }

  putMessage(
    message: MessageExtBrokerInner,
  ): PutMessageResult | Promise<PutMessageResult> {
    const refused = this.#refusal(message);
    if (refused !== undefined) return refused;
    const encoder = this.#encoder;
    const size = encoder.encode(
      0,
      message,
      message.flag,
      message.body,
      message.propertiesText,
    );
    if (size === PROPERTIES_TOO_LONG) return this.#propertiesTooLong();
    const phyOffset = this.#reserve(size);
    if (typeof phyOffset !== "number") return phyOffset;
    const { topic, queueId, propertiesText } = message;
    const { queueOffsets } = this.parts;
    const storeTimestamp = this.#storeTimestamp();
    const sysFlag = recordSysFlag(message);
    const isCounted = !isWithoutQueueOffset(sysFlag);
    const queueOffset = isCounted ? queueOffsets.next(topic, queueId) : 0;
    encoder.stamp(0, queueOffset, phyOffset, storeTimestamp);
    const failed = this.#append(size);
    if (failed !== undefined) return failed;
    if (isCounted) queueOffsets.set(topic, queueId, queueOffset + 1);
    this.putCount++;
    this.parts.reput.onAppended({
      topic,
      queueId,
      phyOffset,
      size,
      tagsCode: isTimed(topic)
        ? this.#tagsCode(topic, propertiesText, storeTimestamp)
        : message.tagsCode,
      storeTimestamp,
      queueOffset,
      sysFlag,
      preparedTransactionOffset: message.preparedTransactionOffset,
      propertiesText,
    });
    return this.#answer({
      status: "PUT_OK",
      phyOffset,
      queueOffset,
      size,
      storeTimestamp,
      messageCount: 1,
    }, message.waitStoreMsgOk);
  }

  putMessages(
    batch: MessageExtBatch,
  ): PutMessageResult | Promise<PutMessageResult> {
    const refused = this.#refusal(batch);
    if (refused !== undefined) return refused;
    const records = this.#encodeBatch(batch);
    if (!Array.isArray(records)) return records;
    const last = records[records.length - 1]!;
    const size = last.position + last.size;
    const start = this.#reserve(size);
    if (typeof start !== "number") return start;
    const { queueOffsets } = this.parts;
    const { topic, queueId } = batch;
    const storeTimestamp = this.#storeTimestamp();
    const queueOffset = queueOffsets.next(topic, queueId);
    records.forEach((it, index) =>
      this.#encoder.stamp(
        it.position,
        queueOffset + index,
        start + it.position,
        storeTimestamp,
      )
    );
    const failed = this.#append(size);
    if (failed !== undefined) return failed;
    queueOffsets.set(topic, queueId, queueOffset + records.length);
    this.putCount += records.length;
    this.#dispatchBatch(batch, records, start, queueOffset, storeTimestamp);
    return this.#answer({
      status: "PUT_OK",
      phyOffset: start,
      queueOffset,
      size,
      storeTimestamp,
      messageCount: records.length,
      phyOffsets: records.map((it) => start + it.position),
    }, batch.waitStoreMsgOk);
  }

  #refusal(message: MessageExtBrokerInner): PutMessageResult | undefined {
    const { flags, groupCommit } = this.parts;
    const { options } = this;
    if (!flags.isWritable) {
      return this.#fail("SERVICE_NOT_AVAILABLE", flags.unwritableReason!);
    }
    if (groupCommit.pendingCount >= options.pendingSyncPutsMax) {
      return this.#fail(
        "OS_PAGE_CACHE_BUSY",
        `${groupCommit.pendingCount} messages wait for the disk, pendingSyncPutsMax is ${options.pendingSyncPutsMax}`,
      );
    }
    const fault = messageFault(message, options.maxMessageSize);
    return fault === undefined
      ? undefined
      : this.#fail("MESSAGE_ILLEGAL", fault);
  }

  #encodeBatch(batch: MessageExtBatch): BatchRecord[] | PutMessageResult {
    let entries;
    try {
      entries = decodeMessageBatch(batch.body);
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error;
      return this.#fail("MESSAGE_ILLEGAL", error.message);
    }
    if (entries.length === 0) {
      return this.#fail("MESSAGE_ILLEGAL", "The batch holds no message");
    }
    const records: BatchRecord[] = [];
    const sizeMax = this.parts.log.recordSizeMax;
    let position = 0;
    for (const { flag, body, propertiesText } of entries) {
      const size = this.#encoder.encode(
        position,
        batch,
        flag,
        body,
        propertiesText,
      );
      if (size === PROPERTIES_TOO_LONG) return this.#propertiesTooLong();
      records.push({ position, size, propertiesText });
      position += size;
      if (position > sizeMax) return this.#tooLarge(position);
    }
    return records;
  }

  #dispatchBatch(
    batch: MessageExtBatch,
    records: readonly BatchRecord[],
    start: number,
    queueOffset: number,
    storeTimestamp: number,
  ): void {
    const { topic, queueId, preparedTransactionOffset } = batch;
    const sysFlag = recordSysFlag(batch);
    records.forEach(({ position, size, propertiesText }, index) =>
      this.parts.reput.onAppended({
        topic,
        queueId,
        phyOffset: start + position,
        size,
        tagsCode: this.#tagsCode(topic, propertiesText, storeTimestamp),
        storeTimestamp,
        queueOffset: queueOffset + index,
        sysFlag,
        preparedTransactionOffset,
        propertiesText,
      })
    );
  }

  #tagsCode(topic: string, properties: string, storeTimestamp: number): number {
    const { delayLevels } = this.parts;
    return tagsCodeOf(topic, properties, storeTimestamp, delayLevels);
  }

  #reserve(size: number): number | PutMessageResult {
    if (size > this.parts.log.recordSizeMax) return this.#tooLarge(size);
    try {
      return this.parts.log.reserve(size);
    } catch (error) {
      return this.#diskFailed(error, "CREATE_MAPPED_FILE_FAILED");
    }
  }

  /** Undefined when the first `size` bytes of the scratch array are in the log. */
  #append(size: number): PutMessageResult | undefined {
    try {
      this.parts.log.append(this.#encoder.bytes.subarray(0, size));
    } catch (error) {
      return this.#diskFailed(error, "SERVICE_NOT_AVAILABLE");
    }
    this.putBytes += size;
    this.#encoder.shrink();
    return undefined;
  }

  #diskFailed(error: unknown, status: PutMessageStatus): PutMessageResult {
    if (!(error instanceof FileError)) throw error;
    const reason = `Cannot write the commit log: ${error.message}`;
    if (error.kind !== "no-space") return this.#fail(status, reason);
    // Refused from now on without touching the disk; the space guard lifts it,
    // and under a quota or a limit of the process the next put tries again.
    this.parts.flags.set("disk-full", reason);
    return this.#fail("SERVICE_NOT_AVAILABLE", reason);
  }

  #storeTimestamp(): number {
    const nowMs = this.parts.clock.nowMs();
    if (nowMs < this.lastStoreTimestamp) this.parts.onClockSetBack(nowMs);
    this.lastStoreTimestamp = nowMs;
    return nowMs;
  }

  #answer(
    result: PutMessageResult,
    waits: boolean,
  ): PutMessageResult | Promise<PutMessageResult> {
    const { options } = this;
    if (options.flushDiskType === "ASYNC_FLUSH") return result;
    const { groupCommit } = this.parts;
    if (!waits) {
      groupCommit.wakeup();
      return result;
    }
    return groupCommit.request(
      result.phyOffset + result.size,
      this.parts.clock.monotonicMs() + options.syncFlushTimeout,
    ).then((status) => {
      if (status === "PUT_OK") return result;
      const reason = this.parts.flags.unwritableReason ??
        `The disk did not confirm the write within syncFlushTimeout=${options.syncFlushTimeout} ms`;
      return { ...result, status, reason };
    });
  }

  #propertiesTooLong(): PutMessageResult {
    return this.#fail(
      "PROPERTIES_SIZE_EXCEEDED",
      `The properties take more than ${PROPERTIES_SIZE_MAX} bytes`,
    );
  }

  #tooLarge(size: number): PutMessageResult {
    this.#encoder.shrink();
    return this.#fail(
      "MESSAGE_ILLEGAL",
      `The record of ${size} bytes does not fit into a file of mappedFileSizeCommitLog=${this.parts.log.mappedFileQueue.mappedFileSize}`,
    );
  }

  #fail(status: PutMessageStatus, reason: string): PutMessageResult {
    this.failedCount++;
    return {
      status,
      reason,
      phyOffset: -1,
      queueOffset: -1,
      size: 0,
      storeTimestamp: 0,
      messageCount: 0,
    };
  }
}
