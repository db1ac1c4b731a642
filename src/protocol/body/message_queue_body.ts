/**
 * MessageQueue as JSON, also as a key: `{{"brokerName":…,"queueId":0,"topic":…}:{…}}`
 * (reference 1.8).
 */
import type { MessageQueue } from "../../model/message_queue.ts";
import {
  arrayField,
  intField,
  type JsonObject,
  objectOf,
  textField,
} from "./json_fields.ts";

/** The JSON object, keys as Java sorts them. */
export function messageQueueToJson(
  queue: MessageQueue,
): { brokerName: string; queueId: number; topic: string } {
  return {
    brokerName: queue.brokerName,
    queueId: queue.queueId,
    topic: queue.topic,
  };
}

/** Reads the object. */
export function messageQueueFromJson(value: unknown): MessageQueue {
  const object = objectOf(value, "MessageQueue");
  return {
    topic: textField(object, "topic", ""),
    brokerName: textField(object, "brokerName", ""),
    queueId: intField(object, "queueId", 0),
  };
}

/** An array of queues. */
export function messageQueueArrayField(
  from: JsonObject,
  name: string,
): MessageQueue[] {
  return arrayField(from, name).map(messageQueueFromJson);
}

/** The entries of an object whose keys are queues; without queues an ordinary empty object. */
export function messageQueueMapEntries(
  value: unknown,
): [MessageQueue, unknown][] {
  if (!(value instanceof Map)) return [];
  return [...value as Map<unknown, unknown>].map((
    [key, entry],
  ) => [messageQueueFromJson(key), entry]);
}
