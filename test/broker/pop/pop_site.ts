/** A broker's POP on a simulated disk: its requests are called, its clock is moved, it can die. */
import { BrokerParts } from "../../../src/broker/broker_parts.ts";
import {
  type BrokerOptions,
  DEFAULT_BROKER_OPTIONS,
} from "../../../src/broker/broker_options.ts";
import { PopService } from "../../../src/broker/pop/pop_service.ts";
import { TopicRouteInfo } from "../../../src/broker/pop/topic_route_info.ts";
import { listenToArrivals } from "../../../src/broker/running_broker.ts";
import { createTopicConfig } from "../../../src/broker/system_topics.ts";
import type { MessageExtBrokerInner } from "../../../src/model/message_ext.ts";
import { createSubscriptionGroupConfig } from "../../../src/model/subscription_group_config.ts";
import {
  createRequest,
  type ExtFields,
  type RemotingCommand,
} from "../../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../../src/protocol/request_code.ts";
import { HELD } from "../../../src/remoting/request_processor.ts";
import { JsonFile } from "../../../src/store/json_file.ts";
import type { MessageStore } from "../../../src/store/message_store.ts";
import type { MessageStoreOptions } from "../../../src/store/store_options.ts";
import type { PutMessageResult } from "../../../src/store/put_message_result.ts";
import { brokerInner } from "../../model/message_fixture.ts";
import { bytesOf, ROOT, StoreSite } from "../../store/message_store_fixture.ts";
import { ackFields, type Popped, poppedOf } from "../../support/popped.ts";
import { fakeConnection } from "../fakes.ts";

export const TOPIC = "T";
export const GROUP = "g";

/** One process after the other on one disk. */
export class PopSite extends StoreSite {
  readonly host = { address: Uint8Array.of(127, 0, 0, 1), port: 10_911 };
  connection = fakeConnection();
  mayTake = true;
  /** Answered to puts instead of storing them. */
  failure: PutMessageResult["status"] | null = null;
  options: BrokerOptions = {
    ...DEFAULT_BROKER_OPTIONS,
    brokerName: "broker-a",
    storePathRootDir: ROOT,
    reviveQueueNum: 2,
    popFromRetryProbability: 0,
  };
  store!: MessageStore;
  parts!: BrokerParts;
  pop!: PopService;

  async start(
    changes: Partial<BrokerOptions> = {},
    store: Partial<MessageStoreOptions> = {},
  ): Promise<void> {
    this.options = { ...this.options, ...changes };
    this.store = await this.open({
      mappedFileSizeCommitLog: 1_048_576,
      mappedFileSizeConsumeQueue: 20_000,
      maxMessageSize: 65_536,
      ...store,
    });
    const { disk: fileSystem, clock, logger, random } = this;
    const haRole = new JsonFile(
      fileSystem,
      `${ROOT}/config/haRole.json`,
      logger,
    );
    this.parts = new BrokerParts(
      { fileSystem, clock, logger },
      this.options,
      this.store,
      haRole,
    );
    this.parts.load();
    this.parts.consumerOffsetManager.lowerToEnds();
    listenToArrivals(
      this.parts,
      { onArriving: () => {} },
      { onArriving: () => {} },
    );
    const { topicConfigManager: topics } = this.parts;
    this.pop = new PopService(this.parts, {
      store: { putMessage: (message) => this.#put(message) },
      clock,
      random,
      logger,
      storeHost: this.host,
      routes: new TopicRouteInfo({
        client: { invoke: () => Promise.reject(new Error("nobody answers")) },
        clock,
        namesrvAddrs: () => [],
        brokerName: "broker-a",
        topics,
      }),
      compactRecordsMin: 1_000,
      isMaster: () => true,
      mayTake: () => this.mayTake,
    }, this.options);
  }

  /** A topic and a group, as tools make them. */
  createTopicAndGroup(queueNums = 2, retryMaxTimes = 16): void {
    this.parts.topicConfigManager.updateTopicConfig(
      createTopicConfig(TOPIC, {
        readQueueNums: queueNums,
        writeQueueNums: queueNums,
      }),
    );
    this.parts.subscriptionGroupManager.updateSubscriptionGroupConfig(
      createSubscriptionGroupConfig(GROUP, { retryMaxTimes }),
    );
  }

  /** kill -9, or with `isPowerCut` the disk forgets what was not synced. */
  die(isPowerCut = false): void {
    this.clock.cancelAll();
    this.connection = fakeConnection();
    if (isPowerCut) this.disk.crash();
    else this.disk.kill();
  }

  /** As BrokerRun stops. */
  async stop(): Promise<void> {
    await this.clock.complete(this.pop.stop());
    await this.clock.complete(this.parts.persist());
    await this.clock.complete(this.store.shutdown());
  }

  /** Time passes in ticks of 100 ms. */
  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.clock.run(100);
      this.store.tick(this.clock.nowMs());
      this.parts.tick(this.clock.nowMs());
      this.pop.tick();
      await this.clock.run(0);
    }
  }

  async send(
    text: string,
    changes: Partial<MessageExtBrokerInner> = {},
  ): Promise<PutMessageResult> {
    return await this.clock.complete(this.store.putMessage(brokerInner({
      topic: TOPIC,
      queueId: 0,
      body: bytesOf(text),
      propertiesText: "",
      tagsCode: 0,
      ...changes,
    })));
  }

  /** Resolves with the answer, also one that comes later. */
  call(
    code: number,
    fields: ExtFields,
    body: Uint8Array = new Uint8Array(0),
  ): Promise<RemotingCommand> {
    const processor = this.pop.processors().get(code) ??
      this.pop.assignmentProcessors().get(code)!;
    return new Promise((resolve, reject) => {
      const context = {
        connection: this.connection,
        receivedMs: this.clock.nowMs(),
        respond: resolve,
      };
      const answer = processor(context, createRequest(code, fields, body));
      if (answer === HELD) return;
      Promise.resolve(answer).then(resolve, reject);
    });
  }

  /** The answer of a POP; `fields` change its header. */
  async popAnswer(fields: ExtFields = {}): Promise<RemotingCommand> {
    return await this.clock.complete(
      this.call(RequestCode.POP_MESSAGE, { ...this.popFields(), ...fields }),
    );
  }

  popFields(): ExtFields {
    return {
      consumerGroup: GROUP,
      topic: TOPIC,
      queueId: "-1",
      maxMsgNums: "32",
      invisibleTime: "10000",
      pollTime: "0",
      bornTime: String(this.clock.nowMs()),
      initMode: "0",
    };
  }

  /** What a POP gives. */
  async popped(fields: ExtFields = {}): Promise<Popped[]> {
    return poppedOf(await this.popAnswer(fields));
  }

  /** The answer's code. */
  async ack(it: Popped, fields: ExtFields = {}): Promise<number> {
    const answer = await this.clock.complete(
      this.call(RequestCode.ACK_MESSAGE, { ...ackFields(it), ...fields }),
    );
    return answer.code;
  }

  async changeInvisibleTime(
    it: Popped,
    invisibleTime: number,
  ): Promise<RemotingCommand> {
    return await this.clock.complete(
      this.call(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, {
        ...ackFields(it),
        invisibleTime: String(invisibleTime),
      }),
    );
  }

  #put(message: MessageExtBrokerInner) {
    const status = this.failure;
    if (status === null) return this.store.putMessage(message);
    return {
      status,
      reason: "a test says so",
      phyOffset: -1,
      queueOffset: -1,
      size: 0,
      storeTimestamp: 0,
      messageCount: 0,
    };
  }
}
