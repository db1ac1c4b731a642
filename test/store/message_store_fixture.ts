/** A store on a simulated disk, and what its tests need around it. */
import { readInt64 } from "../../src/base/int64.ts";
import type { LogFields, Logger } from "../../src/io/logger.ts";
import type { MessageExtBrokerInner } from "../../src/model/message_ext.ts";
import { decodeMessageRecord } from "../../src/model/message_record.ts";
import type { MessageExt } from "../../src/model/message_ext.ts";
import type { GetMessageResult } from "../../src/store/get_message_result.ts";
import { MessageStore } from "../../src/store/message_store.ts";
import type { PutMessageResult } from "../../src/store/put_message_result.ts";
import {
  DEFAULT_MESSAGE_STORE_OPTIONS,
  type MessageStoreOptions,
} from "../../src/store/store_options.ts";
import { brokerInner } from "../model/message_fixture.ts";
import { SimClock } from "../sim/sim_clock.ts";
import { SimFileSystem } from "../sim/sim_file_system.ts";
import { SimRandom } from "../sim/sim_random.ts";

/** Where the stores of tests live; the folder above it is there. */
export const ROOT = "/data/store";

/** Small files: a few messages fill one. */
export const SMALL: MessageStoreOptions = {
  ...DEFAULT_MESSAGE_STORE_OPTIONS,
  storePathRootDir: ROOT,
  mappedFileSizeCommitLog: 4096,
  mappedFileSizeConsumeQueue: 400,
  maxHashSlotNum: 16,
  maxIndexNum: 64,
  maxMessageSize: 2048,
};

/** Keeps every line. */
export class LinesLogger implements Logger {
  readonly lines: string[] = [];
  debug(_message: string, _fields?: LogFields): void {}
  info(message: string, _fields?: LogFields): void {
    this.lines.push(`info ${message}`);
  }
  warn(message: string, _fields?: LogFields): void {
    this.lines.push(`warn ${message}`);
  }
  error(message: string, _fields?: LogFields): void {
    this.lines.push(`error ${message}`);
  }
  child(_category: string): Logger {
    return this;
  }
}

/** A disk and its processes, one after the other. */
export class StoreSite {
  readonly clock = new SimClock();
  readonly random: SimRandom;
  readonly disk: SimFileSystem;
  readonly logger = new LinesLogger();

  constructor(seed = 1) {
    this.random = new SimRandom(seed);
    this.disk = new SimFileSystem({
      random: this.random,
      clock: this.clock,
      directories: ["/data"],
    });
  }

  /** A store that has not loaded. */
  create(changes: Partial<MessageStoreOptions> = {}): MessageStore {
    return new MessageStore(
      {
        fileSystem: this.disk,
        clock: this.clock,
        random: this.random,
        logger: this.logger,
      },
      { ...SMALL, ...changes },
    );
  }

  /** A running store. */
  async open(
    changes: Partial<MessageStoreOptions> = {},
  ): Promise<MessageStore> {
    const store = this.create(changes);
    await store.load();
    await store.start();
    return store;
  }

  /** Time passes, tick by tick. */
  async pass(store: MessageStore, ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.clock.run(100);
      store.tick(this.clock.nowMs());
    }
  }
}

/** The answer of a put that needs no sync. */
export function put(
  store: MessageStore,
  changes: Partial<MessageExtBrokerInner> = {},
): PutMessageResult {
  const result = store.putMessage(brokerInner(changes));
  if (result instanceof Promise) throw new Error("The put waits for a sync");
  return result;
}

/** The answer of a pull of hot records. */
export function get(
  store: MessageStore,
  offset: number,
  queueId = 3,
  topic = "TopicTest",
): GetMessageResult {
  const result = store.getMessage({
    topic,
    queueId,
    offset,
    maxMsgNums: 32,
    filter: null,
  });
  if (result instanceof Promise) throw new Error("The pull is cold");
  return result;
}

/** The records of a pull. */
export function messagesOf(result: GetMessageResult): MessageExt[] {
  const messages: MessageExt[] = [];
  for (let position = 0; position < result.body.length;) {
    const message = decodeMessageRecord(result.body, position);
    messages.push(message);
    position += message.storeSize;
  }
  return messages;
}

/** `body` as text. */
export function textOf(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}

/** Text as `body`. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Reads an i64 out of a file. */
export function int64In(bytes: Uint8Array, position: number): number {
  return readInt64(new DataView(bytes.buffer, bytes.byteOffset), position);
}
