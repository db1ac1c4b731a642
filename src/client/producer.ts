/**
 * Producer: sends messages to the queues of a topic in turn (reference 16.1).
 *
 * A send that gets no answer, or a refusal that another broker may not share,
 * is tried again there: the message may then be stored twice under one UNIQ_KEY.
 */
import type { MessageQueue } from "../model/message_queue.ts";
import { TopicNames } from "../model/topic_names.ts";
import { groupError } from "../model/validators.ts";
import { encodeSendMessageRequestHeaderV2 } from "../protocol/header/send_message_request_header.ts";
import {
  createRequest,
  type RemotingCommand,
  RPC_ONEWAY,
} from "../protocol/remoting_command.ts";
import type { Message } from "./message.ts";
import {
  isNoAnswer,
  messageOf,
  MQClientError,
  refusedBy,
} from "./mq_client_error.ts";
import type { ClientMember, MQClientInstance } from "./mq_client_instance.ts";
import { type Outgoing, outgoingBatchOf, outgoingOf } from "./outgoing.ts";
import {
  brokerAddresses,
  brokerDataOf,
  MASTER_ID,
  routeOfTemplate,
} from "./route_queues.ts";
import { isRetriable, type SendResult, sendResultOf } from "./send_result.ts";
import { TopicPublishInfo } from "./topic_publish_info.ts";

/** Times in milliseconds; names of DefaultMQProducer. */
export interface ProducerOptions {
  readonly producerGroup: string;
  /** Of one send with all its retries. */
  readonly sendMsgTimeout: number;
  readonly retryTimesWhenSendFailed: number;
  /** The template of topics that are not there yet. */
  readonly createTopicKey: string;
  readonly defaultTopicQueueNums: number;
  /** Bytes of one body. */
  readonly maxMessageSize: number;
}

/** As DefaultMQProducer. */
export const DEFAULT_PRODUCER_OPTIONS: ProducerOptions = Object.freeze({
  producerGroup: "DEFAULT_PRODUCER",
  sendMsgTimeout: 3_000,
  retryTimesWhenSendFailed: 2,
  createTopicKey: TopicNames.AUTO_CREATE_TOPIC_KEY_TOPIC,
  defaultTopicQueueNums: 4,
  maxMessageSize: 4 * 1024 * 1024,
});

/** How often a topic's route is looked at; the name server is asked more seldom. */
const ROUTE_CHECK_MS = 1_000;
const FIRST_QUEUE_BOUND = 1_024;

interface Published {
  readonly info: TopicPublishInfo;
  readonly atMs: number;
  readonly isTemplate: boolean;
}

/** Sends messages of one producer group. */
export class Producer implements ClientMember {
  readonly #instance: MQClientInstance;
  readonly #options: ProducerOptions;
  readonly #published = new Map<string, Published>();
  #heartbeatAtMs = -Infinity;

  constructor(instance: MQClientInstance, options: ProducerOptions) {
    this.#instance = instance;
    this.#options = options;
  }

  /** Throws `MQClientError` for a group that no broker takes. */
  start(): void {
    const wrong = groupError(this.#options.producerGroup);
    if (wrong !== undefined) throw new MQClientError(wrong, null);
    this.#instance.start();
    this.#instance.addMember(this);
  }

  /** Tells the brokers that the group's member is gone. */
  async stop(): Promise<void> {
    this.#instance.removeMember(this);
    await this.#instance.unregister(
      { producerGroup: this.#options.producerGroup },
      this.#masters(),
    );
  }

  /** Resolves once a broker stored it. Throws `MQClientError`. */
  send(
    message: Message,
    timeoutMs = this.#options.sendMsgTimeout,
  ): Promise<SendResult> {
    return this.#send(this.#outgoing(message), timeoutMs);
  }

  /** Resolves once it is on its way. Throws `MQClientError` when no broker is known. */
  async sendOneway(message: Message): Promise<void> {
    const outgoing = this.#outgoing(message);
    const { info, isTemplate } = await this.#publishInfo(outgoing.topic);
    const queue = outgoing.queue ?? info.selectOneMessageQueue(new Set());
    const address = queue && addressOf(info, queue);
    if (queue === undefined || address === undefined) {
      throw noQueue(outgoing.topic, isTemplate);
    }
    const request = this.#request(outgoing, queue);
    request.flag |= RPC_ONEWAY;
    await this.#instance.remotingClient.invokeOneway(address, request);
  }

  /** Sends messages of one topic as one request; without delay levels. Throws `MQClientError`. */
  sendBatch(
    messages: readonly Message[],
    timeoutMs = this.#options.sendMsgTimeout,
  ): Promise<SendResult> {
    const outgoing = outgoingBatchOf(
      messages,
      () => this.#instance.createUniqID(),
      this.#options.maxMessageSize,
    );
    return this.#send(outgoing, timeoutMs);
  }

  tick(nowMs: number): void {
    const { heartbeatBrokerInterval } = this.#instance.options;
    if (nowMs - this.#heartbeatAtMs < heartbeatBrokerInterval) return;
    const masters = this.#masters();
    if (masters.size === 0) return; // Nothing was sent yet.
    this.#heartbeatAtMs = nowMs;
    void this.#instance.heartbeat({
      producerDataSet: [{ groupName: this.#options.producerGroup }],
      consumerDataSet: [],
      heartbeatFingerprint: 0,
      withoutSub: false,
    }, masters);
  }

  #outgoing(message: Message): Outgoing {
    return outgoingOf(
      message,
      this.#instance.createUniqID(),
      this.#options.maxMessageSize,
    );
  }

  async #send(outgoing: Outgoing, timeoutMs: number): Promise<SendResult> {
    const deadlineMs = this.#instance.nowMs() + timeoutMs;
    const avoided = new Set<string>();
    const tries = outgoing.queue === undefined
      ? 1 + this.#options.retryTimesWhenSendFailed
      : 1;
    let failure: unknown;
    for (let index = 0; index < tries; index++) {
      if (this.#instance.nowMs() >= deadlineMs) break;
      const { info, isTemplate } = await this.#publishInfo(outgoing.topic);
      const leftMs = Math.max(1, deadlineMs - this.#instance.nowMs());
      const queue = outgoing.queue ?? info.selectOneMessageQueue(avoided);
      const address = queue && addressOf(info, queue);
      if (queue === undefined || address === undefined) {
        throw failure ?? noQueue(outgoing.topic, isTemplate);
      }
      try {
        return await this.#sendTo(address, outgoing, queue, leftMs);
      } catch (error) {
        const isRefusal = error instanceof MQClientError;
        if (isRefusal ? !isRetriable(error.code ?? 0) : !isNoAnswer(error)) {
          throw error;
        }
        failure = error;
        avoided.add(queue.brokerName);
        this.#expire(outgoing.topic);
      }
    }
    throw sendFailure(outgoing.topic, tries, timeoutMs, failure);
  }

  async #sendTo(
    address: string,
    outgoing: Outgoing,
    queue: MessageQueue,
    timeoutMs: number,
  ): Promise<SendResult> {
    const response = await this.#instance.invoke(
      address,
      this.#request(outgoing, queue),
      timeoutMs,
    );
    const result = sendResultOf(response, queue, outgoing.msgId);
    if (result !== undefined) return result;
    throw refusedBy(address, outgoing.code, response);
  }

  #request(outgoing: Outgoing, queue: MessageQueue): RemotingCommand {
    const fields = encodeSendMessageRequestHeaderV2({
      producerGroup: this.#options.producerGroup,
      topic: outgoing.topic,
      defaultTopic: this.#options.createTopicKey,
      defaultTopicQueueNums: this.#options.defaultTopicQueueNums,
      queueId: queue.queueId,
      sysFlag: 0,
      bornTimestamp: this.#instance.ports.clock.nowMs(),
      flag: outgoing.flag,
      properties: outgoing.propertiesText,
      reconsumeTimes: 0,
      unitMode: false,
      maxReconsumeTimes: undefined,
      batch: outgoing.isBatch,
    });
    return createRequest(outgoing.code, fields, outgoing.body);
  }

  /** The topic's queues; those of the template while nobody knows the topic. */
  async #publishInfo(topic: string): Promise<Published> {
    const nowMs = this.#instance.nowMs();
    const known = this.#published.get(topic);
    if (known !== undefined && nowMs - known.atMs < ROUTE_CHECK_MS) {
      return known;
    }
    const own = await this.#instance.namesrv.route(topic);
    const route = own ?? await this.#templateRoute();
    if (route === undefined) throw noQueue(topic, true);
    const start = known?.info.next ??
      this.#instance.ports.random.nextInt(FIRST_QUEUE_BOUND);
    const isSame = known !== undefined && known.info.route === own;
    const published: Published = {
      info: isSame ? known.info : new TopicPublishInfo(topic, route, start),
      atMs: nowMs,
      isTemplate: own === undefined,
    };
    this.#published.set(topic, published);
    return published;
  }

  #expire(topic: string): void {
    this.#instance.namesrv.expireRoute(topic);
    const known = this.#published.get(topic);
    if (known !== undefined) {
      this.#published.set(topic, { ...known, atMs: -Infinity });
    }
  }

  async #templateRoute() {
    const { createTopicKey, defaultTopicQueueNums } = this.#options;
    const template = await this.#instance.namesrv.route(createTopicKey);
    return template && routeOfTemplate(template, defaultTopicQueueNums);
  }

  #masters(): Set<string> {
    const masters = new Set<string>();
    for (const { info } of this.#published.values()) {
      for (const it of brokerAddresses(info.route, "masters")) masters.add(it);
    }
    return masters;
  }
}

function addressOf(
  info: TopicPublishInfo,
  queue: MessageQueue,
): string | undefined {
  return brokerDataOf(info.route, queue.brokerName)?.brokerAddrs.get(MASTER_ID);
}

function noQueue(topic: string, isTemplate: boolean): MQClientError {
  const why = isTemplate
    ? "no name server knows it, and no broker creates topics on demand"
    : "none of its queues is writable on a living master";
  return new MQClientError(`Cannot send to topic ${topic}: ${why}`, null);
}

function sendFailure(
  topic: string,
  tries: number,
  timeoutMs: number,
  failure: unknown,
): MQClientError {
  const code = failure instanceof MQClientError ? failure.code : null;
  const why = failure === undefined ? "no answer" : messageOf(failure);
  return new MQClientError(
    `Cannot send to topic ${topic} (${tries} tries, ${timeoutMs} ms): ${why}`,
    code,
    failure instanceof MQClientError ? failure.remark : null,
    failure instanceof MQClientError ? failure.address : null,
    { cause: failure },
  );
}
