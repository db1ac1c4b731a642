/** A store on a simulated disk whose delayed messages are delivered; its clock can be set. */
import { DelayOffsetFile } from "../../src/broker/delay_offset_file.ts";
import { toScheduleMessage } from "../../src/broker/schedule_message.ts";
import { ScheduleMessageShell } from "../../src/broker/schedule_message_shell.ts";
import type { Clock } from "../../src/io/clock.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../src/model/message_ext.ts";
import { JsonFile } from "../../src/store/json_file.ts";
import { MessageStore } from "../../src/store/message_store.ts";
import type { PutMessageResult } from "../../src/store/put_message_result.ts";
import type { MessageStoreOptions } from "../../src/store/store_options.ts";
import { brokerInner } from "../model/message_fixture.ts";
import {
  bytesOf,
  messagesOf,
  ROOT,
  SMALL,
  StoreSite,
  textOf,
} from "../store/message_store_fixture.ts";

export const DELAY_OFFSET_JSON = `${ROOT}/config/delayOffset.json`;
export const PERSIST_INTERVAL_MS = 2_000;

const OPTIONS: Partial<MessageStoreOptions> = {
  messageDelayLevel: "1s 5s 1m",
  mappedFileSizeCommitLog: 1_048_576,
  mappedFileSizeConsumeQueue: 20_000,
};

/** One process after the other on one disk. */
export class ScheduleSite extends StoreSite {
  /** What the wall clock shows beside the time that passes. */
  jumpedMs = 0;
  isMaster = true;
  mayDeliver = true;
  /** Answered to deliveries instead of storing them. */
  failure: PutMessageResult["status"] | null = null;
  attempts = 0;
  /** This attempt fails, too. */
  failAt = 0;
  readonly puts: [string, string, number][] = [];
  readonly topics = new Set(["T"]);
  store!: MessageStore;
  shell!: ScheduleMessageShell;
  file!: DelayOffsetFile;
  readonly wall: Clock = {
    nowMs: () => this.clock.nowMs() + this.jumpedMs,
    monotonicMs: () => this.clock.monotonicMs(),
    every: (ms, run) => this.clock.every(ms, run),
    after: (ms, run) => this.clock.after(ms, run),
  };

  override create(changes: Partial<MessageStoreOptions> = {}): MessageStore {
    const { disk: fileSystem, logger, random } = this;
    return new MessageStore(
      { fileSystem, clock: this.wall, random, logger },
      { ...SMALL, ...OPTIONS, ...changes },
    );
  }

  async start(changes: Partial<MessageStoreOptions> = {}): Promise<void> {
    this.store = await this.open(changes);
    this.file = new DelayOffsetFile(
      new JsonFile(this.disk, DELAY_OFFSET_JSON, this.logger),
      this.wall,
    );
    this.file.load();
    this.shell = new ScheduleMessageShell({
      clock: this.wall,
      logger: this.logger,
      messages: this.store.delayedMessages,
      file: this.file,
      store: { putMessage: (message) => this.#put(message) },
      stats: {
        onPut: (topic, _queueId, type, nums) =>
          void this.puts.push([topic, type, nums]),
      },
      isMaster: () => this.isMaster,
      mayDeliver: () => this.mayDeliver,
      hasTopic: (topic) => this.topics.has(topic),
    }, PERSIST_INTERVAL_MS);
  }

  /** As BrokerRun stops. */
  async stop(): Promise<void> {
    this.shell.stop();
    await this.clock.complete(this.shell.persist());
    await this.clock.complete(this.store.shutdown());
  }

  /** kill -9, or with `isPowerCut` the disk forgets what was not synced. */
  die(isPowerCut = false): void {
    this.clock.cancelAll();
    if (isPowerCut) this.disk.crash();
    else this.disk.kill();
  }

  /** Sends a message; resolves when it is answered. */
  async send(
    text: string,
    level: number,
    changes: Partial<MessageExtBrokerInner> = {},
  ): Promise<PutMessageResult> {
    const message = brokerInner({
      topic: "T",
      queueId: 0,
      body: bytesOf(text),
      propertiesText: "TAGS\u0001TagA\u0002",
      ...changes,
    });
    const { maxDelayLevel } = this.store.delayedMessages.delayLevels;
    return await this.clock.complete(
      this.store.putMessage(toScheduleMessage(message, level, maxDelayLevel)),
    );
  }

  /** Time passes in ticks of 100 ms. */
  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.clock.run(100);
      this.store.tick(this.wall.nowMs());
      this.shell.tick();
      await this.clock.run(0);
    }
  }

  /** Every message of a queue, oldest first. */
  async messages(topic = "T", queueId = 0): Promise<MessageExt[]> {
    const all: MessageExt[] = [];
    for (let offset = this.store.getMinOffsetInQueue(topic, queueId);;) {
      const found = await this.clock.complete(
        this.store.getMessage({
          topic,
          queueId,
          offset,
          maxMsgNums: 32,
          filter: null,
        }),
      );
      if (found.messageCount === 0) return all;
      all.push(
        ...messagesOf(found).map((it) => ({ ...it, body: it.body.slice() })),
      );
      offset = found.nextBeginOffset;
    }
  }

  async texts(topic = "T", queueId = 0): Promise<string[]> {
    return (await this.messages(topic, queueId)).map((it) => textOf(it.body));
  }

  #put(message: MessageExtBrokerInner) {
    this.attempts++;
    const status = this.attempts === this.failAt
      ? "OS_PAGE_CACHE_BUSY"
      : this.failure;
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
