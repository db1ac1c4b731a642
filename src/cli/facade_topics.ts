/** TopicAdmin over a running broker. */
import type {
  AdminMessage,
  AdminSendResult,
  QueueOffsets,
  TopicAdmin,
} from "../admin/topic_routes.ts";
import { ProblemError } from "../admin/problem.ts";
import { MessageClientIDSetter } from "../model/message_client_id_setter.ts";
import { encodeProperties, MessageConst } from "../model/message_properties.ts";
import type { TopicConfig } from "../model/topic_config.ts";
import { TopicNames } from "../model/topic_names.ts";
import { topicError } from "../model/validators.ts";
import { encodeCreateTopicRequestHeader } from "../protocol/header/create_topic_request_header.ts";
import { encodeSendMessageRequestHeaderV2 } from "../protocol/header/send_message_request_header.ts";
import { decodeSendMessageResponseHeader } from "../protocol/header/send_message_response_header.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { ResponseCode } from "../protocol/response_code.ts";
import type { RunningBroker } from "./broker_server.ts";
import type { LocalBroker } from "./local_broker.ts";

const PRODUCER_GROUP = "POCKETMQ_ADMIN";
/** Queues of a topic that a send here creates. */
const DEFAULT_QUEUE_NUMS = 4;
const LOOPBACK = Uint8Array.of(127, 0, 0, 1);

/** SendStatus by response code (reference 2.1). */
const SEND_STATUS: ReadonlyMap<number, string> = new Map([
  [ResponseCode.SUCCESS, "SEND_OK"],
  [ResponseCode.FLUSH_DISK_TIMEOUT, "FLUSH_DISK_TIMEOUT"],
  [ResponseCode.SLAVE_NOT_AVAILABLE, "SLAVE_NOT_AVAILABLE"],
  [ResponseCode.FLUSH_SLAVE_TIMEOUT, "FLUSH_SLAVE_TIMEOUT"],
]);

/** Reads the managers; changes go through the port. */
export function topicFacade(
  running: RunningBroker,
  local: LocalBroker,
): TopicAdmin {
  const { broker, context } = running;
  const { clock, host, random } = context.runtime;
  const uniqueIds = new MessageClientIDSetter(LOOPBACK, host.pid, random);
  const topics = () => broker.parts.topicConfigManager;
  return {
    topics: () => [...topics().allTopics().values()],
    topic: (name) => topics().selectTopicConfig(name),
    isSystemTopic: (name) => topics().isSystemTopic(name),
    topicError,
    queues: (name) => queuesOf(broker, name),
    putTopic: async (config) => {
      const before = topics().selectTopicConfig(config.topicName);
      await local.invoke(
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        encodeCreateTopicRequestHeader({
          ...config,
          topic: config.topicName,
          defaultTopic: TopicNames.AUTO_CREATE_TOPIC_KEY_TOPIC,
          attributes: attributeChanges(before, config),
        }),
      );
    },
    deleteTopic: async (topic) => {
      await local.invoke(RequestCode.DELETE_TOPIC_IN_BROKER, { topic });
    },
    send: (topic, message) => {
      checkMessage(running, topic, message);
      const nowMs = clock.nowMs();
      const msgId = message.properties[MessageConst.UNIQ_KEY] ??
        uniqueIds.createUniqID(nowMs);
      return send(local, topic, message, nowMs, msgId);
    },
  };
}

async function queuesOf(
  broker: RunningBroker["broker"],
  topic: string,
): Promise<QueueOffsets[]> {
  const config = broker.parts.topicConfigManager.selectTopicConfig(topic);
  if (config === undefined) return [];
  const store = broker.messageStore;
  const count = Math.max(config.readQueueNums, config.writeQueueNums);
  const queues: QueueOffsets[] = [];
  for (let queueId = 0; queueId < count; queueId++) {
    const minOffset = store.getMinOffsetInQueue(topic, queueId);
    const maxOffset = store.getMaxOffsetInQueue(topic, queueId);
    const timestamp = maxOffset > minOffset
      ? await store.getMessageStoreTimeStamp(topic, queueId, maxOffset - 1)
      : -1;
    queues.push({
      queueId,
      minOffset,
      maxOffset,
      lastUpdateTimestamp: timestamp < 0 ? null : timestamp,
    });
  }
  return queues;
}

/** `+key=value` for new and changed ones, `-key` for those that are gone. */
function attributeChanges(
  before: TopicConfig | undefined,
  after: TopicConfig,
): string | undefined {
  const old = before?.attributes ?? {};
  const changes: string[] = [];
  for (const [key, value] of Object.entries(after.attributes)) {
    if (old[key] !== value) changes.push(`+${key}=${value}`);
  }
  for (const key of Object.keys(old)) {
    if (after.attributes[key] === undefined) changes.push(`-${key}`);
  }
  return changes.length === 0 ? undefined : changes.join(",");
}

/** What the broker would refuse as well, but without naming the field. */
function checkMessage(
  { broker }: RunningBroker,
  topic: string,
  message: AdminMessage,
): void {
  const { maxMessageSize } = broker.messageStore.options;
  if (message.body.length > maxMessageSize) {
    throw new ProblemError(
      400,
      `Field body: it is too long; give maxMessageSize=${maxMessageSize} bytes or less`,
      [
        {
          field: "body",
          message: `give maxMessageSize=${maxMessageSize} bytes or less`,
        },
      ],
    );
  }
  const error = topicError(topic);
  if (error !== undefined) {
    throw new ProblemError(400, error, [{ field: "topic", message: error }]);
  }
  const queueNums =
    broker.parts.topicConfigManager.selectTopicConfig(topic)?.writeQueueNums ??
      DEFAULT_QUEUE_NUMS;
  if (message.queueId !== undefined && message.queueId >= queueNums) {
    throw new ProblemError(
      400,
      `Topic ${topic} has no queue ${message.queueId} to write to: give 0 to ${
        queueNums - 1
      }`,
      [{ field: "queueId", message: `give 0 to ${queueNums - 1}` }],
    );
  }
}

async function send(
  local: LocalBroker,
  topic: string,
  message: AdminMessage,
  nowMs: number,
  msgId: string,
): Promise<AdminSendResult> {
  const properties = new Map(Object.entries(message.properties));
  properties.set(MessageConst.UNIQ_KEY, msgId);
  if (message.tag !== undefined) {
    properties.set(MessageConst.TAGS, message.tag);
  }
  if (message.keys.length > 0) {
    properties.set(MessageConst.KEYS, message.keys.join(" "));
  }
  if (message.delayLevel > 0) {
    properties.set(
      MessageConst.DELAY,
      String(message.delayLevel),
    );
  }
  const response = await local.invoke(
    RequestCode.SEND_MESSAGE_V2,
    encodeSendMessageRequestHeaderV2({
      producerGroup: PRODUCER_GROUP,
      topic,
      defaultTopic: TopicNames.AUTO_CREATE_TOPIC_KEY_TOPIC,
      defaultTopicQueueNums: DEFAULT_QUEUE_NUMS,
      queueId: message.queueId ?? -1,
      sysFlag: 0,
      bornTimestamp: nowMs,
      flag: 0,
      properties: encodeProperties(properties),
      reconsumeTimes: 0,
      unitMode: false,
      maxReconsumeTimes: undefined,
      batch: false,
    }),
    message.body,
    [...SEND_STATUS.keys()],
  );
  const { msgId: offsetMsgId, queueId, queueOffset } =
    decodeSendMessageResponseHeader(
      response.extFields,
    );
  return {
    status: SEND_STATUS.get(response.code)!,
    msgId,
    offsetMsgId,
    queueId,
    queueOffset,
  };
}
