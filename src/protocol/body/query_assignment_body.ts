/** Bodies of QUERY_ASSIGNMENT (400): which queues a client consumes, and how (reference 2.4). */
import type { MessageQueue } from "../../model/message_queue.ts";
import {
  arrayField,
  decodeJson,
  encodeJson,
  type JsonObject,
  objectOf,
  textField,
} from "./json_fields.ts";
import {
  messageQueueFromJson,
  messageQueueToJson,
} from "./message_queue_body.ts";
import type { MessageRequestMode } from "./message_request_mode_body.ts";

/** Who asks. */
export interface QueryAssignmentRequestBody {
  readonly topic: string;
  readonly consumerGroup: string;
  readonly clientId: string;
  /** AVG or AVG_BY_CIRCLE. */
  readonly strategyName: string;
  /** BROADCASTING or CLUSTERING. */
  readonly messageModel: string;
}

/** One queue of a client; queueId -1: all queues of that broker. */
export interface MessageQueueAssignment {
  readonly messageQueue: MessageQueue;
  readonly mode: MessageRequestMode;
}

/** Reads the request's body; throws `BodyError`. */
export function decodeQueryAssignmentRequestBody(
  bytes: Uint8Array,
): QueryAssignmentRequestBody {
  const name = "QueryAssignmentRequestBody";
  const object = objectOf(decodeJson(bytes, name), name);
  return {
    topic: textField(object, "topic", ""),
    consumerGroup: textField(object, "consumerGroup", ""),
    clientId: textField(object, "clientId", ""),
    strategyName: textField(object, "strategyName", ""),
    messageModel: textField(object, "messageModel", ""),
  };
}

/** The request's body. */
export function encodeQueryAssignmentRequestBody(
  body: QueryAssignmentRequestBody,
): Uint8Array {
  return encodeJson({ ...body });
}

/** The answer's body; null leaves the client with what it has. */
export function encodeQueryAssignmentResponseBody(
  assignments: readonly MessageQueueAssignment[] | null,
): Uint8Array {
  if (assignments === null) return encodeJson({});
  return encodeJson({
    messageQueueAssignments: assignments.map(({ messageQueue, mode }) => ({
      messageQueue: messageQueueToJson(messageQueue),
      mode,
    })),
  });
}

/** Reads the answer's body; null as above. Throws `BodyError`. */
export function decodeQueryAssignmentResponseBody(
  bytes: Uint8Array,
): MessageQueueAssignment[] | null {
  const name = "QueryAssignmentResponseBody";
  const object = objectOf(decodeJson(bytes, name), name);
  if (object["messageQueueAssignments"] === undefined) return null;
  return arrayField(object, "messageQueueAssignments").map(assignmentOf);
}

function assignmentOf(value: unknown): MessageQueueAssignment {
  const object: JsonObject = objectOf(value, "MessageQueueAssignment");
  return {
    messageQueue: messageQueueFromJson(object["messageQueue"]),
    mode: textField(object, "mode", "PULL") === "POP" ? "POP" : "PULL",
  };
}
