/** TopicAdmin over a running broker. */
import type {
  AdminMessage,
  AdminSendResult,
  QueueOffsets,
  TopicAdmin,
} from "../admin/topic_routes.ts";
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

/** SendStatus by response code (reference 2.1). */
const SEND_STATUS: ReadonlyMap<number, string> = new Map([
  [ResponseCode.SUCCESS, "SEND_OK"],
  [ResponseCode.FLUSH_DISK_TIMEOUT, "FLUSH_DISK_TIMEOUT"],
  [ResponseCode.SLAVE_NOT_AVAILABLE, "SLAVE_NOT_AVAILABLE"],
  [ResponseCode.FLUSH_SLAVE_TIMEOUT, "FLUSH_SLAVE_TIMEOUT"],
]);

/** Reads the managers; changes go through the port. */
export function topicFacade(
  { broker, context }: RunningBroker,
  local: LocalBroker,
): TopicAdmin {
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
    send: (topic, message) =>
      send(local, topic, message, context.runtime.clock.nowMs()),
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

async function send(
  local: LocalBroker,
  topic: string,
  message: AdminMessage,
  nowMs: number,
): Promise<AdminSendResult> {
  const properties = new Map(Object.entries(message.properties));
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
      defaultTopicQueueNums: 4,
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
  const { msgId, queueId, queueOffset } = decodeSendMessageResponseHeader(
    response.extFields,
  );
  return {
    status: SEND_STATUS.get(response.code)!,
    msgId,
    queueId,
    queueOffset,
  };
}
