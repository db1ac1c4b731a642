/**
 * PullTask: pulls one queue and hands its messages on, in order.
 *
 * Invariants
 * - One pull or one listener call at a time: at most one batch is in memory.
 * - `consumedOffset` never passes a message that the listener did not finish.
 */
import type { MessageQueue } from "../model/message_queue.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import { encodePullMessageRequestHeader } from "../protocol/header/pull_message_request_header.ts";
import { decodePullMessageResponseHeader } from "../protocol/header/pull_message_response_header.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import {
  ConsumedMessage,
  decodeRecords,
  isWanted,
} from "./consumed_message.ts";
import type { ConsumerOptions, MessageListener } from "./consumer_options.ts";
import { messageOf, MQClientError, refusedBy } from "./mq_client_error.ts";
import { anyAddressOf, type MQClientInstance } from "./mq_client_instance.ts";
import { brokerDataOf, MASTER_ID } from "./route_queues.ts";
import { TickPauses } from "./tick_pauses.ts";

/** PullSysFlag's bit for a pull that may be held. */
const FLAG_SUSPEND = 0x2;
/** An empty answer that comes sooner was not held. */
const HELD_MIN_MS = 100;

/** What a task needs of its consumer. */
export interface PullContext {
  readonly instance: MQClientInstance;
  readonly options: ConsumerOptions;
  readonly listener: MessageListener;
  readonly subscription: SubscriptionData;
  /** The broker does not know the group or the subscription, or went away. */
  onBrokerForgot(): void;
  /** True when somebody takes care of a failed pull: the task ends. */
  onFailed(error: unknown): boolean;
}

/** One queue of a consumer. */
export class PullTask {
  readonly queue: MessageQueue;
  readonly #context: PullContext;
  #pullOffset: number;
  #consumedOffset: number;
  #committedOffset: number;
  /** Counts resets: what was pulled before one is dropped. */
  #generation = 0;
  #brokerId = MASTER_ID;
  #isStopped = false;
  #delivering: Promise<void> = Promise.resolve();
  readonly #pauses = new TickPauses();

  constructor(context: PullContext, queue: MessageQueue, offset: number) {
    this.#context = context;
    this.queue = queue;
    this.#pullOffset = offset;
    this.#consumedOffset = offset;
    this.#committedOffset = -1;
  }

  /** The next offset to consume. */
  get consumedOffset(): number {
    return this.#consumedOffset;
  }

  /** The offset to commit; undefined when it is committed already. */
  get offsetToCommit(): number | undefined {
    return this.#consumedOffset === this.#committedOffset
      ? undefined
      : this.#consumedOffset;
  }

  onCommitted(offset: number): void {
    this.#committedOffset = offset;
  }

  start(): void {
    void this.#run();
  }

  /** No listener call begins any more; resolves when a running one has ended. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#pauses.close();
    return this.#delivering;
  }

  /** Goes on at another offset. */
  reset(offset: number): void {
    this.#generation++;
    this.#pullOffset = offset;
    this.#consumedOffset = offset;
    this.#pauses.endAll();
  }

  tick(nowMs: number): void {
    this.#pauses.tick(nowMs);
  }

  async #run(): Promise<void> {
    const { options, instance } = this.#context;
    while (!this.#isStopped) {
      try {
        await this.#pullOnce();
      } catch (error) {
        if (this.#isStopped || this.#context.onFailed(error)) return;
        instance.ports.logger.warn(
          `Cannot pull from ${this.queue.topic} queue ${this.queue.queueId} ` +
            `of ${this.queue.brokerName}: ${messageOf(error)}`,
        );
        this.#brokerId = MASTER_ID;
        instance.namesrv.expireRoute(this.queue.topic);
        this.#context.onBrokerForgot();
        await this.#pause(options.pullTimeDelayMillsWhenException);
      }
    }
  }

  async #pullOnce(): Promise<void> {
    const { instance, options } = this.#context;
    const address = await this.#address();
    const generation = this.#generation;
    const offset = this.#pullOffset;
    const startedMs = instance.nowMs();
    const response = await instance.invoke(
      address,
      this.#request(offset),
      options.consumerTimeoutMillisWhenSuspend,
    );
    if (this.#isStopped || generation !== this.#generation) return;
    switch (response.code) {
      case ResponseCode.SUCCESS:
        return this.#onFound(response, generation);
      case ResponseCode.PULL_NOT_FOUND:
      case ResponseCode.PULL_RETRY_IMMEDIATELY: {
        const next = this.#takeHeader(response);
        this.#onSkipped(next);
        // A broker that neither holds a pull nor goes on must not be asked without end.
        const tookMs = instance.nowMs() - startedMs;
        if (next === offset && tookMs < HELD_MIN_MS) {
          await this.#pause(options.pullTimeDelayMillsWhenException);
        }
        return;
      }
      case ResponseCode.PULL_OFFSET_MOVED:
        return this.reset(this.#takeHeader(response));
      default:
        throw refusedBy(address, RequestCode.PULL_MESSAGE, response);
    }
  }

  #request(queueOffset: number): RemotingCommand {
    const { options, subscription } = this.#context;
    const fields = encodePullMessageRequestHeader({
      consumerGroup: options.consumerGroup,
      topic: this.queue.topic,
      queueId: this.queue.queueId,
      queueOffset,
      maxMsgNums: options.pullBatchSize,
      sysFlag: FLAG_SUSPEND,
      commitOffset: 0,
      suspendTimeoutMillis: options.brokerSuspendMaxTimeMillis,
      subscription: undefined,
      subVersion: subscription.subVersion,
      expressionType: subscription.expressionType,
      maxMsgBytes: undefined,
      requestSource: -1,
    });
    return createRequest(RequestCode.PULL_MESSAGE, fields);
  }

  /** The broker that was suggested last, else any of the name. */
  async #address(): Promise<string> {
    const { topic, brokerName } = this.queue;
    const route = await this.#context.instance.namesrv.route(topic);
    const data = brokerDataOf(route, brokerName);
    const address = data?.brokerAddrs.get(this.#brokerId) ?? anyAddressOf(data);
    if (address !== undefined) return address;
    throw new MQClientError(`no broker ${brokerName} is in the route`, null);
  }

  /** Takes what every answer says, and returns the offset to go on with. */
  #takeHeader(response: RemotingCommand): number {
    const header = decodePullMessageResponseHeader(response.extFields);
    this.#brokerId = header.suggestWhichBrokerId;
    return header.nextBeginOffset;
  }

  #onSkipped(nextOffset: number): void {
    this.#pullOffset = nextOffset;
    this.#consumedOffset = nextOffset;
  }

  async #onFound(response: RemotingCommand, generation: number): Promise<void> {
    const next = this.#takeHeader(response);
    const messages = decodeRecords(response.body)
      .filter((it) => isWanted(it, this.#context.subscription))
      .map((it) => new ConsumedMessage(it));
    for (let done = 0; done < messages.length;) {
      const rest = done === 0 ? messages : messages.slice(done);
      const delivering = this.#deliver(rest);
      this.#delivering = delivering.then(() => {});
      const count = await delivering;
      if (generation !== this.#generation) return;
      done += count;
      if (count > 0) this.#consumedOffset = messages[done - 1]!.queueOffset + 1;
      if (this.#isStopped && done < messages.length) return;
      if (count === 0) {
        await this.#pause(
          this.#context.options.pullTimeDelayMillsWhenException,
        );
        if (this.#isStopped || generation !== this.#generation) return;
      }
    }
    this.#onSkipped(next);
  }

  /** How many the listener finished; 0 when it threw. */
  async #deliver(messages: readonly ConsumedMessage[]): Promise<number> {
    try {
      const done = await this.#context.listener(messages, this.queue);
      const count = done ?? messages.length;
      return Math.max(0, Math.min(Math.floor(count), messages.length));
    } catch (error) {
      this.#context.instance.ports.logger.warn(
        `The listener failed on ${this.queue.topic}: ${messageOf(error)}`,
      );
      return 0;
    }
  }

  #pause(ms: number): Promise<void> {
    return this.#pauses.until(this.#context.instance.nowMs() + ms);
  }
}
