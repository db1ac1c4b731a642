/**
 * Consumer: a member of a clustering group that takes its share of the queues
 * (reference 16.2).
 *
 * Invariants
 * - A queue has at most one PullTask here.
 * - What a listener finished is committed before its queue is let go.
 */
import { buildSubscriptionData } from "../model/filter_api.ts";
import type { ConsumerData } from "../model/heartbeat_data.ts";
import type { MessageQueue } from "../model/message_queue.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import { retryTopicOf } from "../model/topic_names.ts";
import { groupError } from "../model/validators.ts";
import { decodeConsumerIdList } from "../protocol/body/consumer_list_body.ts";
import type { TopicRouteData } from "../protocol/body/topic_route_data.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { allocateMessageQueueAveragely } from "./allocate_message_queue_averagely.ts";
import { checkClientConfig } from "./check_client_config.ts";
import type { ConsumerOptions, MessageListener } from "./consumer_options.ts";
import { isPermanent, messageOf, MQClientError } from "./mq_client_error.ts";
import {
  anyAddressOf,
  type ClientMember,
  type MQClientInstance,
} from "./mq_client_instance.ts";
import { PullTask } from "./pull_task.ts";
import { QueueOffsets } from "./queue_offsets.ts";
import { decodeResetOffsetTable } from "./reset_offset.ts";
import {
  brokerAddresses,
  compareQueues,
  queueKey,
  subscribeQueues,
} from "./route_queues.ts";
import { TickPauses } from "./tick_pauses.ts";

/** A heartbeat or rebalance out of turn comes at most so often. */
const HEARTBEAT_AGAIN_MS = 1_000;
const REBALANCE_AGAIN_MS = 1_000;
/** How long the former owner of a queue has to commit. */
const HANDOVER_MS = 300;

/** Consumes for one group. */
export class Consumer implements ClientMember {
  /**
   * Takes refusals that will not pass (no permission, an expression that the
   * broker cannot read), instead of a warning for each try. The queue it is
   * about is not pulled any more; may be called once for each.
   */
  onRefused: ((error: MQClientError) => void) | null = null;
  readonly #instance: MQClientInstance;
  readonly #options: ConsumerOptions;
  readonly #listener: MessageListener;
  readonly #offsets: QueueOffsets;
  readonly #subscriptions: readonly SubscriptionData[];
  readonly #tasks = new Map<string, PullTask>();
  /** Brokers that had a heartbeat. */
  readonly #brokers = new Set<string>();
  readonly #pauses = new TickPauses();
  #isRunning = false;
  #rebalancing: Promise<void> | undefined;
  #rebalanceAtMs = Infinity;
  #heartbeatAtMs = Infinity;
  #commitAtMs = Infinity;
  #lastHeartbeatMs = -Infinity;

  /** Throws `MQClientError` or `SubscriptionParseError` for what no broker takes. */
  constructor(
    instance: MQClientInstance,
    options: ConsumerOptions,
    listener: MessageListener,
  ) {
    const wrong = groupError(options.consumerGroup);
    if (wrong !== undefined) throw new MQClientError(wrong, null);
    this.#instance = instance;
    this.#options = options;
    this.#listener = listener;
    this.#offsets = new QueueOffsets(instance);
    const subVersion = instance.ports.clock.nowMs();
    this.#subscriptions = [
      ...options.subscriptions.map((it) =>
        buildSubscriptionData(
          it.topic,
          it.expression,
          it.expressionType,
          subVersion,
        )
      ),
      // Members of a group must want the same: push consumers want their retries.
      buildSubscriptionData(
        retryTopicOf(options.consumerGroup),
        "*",
        "TAG",
        subVersion,
      ),
    ];
  }

  /** The queues that are this member's now. */
  get assignment(): MessageQueue[] {
    return [...this.#tasks.values()].map((it) => it.queue).sort(compareQueues);
  }

  /** Makes itself known and takes its first queues. Throws `MQClientError` when no name server answers. */
  async start(): Promise<void> {
    this.#isRunning = true;
    this.#instance.start();
    this.#instance.addMember(this);
    try {
      await this.#heartbeat();
    } catch (error) {
      this.#isRunning = false;
      this.#instance.removeMember(this);
      throw error;
    }
    this.#commitAtMs = this.#instance.nowMs() +
      this.#instance.options.persistConsumerOffsetInterval;
    await this.#rebalance();
  }

  /**
   * Lets running listener calls end, commits and says good-bye. A listener may
   * call it but must not wait for it.
   */
  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#instance.removeMember(this);
    this.#pauses.close();
    await this.#rebalancing;
    const tasks = [...this.#tasks.values()];
    await Promise.all(tasks.map((it) => it.stop()));
    await this.#commit(tasks);
    this.#tasks.clear();
    await this.#instance.unregister(
      { consumerGroup: this.#options.consumerGroup },
      this.#brokers,
    );
  }

  tick(nowMs: number): void {
    this.#pauses.tick(nowMs);
    for (const task of this.#tasks.values()) task.tick(nowMs);
    if (nowMs >= this.#heartbeatAtMs) {
      this.#heartbeat().catch((error) => this.#warn(error));
    }
    if (nowMs >= this.#rebalanceAtMs) void this.#rebalance();
    if (nowMs >= this.#commitAtMs) {
      this.#commitAtMs = nowMs +
        this.#instance.options.persistConsumerOffsetInterval;
      void this.#commit(this.#tasks.values());
    }
  }

  onConsumerIdsChanged(group: string): void {
    if (group !== this.#options.consumerGroup) return;
    this.#rebalanceAtMs = 0;
    this.#commitAtMs = 0;
  }

  onResetOffset(request: RemotingCommand): void {
    const { group, topic } = request.extFields;
    if (group !== this.#options.consumerGroup) return;
    for (const { queue, offset } of decodeResetOffsetTable(request.body)) {
      if (queue.topic !== topic) continue;
      this.#tasks.get(queueKey(queue))?.reset(offset);
    }
    this.#commitAtMs = 0;
  }

  /** Heartbeats to every broker that has one of the topics. */
  async #heartbeat(): Promise<void> {
    const nowMs = this.#instance.nowMs();
    this.#lastHeartbeatMs = nowMs;
    this.#heartbeatAtMs = nowMs +
      this.#instance.options.heartbeatBrokerInterval;
    for (const { topic } of this.#subscriptions) {
      const route = await this.#instance.namesrv.route(topic);
      if (route !== undefined) await this.#meet(route);
    }
    await this.#sendHeartbeat(this.#brokers);
  }

  #sendHeartbeat(addresses: Iterable<string>): Promise<void> {
    const consumerData: ConsumerData = {
      groupName: this.#options.consumerGroup,
      consumeType: "CONSUME_PASSIVELY",
      messageModel: "CLUSTERING",
      consumeFromWhere: this.#options.consumeFromWhere,
      subscriptionDataSet: this.#subscriptions,
      unitMode: false,
    };
    return this.#instance.heartbeat({
      producerDataSet: [],
      consumerDataSet: [consumerData],
      heartbeatFingerprint: 0,
      withoutSub: false,
    }, addresses);
  }

  /** One at a time; a call during one is answered by it and the next tick. */
  #rebalance(): Promise<void> {
    this.#rebalanceAtMs = this.#instance.nowMs() +
      this.#options.rebalanceInterval;
    this.#rebalancing ??= this.#rebalanceAll().finally(() => {
      this.#rebalancing = undefined;
    });
    return this.#rebalancing;
  }

  async #rebalanceAll(): Promise<void> {
    for (const subscription of this.#subscriptions) {
      if (!this.#isRunning) return;
      try {
        await this.#rebalanceTopic(subscription);
      } catch (error) {
        this.#warn(error);
      }
    }
  }

  async #rebalanceTopic(subscription: SubscriptionData): Promise<void> {
    const { topic } = subscription;
    const route = await this.#instance.namesrv.route(topic);
    if (route === undefined) {
      if (topic !== retryTopicOf(this.#options.consumerGroup)) {
        this.#rebalanceSoon(); // It may be created any moment.
      }
      return;
    }
    const unknown = await this.#meet(route);
    if (unknown.length > 0) await this.#sendHeartbeat(unknown);
    const members = await this.#members(route);
    const me = this.#instance.clientId;
    if (members === undefined || !this.#isRunning) return;
    if (!members.includes(me)) return this.#onBrokerForgot();
    const mine = allocateMessageQueueAveragely(
      subscribeQueues(topic, route).sort(compareQueues),
      members,
      me,
    );
    const wanted = new Set(mine.map(queueKey));
    const lost = [...this.#tasks.values()].filter((it) =>
      it.queue.topic === topic && !wanted.has(queueKey(it.queue))
    );
    await this.#release(lost);
    const missing = mine.filter((it) => !this.#tasks.has(queueKey(it)));
    if (missing.length === 0) return;
    // Whoever had these queues commits before they are read: fewer duplicates.
    if (members.length > 1) {
      await this.#pauses.until(this.#instance.nowMs() + HANDOVER_MS);
    }
    await Promise.all(missing.map((it) => this.#take(subscription, it)));
  }

  /** Takes up brokers that are new, once they read the expressions; gives these. */
  async #meet(route: TopicRouteData): Promise<readonly string[]> {
    const unknown = brokerAddresses(route, "all").filter((it) =>
      !this.#brokers.has(it)
    );
    const { consumerGroup } = this.#options;
    await checkClientConfig(
      this.#instance,
      consumerGroup,
      this.#subscriptions,
      unknown,
    );
    for (const it of unknown) this.#brokers.add(it);
    return unknown;
  }

  /** The group's members, sorted, as the first broker that answers knows them. */
  async #members(route: TopicRouteData): Promise<string[] | undefined> {
    for (const data of route.brokerDatas) {
      const address = anyAddressOf(data);
      if (address === undefined) continue;
      try {
        const response = await this.#instance.invokeOk(
          address,
          createRequest(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {
            consumerGroup: this.#options.consumerGroup,
          }),
        );
        return decodeConsumerIdList(response.body).sort();
      } catch (error) {
        this.#warn(error);
        this.#onBrokerForgot();
      }
    }
    return undefined;
  }

  async #take(
    subscription: SubscriptionData,
    queue: MessageQueue,
  ): Promise<void> {
    const offset = await this.#offsets.firstOffset(this.#options, queue);
    if (!this.#isRunning) return;
    const task = new PullTask(
      {
        instance: this.#instance,
        options: this.#options,
        listener: this.#listener,
        subscription,
        onBrokerForgot: () => this.#onBrokerForgot(),
        onFailed: (error) => this.#isTaken(error),
      },
      queue,
      offset,
    );
    this.#tasks.set(queueKey(queue), task);
    task.start();
  }

  async #release(tasks: readonly PullTask[]): Promise<void> {
    await Promise.all(tasks.map((it) => it.stop()));
    await this.#commit(tasks);
    for (const it of tasks) this.#tasks.delete(queueKey(it.queue));
  }

  /** Commits what changed; a failure is logged and tried again with the next round. */
  async #commit(tasks: Iterable<PullTask>): Promise<void> {
    const { consumerGroup } = this.#options;
    await Promise.all([...tasks].map(async (task) => {
      const offset = task.offsetToCommit;
      if (offset === undefined) return;
      try {
        await this.#offsets.commit(consumerGroup, task.queue, offset);
        task.onCommitted(offset);
      } catch (error) {
        this.#warn(error);
      }
    }));
  }

  #onBrokerForgot(): void {
    this.#heartbeatAtMs = Math.min(
      this.#heartbeatAtMs,
      this.#lastHeartbeatMs + HEARTBEAT_AGAIN_MS,
    );
    this.#rebalanceSoon();
  }

  #rebalanceSoon(): void {
    this.#rebalanceAtMs = Math.min(
      this.#rebalanceAtMs,
      this.#instance.nowMs() + REBALANCE_AGAIN_MS,
    );
  }

  /** True when it is a permanent refusal and there is somebody to take it. */
  #isTaken(error: unknown): boolean {
    if (this.onRefused === null || !isPermanent(error)) return false;
    this.onRefused(error);
    return true;
  }

  #warn(error: unknown): void {
    if (this.#isTaken(error)) return;
    this.#instance.ports.logger.warn(messageOf(error), {
      group: this.#options.consumerGroup,
    });
  }
}
