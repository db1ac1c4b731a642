/** QueueOffsets: reads and commits the offsets of one group on the brokers that keep them. */
import type { MessageQueue } from "../model/message_queue.ts";
import { isRetryTopic } from "../model/topic_names.ts";
import {
  encodeQueryConsumerOffsetRequestHeader,
  encodeUpdateConsumerOffsetRequestHeader,
} from "../protocol/header/consumer_offset_header.ts";
import {
  decodeOffsetResponseHeader,
  encodeQueueRequestHeader,
  encodeSearchOffsetRequestHeader,
} from "../protocol/header/queue_offset_header.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { ConsumerOptions } from "./consumer_options.ts";
import { MQClientError, refusedBy } from "./mq_client_error.ts";
import { anyAddressOf, type MQClientInstance } from "./mq_client_instance.ts";
import { brokerDataOf } from "./route_queues.ts";

/** Offsets of queues, whatever the group. */
export class QueueOffsets {
  readonly #instance: MQClientInstance;

  constructor(instance: MQClientInstance) {
    this.#instance = instance;
  }

  /** The master of a queue, else any broker of its name. Throws `MQClientError`. */
  async addressOf(queue: MessageQueue): Promise<string> {
    const route = await this.#instance.namesrv.route(queue.topic);
    const address = anyAddressOf(brokerDataOf(route, queue.brokerName));
    if (address !== undefined) return address;
    throw new MQClientError(
      `No broker ${queue.brokerName} lives that has topic ${queue.topic}`,
      null,
    );
  }

  minOffset(queue: MessageQueue): Promise<number> {
    const fields = encodeQueueRequestHeader(queue);
    return this.#askOffset(queue, RequestCode.GET_MIN_OFFSET, fields);
  }

  maxOffset(queue: MessageQueue): Promise<number> {
    const fields = encodeQueueRequestHeader(queue);
    return this.#askOffset(queue, RequestCode.GET_MAX_OFFSET, fields);
  }

  /** The first offset stored at or after a time; the end when all are older. */
  searchOffset(queue: MessageQueue, timestamp: number): Promise<number> {
    const fields = encodeSearchOffsetRequestHeader({
      topic: queue.topic,
      queueId: queue.queueId,
      timestamp,
      boundaryType: "lower",
    });
    const code = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP;
    return this.#askOffset(queue, code, fields);
  }

  /** The committed offset; undefined when the group has none. */
  async committedOffset(
    group: string,
    queue: MessageQueue,
  ): Promise<number | undefined> {
    const address = await this.addressOf(queue);
    const code = RequestCode.QUERY_CONSUMER_OFFSET;
    const fields = encodeQueryConsumerOffsetRequestHeader({
      consumerGroup: group,
      topic: queue.topic,
      queueId: queue.queueId,
      setZeroIfNotFound: false,
    });
    const response = await this.#instance.invoke(
      address,
      createRequest(code, fields),
    );
    if (response.code === ResponseCode.QUERY_NOT_FOUND) return undefined;
    if (response.code !== ResponseCode.SUCCESS) {
      throw refusedBy(address, code, response);
    }
    return decodeOffsetResponseHeader(response.extFields);
  }

  /** Resolves once the broker took it. */
  async commit(
    group: string,
    queue: MessageQueue,
    commitOffset: number,
  ): Promise<void> {
    const fields = encodeUpdateConsumerOffsetRequestHeader({
      consumerGroup: group,
      topic: queue.topic,
      queueId: queue.queueId,
      commitOffset,
    });
    await this.#instance.invokeOk(
      await this.addressOf(queue),
      createRequest(RequestCode.UPDATE_CONSUMER_OFFSET, fields),
    );
  }

  /** Where a group begins in a queue: where it stopped, else where it wants to. */
  async firstOffset(
    options: ConsumerOptions,
    queue: MessageQueue,
  ): Promise<number> {
    const stored = await this.committedOffset(options.consumerGroup, queue);
    if (stored !== undefined) return stored;
    if (isRetryTopic(queue.topic)) return this.minOffset(queue);
    switch (options.consumeFromWhere) {
      case "CONSUME_FROM_FIRST_OFFSET":
      case "CONSUME_FROM_MIN_OFFSET":
        return this.minOffset(queue);
      case "CONSUME_FROM_TIMESTAMP":
        return this.searchOffset(queue, options.consumeTimestampMs);
      default:
        return this.maxOffset(queue);
    }
  }

  async #askOffset(
    queue: MessageQueue,
    code: number,
    fields: Record<string, string>,
  ): Promise<number> {
    const response = await this.#instance.invokeOk(
      await this.addressOf(queue),
      createRequest(code, fields),
    );
    return decodeOffsetResponseHeader(response.extFields);
  }
}
