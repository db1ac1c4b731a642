/** TopicConfig as JSON (reference 4.8.1). */
import { PermName, type TopicConfig } from "../../model/topic_config.ts";
import {
  BodyError,
  booleanField,
  intField,
  type JsonObject,
  objectField,
  textField,
} from "./json_fields.ts";

const DEFAULT_QUEUE_NUMS = 16;
const DEFAULT_PERM = PermName.READ | PermName.WRITE;

/** The keys that we know; others are kept by the manager. */
export const TOPIC_CONFIG_KEYS: ReadonlySet<string> = new Set([
  "attributes",
  "order",
  "perm",
  "readQueueNums",
  "topicFilterType",
  "topicName",
  "topicSysFlag",
  "writeQueueNums",
]);

/** Missing fields get Java's defaults. Throws `BodyError` for fields of another kind. */
export function topicConfigOf(json: JsonObject, name = ""): TopicConfig {
  const topicFilterType = textField(json, "topicFilterType", "SINGLE_TAG");
  if (topicFilterType !== "SINGLE_TAG" && topicFilterType !== "MULTI_TAG") {
    throw new BodyError(
      `Cannot read topicFilterType: it is "${topicFilterType.slice(0, 32)}"`,
    );
  }
  return {
    topicName: textField(json, "topicName", name),
    readQueueNums: intField(json, "readQueueNums", DEFAULT_QUEUE_NUMS),
    writeQueueNums: intField(json, "writeQueueNums", DEFAULT_QUEUE_NUMS),
    perm: intField(json, "perm", DEFAULT_PERM),
    topicFilterType,
    topicSysFlag: intField(json, "topicSysFlag", 0),
    order: booleanField(json, "order", false),
    attributes: textsOf(objectField(json, "attributes")),
  };
}

/** Keys in Java's order. */
export function jsonOfTopicConfig(config: TopicConfig): JsonObject {
  return {
    attributes: config.attributes,
    order: config.order,
    perm: config.perm,
    readQueueNums: config.readQueueNums,
    topicFilterType: config.topicFilterType,
    topicName: config.topicName,
    topicSysFlag: config.topicSysFlag,
    writeQueueNums: config.writeQueueNums,
  };
}

/** An object whose values are texts; null values are dropped. */
export function textsOf(json: JsonObject): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(json)) {
    if (value === null || value === undefined) continue;
    // Never through assignment: a key may be `__proto__`.
    Object.defineProperty(texts, key, {
      value: String(value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return texts;
}
