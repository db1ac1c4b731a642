/** GroupAdmin: consumer groups over the remoting protocol, on our brokers and Apache's. */
import type { SubscriptionGroupConfig } from "../model/subscription_group_config.ts";
import { dlqTopicOf, retryTopicOf } from "../model/topic_names.ts";
import {
  type ClientConnection,
  type ConsumerConnection,
  decodeConsumerConnection,
  decodeProducerConnection,
} from "../protocol/body/connection_body.ts";
import {
  decodeConsumeStats,
  type OffsetWrapper,
} from "../protocol/body/consume_stats_body.ts";
import {
  decodeJson,
  mapField,
  objectOf,
  textArrayField,
} from "../protocol/body/json_fields.ts";
import {
  encodeSubscriptionGroupConfig,
  subscriptionGroupConfigFromJson,
} from "../protocol/body/subscription_group_config_body.ts";
import { encodeDeleteSubscriptionGroupRequestHeader } from "../protocol/header/broker_admin_header.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { addressesOf, type AdminTarget, allMasters } from "./admin_target.ts";
import { MQClientError, refusedBy, unknownTopic } from "./mq_client_error.ts";
import { anyAddressOf, type MQClientInstance } from "./mq_client_instance.ts";
import {
  resetOffset,
  type ResetOffsetRequest,
  type ResetQueue,
} from "./reset_offset.ts";
import { compareQueues } from "./route_queues.ts";
import type { TopicAdmin } from "./topic_admin.ts";

/** A group on one broker. */
export interface GroupOnBroker {
  readonly brokerName: string;
  readonly config: SubscriptionGroupConfig;
}

/** How far a group is. */
export interface ConsumeProgress {
  readonly group: string;
  /** By topic, broker and queue; the difference of its offsets is the lag. */
  readonly offsets: readonly OffsetWrapper[];
  /** Messages that wait, all queues together. */
  readonly totalDiff: number;
  readonly consumeTps: number;
}

/** Whose offsets go where. */
export interface CloneOffsetRequest {
  readonly source: string;
  /** The one that gets them. */
  readonly group: string;
  /** Undefined: all topics of the source. */
  readonly topic: string | undefined;
}

/** Lists, makes, removes and measures consumer groups. */
export class GroupAdmin {
  readonly #instance: MQClientInstance;
  readonly #topics: TopicAdmin;

  constructor(instance: MQClientInstance, topics: TopicAdmin) {
    this.#instance = instance;
    this.#topics = topics;
  }

  /** All groups of all masters. Throws `MQClientError`, as all methods here. */
  async list(): Promise<Map<string, GroupOnBroker[]>> {
    const groups = new Map<string, GroupOnBroker[]>();
    for (const { brokerName, address } of await allMasters(this.#instance)) {
      const response = await this.#instance.invokeOk(
        address,
        createRequest(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG),
      );
      const name = "SubscriptionGroupWrapper";
      const table = mapField(
        objectOf(decodeJson(response.body, name), name),
        "subscriptionGroupTable",
        subscriptionGroupConfigFromJson,
      );
      for (const [group, config] of table) {
        const known = groups.get(group);
        if (known === undefined) groups.set(group, [{ brokerName, config }]);
        else known.push({ brokerName, config });
      }
    }
    return new Map([...groups].sort(([a], [b]) => a < b ? -1 : 1));
  }

  /** True when a broker has it. */
  async exists(group: string): Promise<boolean> {
    return (await this.list()).has(group);
  }

  /** Makes or changes a group; returns the brokers that took it. */
  async create(
    config: SubscriptionGroupConfig,
    target: AdminTarget,
  ): Promise<string[]> {
    const body = encodeSubscriptionGroupConfig(config);
    const addresses = await addressesOf(this.#instance, target);
    for (const address of addresses) {
      await this.#instance.invokeOk(
        address,
        createRequest(
          RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
          {},
          body,
        ),
      );
    }
    return addresses;
  }

  /** Removes a group with its offsets, retry and dead-letter topics; returns the brokers. */
  async delete(group: string, target: AdminTarget): Promise<string[]> {
    const addresses = await addressesOf(this.#instance, target);
    const fields = encodeDeleteSubscriptionGroupRequestHeader({
      groupName: group,
      cleanOffset: true,
    });
    for (const address of addresses) {
      await this.#instance.invokeOk(
        address,
        createRequest(RequestCode.DELETE_SUBSCRIPTIONGROUP, { ...fields }),
      );
    }
    for (const topic of [retryTopicOf(group), dlqTopicOf(group)]) {
      await this.#topics.delete(topic, target);
    }
    return addresses;
  }

  /** How far a group is; with 26 in the error when no broker knows it. */
  async progress(group: string): Promise<ConsumeProgress> {
    const answers = await this.#askBrokersOf(
      group,
      createRequest(RequestCode.GET_CONSUME_STATS, { consumerGroup: group }),
    );
    const stats = answers.map((it) => decodeConsumeStats(it.body));
    const offsets = stats.flatMap((it) => it.offsets)
      .sort((a, b) => compareQueues(a.queue, b.queue));
    return {
      group,
      offsets,
      totalDiff: offsets.reduce(
        (sum, it) => sum + Math.max(0, it.brokerOffset - it.consumerOffset),
        0,
      ),
      consumeTps: stats.reduce((sum, it) => sum + it.consumeTps, 0),
    };
  }

  /** The group's members; undefined when none is on line. */
  async connections(group: string): Promise<ConsumerConnection | undefined> {
    let answers: RemotingCommand[];
    try {
      answers = await this.#askBrokersOf(
        group,
        createRequest(RequestCode.GET_CONSUMER_CONNECTION_LIST, {
          consumerGroup: group,
        }),
      );
    } catch (error) {
      const code = error instanceof MQClientError ? error.code : null;
      if (code === ResponseCode.CONSUMER_NOT_ONLINE) return undefined;
      throw error;
    }
    const all = answers.map((it) => decodeConsumerConnection(it.body));
    const byClient = new Map(
      all.flatMap((it) => it.connectionSet).map((it) => [it.clientId, it]),
    );
    return all[0] && { ...all[0], connectionSet: [...byClient.values()] };
  }

  /** The members of a producer group that send to a topic. */
  async producers(group: string, topic: string): Promise<ClientConnection[]> {
    const route = await this.#topics.route(topic);
    if (route === undefined) {
      throw unknownTopic(topic);
    }
    const request = createRequest(RequestCode.GET_PRODUCER_CONNECTION_LIST, {
      producerGroup: group,
    });
    const addresses = route.brokerDatas.flatMap((it) => anyAddressOf(it) ?? []);
    const answers = await this.#askEach(addresses, request);
    return answers.flatMap((it) => decodeProducerConnection(it.body));
  }

  /** The groups that consume a topic. */
  async consumersOf(topic: string): Promise<string[]> {
    const route = await this.#topics.route(topic);
    const addresses =
      route?.brokerDatas.flatMap((it) => anyAddressOf(it) ?? []) ?? [];
    const answers = await this.#askEach(
      addresses,
      createRequest(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, { topic }),
    );
    const groups = answers.flatMap((it) =>
      textArrayField(
        objectOf(decodeJson(it.body, "GroupList"), "GroupList"),
        "groupList",
      )
    );
    return [...new Set(groups)].sort();
  }

  /** Sets a group's offsets of a topic to a time, or to the end with -1. */
  resetOffset(request: ResetOffsetRequest): Promise<ResetQueue[]> {
    return resetOffset(this.#instance, request);
  }

  /**
   * Copies the offsets of one group to another, of one topic or of all; returns the brokers.
   * What the other group had there is replaced.
   */
  async cloneOffset(
    { source, group, topic }: CloneOffsetRequest,
    target: AdminTarget,
  ): Promise<string[]> {
    const addresses = await addressesOf(this.#instance, target);
    const request = createRequest(RequestCode.CLONE_GROUP_OFFSET, {
      srcGroup: source,
      destGroup: group,
      ...(topic === undefined ? {} : { topic }),
      offline: "true",
    });
    for (const address of addresses) {
      await this.#instance.invokeOk(address, { ...request });
    }
    return addresses;
  }

  /** The brokers that have the group's retry topic, or all when none has. */
  async addressesOf(group: string): Promise<string[]> {
    const route = await this.#topics.route(retryTopicOf(group));
    return route === undefined
      ? (await allMasters(this.#instance)).map((it) => it.address)
      : route.brokerDatas.flatMap((it) => anyAddressOf(it) ?? []);
  }

  async #askBrokersOf(
    group: string,
    request: RemotingCommand,
  ): Promise<RemotingCommand[]> {
    return await this.#askEach(await this.addressesOf(group), request);
  }

  /** The answers of those that succeed; throws the first refusal when none does. */
  async #askEach(
    addresses: readonly string[],
    request: RemotingCommand,
  ): Promise<RemotingCommand[]> {
    const answers: RemotingCommand[] = [];
    let refusal: unknown = new MQClientError(
      "No broker is registered: start one that names this name server",
      null,
    );
    for (const address of addresses) {
      const response = await this.#instance.invoke(address, { ...request });
      if (response.code === ResponseCode.SUCCESS) answers.push(response);
      else refusal = refusedBy(address, request.code, response);
    }
    if (answers.length === 0) throw refusal;
    return answers;
  }
}
