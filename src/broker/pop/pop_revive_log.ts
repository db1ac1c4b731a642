/**
 * PopReviveLog: writes check points and acknowledgements to `rmq_sys_REVIVE_LOG_<cluster>`, and
 * reads at start what others or this broker wrote there, so that the table is what the log says.
 *
 * Apache's check points and acknowledgements come to this topic by way of its timers, when they
 * are due; ours are put there at once, and say when they are due.
 *
 * Invariants
 * - Each record is applied to the table once, when it is stored or when it is read.
 * - The position of a group in a queue that was popped, and how far the revive log was taken into
 *   account for it, change in one turn: they are written in one file.
 */
import { javaHashCode } from "../../base/java_hash.ts";
import type { Clock } from "../../io/clock.ts";
import type { Logger } from "../../io/logger.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../model/message_ext.ts";
import {
  encodeProperties,
  findProperty,
  MessageConst,
} from "../../model/message_properties.ts";
import type { SocketAddress } from "../../model/socket_address.ts";
import { BodyError } from "../../protocol/body/json_fields.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import { isStored } from "../put_response.ts";
import {
  type AckMsg,
  decodeAckMsg,
  decodePopCheckPoint,
  encodeAckMsg,
  encodePopCheckPoint,
  type PopCheckPoint,
} from "./pop_check_point.ts";
import { PopConsumerTable } from "./pop_consumer_table.ts";
import { POP_PROGRESS_GROUP, REVIVE_GROUP, ReviveTag } from "./pop_names.ts";
import { type PopReader, recordsFrom } from "./pop_records.ts";
import { PopStats } from "./pop_stats.ts";

/** Positions of groups. */
export interface PopOffsets {
  queryOffset(group: string, topic: string, queueId: number): number;
  commitOffset(
    clientHost: string,
    group: string,
    topic: string,
    queueId: number,
    offset: number,
  ): unknown;
}

/** What the log needs. */
export interface PopReviveLogPorts {
  readonly store: {
    putMessage(
      message: MessageExtBrokerInner,
    ): PutMessageResult | Promise<PutMessageResult>;
  };
  readonly reader: PopReader;
  readonly offsets: PopOffsets;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly storeHost: SocketAddress;
  readonly reviveTopic: string;
  /** Queues of the topic. */
  readonly queueNums: number;
}

/** One queue of the revive log. */
interface ReviveQueue {
  /** Every record below was applied. */
  nextOffset: number;
  /** Applied records above `nextOffset`. */
  readonly ahead: Set<number>;
  /** Check points below are in the positions of their groups. */
  readonly progress: number;
  /** The floor at the last commit of floors. */
  floor: number;
}

const HOST = "127.0.0.1";
/** A timer of Apache's delivers acknowledgements so long after their check point. */
const TIMER_GRACE_MS = 2_000;
const TIMER_ENQUEUE_MS = "TIMER_ENQUEUE_MS";
/** Floors are written so late: a slave has the table of positions sooner than the log. */
const FLOOR_INTERVAL_MS = 10_000;

type PutResult = PutMessageResult | Promise<PutMessageResult>;

/** The revive log of one run of a broker. */
export class PopReviveLog {
  readonly table = new PopConsumerTable();
  readonly #ports: PopReviveLogPorts;
  readonly #queues: ReviveQueue[] = [];
  #loading: Promise<void> | null = null;
  #isLoaded = false;
  #isReading = false;
  #nextQueueId = 0;
  #floorsMs = -Infinity;
  /** True when there are records that a power cut could take. */
  isUnflushed = false;
  readonly stats = new PopStats();

  constructor(ports: PopReviveLogPorts) {
    this.#ports = ports;
  }

  /** True once the table holds what the log does. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Reads the log, once; rejects with `FileError`, and the next call tries again. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  /** The queue of the revive log for the next check point. */
  takeQueueId(): number {
    const queueId = this.#nextQueueId;
    this.#nextQueueId = (queueId + 1) % this.#ports.queueNums;
    return queueId;
  }

  /** Stores a check point; `onStored` in the turn in which it is in the table. */
  putCheckPoint(
    point: PopCheckPoint,
    reviveQueueId: number,
    onStored: () => void,
    waits = true,
  ): PutResult {
    const dueMs = point.popTime + point.invisibleTime;
    const body = encodePopCheckPoint(point, 0);
    const message = this.#message(
      ReviveTag.CHECK_POINT,
      body,
      reviveQueueId,
      dueMs,
      waits,
    );
    const apply = (offset: number) => {
      this.table.onCheckPoint(point, reviveQueueId, offset);
      onStored();
    };
    return this.#put(
      message,
      apply,
      ({ status }) => this.stats.onPut(point, "CK", status),
    );
  }

  /** Stores an acknowledgement; `dueMs`: when its check point is due. */
  putAck(
    ack: AckMsg,
    reviveQueueId: number,
    dueMs: number,
    waits = true,
  ): PutResult {
    const tag = ack.offsets.length === 1 ? ReviveTag.ACK : ReviveTag.BATCH_ACK;
    const message = this.#message(
      tag,
      encodeAckMsg(ack),
      reviveQueueId,
      dueMs,
      waits,
    );
    return this.#put(
      message,
      (offset) =>
        this.table.onAck(ack, offset, dueMs, this.#ports.clock.nowMs()),
      ({ status }) => this.stats.onPut(ack, "ACK", status),
    );
  }

  /** Once loaded, every 100 ms: takes what others put there, and commits floors. */
  tick(): void {
    if (!this.#isLoaded) return;
    const { reader, reviveTopic } = this.#ports;
    this.#queues.forEach((queue, queueId) => {
      const end = reader.getMaxOffsetInQueue(reviveTopic, queueId);
      if (end > queue.nextOffset && !this.#isReading) {
        this.#isReading = true;
        this.#read(queueId, queue).catch((error: unknown) => {
          this.#ports.logger.error("Cannot read the revive log of POP", {
            queueId,
            error,
          });
        }).finally(() => this.#isReading = false);
      }
    });
    this.#commitFloors();
  }

  /** Queues of the revive log with the oldest record that is needed, and the next one to come. */
  queues(): readonly { readonly floor: number; readonly nextOffset: number }[] {
    return this.#queues.map(({ nextOffset }, queueId) => ({
      floor: this.table.floor(queueId, nextOffset),
      nextOffset,
    }));
  }

  async #load(): Promise<void> {
    const { offsets, queueNums, reader, reviveTopic } = this.#ports;
    this.#queues.length = 0;
    for (let queueId = 0; queueId < queueNums; queueId++) {
      const done = offsets.queryOffset(REVIVE_GROUP, reviveTopic, queueId);
      const from = Math.max(
        done + 1,
        reader.getMinOffsetInQueue(reviveTopic, queueId),
      );
      const progress = offsets.queryOffset(
        POP_PROGRESS_GROUP,
        reviveTopic,
        queueId,
      );
      const queue: ReviveQueue = {
        // A queue that lost its tail is shorter than what was done of it.
        nextOffset: Math.min(
          from,
          reader.getMaxOffsetInQueue(reviveTopic, queueId, false),
        ),
        ahead: new Set(),
        progress: Math.max(0, progress),
        floor: 0,
      };
      this.#queues.push(queue);
      await this.#read(queueId, queue);
      queue.floor = this.table.floor(queueId, queue.nextOffset);
    }
    this.#isLoaded = true;
  }

  async #read(queueId: number, queue: ReviveQueue): Promise<void> {
    const { clock, reader, reviveTopic } = this.#ports;
    const records = recordsFrom(
      reader,
      clock,
      reviveTopic,
      queueId,
      queue.nextOffset,
    );
    for await (const { message, offset } of records) {
      // Meanwhile a put may have come to this place.
      if (offset < queue.nextOffset) continue;
      const isKnown = queue.ahead.delete(offset);
      if (!isKnown && message !== null) this.#apply(queueId, queue, message);
      this.#advance(queueId, queue, offset + 1);
    }
  }

  #apply(queueId: number, queue: ReviveQueue, message: MessageExt): void {
    const { clock, logger, offsets } = this.#ports;
    const { body, propertiesText, queueOffset } = message;
    const tag = findProperty(propertiesText, MessageConst.TAGS);
    try {
      if (tag === ReviveTag.CHECK_POINT) {
        const point = decodePopCheckPoint(body);
        this.stats.onGet(point, "CK", queueId);
        const isTimed = findProperty(propertiesText, TIMER_ENQUEUE_MS) !==
          undefined;
        this.table.onCheckPoint(
          point,
          queueId,
          queueOffset,
          point.popTime + point.invisibleTime +
            (isTimed ? TIMER_GRACE_MS : 0),
        );
        if (queueOffset < queue.progress || point.rePutTimes > 0) return;
        const { group, topic } = point;
        const next = (point.offsets.at(-1) ?? -1) + 1;
        if (next > offsets.queryOffset(group, topic, point.queueId)) {
          offsets.commitOffset(HOST, group, topic, point.queueId, next);
        }
      } else if (tag === ReviveTag.ACK || tag === ReviveTag.BATCH_ACK) {
        const ack = decodeAckMsg(body, tag === ReviveTag.BATCH_ACK);
        this.stats.onGet(ack, "ACK", queueId);
        const dueMs = Number(
          findProperty(propertiesText, MessageConst.TIMER_DELIVER_MS) ?? 0,
        );
        this.table.onAck(ack, queueOffset, dueMs, clock.nowMs());
      }
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      logger.error(
        `A record of POP's revive log, queue ${queueId} offset ${queueOffset}, is left out: ${error.message}`,
      );
    }
  }

  #put(
    message: MessageExtBrokerInner,
    apply: (offset: number) => void,
    count: (result: PutMessageResult) => void,
  ): PutResult {
    const applyOnce = (result: PutMessageResult) => {
      count(result);
      if (!isStored(result.status)) return result;
      this.isUnflushed = true;
      const queue = this.#queues[message.queueId]!;
      const { queueOffset } = result;
      const isKnown = queueOffset < queue.nextOffset ||
        queue.ahead.has(queueOffset);
      if (!isKnown) {
        queue.ahead.add(queueOffset);
        let next = queue.nextOffset;
        while (queue.ahead.delete(next)) next++;
        this.#advance(message.queueId, queue, next);
        apply(queueOffset);
      }
      return result;
    };
    const result = this.#ports.store.putMessage(message);
    return result instanceof Promise
      ? result.then(applyOnce)
      : applyOnce(result);
  }

  #advance(queueId: number, queue: ReviveQueue, nextOffset: number): void {
    if (nextOffset === queue.nextOffset) return;
    queue.nextOffset = nextOffset;
    const { offsets, reviveTopic } = this.#ports;
    offsets.commitOffset(
      HOST,
      POP_PROGRESS_GROUP,
      reviveTopic,
      queueId,
      nextOffset,
    );
  }

  #commitFloors(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs - this.#floorsMs < FLOOR_INTERVAL_MS) return;
    this.#floorsMs = nowMs;
    const { clock, offsets, reviveTopic } = this.#ports;
    this.table.expireEarlyAcks(clock.nowMs());
    this.#queues.forEach((queue, queueId) => {
      // Apache's position is the last record that is done.
      const done = queue.floor - 1;
      if (done > offsets.queryOffset(REVIVE_GROUP, reviveTopic, queueId)) {
        offsets.commitOffset(HOST, REVIVE_GROUP, reviveTopic, queueId, done);
      }
      queue.floor = this.table.floor(queueId, queue.nextOffset);
    });
  }

  #message(
    tag: string,
    body: Uint8Array,
    queueId: number,
    dueMs: number,
    waitStoreMsgOk: boolean,
  ): MessageExtBrokerInner {
    const { clock, reviveTopic, storeHost } = this.#ports;
    return {
      topic: reviveTopic,
      queueId,
      flag: 0,
      sysFlag: 0,
      body,
      bornTimestamp: clock.nowMs(),
      bornHost: storeHost,
      storeHost,
      reconsumeTimes: 0,
      preparedTransactionOffset: 0,
      propertiesText: encodeProperties([
        [MessageConst.TAGS, tag],
        [MessageConst.TIMER_DELIVER_MS, String(dueMs)],
      ]),
      tagsCode: javaHashCode(tag),
      waitStoreMsgOk,
    };
  }
}
