/** Bodies of LOCK_BATCH_MQ (41) and UNLOCK_BATCH_MQ (42), reference 2.4. */
import type { MessageQueue } from "../../model/message_queue.ts";
import {
  BodyError,
  booleanField,
  decodeJson,
  encodeJson,
  objectOf,
  textField,
} from "./json_fields.ts";
import {
  messageQueueArrayField,
  messageQueueToJson,
} from "./message_queue_body.ts";

/** Who wants which queues. */
export interface LockBatchRequestBody {
  readonly consumerGroup: string;
  readonly clientId: string;
  /** Do not ask other replicas. */
  readonly onlyThisBroker: boolean;
  readonly mqSet: readonly MessageQueue[];
}

/** The request's body. */
export function encodeLockBatchRequestBody(
  body: LockBatchRequestBody,
): Uint8Array {
  return encodeJson({
    clientId: body.clientId,
    consumerGroup: body.consumerGroup,
    mqSet: body.mqSet.map(messageQueueToJson),
    onlyThisBroker: body.onlyThisBroker,
  });
}

/** Reads the request's body; throws `BodyError`. */
export function decodeLockBatchRequestBody(
  bytes: Uint8Array,
): LockBatchRequestBody {
  const name = "LockBatchRequestBody";
  const object = objectOf(decodeJson(bytes, name), name);
  if (object.mqSet === undefined || object.mqSet === null) {
    throw new BodyError(`Cannot read ${name}: mqSet is missing`);
  }
  return {
    consumerGroup: textField(object, "consumerGroup", ""),
    clientId: textField(object, "clientId", ""),
    onlyThisBroker: booleanField(object, "onlyThisBroker", false),
    mqSet: messageQueueArrayField(object, "mqSet"),
  };
}

/** The answer's body: the queues that the client owns now. */
export function encodeLockBatchResponseBody(
  lockOKMQSet: readonly MessageQueue[],
): Uint8Array {
  return encodeJson({ lockOKMQSet: lockOKMQSet.map(messageQueueToJson) });
}

/** Reads the answer's body; throws `BodyError`. */
export function decodeLockBatchResponseBody(bytes: Uint8Array): MessageQueue[] {
  const name = "LockBatchResponseBody";
  return messageQueueArrayField(
    objectOf(decodeJson(bytes, name), name),
    "lockOKMQSet",
  );
}
