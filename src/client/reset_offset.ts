/** Resets a group's offsets of a topic (code 222), and reads the table of codes 220 and 222. */
import type { MessageQueue } from "../model/message_queue.ts";
import {
  decodeJson,
  integerOf,
  objectOf,
} from "../protocol/body/json_fields.ts";
import { messageQueueMapEntries } from "../protocol/body/message_queue_body.ts";
import type {
  BrokerData,
  TopicRouteData,
} from "../protocol/body/topic_route_data.ts";
import { createRequest } from "../protocol/remoting_command.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import { MQClientError, refusedBy, unknownTopic } from "./mq_client_error.ts";
import { anyAddressOf, type MQClientInstance } from "./mq_client_instance.ts";
import { QueueOffsets } from "./queue_offsets.ts";
import { compareQueues, subscribeQueues } from "./route_queues.ts";

/** Which offsets, and where to. */
export interface ResetOffsetRequest {
  readonly group: string;
  readonly topic: string;
  /** Milliseconds; -1 means the end. */
  readonly timestamp: number;
  /** True: forward too, not only back. */
  readonly isForce: boolean;
  /** Only of this queue, and ... */
  readonly queueId?: number;
  /** ... to this offset instead of a time. */
  readonly offset?: number;
  /** Only on this broker; a queue needs it where several have the topic. */
  readonly brokerName?: string;
}

/** A queue and its new offset. */
export interface ResetQueue {
  readonly queue: MessageQueue;
  readonly offset: number;
}

/** Reads `{"offsetTable":{MessageQueue:offset}}`; throws `BodyError`. */
export function decodeResetOffsetTable(body: Uint8Array): ResetQueue[] {
  const name = "ResetOffsetBody";
  const object = objectOf(decodeJson(body, name), name);
  return messageQueueMapEntries(object.offsetTable).map(
    ([queue, offset]) => ({ queue, offset: integerOf(offset, "an offset") }),
  );
}

/**
 * Asks every broker of the topic to reset; one that cannot (3), or wants the
 * group on line (206), gets the offsets committed instead. Throws
 * `MQClientError`.
 */
export async function resetOffset(
  instance: MQClientInstance,
  request: ResetOffsetRequest,
): Promise<ResetQueue[]> {
  const route = await instance.namesrv.refreshRoute(request.topic);
  const reset: ResetQueue[] = [];
  for (const data of brokersOf(request, route)) {
    const { brokerName } = data;
    const address = anyAddressOf(data);
    if (address === undefined) continue;
    if (request.queueId !== undefined) {
      await checkKnowsQueues(instance, address, brokerName);
    }
    reset.push(
      ...await resetOnBroker(instance, request, address) ??
        await commitInstead(instance, request, route!, brokerName),
    );
  }
  return reset.sort((a, b) => compareQueues(a.queue, b.queue));
}

/** The brokers that are asked. */
function brokersOf(
  { topic, brokerName, queueId }: ResetOffsetRequest,
  route: TopicRouteData | undefined,
): readonly BrokerData[] {
  if (route === undefined) {
    throw unknownTopic(topic);
  }
  const named = route.brokerDatas.filter((it) =>
    brokerName === undefined || it.brokerName === brokerName
  );
  const names = route.brokerDatas.map((it) => it.brokerName).sort().join(", ");
  if (named.length === 0) {
    throw new MQClientError(
      `No broker ${brokerName} has topic ${topic}: use one of ${names}`,
      null,
    );
  }
  if (queueId !== undefined && named.length > 1) {
    throw new MQClientError(
      `Several brokers have queue ${queueId} of topic ${topic}, name one: ${names}`,
      null,
    );
  }
  return named;
}

/** A broker without this key, or with false, takes any reset for one of all queues. */
async function checkKnowsQueues(
  instance: MQClientInstance,
  address: string,
  brokerName: string,
): Promise<void> {
  const { body } = await instance.invokeOk(
    address,
    createRequest(RequestCode.GET_BROKER_CONFIG),
  );
  const text = new TextDecoder().decode(body);
  if (/^useServerSideResetOffset=true\s*$/m.test(text)) return;
  throw new MQClientError(
    `Broker ${brokerName} can only reset all queues of a topic together: ` +
      "leave the queue out, or set useServerSideResetOffset=true there",
    null,
  );
}

/** Undefined when the broker cannot do it. */
async function resetOnBroker(
  instance: MQClientInstance,
  request: ResetOffsetRequest,
  address: string,
): Promise<ResetQueue[] | undefined> {
  const code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET;
  const response = await instance.invoke(
    address,
    createRequest(code, {
      topic: request.topic,
      group: request.group,
      timestamp: String(request.timestamp),
      isForce: String(request.isForce),
      queueId: String(request.queueId ?? -1),
      ...(request.offset === undefined
        ? {}
        : { offset: String(request.offset) }),
    }),
  );
  switch (response.code) {
    case ResponseCode.SUCCESS:
      return response.body.length === 0
        ? []
        : decodeResetOffsetTable(response.body);
    case ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
    case ResponseCode.CONSUMER_NOT_ONLINE:
      return undefined;
    default:
      throw refusedBy(address, code, response);
  }
}

function commitInstead(
  instance: MQClientInstance,
  { group, topic, timestamp, isForce }: ResetOffsetRequest,
  route: TopicRouteData,
  brokerName: string,
): Promise<ResetQueue[]> {
  const offsets = new QueueOffsets(instance);
  const queues = subscribeQueues(topic, route).filter((it) =>
    it.brokerName === brokerName
  );
  return Promise.all(queues.map(async (queue) => {
    const wanted = timestamp < 0
      ? await offsets.maxOffset(queue)
      : await offsets.searchOffset(queue, timestamp);
    const current = await offsets.committedOffset(group, queue);
    const isBack = current === undefined || wanted <= current;
    const offset = isForce || isBack ? wanted : current;
    await offsets.commit(group, queue, offset);
    return { queue, offset };
  }));
}
