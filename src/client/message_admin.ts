/** MessageAdmin: finds single messages over the remoting protocol. */
import { decodeMessageId } from "../model/message_id.ts";
import { MessageConst } from "../model/message_properties.ts";
import type { MessageQueue } from "../model/message_queue.ts";
import { formatSocketAddress } from "../model/socket_address.ts";
import { encodePullMessageRequestHeader } from "../protocol/header/pull_message_request_header.ts";
import { createRequest, type ExtFields } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { ConsumedMessage, decodeRecords } from "./consumed_message.ts";
import { MQClientError, refusedBy, unknownTopic } from "./mq_client_error.ts";
import { anyAddressOf, type MQClientInstance } from "./mq_client_instance.ts";
import { brokerDataOf } from "./route_queues.ts";

/** Restricts a query by key. */
export interface KeyQuery {
  readonly maxNum: number;
  /** Store time, milliseconds. */
  readonly beginMs: number;
  readonly endMs: number;
}

/** PullSysFlag's bit for a subscription in the header. */
const FLAG_SUBSCRIPTION = 0x4;
const TOOLS_CONSUMER = "TOOLS_CONSUMER";
const QUERY_MAX_NUM = 32;

/** Looks messages up. */
export class MessageAdmin {
  readonly #instance: MQClientInstance;

  constructor(instance: MQClientInstance) {
    this.#instance = instance;
  }

  /**
   * The message of an offset id or a unique key; undefined when there is none.
   * Throws `MQClientError`, as all methods here.
   */
  async view(
    topic: string,
    msgId: string,
  ): Promise<ConsumedMessage | undefined> {
    const byKey = await this.byUniqueKey(topic, msgId);
    return byKey.length > 0 ? byKey[0] : this.viewByOffsetId(msgId, topic);
  }

  /**
   * The message of an offset id; undefined when no broker has it. The broker whose address the id
   * carries is asked first; it may have another one now, or a slave in its place.
   */
  async viewByOffsetId(
    msgId: string,
    topic = "",
  ): Promise<ConsumedMessage | undefined> {
    const id = decodeMessageId(msgId);
    if (id === undefined) return undefined;
    const named = formatSocketAddress(id.storeHost);
    const { brokerAddrTable } = await this.#instance.namesrv.clusterInfo();
    const addresses = [...brokerAddrTable.values()]
      .flatMap((it) => [...it.brokerAddrs.values()]);
    const others = addresses.filter((it) => it !== named);
    // A unique key reads like an offset id of some address: only brokers are asked.
    const asked = addresses.includes(named) ? [named, ...others] : others;
    let failure: unknown;
    for (const address of asked) {
      try {
        const found = await this.#atPhyOffset(topic, address, id.phyOffset);
        const isIt = found !== undefined &&
          (address === named || found.offsetMsgId === msgId.toUpperCase());
        if (isIt) return found;
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return undefined;
  }

  /** The message at an offset of a queue; undefined when there is none. */
  async atOffset(
    queue: MessageQueue,
    queueOffset: number,
  ): Promise<ConsumedMessage | undefined> {
    const address = await this.#addressOf(queue);
    const code = RequestCode.PULL_MESSAGE;
    const fields = encodePullMessageRequestHeader({
      consumerGroup: TOOLS_CONSUMER,
      topic: queue.topic,
      queueId: queue.queueId,
      queueOffset,
      maxMsgNums: 1,
      sysFlag: FLAG_SUBSCRIPTION,
      commitOffset: 0,
      suspendTimeoutMillis: 0,
      subscription: "*",
      subVersion: 0,
      expressionType: "TAG",
      maxMsgBytes: undefined,
      requestSource: -1,
    });
    const response = await this.#instance.invoke(
      address,
      createRequest(code, fields),
    );
    switch (response.code) {
      case ResponseCode.SUCCESS: {
        const [record] = decodeRecords(response.body);
        return record?.queueOffset === queueOffset
          ? new ConsumedMessage(record)
          : undefined;
      }
      case ResponseCode.PULL_NOT_FOUND:
      case ResponseCode.PULL_RETRY_IMMEDIATELY:
      case ResponseCode.PULL_OFFSET_MOVED:
        return undefined;
      default:
        throw refusedBy(address, code, response);
    }
  }

  /** The messages with one of the application's keys, oldest first. */
  async byKey(
    topic: string,
    key: string,
    query: KeyQuery,
  ): Promise<ConsumedMessage[]> {
    const found = await this.#query(topic, key, query, {});
    return found.filter((it) => it.keys.includes(key))
      .slice(0, query.maxNum);
  }

  /** The messages with a UNIQ_KEY: several when a send was retried. */
  async byUniqueKey(topic: string, key: string): Promise<ConsumedMessage[]> {
    const found = await this.#query(
      topic,
      key,
      {
        maxNum: QUERY_MAX_NUM,
        beginMs: 0,
        endMs: Number.MAX_SAFE_INTEGER,
      },
      { _UNIQUE_KEY_QUERY: "true" },
    );
    return found.filter((it) => it.property(MessageConst.UNIQ_KEY) === key);
  }

  async #query(
    topic: string,
    key: string,
    query: KeyQuery,
    more: ExtFields,
  ): Promise<ConsumedMessage[]> {
    const route = await this.#instance.namesrv.refreshRoute(topic);
    if (route === undefined) {
      throw unknownTopic(topic);
    }
    const code = RequestCode.QUERY_MESSAGE;
    const answers = await Promise.all(route.brokerDatas.map(async (it) => {
      const address = anyAddressOf(it);
      if (address === undefined) return [];
      const response = await this.#instance.invoke(
        address,
        createRequest(code, {
          topic,
          key,
          maxNum: String(query.maxNum),
          beginTimestamp: String(query.beginMs),
          endTimestamp: String(query.endMs),
          ...more,
        }),
      );
      if (response.code === ResponseCode.QUERY_NOT_FOUND) return [];
      if (response.code !== ResponseCode.SUCCESS) {
        throw refusedBy(address, code, response);
      }
      return decodeRecords(response.body);
    }));
    return answers.flat()
      .sort((a, b) => a.storeTimestamp - b.storeTimestamp)
      .map((it) => new ConsumedMessage(it));
  }

  async #atPhyOffset(
    topic: string,
    address: string,
    phyOffset: number,
  ): Promise<ConsumedMessage | undefined> {
    const code = RequestCode.VIEW_MESSAGE_BY_ID;
    const response = await this.#instance.invoke(
      address,
      createRequest(code, { topic, offset: String(phyOffset) }),
    );
    // Brokers answer 1 when there is no record.
    if (response.code === ResponseCode.SYSTEM_ERROR) return undefined;
    if (response.code !== ResponseCode.SUCCESS) {
      throw refusedBy(address, code, response);
    }
    const [record] = decodeRecords(response.body);
    return record && new ConsumedMessage(record);
  }

  async #addressOf(queue: MessageQueue): Promise<string> {
    const route = await this.#instance.namesrv.refreshRoute(queue.topic);
    const address = anyAddressOf(brokerDataOf(route, queue.brokerName));
    if (address !== undefined) return address;
    throw new MQClientError(
      `No broker ${queue.brokerName} has topic ${queue.topic}`,
      null,
    );
  }
}
