/** MessageAdmin over a running broker. */
import {
  BODY_SHOWN_MAX,
  type MessageAdmin,
  type MessageView,
} from "../admin/message_routes.ts";
import { ProblemError } from "../admin/problem.ts";
import { decodeMessageId } from "../model/message_id.ts";
import { decodeMessageRecord } from "../model/message_record.ts";
import type { MessageStore } from "../store/message_store.ts";
import type { RunningBroker } from "./broker_server.ts";
import { messageView } from "./message_view.ts";

const ID_RESULTS_MAX = 16;
/** Bytes that a compressed body may take; up to 64 of them are unpacked for one answer. */
const PLAIN_BODY_SIZE_MAX = 4 * 1024 * 1024;

/** Reads the store. */
export function messageFacade({ broker }: RunningBroker): MessageAdmin {
  const store = () => broker.messageStore;
  return {
    queueNums: (topic) => {
      const config = broker.parts.topicConfigManager.selectTopicConfig(topic);
      return config && Math.max(config.readQueueNums, config.writeQueueNums);
    },
    byId: (msgId, topic) => byId(store(), msgId, topic),
    byKey: (topic, key, max, beginMs, endMs) =>
      byKey(store(), topic, key, max, beginMs, endMs),
    byOffset: (topic, queueId, offset, max) =>
      byOffset(store(), topic, queueId, offset, max),
  };
}

async function byId(
  store: MessageStore,
  msgId: string,
  topic: string | undefined,
): Promise<MessageView[]> {
  const found = topic === undefined
    ? []
    : await byUniqueKey(store, topic, msgId);
  if (found.length > 0) return found;
  const id = decodeMessageId(msgId);
  const message = id && await atPhyOffset(store, id.phyOffset);
  const isOurs = message !== undefined &&
    message.offsetMsgId === msgId.toUpperCase() &&
    (topic === undefined || topic === message.topic);
  if (isOurs) return [message];
  if (topic !== undefined) {
    throw new ProblemError(
      404,
      `Topic ${topic} has no message ${msgId}: it may have expired, or be of another topic`,
      [
        { field: "msgId", message: "there is none in that topic" },
      ],
    );
  }
  throw new ProblemError(
    404,
    `No message has the offset id ${msgId}; an id made by a client is found by its topic`,
    [
      { field: "msgId", message: "there is no such offset id" },
      { field: "topic", message: "missing for an id made by a client" },
    ],
  );
}

async function byUniqueKey(
  store: MessageStore,
  topic: string,
  key: string,
): Promise<MessageView[]> {
  const end = Number.MAX_SAFE_INTEGER;
  const found = await byKey(store, topic, key, ID_RESULTS_MAX, 0, end);
  return found.filter((it) => it.msgId === key);
}

async function atPhyOffset(
  store: MessageStore,
  phyOffset: number,
): Promise<MessageView | undefined> {
  if (phyOffset < store.minPhyOffset || phyOffset >= store.maxPhyOffset) {
    return undefined;
  }
  const record = await store.selectOneMessageByOffset(phyOffset);
  return record && shownView(record);
}

async function byKey(
  store: MessageStore,
  topic: string,
  key: string,
  max: number,
  beginMs: number,
  endMs: number,
): Promise<MessageView[]> {
  const { records } = await store.queryMessage(topic, key, max, beginMs, endMs);
  return records.map((it) => shownView(it));
}

async function byOffset(
  store: MessageStore,
  topic: string,
  queueId: number,
  offset: number,
  max: number,
): Promise<MessageView[]> {
  const { body } = await store.getMessage({
    topic,
    queueId,
    offset,
    maxMsgNums: max,
    filter: null,
  });
  const views: MessageView[] = [];
  for (let position = 0; position < body.length;) {
    const view = shownView(body, position);
    views.push(view);
    position += view.storeSize;
  }
  return views;
}

/** What is shown of a message: an answer holds no more of its body, however small it is packed. */
function shownView(bytes: Uint8Array, position = 0): MessageView {
  const view = messageView(
    decodeMessageRecord(bytes, position),
    PLAIN_BODY_SIZE_MAX,
  );
  return { ...view, body: view.body.slice(0, BODY_SHOWN_MAX) };
}
