/**
 * TransactionalMessageService: ends transactions, and asks the producers of
 * those that nobody ended (reference 12).
 *
 * Invariants
 * - A half message is settled by an op message that stands behind its final message in the log.
 * - Whoever is committed twice is stored once, as long as the first end is remembered.
 * - Nothing leaves the half queue before what replaces it is stored.
 */
import type { Logger } from "../../io/logger.ts";
import type { MessageExt } from "../../model/message_ext.ts";
import { encodeMessageId } from "../../model/message_id.ts";
import { findProperty, MessageConst } from "../../model/message_properties.ts";
import { decodeMessageRecord } from "../../model/message_record.ts";
import { MessageSysFlag } from "../../model/message_sys_flag.ts";
import { formatSocketAddress } from "../../model/socket_address.ts";
import { TopicNames } from "../../model/topic_names.ts";
import {
  encodeCheckTransactionStateRequestHeader,
  type EndTransactionRequestHeader,
} from "../../protocol/header/end_transaction_request_header.ts";
import { createRequest } from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import type { ProducerManager } from "../producer_manager.ts";
import { isStored, remarkOfPut, responseCodeOfPut } from "../put_response.ts";
import {
  checkTimesOf,
  decideHalf,
  type HalfDecisionOptions,
  isBeyondImmunity,
} from "./half_decision.ts";
import {
  checkRecordOf,
  copiedHalfOf,
  finalMessageOf,
  originalOffsetOf,
  type RealTarget,
  realTargetOf,
  resumedHalfOf,
} from "./half_message.ts";
import {
  TransactionQueues,
  type TransactionQueuesPorts,
} from "./transaction_queues.ts";
import { TransactionStats } from "./transaction_stats.ts";
import type { TransactionTable } from "./transaction_table.ts";
import {
  TransactionWriter,
  type TransactionWriterPorts,
} from "./transaction_writer.ts";

/** Half messages behind the first unsettled one, from which on those that wait are copied. */
const WINDOW_MAX = 10_000;

/** What it needs of the broker. */
export interface TransactionalMessagePorts
  extends TransactionQueuesPorts, TransactionWriterPorts {
  readonly reader: TransactionQueuesPorts["reader"] & {
    selectOneMessageByOffset(
      phyOffset: number,
    ): Promise<Uint8Array | undefined>;
  };
  readonly producers: Pick<ProducerManager, "getAvailableClient">;
  readonly logger: Logger;
  /** Who counts what reaches its topic. */
  readonly stats: { onCommitted(topic: string, bytes: number): void };
  /** False on a slave, on a fenced master, and while nothing may change. */
  isWritable(): boolean;
}

/** Keys of broker.conf that it reads. */
export interface TransactionalMessageOptions extends HalfDecisionOptions {
  readonly brokerName: string;
  /** Milliseconds between two rounds. */
  readonly transactionCheckInterval: number;
}

/** How a request ended. */
export interface TransactionOutcome {
  readonly code: number;
  readonly remark: string | null;
}

const DONE: TransactionOutcome = { code: ResponseCode.SUCCESS, remark: null };

/** One broker's transactions. */
export class TransactionalMessageService {
  readonly stats = new TransactionStats();
  readonly #ports: TransactionalMessagePorts;
  readonly #queues: TransactionQueues;
  readonly #writer: TransactionWriter;
  readonly #host: string;
  #options: TransactionalMessageOptions;
  /** Milliseconds that log files live: fileReservedTime. */
  #reservedMs: number;
  #table: Promise<TransactionTable> | undefined;
  /** Originals whose end is under way. */
  readonly #ending = new Set<number>();
  #round: Promise<void> | undefined;
  #checkedMs: number;
  #isStopped = false;

  constructor(
    ports: TransactionalMessagePorts,
    options: TransactionalMessageOptions,
    reservedMs: number,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#reservedMs = reservedMs;
    this.#queues = new TransactionQueues(ports);
    this.#writer = new TransactionWriter(ports);
    this.#host = formatSocketAddress(ports.storeHost);
    this.#checkedMs = ports.clock.monotonicMs();
  }

  reconfigure(options: TransactionalMessageOptions, reservedMs: number): void {
    this.#options = options;
    this.#reservedMs = reservedMs;
  }

  /** Commits or rolls back; whoever did so already is answered alike. */
  async end(header: EndTransactionRequestHeader): Promise<TransactionOutcome> {
    const half = await this.#read(header.commitLogOffset);
    const target = half && realTargetOf(half);
    if (half === undefined || target === undefined) {
      return failed("Find prepared transaction message failed");
    }
    if (target.producerGroup !== header.producerGroup) {
      return failed("The producer group wrong");
    }
    if (half.queueOffset !== header.tranStateTableOffset) {
      return failed("The transaction state table offset wrong");
    }
    const table = await this.#loaded();
    const original = originalOffsetOf(half);
    if (table.isEnded(original) || this.#ending.has(original)) return DONE;
    const isLate = !header.fromTransactionCheck && isBeyondImmunity(
      half,
      this.#ports.clock.nowMs(),
      this.#options.transactionTimeOut,
    );
    if (isLate) {
      return {
        code: ResponseCode.ILLEGAL_OPERATION,
        remark: "the end came later than CHECK_IMMUNITY_TIME_IN_SECONDS, " +
          "the producer will be asked",
      };
    }
    const isCommit =
      header.commitOrRollback === MessageSysFlag.TRANSACTION_COMMIT_TYPE;
    this.#ending.add(original);
    try {
      return await this.#settle(table, half, original, isCommit, target);
    } finally {
      this.#ending.delete(original);
    }
  }

  /** Lets a half message that was given up be checked again. */
  async resume(commitLogOffset: number): Promise<TransactionOutcome> {
    const topic = TopicNames.RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC;
    const message = await this.#read(commitLogOffset, topic);
    if (message === undefined || realTargetOf(message) === undefined) {
      return failed(
        `at ${commitLogOffset} is no half message of topic ${topic}`,
      );
    }
    return this.#outcomeOf(await this.#writer.put(resumedHalfOf(message)));
  }

  /** Begins a round when it is time; `nowMs` is monotonic. */
  tick(nowMs: number): void {
    const { transactionCheckInterval } = this.#options;
    if (nowMs - this.#checkedMs < transactionCheckInterval) return;
    if (this.#round !== undefined || !this.#mayWrite()) return;
    this.#checkedMs = nowMs;
    this.#round = this.check().catch((error: unknown) =>
      this.#ports.logger.error("a check of transactions failed", { error })
    ).finally(() => {
      this.#round = undefined;
    });
  }

  /** No round begins any more; resolves when a running one has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#round;
  }

  /** One round over all half messages that are not settled. */
  async check(): Promise<void> {
    const table = await this.#loaded();
    await this.#queues.readOps(table);
    let isFrontOpen = true;
    for await (const it of this.#queues.halves(table.halfOffset)) {
      if (!this.#mayWrite()) break;
      const { offset, message } = it;
      if (offset < table.halfOffset) continue;
      const isDone = table.isSettled(offset) ||
        await this.#checkOne(table, offset, message);
      if (!isDone) isFrontOpen = false;
      else if (isFrontOpen) table.passTo(offset + 1);
    }
    table.advance();
    this.#queues.store(table, this.#host);
  }

  /** False for one that waits where it is. */
  async #checkOne(
    table: TransactionTable,
    offset: number,
    half: MessageExt | null,
  ): Promise<boolean> {
    const target = half && realTargetOf(half);
    if (half === null || !target) return this.#park(table, offset, half);
    const original = originalOffsetOf(half);
    if (this.#ending.has(original)) return false;
    if (table.isEnded(original)) {
      // It ended while this copy was made.
      return isStored((await this.#writer.putOp(table, original)).status);
    }
    const client = this.#ports.producers.getAvailableClient(
      target.producerGroup,
    );
    const decision = decideHalf(
      half,
      this.#ports.clock.nowMs(),
      client !== undefined,
      this.#options,
      this.#reservedMs,
    );
    if (decision === "discard") return this.#discard(table, half, target);
    const isCheck = decision === "check" && client !== undefined;
    if (!isCheck && offset - table.halfOffset < WINDOW_MAX) return false;
    const copy = copiedHalfOf(half, checkTimesOf(half) + Number(isCheck));
    const put = await this.#writer.put(copy);
    if (!isStored(put.status)) return false;
    table.onCopy(original, put.queueOffset);
    if (!isCheck) return true;
    const stored = {
      ...half,
      propertiesText: copy.propertiesText,
      queueOffset: put.queueOffset,
      phyOffset: put.phyOffset,
      storeTimestamp: put.storeTimestamp,
    };
    client.connection.invokeOneway(this.#checkRequest(stored, target));
    return true;
  }

  #checkRequest(half: MessageExt, target: RealTarget) {
    return createRequest(
      RequestCode.CHECK_TRANSACTION_STATE,
      encodeCheckTransactionStateRequestHeader({
        topic: target.topic,
        tranStateTableOffset: half.queueOffset,
        commitLogOffset: half.phyOffset,
        msgId: findProperty(half.propertiesText, MessageConst.UNIQ_KEY) ?? "",
        offsetMsgId: encodeMessageId(half.storeHost, half.phyOffset),
        brokerName: this.#options.brokerName,
      }),
      checkRecordOf(half, target),
    );
  }

  /** What is no half message must not hold up the others. */
  async #park(
    table: TransactionTable,
    offset: number,
    half: MessageExt | null,
  ): Promise<boolean> {
    if (half !== null && !await this.#writer.putAside(half)) return false;
    const original = table.originalOf(offset);
    const op = await this.#writer.putOp(table, original, true);
    if (!isStored(op.status)) return false;
    this.#ports.logger.error(
      "a half message cannot be read and was put aside",
      { offset, phyOffset: half?.phyOffset },
    );
    return true;
  }

  async #discard(
    table: TransactionTable,
    half: MessageExt,
    target: RealTarget,
  ): Promise<boolean> {
    if (!await this.#writer.putAside(half)) return false;
    const op = await this.#writer.putOp(table, originalOffsetOf(half), true);
    if (!isStored(op.status)) return false;
    this.#ports.logger.warn("a transaction was given up", {
      topic: target.topic,
      group: target.producerGroup,
      checks: checkTimesOf(half),
      keptIn: TopicNames.RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC,
    });
    return true;
  }

  async #settle(
    table: TransactionTable,
    half: MessageExt,
    original: number,
    isCommit: boolean,
    target: RealTarget,
  ): Promise<TransactionOutcome> {
    if (isCommit) {
      if (this.#ports.topics.selectTopicConfig(target.topic) === undefined) {
        return {
          code: ResponseCode.TOPIC_NOT_EXIST,
          remark: "the topic of the transaction does not exist any more",
        };
      }
      const put = await this.#writer.put(finalMessageOf(half, target));
      if (!isStored(put.status)) return this.#outcomeOf(put);
      this.#ports.stats.onCommitted(target.topic, put.size);
    }
    const op = await this.#writer.putOp(table, original);
    if (isStored(op.status)) this.#count(half, isCommit, target);
    return this.#outcomeOf(op);
  }

  #count(half: MessageExt, isCommit: boolean, { topic }: RealTarget): void {
    const elapsedMs = this.#ports.clock.nowMs() - half.bornTimestamp;
    if (isCommit) this.stats.onCommitted(topic, elapsedMs);
    else this.stats.onRolledBack(topic);
  }

  async #read(
    commitLogOffset: number,
    topic: string = TopicNames.RMQ_SYS_TRANS_HALF_TOPIC,
  ): Promise<MessageExt | undefined> {
    const bytes = await this.#ports.reader.selectOneMessageByOffset(
      commitLogOffset,
    );
    if (bytes === undefined) return undefined;
    const message = decodeMessageRecord(bytes);
    return message.topic === topic ? message : undefined;
  }

  #loaded(): Promise<TransactionTable> {
    return this.#table ??= this.#queues.load().catch((error: unknown) => {
      this.#table = undefined;
      throw error;
    });
  }

  #mayWrite(): boolean {
    return !this.#isStopped && this.#ports.isWritable();
  }

  /** A commit does not wait for flush or slaves: that they are late is no failure. */
  #outcomeOf({ reason, status }: PutMessageResult): TransactionOutcome {
    return isStored(status) ? DONE : {
      code: responseCodeOfPut(status),
      remark: remarkOfPut(status, reason),
    };
  }
}

function failed(remark: string): TransactionOutcome {
  return { code: ResponseCode.SYSTEM_ERROR, remark };
}
