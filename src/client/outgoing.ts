/** Outgoing: a message or a batch as it goes to the wire, whatever broker takes it. */
import { encodeMessageBatch } from "../model/message_batch.ts";
import type { MessageQueue } from "../model/message_queue.ts";
import { topicError } from "../model/validators.ts";
import { RequestCode } from "../protocol/request_code.ts";
import { type Message, propertiesTextOf } from "./message.ts";
import { MQClientError } from "./mq_client_error.ts";

/** The broker-independent part of one send. */
export interface Outgoing {
  readonly topic: string;
  readonly code: number;
  readonly body: Uint8Array;
  readonly propertiesText: string;
  readonly flag: number;
  readonly isBatch: boolean;
  /** UNIQ_KEY; of a batch those of its messages, joined by commas. */
  readonly msgId: string;
  /** Where to, when the application says so. */
  readonly queue: MessageQueue | undefined;
}

/** One message; throws `MQClientError` for what no broker takes. */
export function outgoingOf(
  message: Message,
  msgId: string,
  maxMessageSize: number,
): Outgoing {
  checkMessage(message, maxMessageSize);
  return {
    topic: message.topic,
    code: RequestCode.SEND_MESSAGE_V2,
    body: message.body,
    propertiesText: propertiesTextOf(message, msgId),
    flag: message.flag ?? 0,
    isBatch: false,
    msgId,
    queue: message.queue,
  };
}

/** Messages of one topic as one request; throws `MQClientError`. */
export function outgoingBatchOf(
  messages: readonly Message[],
  nextMsgId: () => string,
  maxMessageSize: number,
): Outgoing {
  const [first] = messages;
  if (first === undefined) {
    throw new MQClientError("Cannot send a batch without messages", null);
  }
  const msgIds: string[] = [];
  const entries = messages.map((it) => {
    checkMessage(it, maxMessageSize);
    if (it.topic !== first.topic || (it.delayLevel ?? 0) > 0) {
      throw new MQClientError(
        "Cannot send a batch of several topics or with delay levels",
        null,
      );
    }
    const msgId = nextMsgId();
    msgIds.push(msgId);
    const propertiesText = propertiesTextOf(it, msgId);
    return { flag: it.flag ?? 0, body: it.body, propertiesText };
  });
  return {
    topic: first.topic,
    code: RequestCode.SEND_BATCH_MESSAGE,
    body: encodeMessageBatch(entries),
    propertiesText: "",
    flag: 0,
    isBatch: true,
    msgId: msgIds.join(","),
    queue: first.queue,
  };
}

function checkMessage(message: Message, maxMessageSize: number): void {
  const wrong = topicError(message.topic);
  if (wrong !== undefined) throw new MQClientError(wrong, null);
  if (message.body.length <= maxMessageSize) return;
  throw new MQClientError(
    `The message body has ${message.body.length} bytes, more than ` +
      `maxMessageSize (${maxMessageSize})`,
    null,
  );
}
