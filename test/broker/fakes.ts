/** Plain objects that stand for the broker's neighbours. */
import type { Clock, Timer } from "../../src/io/clock.ts";
import type { Logger } from "../../src/io/logger.ts";
import { parseSocketAddress } from "../../src/model/socket_address.ts";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import type { SubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import type { TopicConfig } from "../../src/model/topic_config.ts";
import type { RemotingCommand } from "../../src/protocol/remoting_command.ts";
import type {
  RemotingConnection,
  RequestContext,
} from "../../src/remoting/request_processor.ts";

/** A clock that stands still until it is moved. */
export class FakeClock implements Clock {
  now = 1_790_000_000_000;
  #jumpedMs = 0;
  readonly #timers: { at: number; run: () => void; isLive: boolean }[] = [];
  nowMs(): number {
    return this.now;
  }
  monotonicMs(): number {
    return this.now - this.#jumpedMs - 1_789_999_000_000;
  }
  every(): Timer {
    return { cancel: () => {} };
  }
  after(delayMs: number, run: () => void): Timer {
    const timer = { at: this.now + delayMs, run, isLive: true };
    this.#timers.push(timer);
    return {
      cancel: () => {
        timer.isLive = false;
      },
    };
  }
  /** Somebody sets the wall clock. */
  jump(ms: number): void {
    this.now += ms;
    this.#jumpedMs += ms;
  }
  advance(ms: number): void {
    this.now += ms;
    for (const it of this.#timers) {
      if (!it.isLive || it.at > this.now) continue;
      it.isLive = false;
      it.run();
    }
  }
}

/** Keeps its lines. */
export class FakeLogger implements Logger {
  readonly lines: string[] = [];
  debug(): void {}
  info(message: string): void {
    this.lines.push(`info ${message}`);
  }
  warn(message: string): void {
    this.lines.push(`warn ${message}`);
  }
  error(message: string): void {
    this.lines.push(`error ${message}`);
  }
  child(): Logger {
    return this;
  }
}

let nextConnectionId = 1;

/** A connection that nobody listens to. */
export function fakeConnection(
  remoteAddress = "127.0.0.1:40001",
): RemotingConnection {
  return {
    id: nextConnectionId++,
    remoteAddress,
    remoteHost: parseSocketAddress(remoteAddress)!,
    isOpen: true,
    invoke: () => Promise.reject(new Error("nobody answers")),
    invokeOneway: () => {},
    close: () => {},
  };
}

/** A context that keeps late answers. */
export function fakeContext(
  connection = fakeConnection(),
): RequestContext & { answers: RemotingCommand[] } {
  const answers: RemotingCommand[] = [];
  return {
    connection,
    receivedMs: 0,
    respond: (response) => void answers.push(response),
    answers,
  };
}

/** A topic with four queues. */
export function topicOf(
  topicName: string,
  changes: Partial<TopicConfig> = {},
): TopicConfig {
  return {
    topicName,
    readQueueNums: 4,
    writeQueueNums: 4,
    perm: 6,
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: 0,
    order: false,
    attributes: {},
    ...changes,
  };
}

/** Topics that may be created from TBW102. */
export class FakeTopics {
  readonly table = new Map<string, TopicConfig>();
  mayCreate = true;
  selectTopicConfig(topic: string): TopicConfig | undefined {
    return this.table.get(topic);
  }
  createTopicInSendMessageMethod(topic: string): TopicConfig | undefined {
    return this.mayCreate ? this.#put(topicOf(topic)) : undefined;
  }
  createTopicInSendMessageBackMethod(
    topic: string,
    queueNums: number,
    perm: number,
  ): TopicConfig | undefined {
    return this.table.get(topic) ?? this.#put(
      topicOf(topic, {
        readQueueNums: queueNums,
        writeQueueNums: queueNums,
        perm,
      }),
    );
  }
  /** What a send waits for that made a topic. */
  stored = Promise.resolve();
  persist(): Promise<void> {
    return this.stored;
  }
  #put(topicConfig: TopicConfig): TopicConfig {
    this.table.set(topicConfig.topicName, topicConfig);
    return topicConfig;
  }
}

/** Groups by name; unknown ones do not exist. */
export class FakeGroups {
  readonly table = new Map<string, SubscriptionGroupConfig>();
  forbidden = 0;
  add(
    group: string,
    changes: Partial<SubscriptionGroupConfig> = {},
  ): void {
    this.table.set(group, createSubscriptionGroupConfig(group, changes));
  }
  findSubscriptionGroupConfig(
    group: string,
  ): SubscriptionGroupConfig | undefined {
    return this.table.get(group);
  }
  getForbidden(): number {
    return this.forbidden;
  }
}
