/** The managers of one broker over files in memory. */
import {
  type BrokerOptions,
  DEFAULT_BROKER_OPTIONS,
} from "../../src/broker/broker_options.ts";
import type { MetadataFile } from "../../src/broker/config_manager.ts";
import { BrokerStatsManager } from "../../src/broker/broker_stats_manager.ts";
import { ConsumerFilterManager } from "../../src/broker/consumer_filter_manager.ts";
import { ConsumerManager } from "../../src/broker/consumer_manager.ts";
import { ConsumerOffsetManager } from "../../src/broker/consumer_offset_manager.ts";
import { DelayOffsetFile } from "../../src/broker/delay_offset_file.ts";
import { MessageRequestModeFile } from "../../src/broker/message_request_mode_file.ts";
import { ProducerManager } from "../../src/broker/producer_manager.ts";
import { RebalanceLockManager } from "../../src/broker/rebalance_lock_manager.ts";
import { ResetOffsets } from "../../src/broker/reset_offsets.ts";
import { SubscriptionGroupManager } from "../../src/broker/subscription_group_manager.ts";
import { TimerMetrics } from "../../src/broker/timer/timer_metrics.ts";
import { TopicConfigManager } from "../../src/broker/topic_config_manager.ts";
import { FilterFactory } from "../../src/filter/filter_factory.ts";
import { parseSocketAddress } from "../../src/model/socket_address.ts";
import {
  createRequest,
  type ExtFields,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import type {
  ProcessorTable,
  RemotingConnection,
} from "../../src/remoting/request_processor.ts";
import { FakeClock, fakeContext, FakeLogger } from "./fakes.ts";

/** Options of a broker with a name. */
export const OPTIONS: BrokerOptions = {
  ...DEFAULT_BROKER_OPTIONS,
  brokerName: "broker-a",
};

/** A file whose writes a test can hold back or fail. */
export class MemoryFile implements MetadataFile {
  writes: string[] = [];
  isDegraded = false;
  failure: Error | undefined;
  constructor(public text?: string) {}
  read<T>(parse: (text: string) => T): T | undefined {
    return this.text === undefined ? undefined : parse(this.text);
  }
  async write(text: string): Promise<void> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    this.writes.push(text);
    this.text = text;
  }
}

/** A connection that keeps the oneways sent over it. */
export class RecordingConnection implements RemotingConnection {
  static #count = 0;
  readonly id = ++RecordingConnection.#count;
  readonly remoteHost;
  readonly oneways: RemotingCommand[] = [];
  isOpen = true;
  constructor(readonly remoteAddress = "10.0.0.1:50000") {
    this.remoteHost = parseSocketAddress(remoteAddress)!;
  }
  invoke(): Promise<RemotingCommand> {
    return Promise.reject(new Error("nobody answers"));
  }
  invokeOneway(request: RemotingCommand): void {
    this.oneways.push(request);
  }
  close(): void {
    this.isOpen = false;
  }
}

/** All managers, loaded. */
export class ManagerRig {
  readonly clock = new FakeClock();
  readonly logger = new FakeLogger();
  readonly files = {
    topics: new MemoryFile(),
    groups: new MemoryFile(),
    offsets: new MemoryFile(),
    delayOffsets: new MemoryFile(),
    modes: new MemoryFile(),
    timerMetrics: new MemoryFile(),
    filters: new MemoryFile(),
  };
  /** Max offsets by `topic/queueId`. */
  readonly maxOffsets = new Map<string, number>();
  logEnd = 0;
  readonly topicConfigManager: TopicConfigManager;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly filterFactory = new FilterFactory();
  readonly consumerFilterManager: ConsumerFilterManager;
  readonly consumerManager: ConsumerManager;
  readonly producerManager: ProducerManager;
  readonly rebalanceLockManager: RebalanceLockManager;
  readonly delayOffsetFile: DelayOffsetFile;
  readonly messageRequestModeFile: MessageRequestModeFile;
  readonly timerMetrics: TimerMetrics;
  readonly brokerStatsManager: BrokerStatsManager;
  readonly resetOffsets = new ResetOffsets();

  constructor(
    public brokerOptions: BrokerOptions = OPTIONS,
    files: Partial<Record<keyof ManagerRig["files"], string>> = {},
  ) {
    for (const [name, text] of Object.entries(files)) {
      this.files[name as keyof typeof files].text = text;
    }
    const ports = { clock: this.clock, logger: this.logger };
    this.topicConfigManager = new TopicConfigManager(
      { ...ports, file: this.files.topics },
      brokerOptions,
      () => this.logEnd,
    );
    this.subscriptionGroupManager = new SubscriptionGroupManager(
      { ...ports, file: this.files.groups },
      brokerOptions,
    );
    this.consumerOffsetManager = new ConsumerOffsetManager(
      { ...ports, file: this.files.offsets },
      brokerOptions,
      {
        maxOffsetInQueue: (topic, queueId) =>
          this.maxOffsets.get(`${topic}/${queueId}`) ?? 0,
      },
    );
    this.delayOffsetFile = new DelayOffsetFile(
      this.files.delayOffsets,
      this.clock,
    );
    this.messageRequestModeFile = new MessageRequestModeFile(this.files.modes);
    this.timerMetrics = new TimerMetrics(this.files.timerMetrics);
    this.consumerFilterManager = new ConsumerFilterManager(
      { ...ports, file: this.files.filters },
      brokerOptions,
      this.filterFactory,
    );
    this.consumerManager = new ConsumerManager({
      ...ports,
      onGroupLeft: (group) => this.consumerFilterManager.unRegister(group),
    }, brokerOptions);
    this.producerManager = new ProducerManager(ports, brokerOptions);
    this.rebalanceLockManager = new RebalanceLockManager(ports, brokerOptions);
    this.brokerStatsManager = new BrokerStatsManager({
      clusterName: () => brokerOptions.brokerClusterName,
      isSystemTopic: (topic) => this.topicConfigManager.isSystemTopic(topic),
      monotonicMs: () => 0,
    });
    this.topicConfigManager.load();
    this.subscriptionGroupManager.load();
    this.consumerOffsetManager.load();
    this.delayOffsetFile.load();
    this.messageRequestModeFile.load();
    this.consumerFilterManager.load();
  }

  readonly options = (): BrokerOptions => this.brokerOptions;

  /** Everything written. */
  async persisted(): Promise<this> {
    await this.topicConfigManager.persist();
    await this.subscriptionGroupManager.persist();
    await this.consumerOffsetManager.persist();
    return this;
  }
}

/** Sends one request to a table; a throw stays a throw. */
export async function ask(
  table: ProcessorTable,
  code: number,
  extFields: ExtFields = {},
  body: Uint8Array | string = new Uint8Array(0),
  connection: RemotingConnection = new RecordingConnection(),
): Promise<RemotingCommand> {
  const bytes = typeof body === "string"
    ? new TextEncoder().encode(body)
    : body;
  const processor = table.get(code);
  if (processor === undefined) throw new Error(`no processor for ${code}`);
  const response = await processor(
    fakeContext(connection),
    createRequest(code, extFields, bytes),
  );
  if (typeof response === "symbol") throw new Error("held");
  return response;
}

/** The body of an answer as text. */
export function bodyText(response: RemotingCommand): string {
  return new TextDecoder().decode(response.body);
}
