/** A store on a simulated disk whose timer messages are delivered; its clock can be set. */
import { DelayOffsetFile } from "../../../src/broker/delay_offset_file.ts";
import { TimerCheckpointFile } from "../../../src/broker/timer/timer_checkpoint_file.ts";
import {
  recallKeyOf,
  toTimerMessage,
} from "../../../src/broker/timer/timer_message.ts";
import { TimerMessageShell } from "../../../src/broker/timer/timer_message_shell.ts";
import { TimerMetrics } from "../../../src/broker/timer/timer_metrics.ts";
import type { Clock } from "../../../src/io/clock.ts";
import type {
  MessageExt,
  MessageExtBrokerInner,
} from "../../../src/model/message_ext.ts";
import { findProperty } from "../../../src/model/message_properties.ts";
import { JsonFile } from "../../../src/store/json_file.ts";
import { MessageStore } from "../../../src/store/message_store.ts";
import type { PutMessageResult } from "../../../src/store/put_message_result.ts";
import type { MessageStoreOptions } from "../../../src/store/store_options.ts";
import { TIMER_TOPIC } from "../../../src/store/timer_time.ts";
import { brokerInner } from "../../model/message_fixture.ts";
import {
  bytesOf,
  messagesOf,
  ROOT,
  SMALL,
  StoreSite,
  textOf,
} from "../../store/message_store_fixture.ts";

const OPTIONS: Partial<MessageStoreOptions> = {
  mappedFileSizeCommitLog: 1_048_576,
  mappedFileSizeConsumeQueue: 20_000,
};

/** One process after the other on one disk. */
export class TimerSite extends StoreSite {
  /** What the wall clock shows beside the time that passes. */
  jumpedMs = 0;
  isMaster = true;
  mayDeliver = true;
  /** Answered to deliveries instead of storing them. */
  failure: PutMessageResult["status"] | null = null;
  timerRollWindowSlot = 172_800;
  readonly topics = new Set(["T"]);
  store!: MessageStore;
  shell!: TimerMessageShell;
  file!: DelayOffsetFile;
  metrics!: TimerMetrics;
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
    const { disk, logger, wall } = this;
    this.store = await this.open(changes);
    const json = (name: string) =>
      new JsonFile(disk, `${ROOT}/config/${name}`, logger);
    this.file = new DelayOffsetFile(json("delayOffset.json"), wall);
    this.file.load();
    this.metrics = new TimerMetrics(json("timermetrics"));
    this.metrics.load();
    this.shell = new TimerMessageShell({
      clock: wall,
      logger,
      messages: this.store.delayedMessages.timers,
      file: this.file,
      checkpointFile: new TimerCheckpointFile(disk, ROOT, logger),
      metrics: this.metrics,
      store: { putMessage: (message) => this.#put(message) },
      stats: { onPut: () => {} },
      isMaster: () => this.isMaster,
      mayDeliver: () => this.mayDeliver,
      hasTopic: (topic) => this.topics.has(topic),
    }, {
      timerFlushIntervalMs: 1_000,
      timerRollWindowSlot: this.timerRollWindowSlot,
    });
    this.store.messageArrivingListener = (topic) => {
      if (topic === TIMER_TOPIC) this.shell.onArriving();
    };
  }

  /** As BrokerRun stops. */
  async stop(): Promise<void> {
    this.shell.stop();
    await this.clock.complete(this.shell.persist());
    await this.clock.complete(this.store.shutdown());
  }

  /** kill -9, or with `isPowerCut` the disk forgets what was not synced. */
  die(isPowerCut = false): void {
    this.shell.stop();
    this.clock.cancelAll();
    if (isPowerCut) this.disk.crash();
    else this.disk.kill();
  }

  /** Sends a message that is due in `delayMs`; resolves when it is answered. */
  async send(
    text: string,
    delayMs: number,
    changes: Partial<MessageExtBrokerInner> = {},
  ): Promise<PutMessageResult> {
    return await this.sendAt(text, this.wall.nowMs() + delayMs, changes);
  }

  /** Sends a message that is due at `dueMs`, wall clock. */
  async sendAt(
    text: string,
    dueMs: number,
    changes: Partial<MessageExtBrokerInner> = {},
  ): Promise<PutMessageResult> {
    const message = toTimerMessage(
      brokerInner({
        topic: "T",
        queueId: 0,
        body: bytesOf(text),
        propertiesText: `TAGS\u0001TagA\u0002UNIQ_KEY\u0001K-${text}\u0002` +
          `TIMER_DELIVER_MS\u0001${dueMs}\u0002`,
        ...changes,
      }),
      dueMs,
    );
    if (typeof message === "string") throw new Error(message);
    return await this.clock.complete(this.store.putMessage(message));
  }

  /** Takes back the message `text`, which is due at `dueMs`. */
  recall(text: string, dueMs: number): Promise<PutMessageResult> {
    const key = recallKeyOf("T", `K-${text}`);
    return this.sendAt(`recall ${text}`, dueMs, {
      propertiesText: `TIMER_DEL_UNIQKEY\u0001${key}\u0002` +
        `TIMER_DELIVER_MS\u0001${dueMs}\u0002`,
    });
  }

  /** Time passes in ticks. */
  async run(ms: number, tickMs = 100): Promise<void> {
    for (let passed = 0; passed < ms; passed += tickMs) {
      await this.clock.run(tickMs);
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

/** How late a delivered message was stored; never negative. */
export function latenessMs(message: MessageExt): number {
  const out = findProperty(message.propertiesText, "TIMER_OUT_MS");
  return message.storeTimestamp - (Number(out) + 1);
}
