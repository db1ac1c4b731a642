/** BrokerParts: the managers of one broker, made and wired to nothing but their ports. */
import { FilterFactory } from "../filter/filter_factory.ts";
import type { Clock } from "../io/clock.ts";
import type { FileSystem } from "../io/file_system.ts";
import type { Logger } from "../io/logger.ts";
import { isDlqTopic, isRetryTopic } from "../model/topic_names.ts";
import type { RemotingConnection } from "../remoting/request_processor.ts";
import { JsonFile } from "../store/json_file.ts";
import type { MessageStore } from "../store/message_store.ts";
import type { BrokerOptions } from "./broker_options.ts";
import { BrokerStats } from "./broker_stats.ts";
import { BrokerStatsManager } from "./broker_stats_manager.ts";
import type { MetadataFile } from "./config_manager.ts";
import { ConsumerFilterManager } from "./consumer_filter_manager.ts";
import { ConsumerManager } from "./consumer_manager.ts";
import { ConsumerOffsetManager } from "./consumer_offset_manager.ts";
import { DelayOffsetFile } from "./delay_offset_file.ts";
import { ExecutionTimes } from "./execution_times.ts";
import { MessageRequestModeFile } from "./message_request_mode_file.ts";
import { ConsumerOrderInfoManager } from "./pop/consumer_order_info_manager.ts";
import { PopLongPollingService } from "./pop/pop_long_polling_service.ts";
import { ProducerManager } from "./producer_manager.ts";
import { PullRequestHoldService } from "./pull_request_hold_service.ts";
import { RebalanceLockManager } from "./rebalance_lock_manager.ts";
import { ResetOffsets } from "./reset_offsets.ts";
import { SubscriptionGroupManager } from "./subscription_group_manager.ts";
import { TimerCheckpointFile } from "./timer/timer_checkpoint_file.ts";
import { TimerMetrics } from "./timer/timer_metrics.ts";
import { TopicConfigManager } from "./topic_config_manager.ts";

/** What the managers need of the machine. */
export interface BrokerPartsPorts {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The managers. */
export class BrokerParts {
  readonly topicConfigManager: TopicConfigManager;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly filterFactory = new FilterFactory();
  readonly consumerFilterManager: ConsumerFilterManager;
  readonly consumerManager: ConsumerManager;
  readonly producerManager: ProducerManager;
  readonly rebalanceLockManager: RebalanceLockManager;
  readonly delayOffsetFile: DelayOffsetFile;
  readonly timerCheckpointFile: TimerCheckpointFile;
  readonly timerMetrics: TimerMetrics;
  readonly messageRequestModeFile: MessageRequestModeFile;
  readonly pullRequestHoldService: PullRequestHoldService;
  readonly popLongPollingService: PopLongPollingService;
  readonly consumerOrderInfoManager: ConsumerOrderInfoManager;
  /** Runs before consumerOffset.json is written: what it relies on is durable then. */
  flushBeforeOffsets: (() => Promise<void>) | null = null;
  readonly resetOffsets = new ResetOffsets();
  readonly brokerStats: BrokerStats;
  readonly brokerStatsManager: BrokerStatsManager;
  readonly topicCreations: ExecutionTimes;
  readonly groupCreations: ExecutionTimes;
  /** The files below `config/`, for whoever shows their state. */
  readonly metadataFiles: readonly JsonFile[];
  readonly #clock: Clock;
  readonly #isSlave: boolean;
  readonly #defaultTopicQueueNums: number;

  /** `options` are resolved: brokerName is not empty. */
  constructor(
    ports: BrokerPartsPorts,
    options: BrokerOptions,
    readonly messageStore: MessageStore,
    haRole: JsonFile,
  ) {
    const { clock, fileSystem } = ports;
    this.#clock = clock;
    this.#isSlave = options.brokerRole === "SLAVE";
    this.#defaultTopicQueueNums = options.defaultTopicQueueNums;
    const logger = ports.logger.child("metadata");
    const file = (name: string) =>
      new JsonFile(
        fileSystem,
        `${options.storePathRootDir}/config/${name}`,
        logger,
      );
    const topics = file("topics.json");
    const groups = file("subscriptionGroup.json");
    const offsets = file("consumerOffset.json");
    const delayOffsets = file("delayOffset.json");
    const timerMetrics = file("timermetrics");
    const modes = file("messageRequestMode.json");
    const filters = file("consumerFilter.json");
    const orderInfo = file("consumerOrderInfo.json");
    this.metadataFiles = [
      topics,
      groups,
      offsets,
      delayOffsets,
      timerMetrics,
      modes,
      filters,
      orderInfo,
      haRole,
    ];
    const maxOffsetInQueue = (topic: string, queueId: number) =>
      messageStore.getMaxOffsetInQueue(topic, queueId);
    this.topicConfigManager = new TopicConfigManager(
      { clock, logger, file: topics },
      options,
      () => messageStore.maxPhyOffset,
    );
    this.subscriptionGroupManager = new SubscriptionGroupManager(
      { clock, logger, file: groups },
      options,
    );
    this.consumerOffsetManager = new ConsumerOffsetManager(
      { clock, logger, file: this.#afterFlush(offsets) },
      options,
      {
        // Positions outlive what an unclean stop makes invisible for a while.
        maxOffsetInQueue: (topic, queueId) =>
          messageStore.getMaxOffsetInQueue(topic, queueId, false),
      },
    );
    this.delayOffsetFile = new DelayOffsetFile(delayOffsets, clock);
    this.timerCheckpointFile = new TimerCheckpointFile(
      fileSystem,
      options.storePathRootDir,
      logger,
    );
    this.timerMetrics = new TimerMetrics(timerMetrics);
    this.messageRequestModeFile = new MessageRequestModeFile(modes);
    const clients = { clock, logger: ports.logger.child("client") };
    this.consumerFilterManager = new ConsumerFilterManager(
      { clock, logger, file: filters },
      options,
      this.filterFactory,
    );
    this.consumerManager = new ConsumerManager({
      ...clients,
      onGroupLeft: (group) => this.consumerFilterManager.unRegister(group),
    }, options);
    this.producerManager = new ProducerManager(clients, options);
    this.rebalanceLockManager = new RebalanceLockManager(clients, options);
    this.brokerStatsManager = new BrokerStatsManager({
      clusterName: () => options.brokerClusterName,
      isSystemTopic: (topic) => this.topicConfigManager.isSystemTopic(topic),
      monotonicMs: () => clock.monotonicMs(),
    });
    this.topicCreations = new ExecutionTimes(clock);
    this.groupCreations = new ExecutionTimes(clock);
    this.brokerStats = new BrokerStats(
      clock,
      () => messageStore.counters,
      () => this.brokerStatsManager.countsWithoutSystem,
    );
    const defer = (run: () => void) => void Promise.resolve().then(run);
    this.pullRequestHoldService = new PullRequestHoldService(
      { maxOffsetInQueue, defer },
      options,
    );
    this.popLongPollingService = new PopLongPollingService({ defer }, options);
    this.consumerOrderInfoManager = new ConsumerOrderInfoManager(
      { clock, logger, file: orderInfo },
      options.flushConsumerOffsetInterval,
    );
  }

  /** Reads the files, then makes up for topics that only the store remembers. */
  load(): void {
    this.topicConfigManager.load();
    this.subscriptionGroupManager.load();
    this.consumerOffsetManager.load();
    this.delayOffsetFile.load();
    this.timerMetrics.load();
    this.messageRequestModeFile.load();
    this.consumerFilterManager.load();
    this.consumerOrderInfoManager.load();
    // A slave's table is its master's; what the log shows beside it is served from there.
    if (!this.#isSlave) this.#recoverTopics();
  }

  /** As a master: tables written from now on carry this epoch, or a later one. */
  takeEpoch(epoch: number): void {
    const topics = this.topicConfigManager;
    if (topics.dataVersion.stateVersion < epoch) {
      topics.updateDataVersion(epoch);
    }
    this.subscriptionGroupManager.takeEpoch(epoch);
    this.consumerOffsetManager.takeEpoch(epoch);
    this.delayOffsetFile.takeEpoch(epoch);
  }

  /**
   * topics.json may have been lost, or could not be written: data is enough to bring a topic
   * back. Clients know it with more queues than those that have some; producers hash over them.
   */
  #recoverTopics(): void {
    for (const topic of this.messageStore.topics()) {
      if (this.topicConfigManager.selectTopicConfig(topic)) continue;
      const queueIds = this.messageStore.queueIds(topic);
      const usedNums = Math.max(-1, ...queueIds) + 1;
      if (usedNums === 0) continue;
      const isOfGroup = isRetryTopic(topic) || isDlqTopic(topic);
      const queueNums = isOfGroup
        ? usedNums
        : Math.max(usedNums, this.#defaultTopicQueueNums);
      const recordsEnd = this.messageStore.recordsEnd(topic);
      this.topicConfigManager.recoverTopic(topic, queueNums, recordsEnd);
    }
  }

  /** Removes queues of deleted topics that recovery built anew; before clients come in. */
  async dropDeletedTopics(): Promise<void> {
    const deleted = this.messageStore.topics().filter((topic) =>
      this.topicConfigManager.isDeletedTopic(topic)
    );
    if (deleted.length > 0) await this.messageStore.deleteTopics(deleted);
  }

  tick(nowMs: number): void {
    // A wall clock that is set must not end connections, locks or pauses.
    const monotonicMs = this.#clock.monotonicMs();
    this.topicConfigManager.tick(monotonicMs);
    this.subscriptionGroupManager.tick(monotonicMs);
    this.consumerOffsetManager.tick(monotonicMs);
    this.consumerFilterManager.tick(monotonicMs);
    this.consumerManager.tick(monotonicMs);
    this.producerManager.tick(monotonicMs);
    this.rebalanceLockManager.tick(monotonicMs);
    this.pullRequestHoldService.tick(monotonicMs);
    this.brokerStats.tick(nowMs, monotonicMs);
    this.brokerStatsManager.tick(monotonicMs);
  }

  onConnectionOpened(): void {
    this.brokerStatsManager.onChannel("CONNECT");
  }

  onConnectionClosed(connection: RemotingConnection): void {
    this.brokerStatsManager.onChannel("CLOSE");
    this.pullRequestHoldService.onConnectionClosed(connection);
    this.popLongPollingService.onConnectionClosed(connection);
    this.consumerManager.doChannelCloseEvent(connection);
    this.producerManager.doChannelCloseEvent(connection);
  }

  /** Resolves when all tables are durable; rejects with the first FileError. */
  async persist(): Promise<void> {
    await Promise.all([
      this.topicConfigManager.persist(),
      this.subscriptionGroupManager.persist(),
      this.consumerOffsetManager.persist(),
      this.consumerFilterManager.persist(),
      this.consumerOrderInfoManager.persist(),
    ]);
  }

  #afterFlush(file: JsonFile): MetadataFile {
    return {
      read: (parse) => file.read(parse),
      get isDegraded() {
        return file.isDegraded;
      },
      write: async (text) => {
        await this.flushBeforeOffsets?.();
        await file.write(text);
      },
    };
  }

  reconfigure(options: BrokerOptions): void {
    this.topicConfigManager.reconfigure(options);
    this.subscriptionGroupManager.reconfigure(options);
    this.consumerOffsetManager.reconfigure(options);
    this.consumerFilterManager.reconfigure(options);
    this.consumerManager.reconfigure(options);
    this.producerManager.reconfigure(options);
    this.rebalanceLockManager.reconfigure(options);
    this.pullRequestHoldService.reconfigure(options);
    this.popLongPollingService.reconfigure(options);
  }
}
