/** SetMessageRequestModeRequestBody: how a group consumes a topic, in request 401 and in messageRequestMode.json (reference 2.4). */
import {
  BodyError,
  decodeJson,
  encodeJson,
  intField,
  type JsonObject,
  objectOf,
  textField,
} from "./json_fields.ts";

/** Java's MessageRequestMode. */
export type MessageRequestMode = "PULL" | "POP";

/** The mode of one group for one topic. */
export interface SetMessageRequestModeBody {
  readonly topic: string;
  readonly consumerGroup: string;
  readonly mode: MessageRequestMode;
  /** Consumers that share a queue beside its own; -1 and 0: all share all. */
  readonly popShareQueueNum: number;
}

const NAME = "SetMessageRequestModeRequestBody";

/** Reads the request's body; throws `BodyError`. */
export function decodeSetMessageRequestModeBody(
  bytes: Uint8Array,
): SetMessageRequestModeBody {
  return messageRequestModeFromJson(decodeJson(bytes, NAME));
}

/** The request's body. */
export function encodeSetMessageRequestModeBody(
  body: SetMessageRequestModeBody,
): Uint8Array {
  return encodeJson(messageRequestModeToJson(body));
}

/** Reads one entry; throws `BodyError`. */
export function messageRequestModeFromJson(
  value: unknown,
): SetMessageRequestModeBody {
  const object = objectOf(value, NAME);
  return {
    topic: textField(object, "topic", ""),
    consumerGroup: textField(object, "consumerGroup", ""),
    mode: modeField(object),
    popShareQueueNum: intField(object, "popShareQueueNum", 0),
  };
}

function modeField(object: JsonObject): MessageRequestMode {
  const mode = textField(object, "mode", "PULL");
  if (mode === "PULL" || mode === "POP") return mode;
  throw new BodyError("Cannot read mode: it is neither PULL nor POP");
}

/** One entry, keys as Java sorts them. */
export function messageRequestModeToJson(
  { consumerGroup, mode, popShareQueueNum, topic }: SetMessageRequestModeBody,
): { readonly [name: string]: string | number } {
  return { consumerGroup, mode, popShareQueueNum, topic };
}
