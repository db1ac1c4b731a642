/** TopicConfigSerializeWrapper: all topics of a broker (reference 8.3, 10.2). */
import type { DataVersion } from "../../model/data_version.ts";
import type { TopicConfig } from "../../model/topic_config.ts";
import {
  dataVersionFromJson,
  dataVersionToJson,
  ZERO_DATA_VERSION,
} from "./data_version_body.ts";
import {
  decodeJson,
  encodeJson,
  type JsonObject,
  objectOf,
} from "./json_fields.ts";
import {
  topicConfigTableFromJson,
  topicConfigTableToJson,
} from "./topic_config_body.ts";

/** Topics by name and the version of the table. */
export interface TopicConfigSerializeWrapper {
  readonly dataVersion: DataVersion;
  readonly topicConfigTable: ReadonlyMap<string, TopicConfig>;
}

/**
 * The JSON object. The keys of static topics are there for 5.x readers, which
 * compare `mappingDataVersion` without a null check; 4.9 ignores them.
 */
export function topicConfigWrapperToJson(
  wrapper: TopicConfigSerializeWrapper,
): JsonObject {
  return {
    dataVersion: dataVersionToJson(wrapper.dataVersion),
    mappingDataVersion: dataVersionToJson(ZERO_DATA_VERSION),
    topicConfigTable: topicConfigTableToJson(wrapper.topicConfigTable),
    topicQueueMappingDetailMap: {},
    topicQueueMappingInfoMap: {},
  };
}

/** Reads the object of either version. */
export function topicConfigWrapperFromJson(
  value: unknown,
): TopicConfigSerializeWrapper {
  const object = objectOf(value, "TopicConfigSerializeWrapper");
  return {
    dataVersion: dataVersionFromJson(object.dataVersion),
    topicConfigTable: topicConfigTableFromJson(object),
  };
}

/** The body of GET_ALL_TOPIC_CONFIG. */
export function encodeTopicConfigWrapper(
  wrapper: TopicConfigSerializeWrapper,
): Uint8Array {
  return encodeJson(topicConfigWrapperToJson(wrapper));
}

/** Reads that body; throws `BodyError`. */
export function decodeTopicConfigWrapper(
  bytes: Uint8Array,
): TopicConfigSerializeWrapper {
  return topicConfigWrapperFromJson(
    decodeJson(bytes, "TopicConfigSerializeWrapper"),
  );
}
