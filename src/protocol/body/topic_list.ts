/** TopicList: `{"brokerAddr":…,"topicList":[…]}`, the body of codes 206, 224, 304, 305, 311-313. */
import {
  decodeJson,
  encodeJson,
  objectOf,
  optionalTextField,
  textArrayField,
} from "./json_fields.ts";

/** Topic names, and for system topics one broker that has them. */
export interface TopicList {
  readonly topicList: readonly string[];
  readonly brokerAddr: string | null;
}

/** The body. */
export function encodeTopicList(list: TopicList): Uint8Array {
  return encodeJson({
    ...(list.brokerAddr === null ? {} : { brokerAddr: list.brokerAddr }),
    topicList: list.topicList,
  });
}

/** Reads the body; throws `BodyError`. */
export function decodeTopicList(bytes: Uint8Array): TopicList {
  const object = objectOf(decodeJson(bytes, "TopicList"), "TopicList");
  return {
    topicList: textArrayField(object, "topicList"),
    brokerAddr: optionalTextField(object, "brokerAddr") ?? null,
  };
}
