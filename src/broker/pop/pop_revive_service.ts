/**
 * PopReviveService: what was popped and not acknowledged in time is consumed again, from the
 * group's retry topic, or after retryMaxTimes goes to `%DLQ%group`.
 *
 * Invariants
 * - The message and the acknowledgement that ends its check point are written in one turn, so that
 *   a restart does not do it twice.
 * - Nothing is revived unless this broker may take messages, nor before the whole log was read.
 */
import type { Clock } from "../../io/clock.ts";
import { FileError } from "../../io/file_system.ts";
import type { Logger } from "../../io/logger.ts";
import { encodeMessageId } from "../../model/message_id.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../model/message_ext.ts";
import {
  decodeProperties,
  encodeProperties,
  MessageConst,
} from "../../model/message_properties.ts";
import { MessageSysFlag } from "../../model/message_sys_flag.ts";
import type { SocketAddress } from "../../model/socket_address.ts";
import type { SubscriptionGroupConfig } from "../../model/subscription_group_config.ts";
import type { TopicConfig } from "../../model/topic_config.ts";
import { dlqTopicOf, isRetryTopic } from "../../model/topic_names.ts";
import { javaHashCode } from "../../base/java_hash.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import { isStored, remarkOfPut } from "../put_response.ts";
import { createTopicConfig } from "../system_topics.ts";
import type { SendStats } from "../topic_put_stats.ts";
import { type LiveCheckPoint, PopConsumerTable } from "./pop_consumer_table.ts";
import { normalTopicOf, popRetryTopicOf } from "../../model/pop_retry_topic.ts";
import { type PopReader, recordAt } from "./pop_records.ts";
import type { PopReviveLog } from "./pop_revive_log.ts";

/** What the service needs. */
export interface PopReviveServicePorts {
  readonly log: PopReviveLog;
  readonly reader: PopReader;
  readonly store: {
    putMessage(
      message: MessageExtBrokerInner,
    ): PutMessageResult | Promise<PutMessageResult>;
  };
  readonly topics: {
    selectTopicConfig(topic: string): TopicConfig | undefined;
    createTopicIfAbsent(config: TopicConfig): TopicConfig;
  };
  readonly groups: {
    findSubscriptionGroupConfig(
      group: string,
    ): SubscriptionGroupConfig | undefined;
  };
  readonly stats: SendStats;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly storeHost: SocketAddress;
  /** Check points so far behind the end of the revive log are written anew: restarts read less. */
  readonly compactRecordsMin: number;
  isRetryTopicV2(): boolean;
  /** Whether this master may take messages now. */
  mayRevive(): boolean;
}

/** One message to be consumed again. */
interface Revival {
  readonly offset: number;
  readonly message: MessageExt | null;
}

/** Check points of one turn of the loop. */
const TURN_MAX = 32;
/** Milliseconds until what could not be stored is tried again. */
const RETRY_MS = 1_000;
const FIRST_POP_TIME = "1ST_POP_TIME";
const COMPACT_TURN_MAX = 100;

/** Revives for one run of a broker. */
export class PopReviveService {
  readonly #ports: PopReviveServicePorts;
  #running: Promise<void> | null = null;
  #isStopped = false;
  #isFailing = false;
  /** Messages since start, by what became of them. */
  readonly counts = { retries: 0, deadLetters: 0, lost: 0 };

  constructor(ports: PopReviveServicePorts) {
    this.#ports = ports;
  }

  /** Every 100 ms. */
  tick(): void {
    const { log } = this.#ports;
    if (this.#running !== null || !log.isLoaded || !this.#mayRevive()) return;
    this.#compact();
    if (log.table.firstDue(this.#ports.clock.nowMs()) === undefined) return;
    this.#running = this.#run().catch((error: unknown) => {
      this.#ports.logger.error("Cannot revive popped messages", { error });
    }).finally(() => this.#running = null);
  }

  /** Resolves when nothing is revived any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  #mayRevive(): boolean {
    return !this.#isStopped && this.#ports.mayRevive();
  }

  async #run(): Promise<void> {
    const { clock, log: { table } } = this.#ports;
    for (let count = 1; this.#mayRevive(); count++) {
      const live = table.takeDue(clock.nowMs());
      if (live === undefined) return;
      const failure = await this.#revive(live);
      if (failure !== null) {
        table.postpone(live, clock.nowMs() + RETRY_MS);
        this.#tellFailed(failure);
        return;
      }
      this.#isFailing = false;
      if (count % TURN_MAX === 0) {
        await new Promise<void>((resolve) => clock.after(0, resolve));
      }
    }
  }

  /** Why it has to be tried again; null when it is done. */
  async #revive(live: LiveCheckPoint): Promise<string | null> {
    const { groups, topics } = this.#ports;
    const { group, topic } = live.point;
    const groupConfig = groups.findSubscriptionGroupConfig(group);
    const normalTopic = normalTopicOf(topic, group);
    if (
      groupConfig === undefined ||
      topics.selectTopicConfig(normalTopic) === undefined
    ) {
      return this.#end(live, PopConsumerTable.unacknowledged(live));
    }
    let revivals: Revival[];
    try {
      revivals = await this.#read(live);
    } catch (error) {
      if (error instanceof FileError) return error.message;
      throw error;
    }
    // Asked again: while the records were read the role may have become another one.
    if (!this.#mayRevive()) return "this broker takes no messages";
    return this.#write(live, revivals, groupConfig);
  }

  async #read(live: LiveCheckPoint): Promise<Revival[]> {
    const { queueId, topic } = live.point;
    const revivals: Revival[] = [];
    for (const offset of PopConsumerTable.unacknowledged(live)) {
      const message = await recordAt(
        this.#ports.reader,
        topic,
        queueId,
        offset,
      );
      revivals.push({ offset, message });
    }
    return revivals;
  }

  /** In one turn. */
  #write(
    live: LiveCheckPoint,
    revivals: readonly Revival[],
    groupConfig: SubscriptionGroupConfig,
  ): string | null {
    const open = new Set(PopConsumerTable.unacknowledged(live));
    const ended: number[] = [];
    let failure: string | null = null;
    for (const { message, offset } of revivals) {
      if (!open.has(offset)) continue;
      if (message === null) this.counts.lost++;
      else failure = this.#put(live, message, groupConfig);
      if (failure !== null) break;
      ended.push(offset);
    }
    return (ended.length > 0 ? this.#end(live, ended) : null) ?? failure;
  }

  #put(
    live: LiveCheckPoint,
    message: MessageExt,
    { retryMaxTimes }: SubscriptionGroupConfig,
  ): string | null {
    const isDead = message.reconsumeTimes >= retryMaxTimes;
    const inner = isDead
      ? this.#deadLetter(live, message)
      : this.#retry(live, message);
    const { stats, topics } = this.#ports;
    topics.createTopicIfAbsent(createTopicConfig(inner.topic));
    const result = this.#ports.store.putMessage(inner);
    if (result instanceof Promise) return "the put did not end at once";
    if (!isDead) this.#ports.log.stats.onRetry(live.point, result.status);
    if (!isStored(result.status)) {
      return remarkOfPut(result.status, result.reason) ?? result.status;
    }
    stats.onPut(inner.topic, 0, "normal", 1, result.size, 0);
    if (isDead) {
      this.counts.deadLetters++;
      const { group, topic } = live.point;
      stats.onSendToDlq(normalTopicOf(topic, group), group);
    } else this.counts.retries++;
    return null;
  }

  #retry({ point }: LiveCheckPoint, message: MessageExt) {
    const properties = decodeProperties(message.propertiesText);
    if (message.reconsumeTimes === 0 || !properties.has(FIRST_POP_TIME)) {
      properties.set(FIRST_POP_TIME, String(point.popTime));
    }
    const isV2 = this.#ports.isRetryTopicV2();
    const topic = isRetryTopic(point.topic)
      ? point.topic
      : popRetryTopicOf(point.topic, point.group, isV2);
    return this.#copy(message, topic, properties);
  }

  #deadLetter({ point }: LiveCheckPoint, message: MessageExt) {
    const { group } = point;
    const origin = normalTopicOf(point.topic, group);
    const id = encodeMessageId(message.storeHost, message.phyOffset);
    const properties = decodeProperties(message.propertiesText);
    properties.set(MessageConst.RETRY_TOPIC, origin);
    properties.set(MessageConst.ORIGIN_MESSAGE_ID, id);
    properties.set(MessageConst.DLQ_ORIGIN_TOPIC, origin);
    properties.set(
      MessageConst.DLQ_ORIGIN_MESSAGE_ID,
      properties.get(MessageConst.UNIQ_KEY) ?? id,
    );
    return this.#copy(message, dlqTopicOf(group), properties);
  }

  #copy(
    message: MessageExt,
    topic: string,
    properties: ReadonlyMap<string, string>,
  ): MessageExtBrokerInner {
    const { storeHost } = this.#ports;
    const tags = properties.get(MessageConst.TAGS);
    const kept = message.sysFlag & ~MessageSysFlag.STOREHOSTADDRESS_V6;
    return {
      topic,
      queueId: 0,
      flag: message.flag,
      sysFlag: storeHost.address.length === 4
        ? kept
        : kept | MessageSysFlag.STOREHOSTADDRESS_V6,
      body: message.body,
      bornTimestamp: message.bornTimestamp,
      bornHost: message.bornHost,
      storeHost,
      reconsumeTimes: message.reconsumeTimes + 1,
      preparedTransactionOffset: 0,
      propertiesText: encodeProperties(properties),
      tagsCode: tags === undefined ? 0 : javaHashCode(tags),
      waitStoreMsgOk: false,
    };
  }

  /** These messages of the check point are settled. */
  #end(live: LiveCheckPoint, offsets: readonly number[]): string | null {
    const result = this.#ports.log.putAck(
      { ...live.point, offsets },
      live.reviveQueueId,
      live.point.popTime + live.point.invisibleTime,
      false,
    );
    if (result instanceof Promise) return "the put did not end at once";
    return isStored(result.status)
      ? null
      : remarkOfPut(result.status, result.reason) ?? result.status;
  }

  #compact(): void {
    const { compactRecordsMin, log } = this.#ports;
    log.queues().forEach(({ floor, nextOffset }, queueId) => {
      const needed = 4 * log.table.liveCount(queueId);
      const kept = Math.max(compactRecordsMin, needed);
      let excess = nextOffset - floor - kept;
      for (let count = 0; excess > 0 && count < COMPACT_TURN_MAX; count++) {
        const oldest = log.table.oldest(queueId);
        if (oldest === undefined) return;
        const { bitMap, point } = oldest;
        void log.putCheckPoint({ ...point, bitMap }, queueId, () => {}, false);
        const next = log.table.oldest(queueId);
        if (next === oldest) return;
        excess = nextOffset - (next?.reviveOffset ?? nextOffset) - kept;
      }
    });
  }

  #tellFailed(reason: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#ports.logger.warn(
      `Popped messages that nobody acknowledged wait, and are tried again: ${reason}`,
    );
  }
}
