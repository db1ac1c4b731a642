/** MessageAdmin over a running broker. */
import type { MessageAdmin, MessageView } from "../admin/message_routes.ts";
import { ProblemError } from "../admin/problem.ts";
import { decodeMessageId } from "../model/message_id.ts";
import { decodeMessageRecord } from "../model/message_record.ts";
import type { MessageStore } from "../store/message_store.ts";
import type { RunningBroker } from "./broker_server.ts";
import { messageView } from "./message_view.ts";

const ID_RESULTS_MAX = 16;

/** Reads the store. */
export function messageFacade({ broker }: RunningBroker): MessageAdmin {
  const store = () => broker.messageStore;
  return {
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
  if (topic !== undefined) {
    const found = await byKey(
      store,
      topic,
      msgId,
      ID_RESULTS_MAX,
      0,
      Number.MAX_SAFE_INTEGER,
    );
    if (found.length > 0) return found.filter((it) => it.msgId === msgId);
  }
  const id = decodeMessageId(msgId);
  if (id === undefined) {
    throw new ProblemError(400, "Field msgId: it is no message id", [
      { field: "msgId", message: "give 32 or 56 hex digits" },
    ]);
  }
  const { phyOffset } = id;
  if (phyOffset < store.minPhyOffset || phyOffset >= store.maxPhyOffset) {
    if (topic !== undefined) return [];
    throw new ProblemError(
      404,
      "No message has this offset id here; a client's id needs its topic too",
      [{ field: "topic", message: "missing for an id made by a client" }],
    );
  }
  const record = await store.selectOneMessageByOffset(phyOffset);
  return record === undefined ? [] : [messageView(decodeMessageRecord(record))];
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
  return records.map((it) => messageView(decodeMessageRecord(it)));
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
    const message = decodeMessageRecord(body, position);
    views.push(messageView(message));
    position += message.storeSize;
  }
  return views;
}
