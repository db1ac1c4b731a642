/** TopicAdmin: topics over the remoting protocol, on our brokers and Apache's. */
import type { TopicConfig } from "../model/topic_config.ts";
import { TopicNames } from "../model/topic_names.ts";
import { decodeTopicConfigWrapper } from "../protocol/body/topic_config_wrapper.ts";
import { decodeTopicList } from "../protocol/body/topic_list.ts";
import type { TopicRouteData } from "../protocol/body/topic_route_data.ts";
import {
  decodeTopicStatsTable,
  type TopicOffset,
} from "../protocol/body/topic_stats_body.ts";
import { encodeCreateTopicRequestHeader } from "../protocol/header/create_topic_request_header.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { addressesOf, type AdminTarget, allMasters } from "./admin_target.ts";
import { unknownTopic } from "./mq_client_error.ts";
import { anyAddressOf, type MQClientInstance } from "./mq_client_instance.ts";
import { compareQueues } from "./route_queues.ts";

/** A topic on one broker. */
export interface TopicOnBroker {
  readonly brokerName: string;
  readonly config: TopicConfig;
}

/** Lists, makes, removes and measures topics. */
export class TopicAdmin {
  readonly #instance: MQClientInstance;

  constructor(instance: MQClientInstance) {
    this.#instance = instance;
  }

  /** The names of all topics, sorted. Throws `MQClientError`, as all methods here. */
  async list(): Promise<string[]> {
    const response = await this.#instance.namesrv.invokeOk(
      createRequest(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER),
    );
    return [...decodeTopicList(response.body).topicList].sort();
  }

  /** What each master says of a topic; empty when none has it. */
  async config(topic: string): Promise<TopicOnBroker[]> {
    const masters = await allMasters(this.#instance);
    const found = await Promise.all(masters.map(async (it) => {
      const response = await this.#instance.invokeOk(
        it.address,
        createRequest(RequestCode.GET_ALL_TOPIC_CONFIG),
      );
      const config = decodeTopicConfigWrapper(response.body).topicConfigTable
        .get(topic);
      return config === undefined
        ? []
        : [{ brokerName: it.brokerName, config }];
    }));
    return found.flat();
  }

  /** Makes or changes a topic; returns the brokers that took it. */
  async create(config: TopicConfig, target: AdminTarget): Promise<string[]> {
    const addresses = await addressesOf(this.#instance, target);
    const attributes = Object.entries(config.attributes)
      .map(([name, value]) => `+${name}=${value}`).join(",");
    const fields = encodeCreateTopicRequestHeader({
      topic: config.topicName,
      defaultTopic: TopicNames.AUTO_CREATE_TOPIC_KEY_TOPIC,
      readQueueNums: config.readQueueNums,
      writeQueueNums: config.writeQueueNums,
      perm: config.perm,
      topicFilterType: config.topicFilterType,
      topicSysFlag: config.topicSysFlag,
      order: config.order,
      attributes: attributes === "" ? undefined : attributes,
    });
    for (const address of addresses) {
      await this.#instance.invokeOk(
        address,
        createRequest(RequestCode.UPDATE_AND_CREATE_TOPIC, { ...fields }),
      );
    }
    return addresses;
  }

  /** Removes a topic from brokers, then from the name servers; returns the brokers. */
  async delete(topic: string, target: AdminTarget): Promise<string[]> {
    const addresses = await addressesOf(this.#instance, target);
    for (const address of addresses) {
      await this.#instance.invokeOk(
        address,
        createRequest(RequestCode.DELETE_TOPIC_IN_BROKER, { topic }),
      );
    }
    // Of one broker only: its next registration takes the topic out of the route.
    const isWholeCluster = target.brokerAddr === undefined &&
      target.brokerName === undefined;
    if (isWholeCluster) await this.#deleteInNamesrv(topic, target.clusterName);
    return addresses;
  }

  /** The route; undefined when no name server knows the topic. */
  route(topic: string): Promise<TopicRouteData | undefined> {
    return this.#instance.namesrv.refreshRoute(topic);
  }

  /** The offsets of every queue, sorted. */
  async status(topic: string): Promise<TopicOffset[]> {
    const route = await this.route(topic);
    if (route === undefined) {
      throw unknownTopic(topic);
    }
    const tables = await Promise.all(route.brokerDatas.map(async (it) => {
      const address = anyAddressOf(it);
      if (address === undefined) return [];
      const response = await this.#instance.invokeOk(
        address,
        createRequest(RequestCode.GET_TOPIC_STATS_INFO, { topic }),
      );
      return decodeTopicStatsTable(response.body).offsets;
    }));
    return tables.flat().sort((a, b) => compareQueues(a.queue, b.queue));
  }

  async #deleteInNamesrv(
    topic: string,
    clusterName: string | undefined,
  ): Promise<void> {
    const fields = clusterName === undefined
      ? { topic }
      : { topic, clusterName };
    await this.#instance.namesrv.invokeAllOk(
      createRequest(RequestCode.DELETE_TOPIC_IN_NAMESRV, fields),
    );
  }
}
