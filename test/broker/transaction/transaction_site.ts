/** Transactions on a store on a simulated disk, with producers that answer as a test says. */
import { ConsumerOffsetManager } from "../../../src/broker/consumer_offset_manager.ts";
import { DEFAULT_BROKER_OPTIONS } from "../../../src/broker/broker_options.ts";
import { halfMessageOf } from "../../../src/broker/transaction/half_message.ts";
import { TransactionalMessageService } from "../../../src/broker/transaction/transactional_message_service.ts";
import type { MessageExt } from "../../../src/model/message_ext.ts";
import {
  encodeProperties,
  findProperty,
} from "../../../src/model/message_properties.ts";
import { decodeMessageRecord } from "../../../src/model/message_record.ts";
import { parseSocketAddress } from "../../../src/model/socket_address.ts";
import { TopicNames } from "../../../src/model/topic_names.ts";
import type { RemotingCommand } from "../../../src/protocol/remoting_command.ts";
import type { MessageStore } from "../../../src/store/message_store.ts";
import { brokerInner } from "../../model/message_fixture.ts";
import {
  get,
  messagesOf,
  put,
  StoreSite,
} from "../../store/message_store_fixture.ts";
import { FakeTopics, topicOf } from "../fakes.ts";
import { MemoryFile, RecordingConnection } from "../manager_rig.ts";

const BIG = {
  mappedFileSizeCommitLog: 4_194_304,
  mappedFileSizeConsumeQueue: 400_000,
};
export const COMMIT = 8;
export const ROLLBACK = 12;

/** A half message as its producer knows it. */
export interface Sent {
  readonly key: string;
  readonly commitLogOffset: number;
  readonly tranStateTableOffset: number;
}

/** One broker's transactions. */
export class TransactionSite {
  readonly committed: unknown[][] = [];
  readonly store = new StoreSite();
  readonly topics = new FakeTopics();
  readonly connection = new RecordingConnection();
  hasProducer = true;
  isWritable = true;
  options = {
    ...DEFAULT_BROKER_OPTIONS,
    brokerName: "broker-a",
    transactionCheckInterval: 1_000,
  };
  #offsetsFile = new MemoryFile();
  #offsets!: ConsumerOffsetManager;
  messageStore!: MessageStore;
  service!: TransactionalMessageService;
  #sentCount = 0;

  static async open(): Promise<TransactionSite> {
    const site = new TransactionSite();
    site.topics.table.set("T", topicOf("T"));
    await site.#start();
    return site;
  }

  get nowMs(): number {
    return this.store.clock.nowMs();
  }

  /** Stores a half message that was born now. */
  send(properties: Record<string, string> = {}): Sent {
    const key = `key${this.#sentCount++}`;
    const message = brokerInner({
      topic: "T",
      queueId: 1,
      sysFlag: 4,
      bornTimestamp: this.nowMs,
      propertiesText: encodeProperties(Object.entries({
        UNIQ_KEY: key,
        TAGS: "A",
        TRAN_MSG: "true",
        PGROUP: "pg",
        ...properties,
      })),
      tagsCode: 65,
    });
    const result = put(this.messageStore, halfMessageOf(message, key));
    return {
      key,
      commitLogOffset: result.phyOffset,
      tranStateTableOffset: result.queueOffset,
    };
  }

  async end(
    sent: Omit<Sent, "key">,
    commitOrRollback: number,
    fromTransactionCheck = false,
  ): Promise<number> {
    const ending = this.service.end({
      ...sent,
      producerGroup: "pg",
      commitOrRollback,
      fromTransactionCheck,
    });
    // Old records are read off the loop.
    return (await this.store.clock.complete(ending)).code;
  }

  /** Time passes; then one round. */
  async check(afterMs = 0): Promise<void> {
    await this.store.pass(this.messageStore, afterMs);
    const round = this.service.check();
    await this.store.clock.complete(round);
  }

  /** What producers were asked since the last call. */
  asked(): (Sent & { checkTimes: number; record: MessageExt })[] {
    return this.connection.oneways.splice(0).map((it: RemotingCommand) => {
      const record = decodeMessageRecord(it.body);
      return {
        key: it.extFields.msgId!,
        commitLogOffset: Number(it.extFields.commitLogOffset),
        tranStateTableOffset: Number(it.extFields.tranStateTableOffset),
        checkTimes: Number(
          findProperty(record.propertiesText, "TRANSACTION_CHECK_TIMES"),
        ),
        record,
      };
    });
  }

  /** Keys of the messages in a queue. */
  keys(topic = "T", queueId = 1): string[] {
    return this.messages(topic, queueId).map((it) =>
      findProperty(it.propertiesText, "UNIQ_KEY")!
    );
  }

  messages(topic: string, queueId: number): MessageExt[] {
    const end = this.messageStore.getMaxOffsetInQueue(topic, queueId);
    const all: MessageExt[] = [];
    while (all.length < end) {
      all.push(
        ...messagesOf(get(this.messageStore, all.length, queueId, topic)),
      );
    }
    return all;
  }

  get discarded(): string[] {
    return this.keys(TopicNames.RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC, 0);
  }

  /** Offsets of the half and of the op queue, as stored. */
  offsets(): number[] {
    const group = "CID_RMQ_SYS_TRANS";
    return [
      TopicNames.RMQ_SYS_TRANS_HALF_TOPIC,
      TopicNames.RMQ_SYS_TRANS_OP_HALF_TOPIC,
    ].map((it) => this.#offsets.queryOffset(group, it, 0));
  }

  async restart(): Promise<void> {
    await this.close();
    await this.#start();
  }

  async close(): Promise<void> {
    await this.service.stop();
    await this.#offsets.persist();
    await this.messageStore.shutdown();
  }

  async #start(): Promise<void> {
    const { clock, logger } = this.store;
    this.messageStore = await this.store.open(BIG);
    this.#offsets = new ConsumerOffsetManager(
      { clock, logger, file: this.#offsetsFile },
      this.options,
      { maxOffsetInQueue: () => 1e9 },
    );
    this.#offsets.load();
    const createTopicInSendMessageBackMethod = (topic: string) => {
      const made = topicOf(topic);
      this.topics.table.set(topic, made);
      return made;
    };
    this.service = new TransactionalMessageService(
      {
        reader: this.messageStore,
        store: this.messageStore,
        offsets: this.#offsets,
        producers: {
          getAvailableClient: () =>
            this.hasProducer
              ? {
                clientId: "p",
                language: 0,
                version: 0,
                connection: this.connection,
                lastUpdateTimestamp: 0,
                lastUpdateMs: 0,
              } as never
              : undefined,
        },
        topics: {
          selectTopicConfig: (topic) => this.topics.selectTopicConfig(topic),
          createTopicInSendMessageBackMethod,
        },
        stats: { onCommitted: (...it) => this.committed.push(it) },
        clock,
        logger,
        storeHost: parseSocketAddress("10.0.0.2:10911")!,
        uniqIds: { createUniqID: () => "OP" },
        isWritable: () => this.isWritable,
      },
      this.options,
      72 * 3_600_000,
    );
  }
}
