/**
 * ConsumerManager: which consumers are connected and what they subscribe
 * (reference 11.2, 11.3).
 *
 * When the members or topics of a group change, all its members are told (code
 * 40) at once, then at most every 100 ms: a thousand members that join in one
 * second must not cost a million messages.
 */
import type { Clock } from "../io/clock.ts";
import type { Logger } from "../io/logger.ts";
import type { ConsumerData } from "../model/heartbeat_data.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import type { RemotingConnection } from "../remoting/request_processor.ts";
import type { BrokerOptions } from "./broker_options.ts";
import type { ClientChannelInfo } from "./client_channel_info.ts";
import { ClientTable } from "./client_table.ts";
import {
  type ConsumerGroupInfo,
  ConsumerGroupState,
} from "./consumer_group_info.ts";

/** Milliseconds between two scans for silent clients. */
const SCAN_INTERVAL_MS = 10_000;
/** Milliseconds between two notifications of one group. */
const NOTIFY_INTERVAL_MS = 100;

/** How a heartbeat registers a consumer. */
export interface RegisterConsumerOptions {
  /** The group's notifyConsumerIdsChangedEnable. */
  readonly isNotifyEnabled: boolean;
  /** A short heartbeat: the stored subscriptions stay. */
  readonly withoutSub: boolean;
  /** 0 for a heartbeat of the first version. */
  readonly fingerprint: number;
}

/** The consumers by group. */
export class ConsumerManager {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #onGroupLeft: (group: string) => void;
  readonly #table = new ClientTable();
  readonly #states = new Map<string, ConsumerGroupState>();
  /** Groups whose members are still to be told. */
  readonly #notifyDue = new Set<ConsumerGroupState>();
  #options: BrokerOptions;
  #scannedMs: number;

  /** `onGroupLeft` is told when the last member of a group has left. */
  constructor(
    ports: {
      readonly clock: Clock;
      readonly logger: Logger;
      readonly onGroupLeft?: (group: string) => void;
    },
    options: BrokerOptions,
  ) {
    this.#clock = ports.clock;
    this.#logger = ports.logger;
    this.#onGroupLeft = ports.onGroupLeft ?? (() => {});
    this.#options = options;
    this.#scannedMs = ports.clock.monotonicMs();
  }

  reconfigure(options: BrokerOptions): void {
    this.#options = options;
  }

  /** Names of the groups that have members. */
  groupNames(): IterableIterator<string> {
    return this.#states.keys();
  }

  /** Members of all groups together. */
  get clientCount(): number {
    return this.#table.size;
  }

  getConsumerGroupInfo(group: string): ConsumerGroupInfo | undefined {
    return this.#states.get(group);
  }

  findClient(group: string, clientId: string): ClientChannelInfo | undefined {
    return this.#table.clients(group)?.get(clientId);
  }

  findSubscriptionData(
    group: string,
    topic: string,
  ): SubscriptionData | undefined {
    return this.#states.get(group)?.subscriptions.get(topic);
  }

  findSubscriptionDataCount(group: string): number {
    return this.#states.get(group)?.subscriptions.size ?? 0;
  }

  /** Groups with a living subscription of the topic. */
  queryTopicConsumeByWho(topic: string): string[] {
    const groups: string[] = [];
    for (const [group, state] of this.#states) {
      if (state.subscriptions.has(topic)) groups.push(group);
    }
    return groups;
  }

  /**
   * True when the client must send its subscriptions in full: the group's last
   * full heartbeat had another fingerprint, or a short one found none.
   */
  isSubscriptionUnknown(
    group: string,
    fingerprint: number,
    withoutSub: boolean,
  ): boolean {
    const known = this.#states.get(group)?.fingerprint;
    return known === undefined ? withoutSub : known !== fingerprint;
  }

  /**
   * Takes one group of a heartbeat; true when members or topics changed. At
   * `clientChannelMax` a new member is not taken.
   */
  registerConsumer(
    client: ClientChannelInfo,
    data: ConsumerData,
    options: RegisterConsumerOptions,
  ): boolean {
    const group = data.groupName;
    const put = this.#table.put(
      group,
      client,
      this.#options.clientChannelMax,
    );
    if (put === "full") {
      this.#logger.warn("a consumer was not registered: clientChannelMax", {
        group,
        client: client.connection.remoteAddress,
      });
      return false;
    }
    const state = this.#stateOf(group, data);
    state.describe(data);
    let isChanged = put === "new";
    if (!options.withoutSub) {
      state.fingerprint = options.fingerprint;
      if (state.updateSubscriptions(data.subscriptionDataSet)) isChanged = true;
    }
    if (put !== "refreshed") {
      this.#logger.info("a consumer was registered", {
        group,
        clientId: client.clientId,
        client: client.connection.remoteAddress,
      });
    }
    if (isChanged) this.#notify(state, options.isNotifyEnabled);
    return isChanged;
  }

  unregisterConsumer(
    group: string,
    clientId: string,
    connection: RemotingConnection,
    isNotifyEnabled: boolean,
  ): void {
    if (this.#table.remove(group, clientId, connection)) {
      this.#left(group, isNotifyEnabled);
    }
  }

  /** Forgets what lived on a connection and tells the others. */
  doChannelCloseEvent(connection: RemotingConnection): void {
    for (const { group } of this.#table.removeConnection(connection)) {
      this.#left(group, true);
    }
  }

  /**
   * Sends notifications that are due; drops clients silent for
   * channelExpiredTimeout. `nowMs` is monotonic.
   */
  tick(nowMs: number): void {
    for (const state of this.#notifyDue) {
      if (nowMs - state.notifiedMs < NOTIFY_INTERVAL_MS) continue;
      this.#notifyDue.delete(state);
      this.#notifyMembers(state, nowMs);
    }
    if (nowMs - this.#scannedMs < SCAN_INTERVAL_MS) return;
    this.#scannedMs = nowMs;
    this.#scanNotActiveChannel(nowMs);
  }

  #scanNotActiveChannel(nowMs: number): void {
    const beforeMs = nowMs - this.#options.channelExpiredTimeout;
    for (const { group, client } of this.#table.expired(beforeMs)) {
      this.#logger.warn("a consumer was silent too long", {
        group,
        clientId: client.clientId,
        client: client.connection.remoteAddress,
      });
      this.#table.remove(group, client.clientId, client.connection);
      this.#left(group, true);
      client.connection.close();
    }
  }

  #stateOf(group: string, data: ConsumerData): ConsumerGroupState {
    let state = this.#states.get(group);
    if (state === undefined) {
      this.#states.set(
        group,
        state = new ConsumerGroupState(group, data, this.#table),
      );
    }
    return state;
  }

  /** A member of the group is gone. */
  #left(group: string, isNotifyEnabled: boolean): void {
    const state = this.#states.get(group);
    if (state === undefined) return;
    if (this.#table.clients(group) === undefined) {
      this.#states.delete(group);
      this.#notifyDue.delete(state);
      this.#onGroupLeft(group);
      return;
    }
    this.#notify(state, isNotifyEnabled);
  }

  #notify(state: ConsumerGroupState, isNotifyEnabled: boolean): void {
    if (!isNotifyEnabled || !this.#options.notifyConsumerIdsChangedEnable) {
      return;
    }
    // Every member of a broadcasting group has all queues, whoever else is there.
    if (state.messageModel === "BROADCASTING") return;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - state.notifiedMs < NOTIFY_INTERVAL_MS) {
      this.#notifyDue.add(state);
    } else {
      this.#notifyMembers(state, nowMs);
    }
  }

  #notifyMembers(state: ConsumerGroupState, nowMs: number): void {
    state.notifiedMs = nowMs;
    for (const client of state.clients.values()) {
      if (!client.connection.isOpen) continue;
      client.connection.invokeOneway(
        createRequest(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, {
          consumerGroup: state.groupName,
        }),
      );
    }
  }
}
