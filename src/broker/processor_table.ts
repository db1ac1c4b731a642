/** ProcessorTable of the broker: the one place where request codes meet their processors. */
import type { HACoordinator } from "../ha/ha_coordinator.ts";
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { Random } from "../io/random.ts";
import type { SocketAddress } from "../model/socket_address.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import type { HARoleBody } from "../protocol/body/ha_role_body.ts";
import type { RoleChangeNotice } from "../protocol/header/role_change_header.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { RequestProcessor } from "../remoting/request_processor.ts";
import type { RpcStats } from "../remoting/rpc_stats.ts";
import { adminProcessorEntries } from "./admin_processor_entries.ts";
import type { BrokerMetadata } from "./broker_metadata.ts";
import type { BrokerOptions } from "./broker_options.ts";
import type { BrokerParts } from "./broker_parts.ts";
import type { HAFence } from "./ha_fence.ts";
import type { BrokerConfiguration } from "./processor/config_admin_processor.ts";
import type { PopService } from "./pop/pop_service.ts";
import { clientManageProcessors } from "./processor/client_manage_processor.ts";
import { consumerManageProcessors } from "./processor/consumer_manage_processor.ts";
import { endTransactionProcessors } from "./processor/end_transaction_processor.ts";
import { lockProcessors } from "./processor/lock_processor.ts";
import { PullMessageProcessor } from "./processor/pull_message_processor.ts";
import {
  type QueryMessageOptions,
  QueryMessageProcessor,
} from "./processor/query_message_processor.ts";
import { RecallMessageProcessor } from "./processor/recall_message_processor.ts";
import { ReplyMessageProcessor } from "./processor/reply_message_processor.ts";
import { SendMessageBackProcessor } from "./processor/send_message_back_processor.ts";
import { SendMessageProcessor } from "./processor/send_message_processor.ts";
import type { PutMessageStore } from "./send_message_ports.ts";
import type { DelayOffsets } from "./schedule_message_service.ts";
import type { ShutdownGate } from "./shutdown_gate.ts";
import type { TimerMessageShell } from "./timer/timer_message_shell.ts";
import { MASTER_CODES } from "./slave_processors.ts";
import { TransactionalMessageService } from "./transaction/transactional_message_service.ts";

/** What the processors of messages need beside the managers. */
export interface BrokerProcessorsPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** brokerIP1:listenPort, as records carry it. */
  readonly storeHost: SocketAddress;
  readonly uniqIds: { createUniqID(nowMs: number): string };
  readonly gate: ShutdownGate;
  /** Role, and puts that wait for slaves as it demands. */
  readonly ha: HACoordinator;
  readonly metadata: BrokerMetadata;
  readonly fence: HAFence;
  /** Where the delivery of what is delayed stands. */
  readonly schedule: {
    offsets(): DelayOffsets;
    readonly timers: TimerMessageShell;
  };
  readonly pop: PopService;
  /** What GET_HA_ROLE answers. */
  haRole(): HARoleBody;
  /** A change of role at another broker; the objection to it, or null. */
  hearRoleChange(notice: RoleChangeNotice): string | null;
  readonly configuration: BrokerConfiguration;
  /** Tells living name servers what changed; resolves when they know, or after a second. */
  registerChanges(): Promise<void>;
  /** Of the remoting server, by code. */
  readonly requests: ReadonlyMap<number, RpcStats>;
  /** Of the store's disk; may throw a FileError. */
  diskSpace(): { readonly totalBytes: number; readonly freeBytes: number };
}

const HOUR_MS = 3_600_000;

/** Keys of the store that processors read. */
export interface ProcessorStoreOptions extends QueryMessageOptions {
  /** Hours. */
  readonly fileReservedTime: number;
}

/** All processors of one broker. */
export class BrokerProcessors {
  readonly #parts: BrokerParts;
  readonly #ports: BrokerProcessorsPorts;
  readonly #send: SendMessageProcessor;
  readonly #recall: RecallMessageProcessor;
  readonly #sendBack: SendMessageBackProcessor;
  readonly #reply: ReplyMessageProcessor;
  readonly #pull: PullMessageProcessor;
  readonly #query: QueryMessageProcessor;
  readonly transactions: TransactionalMessageService;
  #options: BrokerOptions;

  constructor(
    parts: BrokerParts,
    ports: BrokerProcessorsPorts,
    options: BrokerOptions,
    queryOptions: ProcessorStoreOptions,
  ) {
    this.#parts = parts;
    this.#ports = ports;
    this.#options = options;
    const { clock, logger, random, storeHost, uniqIds } = ports;
    const shared = {
      store: parts.messageStore,
      topics: parts.topicConfigManager,
      groups: parts.subscriptionGroupManager,
      rebalanceLocks: parts.rebalanceLockManager,
      stats: parts.brokerStatsManager,
      putTimes: parts.brokerStats.putTimes,
      clock,
    };
    const putStore: PutMessageStore = ports.ha.store;
    const { messageStore } = parts;
    const { maxDelayLevel } = messageStore.delayedMessages.delayLevels;
    this.#send = new SendMessageProcessor(
      {
        ...shared,
        store: putStore,
        random,
        uniqIds,
        storeHost,
        maxDelayLevel,
        timerMetrics: parts.timerMetrics,
      },
      options,
    );
    this.#recall = new RecallMessageProcessor(
      {
        store: putStore,
        topics: parts.topicConfigManager,
        clock,
        storeHost,
        isSlave: () => ports.ha.role === "SLAVE",
      },
      options,
    );
    this.#sendBack = new SendMessageBackProcessor(
      {
        ...shared,
        store: {
          putMessage: (message) => putStore.putMessage(message),
          selectOneMessageByOffset: (offset) =>
            messageStore.selectOneMessageByOffset(offset),
        },
        random,
        storeHost,
        maxDelayLevel,
      },
      options,
    );
    this.#reply = new ReplyMessageProcessor({
      ...shared,
      store: putStore,
      producers: parts.producerManager,
      random,
      storeHost,
      logger: logger.child("reply"),
    }, options);
    this.#pull = new PullMessageProcessor({
      ...shared,
      topics: ports.metadata,
      replication: ports.metadata.replication,
      consumers: parts.consumerManager,
      filters: parts.consumerFilterManager,
      filterFactory: parts.filterFactory,
      offsets: parts.consumerOffsetManager,
      holdService: parts.pullRequestHoldService,
      resetOffsets: parts.resetOffsets,
      counters: parts.brokerStats.pull,
      logger: logger.child("pull"),
    }, options);
    this.#query = new QueryMessageProcessor(parts.messageStore, queryOptions);
    this.transactions = new TransactionalMessageService(
      {
        ...shared,
        store: putStore,
        reader: messageStore,
        offsets: parts.consumerOffsetManager,
        producers: parts.producerManager,
        logger: logger.child("transaction"),
        storeHost,
        uniqIds,
        isWritable: () =>
          ports.gate.isOpen && ports.ha.role !== "SLAVE" &&
          ports.fence.refusal() === null,
      },
      options,
      queryOptions.fileReservedTime * HOUR_MS,
    );
  }

  /** Puts every processor into `table`. */
  fill(table: Map<number, RequestProcessor>): void {
    const { gate } = this.#ports;
    const send = gate.wrap(this.#masterOnly(this.#send.process));
    table.set(RequestCode.SEND_MESSAGE, send);
    table.set(RequestCode.SEND_MESSAGE_V2, send);
    table.set(RequestCode.SEND_BATCH_MESSAGE, send);
    table.set(
      RequestCode.RECALL_MESSAGE,
      gate.wrap(this.#unfenced(this.#recall.process)),
    );
    table.set(
      RequestCode.CONSUMER_SEND_MSG_BACK,
      gate.wrap(this.#masterOnly(this.#sendBack.process)),
    );
    const reply = gate.wrap(this.#masterOnly(this.#reply.process));
    table.set(RequestCode.SEND_REPLY_MESSAGE, reply);
    table.set(RequestCode.SEND_REPLY_MESSAGE_V2, reply);
    const transactions = endTransactionProcessors({
      transactions: this.transactions,
      isSlave: () => this.#ports.ha.role === "SLAVE",
    });
    for (const [code, processor] of transactions) {
      table.set(code, gate.wrap(this.#unfenced(processor)));
    }
    for (const [code, processor] of this.#ports.pop.processors()) {
      table.set(code, gate.wrap(this.#masterOnly(processor)));
    }
    const pull = gate.wrap(this.#pull.process);
    table.set(RequestCode.PULL_MESSAGE, pull);
    table.set(RequestCode.LITE_PULL_MESSAGE, pull);
    table.set(RequestCode.QUERY_MESSAGE, this.#query.queryMessage);
    table.set(RequestCode.VIEW_MESSAGE_BY_ID, this.#query.viewMessageById);
    for (const [code, processor] of this.#managementEntries()) {
      table.set(code, processor);
    }
    this.#measure(table);
    this.#ports.metadata.wrap(table);
    for (const code of TABLE_CHANGES) {
      const processor = table.get(code);
      if (processor !== undefined) table.set(code, gate.wrapChange(processor));
    }
  }

  /** Topics and groups that tools make and change, as RocketMQ measures them. */
  #measure(table: Map<number, RequestProcessor>): void {
    const { groupCreations, topicCreations, topicConfigManager } = this.#parts;
    const topic = table.get(RequestCode.UPDATE_AND_CREATE_TOPIC)!;
    table.set(
      RequestCode.UPDATE_AND_CREATE_TOPIC,
      topicCreations.wrap(
        topic,
        ({ extFields }) =>
          topicConfigManager.isSystemTopic(extFields["topic"] ?? ""),
      ),
    );
    const group = table.get(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP)!;
    table.set(
      RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
      groupCreations.wrap(group, () => undefined),
    );
  }

  reconfigure(
    options: BrokerOptions,
    queryOptions: ProcessorStoreOptions,
  ): void {
    this.transactions.reconfigure(
      options,
      queryOptions.fileReservedTime * HOUR_MS,
    );
    this.#options = options;
    this.#send.reconfigure(options);
    this.#recall.reconfigure(options);
    this.#sendBack.reconfigure(options);
    this.#reply.reconfigure(options);
    this.#pull.reconfigure(options);
    this.#query.reconfigure(queryOptions);
  }

  /** Whoever is not the master refuses before a send could create its topic. */
  #masterOnly(processor: RequestProcessor): RequestProcessor {
    const { ha } = this.#ports;
    const unfenced = this.#unfenced(processor);
    return (context, request) =>
      ha.role === "SLAVE"
        ? writeRefusal(SLAVE_REFUSAL)
        : unfenced(context, request);
  }

  #unfenced(processor: RequestProcessor): RequestProcessor {
    const { fence } = this.#ports;
    return (context, request) => {
      const reason = fence.refusal();
      return reason === null
        ? processor(context, request)
        : writeRefusal(`service not available now: ${reason}`);
    };
  }

  *#managementEntries(): Iterable<readonly [number, RequestProcessor]> {
    const deps = {
      ...this.#parts,
      ...this.#ports,
      options: () => this.#options,
    };
    yield* clientManageProcessors(deps);
    yield* consumerManageProcessors({ ...deps, topics: deps.metadata });
    yield* lockProcessors(deps);
    yield* deps.pop.assignmentProcessors();
    yield* adminProcessorEntries(deps);
  }
}

/** Codes that change topics, groups or positions, beside those of messages and pulls. */
const TABLE_CHANGES = [
  ...MASTER_CODES,
  RequestCode.UPDATE_CONSUMER_OFFSET,
  RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
];

const SLAVE_REFUSAL =
  "service not available now: this broker is a slave, write to its master";

function writeRefusal(remark: string): RemotingCommand {
  return createResponse(
    ResponseCode.SERVICE_NOT_AVAILABLE,
    remark,
    { MSG_REGION: "", TRACE_ON: "false" },
  );
}
