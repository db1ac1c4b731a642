/**
 * BrokerMetadata: what one broker does so that its tables and positions are
 * those of its pair. A slave follows its master; a master tells its slaves of
 * changes and, when it starts, asks them where groups stand.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { TopicConfig } from "../model/topic_config.ts";
import { ZERO_DATA_VERSION } from "../protocol/body/data_version_body.ts";
import type { MetadataVersions } from "../protocol/body/metadata_versions.ts";
import { PocketmqRequestCode } from "../protocol/pocketmq_request_code.ts";
import { RequestCode } from "../protocol/request_code.ts";
import type {
  GuardTable,
  RemotingConnection,
  RequestProcessor,
} from "../remoting/request_processor.ts";
import { joinHostPort } from "./broker_addresses.ts";
import type { BrokerOptions } from "./broker_options.ts";
import type { BrokerIdentity, OuterClient } from "./broker_outer_api.ts";
import type { BrokerParts } from "./broker_parts.ts";
import { MasterOffsetRecovery } from "./master_offset_recovery.ts";
import type { MetadataStatus } from "./metadata_status.ts";
import { WaitMetadataChangeProcessor } from "./processor/wait_metadata_change_processor.ts";
import type { PullReplication } from "./pull_replication.ts";
import { wrapForSlave } from "./slave_processors.ts";
import { SlaveSynchronize } from "./slave_synchronize.ts";
import { TopicQueueCleaner } from "./topic_queue_cleaner.ts";
import { createTopicConfig } from "./system_topics.ts";

/** The pair as replication sees it. */
export interface BrokerMetadataPorts {
  readonly parts: BrokerParts;
  readonly client: OuterClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Users and policies; undefined: this broker has none. */
  readonly auth: GuardTable | undefined;
  isSlave(): boolean;
  /** `host:port` of the master's remoting port; null while none is known. */
  masterAddress(): string | null;
  /** Why the master must not be followed now; null: it may. */
  refusal(): string | null;
  /** Why another broker is the master; null: none is known. */
  fencedReason(): string | null;
  /** A slave at the other end of `connection` says that its remoting port is `brokerAddr`. */
  onSlave(brokerAddr: string, connection: RemotingConnection): void;
}

/** Tables and positions of a pair. */
export class BrokerMetadata {
  readonly slaveSynchronize: SlaveSynchronize;
  readonly recovery: MasterOffsetRecovery;
  /** What pulls must know. */
  readonly replication: PullReplication;
  readonly #ports: BrokerMetadataPorts;
  readonly #wait: WaitMetadataChangeProcessor;
  readonly #cleaner: TopicQueueCleaner;

  #options: BrokerOptions;

  constructor(ports: BrokerMetadataPorts, options: BrokerOptions) {
    this.#ports = ports;
    this.#options = options;
    const { parts, client, clock, logger, isSlave } = ports;
    this.#cleaner = new TopicQueueCleaner(parts.messageStore, logger);
    this.slaveSynchronize = new SlaveSynchronize({
      client,
      clock,
      logger,
      topicConfigManager: parts.topicConfigManager,
      subscriptionGroupManager: parts.subscriptionGroupManager,
      consumerOffsetManager: parts.consumerOffsetManager,
      delayOffsetFile: parts.delayOffsetFile,
      messageRequestModeFile: parts.messageRequestModeFile,
      timerMetrics: parts.timerMetrics,
      messageStore: parts.messageStore,
      auth: ports.auth,
      topicQueueCleaner: this.#cleaner,
      masterAddress: () => isSlave() ? ports.masterAddress() : null,
      refusal: () => ports.refusal(),
      readableBrokerId: () =>
        this.#options.slaveReadEnable === "false" ? 0 : this.#options.brokerId,
      brokerAddr: () =>
        joinHostPort(this.#options.brokerIP1, this.#options.listenPort),
    });
    this.recovery = new MasterOffsetRecovery({
      client,
      clock,
      logger,
      consumerOffsetManager: parts.consumerOffsetManager,
      topicConfigManager: parts.topicConfigManager,
    });
    this.#wait = new WaitMetadataChangeProcessor(
      () => this.#versions(),
      () => clock.monotonicMs(),
      (brokerAddr, connection) => ports.onSlave(brokerAddr, connection),
    );
    this.replication = {
      isSlave,
      hasReadableSlave: (brokerId) => this.#wait.hasReadableSlave(brokerId),
      isMasterAlive: () => this.slaveSynchronize.isMasterAlive,
      onUnknownTopic: (topic) => this.onUnknownTopic(topic),
    };
  }

  /** Versions of the tables here. */
  get versions(): MetadataVersions {
    return this.#versions();
  }

  /** True when a PocketMQ slave has said that it holds exactly these tables and positions. */
  get hasSlaveInSync(): boolean {
    return this.#wait.isKnownToSlave(this.#versions());
  }

  reconfigure(options: BrokerOptions): void {
    this.#options = options;
  }

  /** Each table of a slave; null on a master. */
  status(): MetadataStatus | null {
    return this.#ports.isSlave() ? this.slaveSynchronize.status() : null;
  }

  /** Puts what is special of a pair around the processors of `table`. */
  wrap(table: Map<number, RequestProcessor>): void {
    const { fencedReason, isSlave, parts } = this.#ports;
    wrapForSlave(table, {
      isSlave,
      fencedReason,
      slaveSynchronize: this.slaveSynchronize,
      consumerOffsetManager: parts.consumerOffsetManager,
    });
    for (
      const code of [
        RequestCode.PULL_MESSAGE,
        RequestCode.LITE_PULL_MESSAGE,
        RequestCode.QUERY_CONSUMER_OFFSET,
      ]
    ) {
      const processor = table.get(code);
      if (processor !== undefined) {
        table.set(code, this.recovery.wrap(processor));
      }
    }
    table.set(PocketmqRequestCode.WAIT_METADATA_CHANGE, this.#wait.process);
  }

  /** A master asks its slaves; `namesrvAddr` is a `;` list. */
  start(identity: BrokerIdentity, namesrvAddr: string): void {
    const { isSlave, parts } = this.#ports;
    if (isSlave()) {
      // Those that a stop came before; what is gone already costs nothing.
      for (const [topic, end] of parts.topicConfigManager.deletions.entries()) {
        this.#cleaner.add(topic, end);
      }
      return;
    }
    const addresses = namesrvAddr.split(";").map((it) => it.trim());
    this.recovery.start(identity, addresses.filter((it) => it !== ""));
  }

  /** Every 100 ms. */
  tick(): void {
    this.recovery.tick();
    this.slaveSynchronize.tick();
    this.#cleaner.tick();
    this.#wait.tick();
  }

  /** Answers what waits, and begins nothing more. */
  stop(): void {
    this.slaveSynchronize.stop();
    this.recovery.stop();
    this.#wait.wakeAll();
  }

  /** A connection of the server has ended. */
  onConnectionClosed(connection: RemotingConnection): void {
    this.#wait.onConnectionClosed(connection);
  }

  /** A connection of the client has ended. */
  onClientClosed(address: string): void {
    this.slaveSynchronize.onConnectionClosed(address);
  }

  /** Dispatch has seen a record of `topic`. */
  onArriving(topic: string): void {
    if (!this.#ports.isSlave()) return;
    const { topicConfigManager } = this.#ports.parts;
    if (topicConfigManager.selectTopicConfig(topic) === undefined) {
      this.onUnknownTopic(topic);
    }
  }

  onUnknownTopic(topic: string): void {
    const { topicConfigManager } = this.#ports.parts;
    // Its last records may come behind the news of its deletion.
    if (topicConfigManager.isDeletedTopic(topic)) return;
    this.slaveSynchronize.onUnknownTopic(topic);
  }

  /**
   * The topic as a reader may see it: on a slave whose master is gone also one
   * that only the log knows, with the queues seen there.
   */
  selectTopicConfig(topic: string): TopicConfig | undefined {
    const { topicConfigManager, messageStore } = this.#ports.parts;
    const config = topicConfigManager.selectTopicConfig(topic);
    const isOnItsOwn = this.#ports.isSlave() &&
      !this.slaveSynchronize.isMasterAlive;
    if (config !== undefined || !isOnItsOwn) return config;
    if (topicConfigManager.isDeletedTopic(topic)) return undefined;
    const queueNums = Math.max(-1, ...messageStore.queueIds(topic)) + 1;
    return queueNums === 0 ? undefined : createTopicConfig(topic, {
      readQueueNums: queueNums,
      writeQueueNums: queueNums,
    });
  }

  #versions(): MetadataVersions {
    const { auth, parts } = this.#ports;
    return {
      topics: parts.topicConfigManager.dataVersion,
      subscriptionGroups: parts.subscriptionGroupManager.dataVersion,
      consumerOffsets: parts.consumerOffsetManager.dataVersion,
      delayOffsets: parts.delayOffsetFile.dataVersion,
      auth: auth?.dataVersion ?? ZERO_DATA_VERSION,
    };
  }
}
