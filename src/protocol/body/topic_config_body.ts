/** TopicConfig as JSON (reference 4.8.1), in bodies and in topics.json. */
import type { TopicConfig, TopicFilterType } from "../../model/topic_config.ts";
import {
  booleanField,
  intField,
  type JsonObject,
  jsonOfMap,
  mapField,
  objectOf,
  optionalTextField,
  textField,
} from "./json_fields.ts";

/** Queue numbers of a TopicConfig that names none. */
const QUEUE_NUMS_DEFAULT = 16;
const PERM_DEFAULT = 6;

/** The JSON object, keys as Java sorts them. */
export function topicConfigToJson(config: TopicConfig): JsonObject {
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

/** Reads the object; `topicName` is the fallback for the field of that name. */
export function topicConfigFromJson(
  value: unknown,
  topicName = "",
): TopicConfig {
  const object = objectOf(value, "TopicConfig");
  return {
    topicName: textField(object, "topicName", topicName),
    readQueueNums: intField(object, "readQueueNums", QUEUE_NUMS_DEFAULT),
    writeQueueNums: intField(object, "writeQueueNums", QUEUE_NUMS_DEFAULT),
    perm: intField(object, "perm", PERM_DEFAULT),
    topicFilterType: topicFilterTypeOf(
      optionalTextField(object, "topicFilterType"),
    ),
    topicSysFlag: intField(object, "topicSysFlag", 0),
    order: booleanField(object, "order", false),
    attributes: Object.fromEntries(
      mapField(object, "attributes", (it) => String(it)),
    ),
  };
}

/** The filter type of its name; SINGLE_TAG for anything unknown. */
export function topicFilterTypeOf(name: string | undefined): TopicFilterType {
  return name === "MULTI_TAG" ? "MULTI_TAG" : "SINGLE_TAG";
}

/** A table of topics as JSON object. */
export function topicConfigTableToJson(
  table: ReadonlyMap<string, TopicConfig>,
): JsonObject {
  return jsonOfMap(table, topicConfigToJson);
}

/** Reads the field `topicConfigTable`. */
export function topicConfigTableFromJson(
  object: JsonObject,
): Map<string, TopicConfig> {
  return mapField(object, "topicConfigTable", topicConfigFromJson);
}
