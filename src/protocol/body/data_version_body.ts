/** DataVersion as JSON (reference 1.8); 4.9 peers send no stateVersion. */
import type { DataVersion } from "../../model/data_version.ts";
import {
  decodeJson,
  encodeJson,
  intField,
  type JsonObject,
  objectOf,
} from "./json_fields.ts";

/** The version of a table that nobody changed yet. */
export const ZERO_DATA_VERSION: DataVersion = Object.freeze({
  stateVersion: 0,
  timestamp: 0,
  counter: 0,
});

/** The JSON object, keys as Java sorts them. */
export function dataVersionToJson(version: DataVersion): JsonObject {
  return {
    counter: version.counter,
    stateVersion: version.stateVersion,
    timestamp: version.timestamp,
  };
}

/** Reads the object; missing fields are 0. */
export function dataVersionFromJson(value: unknown): DataVersion {
  const object = objectOf(value, "dataVersion");
  return {
    stateVersion: intField(object, "stateVersion", 0),
    timestamp: intField(object, "timestamp", 0),
    counter: intField(object, "counter", 0),
  };
}

/** The body of QUERY_DATA_VERSION, both ways. */
export function encodeDataVersion(version: DataVersion): Uint8Array {
  return encodeJson(dataVersionToJson(version));
}

/** Reads a DataVersion body; throws `BodyError`. */
export function decodeDataVersion(bytes: Uint8Array): DataVersion {
  return dataVersionFromJson(decodeJson(bytes, "DataVersion"));
}
