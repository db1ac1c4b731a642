/** A master and a slave of a test: their managers, and a client between them that can fail. */
import type { BrokerOptions } from "../../src/broker/broker_options.ts";
import { consumerManageProcessors } from "../../src/broker/processor/consumer_manage_processor.ts";
import { groupAdminProcessors } from "../../src/broker/processor/group_admin_processor.ts";
import { offsetAdminProcessors } from "../../src/broker/processor/offset_admin_processor.ts";
import { topicAdminProcessors } from "../../src/broker/processor/topic_admin_processor.ts";
import { WaitMetadataChangeProcessor } from "../../src/broker/processor/wait_metadata_change_processor.ts";
import { SlaveSynchronize } from "../../src/broker/slave_synchronize.ts";
import { encodeKVTable } from "../../src/protocol/body/kv_table.ts";
import { PocketmqRequestCode } from "../../src/protocol/pocketmq_request_code.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { RemotingConnectError } from "../../src/remoting/remoting_errors.ts";
import {
  HELD,
  type RequestProcessor,
} from "../../src/remoting/request_processor.ts";
import { fakeConnection } from "./fakes.ts";
import { ManagerRig, OPTIONS } from "./manager_rig.ts";

export const MASTER = "10.0.0.1:10911";
const SLAVE_OPTIONS: BrokerOptions = {
  ...OPTIONS,
  brokerRole: "SLAVE",
  brokerId: 1,
};

/** Answers requests with the processors of a real master. */
export class FakeMaster {
  readonly rig: ManagerRig;
  readonly wait: WaitMetadataChangeProcessor;
  readonly #table = new Map<number, RequestProcessor>();
  /** Code 31001 is not known. */
  isApache = false;
  isDown = false;
  /** Answered with 3. */
  readonly unknownCodes = new Set<number>();
  /** Bodies instead of the processors' answers, by code. */
  readonly bodies = new Map<number, string>();
  /** Called between a request and its answer. */
  onRequest: (code: number) => void = () => {};
  readonly codes: number[] = [];
  /** Remoting addresses that slaves gave. */
  readonly slaves: string[] = [];
  bytes = 0;
  readonly #connection = fakeConnection();

  constructor(rig = new ManagerRig()) {
    this.rig = rig;
    this.wait = new WaitMetadataChangeProcessor(
      () => ({
        topics: rig.topicConfigManager.dataVersion,
        subscriptionGroups: rig.subscriptionGroupManager.dataVersion,
        consumerOffsets: rig.consumerOffsetManager.dataVersion,
        delayOffsets: rig.delayOffsetFile.dataVersion,
        auth: { stateVersion: 0, timestamp: 0, counter: 0 },
      }),
      () => rig.clock.monotonicMs(),
      (brokerAddr) => void this.slaves.push(brokerAddr),
    );
    const messageStore = {
      deleteTopics: () => Promise.resolve(),
      getMinOffsetInQueue: () => 0,
      getMaxOffsetInQueue: () => 0,
      checkInMemByConsumeOffset: () => false,
      getOffsetInQueueByTime: () => Promise.resolve(0),
      getEarliestMessageTime: () => Promise.resolve(-1),
    };
    const deps = {
      ...rig,
      topics: rig.topicConfigManager,
      messageStore,
      registerChanges: () => Promise.resolve(),
    };
    for (
      const table of [
        topicAdminProcessors(deps),
        groupAdminProcessors(deps),
        offsetAdminProcessors(deps),
        consumerManageProcessors(deps),
      ]
    ) {
      for (const [code, it] of table) this.#table.set(code, it);
    }
  }

  async invoke(
    address: string,
    request: RemotingCommand,
  ): Promise<RemotingCommand> {
    await Promise.resolve();
    if (this.isDown || address !== MASTER) {
      throw new RemotingConnectError(address, "connection refused");
    }
    this.codes.push(request.code);
    this.onRequest(request.code);
    const response = await this.#answer(request);
    this.bytes += response.body.length;
    return response;
  }

  #answer(
    request: RemotingCommand,
  ): Promise<RemotingCommand> | RemotingCommand {
    if (this.unknownCodes.has(request.code)) {
      return createResponse(3, "not supported");
    }
    const body = this.bodies.get(request.code);
    if (body !== undefined) {
      return createResponse(0, null, {}, new TextEncoder().encode(body));
    }
    if (request.code === PocketmqRequestCode.WAIT_METADATA_CHANGE) {
      if (this.isApache) return createResponse(3, "not supported");
      const { promise, resolve } = Promise.withResolvers<RemotingCommand>();
      const context = {
        connection: this.#connection,
        receivedMs: 0,
        respond: resolve,
      };
      const answer = this.wait.process(context, request);
      return answer === HELD ? promise : answer;
    }
    if (request.code === RequestCode.GET_BROKER_RUNTIME_INFO) {
      const bounds = { commitLogMinOffset: "0", commitLogMaxOffset: "1000" };
      const table = new Map(Object.entries(bounds));
      return createResponse(0, null, {}, encodeKVTable(table));
    }
    const processor = this.#table.get(request.code);
    if (processor === undefined) return createResponse(3, "not supported");
    const context = {
      connection: this.#connection,
      receivedMs: 0,
      respond: () => {},
    };
    const answer = processor(context, request);
    if (typeof answer === "symbol") throw new Error("held");
    return answer;
  }
}

/** A pair on one clock. */
export class MetadataPair {
  readonly master: FakeMaster;
  readonly slave: ManagerRig;
  readonly sync: SlaveSynchronize;
  readonly deletedTopics: string[] = [];
  /** Topics whose queues must go, with the place in the log. */
  readonly cleaned: [string, number][] = [];
  masterAddress: string | null = MASTER;
  /** Of slaves that follow from then on. */
  slaveLogEnd = 1_000;
  refusal: string | null = null;
  readableBrokerId = 1;

  constructor(
    slaveFiles: Partial<Record<keyof ManagerRig["files"], string>> = {},
  ) {
    this.master = new FakeMaster();
    this.slave = new ManagerRig(SLAVE_OPTIONS, slaveFiles);
    this.sync = this.follow(this.slave);
  }

  /** A SlaveSynchronize into other managers. */
  follow(slave: ManagerRig): SlaveSynchronize {
    return new SlaveSynchronize({
      ...slave,
      client: this.master,
      messageStore: {
        deleteTopics: (topics) => {
          this.deletedTopics.push(...topics);
          return Promise.resolve();
        },
        replicaLog: {
          maxOffset: this.slaveLogEnd,
          flush: () => Promise.resolve(),
        },
      },
      topicQueueCleaner: {
        add: (topic, logEnd) => void this.cleaned.push([topic, logEnd]),
      },
      masterAddress: () => this.masterAddress,
      refusal: () => this.refusal,
      readableBrokerId: () => this.readableBrokerId,
      brokerAddr: () => "10.0.0.6:10911",
      clock: this.master.rig.clock,
      logger: slave.logger,
    });
  }

  /** Lets time pass in steps of 100 ms. */
  async advance(ms: number, each?: () => void): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      this.master.rig.clock.advance(100);
      this.slave.clock.advance(100);
      this.sync.tick();
      this.master.wait.tick();
      await settle();
      each?.();
    }
  }
}

/** Lets promises of this turn run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await Promise.resolve();
}
