/**
 * PopService: POP consumption of one run of a broker (reference 2.8): its processors, the revive
 * log and what brings messages back.
 *
 * A master reads the revive log before it answers the first request; a slave does not read it, and
 * one that is promoted finds there what its master had given to whom.
 */
import type { Clock } from "../../io/clock.ts";
import type { Logger } from "../../io/logger.ts";
import type { Random } from "../../io/random.ts";
import type { MessageExtBrokerInner } from "../../model/message_ext.ts";
import type { SocketAddress } from "../../model/socket_address.ts";
import { reviveTopicOf } from "../../model/topic_names.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import type { RequestProcessor } from "../../remoting/request_processor.ts";
import type { PutMessageResult } from "../../store/put_message_result.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { BrokerParts } from "../broker_parts.ts";
import { AckMessageProcessor } from "./ack_message_processor.ts";
import { PeekMessageProcessor } from "./peek_message_processor.ts";
import { PopMessageProcessor } from "./pop_message_processor.ts";
import { PopOrder } from "./pop_order.ts";
import { PopPosition } from "./pop_position.ts";
import { PopQueues } from "./pop_queues.ts";
import { PopReviveLog } from "./pop_revive_log.ts";
import { PopReviveService } from "./pop_revive_service.ts";
import { queryAssignmentProcessors } from "./query_assignment_processor.ts";
import type { TopicRouteInfo } from "./topic_route_info.ts";

/** What it needs beside the managers. */
export interface PopServicePorts {
  readonly store: {
    putMessage(
      message: MessageExtBrokerInner,
    ): PutMessageResult | Promise<PutMessageResult>;
  };
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly storeHost: SocketAddress;
  readonly routes: TopicRouteInfo;
  /** As `PopReviveService` has it; undefined: 50,000. */
  readonly compactRecordsMin?: number;
  isMaster(): boolean;
  /** Whether this broker may take messages now. */
  mayTake(): boolean;
}

const COMPACT_RECORDS_MIN = 50_000;
const CLEAN_INTERVAL_MS = 60_000;

/** POP of one run. */
export class PopService {
  readonly #parts: BrokerParts;
  readonly #ports: PopServicePorts;
  readonly log: PopReviveLog;
  readonly revive: PopReviveService;
  readonly #messages: PopMessageProcessor;
  readonly #acks: AckMessageProcessor;
  readonly #peeks: PeekMessageProcessor;
  #options: BrokerOptions;
  #cleanedMs: number;

  constructor(
    parts: BrokerParts,
    ports: PopServicePorts,
    options: BrokerOptions,
  ) {
    this.#parts = parts;
    this.#ports = ports;
    this.#options = options;
    this.#cleanedMs = ports.clock.monotonicMs();
    this.log = new PopReviveLog({
      store: ports.store,
      reader: parts.messageStore,
      offsets: parts.consumerOffsetManager,
      clock: ports.clock,
      logger: ports.logger,
      storeHost: ports.storeHost,
      reviveTopic: reviveTopicOf(options.brokerClusterName),
      queueNums: options.reviveQueueNum,
    });
    parts.flushBeforeOffsets = () => this.#flush();
    this.revive = this.#newRevive();
    const position = this.#newPosition();
    this.#messages = this.#newMessages(position);
    this.#acks = this.#newAcks(position);
    this.#peeks = new PeekMessageProcessor({
      topics: parts.topicConfigManager,
      groups: parts.subscriptionGroupManager,
      filterFactory: parts.filterFactory,
      reader: parts.messageStore,
      offsets: parts.consumerOffsetManager,
      random: ports.random,
      retryTopics: (topic, group) => this.#messages.retryTopics(topic, group),
    }, () => this.#options);
  }

  reconfigure(options: BrokerOptions): void {
    this.#options = options;
  }

  /** Processors of masters by request code. */
  processors(): ReadonlyMap<number, RequestProcessor> {
    return new Map<number, RequestProcessor>([
      [RequestCode.POP_MESSAGE, this.#messages.pop],
      [RequestCode.NOTIFICATION, this.#messages.notification],
      [RequestCode.POLLING_INFO, this.#messages.pollingInfo],
      [RequestCode.PEEK_MESSAGE, this.#peeks.process],
      [RequestCode.ACK_MESSAGE, this.#acks.ack],
      [RequestCode.BATCH_ACK_MESSAGE, this.#acks.batchAck],
      [
        RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
        this.#acks.changeInvisibleTime,
      ],
    ]);
  }

  /** 400 and 401. */
  assignmentProcessors(): ReadonlyMap<number, RequestProcessor> {
    const { consumerManager, messageRequestModeFile } = this.#parts;
    return queryAssignmentProcessors({
      messageRequestModeFile,
      routes: this.#ports.routes,
      topics: this.#parts.topicConfigManager,
      groups: this.#parts.subscriptionGroupManager,
      clientIds: (group) => {
        const info = consumerManager.getConsumerGroupInfo(group);
        return info === undefined ? undefined : [...info.clients.keys()];
      },
      options: () => this.#options,
    });
  }

  /** Every 100 ms. */
  tick(): void {
    const { consumerOrderInfoManager, popLongPollingService } = this.#parts;
    const nowMs = this.#ports.clock.monotonicMs();
    popLongPollingService.tick(nowMs);
    consumerOrderInfoManager.tick(nowMs);
    if (!this.#ports.isMaster()) return;
    if (!this.log.isLoaded) {
      this.log.load().catch((error: unknown) =>
        this.#ports.logger.error("Cannot read the revive log of POP", {
          error,
        })
      );
      return;
    }
    this.log.tick();
    this.revive.tick();
    for (const it of consumerOrderInfoManager.takeFreed()) this.#onFreed(...it);
    if (nowMs - this.#cleanedMs < CLEAN_INTERVAL_MS) return;
    this.#cleanedMs = nowMs;
    this.#clean();
  }

  /** Answers whoever waits; resolves when nothing more is written. */
  async stop(): Promise<void> {
    this.#parts.popLongPollingService.stop();
    await this.revive.stop();
  }

  #newRevive(): PopReviveService {
    const parts = this.#parts;
    const { clock, logger, mayTake, store, storeHost } = this.#ports;
    return new PopReviveService({
      log: this.log,
      reader: parts.messageStore,
      store,
      topics: parts.topicConfigManager,
      groups: parts.subscriptionGroupManager,
      stats: parts.brokerStatsManager,
      clock,
      logger,
      storeHost,
      compactRecordsMin: this.#ports.compactRecordsMin ?? COMPACT_RECORDS_MIN,
      isRetryTopicV2: () => this.#options.enableRetryTopicV2,
      mayRevive: mayTake,
    });
  }

  #newPosition(): PopPosition {
    const parts = this.#parts;
    return new PopPosition({
      reader: parts.messageStore,
      isInMemory: (topic, queueId, queueOffset) =>
        parts.messageStore.checkInMemByConsumeOffset(
          topic,
          queueId,
          queueOffset,
        ),
      offsets: parts.consumerOffsetManager,
      resetOffsets: parts.resetOffsets,
      orderInfo: parts.consumerOrderInfoManager,
    }, () => this.#options);
  }

  #newMessages(position: PopPosition): PopMessageProcessor {
    const parts = this.#parts;
    const { clock, logger, mayTake, random } = this.#ports;
    const { brokerName } = this.#options;
    const queues = new PopQueues({
      reader: parts.messageStore,
      log: this.log,
      position,
      orderInfo: parts.consumerOrderInfoManager,
      clock,
      brokerName,
      stats: parts.brokerStatsManager,
      onFreed: (...queue) => this.#onFreed(...queue),
    }, () => this.#options);
    return new PopMessageProcessor({
      log: this.log,
      queues,
      position,
      topics: parts.topicConfigManager,
      groups: parts.subscriptionGroupManager,
      filterFactory: parts.filterFactory,
      longPolling: parts.popLongPollingService,
      clock,
      random,
      logger,
      brokerName,
      mayTake,
    }, () => this.#options);
  }

  #newAcks(position: PopPosition): AckMessageProcessor {
    const parts = this.#parts;
    const { clock } = this.#ports;
    return new AckMessageProcessor({
      log: this.log,
      order: new PopOrder({
        orderInfo: parts.consumerOrderInfoManager,
        offsets: parts.consumerOffsetManager,
        position,
        clock,
        onFreed: (...queue) => this.#onFreed(...queue),
      }),
      reader: parts.messageStore,
      topics: parts.topicConfigManager,
      clock,
      reviveQueueNums: this.#options.reviveQueueNum,
    });
  }

  #onFreed(topic: string, group: string, queueId: number): void {
    const { popLongPollingService } = this.#parts;
    popLongPollingService.wakeOne(topic, group, queueId);
    popLongPollingService.wakeRetry(topic);
  }

  /** Positions must not outlive the check points behind them. */
  async #flush(): Promise<void> {
    if (!this.log.isUnflushed) return;
    this.log.isUnflushed = false;
    const isFlushed = await this.#parts.messageStore.delayedMessages.flush();
    if (!isFlushed) this.log.isUnflushed = true;
  }

  #clean(): void {
    const { consumerOrderInfoManager, subscriptionGroupManager } = this.#parts;
    const topics = this.#parts.topicConfigManager;
    consumerOrderInfoManager.clean({
      hasGroup: (group) =>
        subscriptionGroupManager.findSubscriptionGroupConfig(group) !==
          undefined,
      queueNums: (topic) => topics.selectTopicConfig(topic)?.readQueueNums,
    });
  }
}
