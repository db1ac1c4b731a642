/** ConsumerGroupInfo: the living members of one group and what they want (reference 11.2). */
import type {
  ConsumeFromWhere,
  ConsumerData,
  ConsumeType,
  MessageModel,
} from "../model/heartbeat_data.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import type { ClientChannelInfo } from "./client_channel_info.ts";
import type { ClientTable } from "./client_table.ts";

/** A group as processors see it. */
export interface ConsumerGroupInfo {
  readonly groupName: string;
  readonly consumeType: ConsumeType;
  readonly messageModel: MessageModel;
  readonly consumeFromWhere: ConsumeFromWhere;
  /** Members by client id. */
  readonly clients: ReadonlyMap<string, ClientChannelInfo>;
  /** By topic. */
  readonly subscriptions: ReadonlyMap<string, SubscriptionData>;
}

const NO_CLIENTS: ReadonlyMap<string, ClientChannelInfo> = new Map();

/** What the manager keeps of a group. */
export class ConsumerGroupState implements ConsumerGroupInfo {
  readonly #table: ClientTable;
  consumeType: ConsumeType;
  messageModel: MessageModel;
  consumeFromWhere: ConsumeFromWhere;
  readonly subscriptions = new Map<string, SubscriptionData>();
  /** Of the last full heartbeat; 0: the first version. Undefined: none yet. */
  fingerprint: number | undefined;
  notifiedMs = -Infinity;

  constructor(
    readonly groupName: string,
    data: ConsumerData,
    table: ClientTable,
  ) {
    this.#table = table;
    this.consumeType = data.consumeType;
    this.messageModel = data.messageModel;
    this.consumeFromWhere = data.consumeFromWhere;
  }

  get clients(): ReadonlyMap<string, ClientChannelInfo> {
    return this.#table.clients(this.groupName) ?? NO_CLIENTS;
  }

  /** Takes what a heartbeat says of the group itself. */
  describe(data: ConsumerData): void {
    this.consumeType = data.consumeType;
    this.messageModel = data.messageModel;
    this.consumeFromWhere = data.consumeFromWhere;
  }

  /**
   * True when a topic came or went. A higher subVersion replaces without
   * being a change; an equal or lower one is older news.
   */
  updateSubscriptions(list: readonly SubscriptionData[]): boolean {
    let isChanged = false;
    const topics = new Set<string>();
    for (const data of list) {
      topics.add(data.topic);
      const present = this.subscriptions.get(data.topic);
      if (present === undefined) isChanged = true;
      if (present === undefined || data.subVersion > present.subVersion) {
        this.subscriptions.set(data.topic, data);
      }
    }
    for (const topic of this.subscriptions.keys()) {
      if (topics.has(topic)) continue;
      this.subscriptions.delete(topic);
      isChanged = true;
    }
    return isChanged;
  }
}
