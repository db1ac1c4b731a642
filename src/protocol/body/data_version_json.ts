/** DataVersion as JSON: `{counter, stateVersion, timestamp}`; 4.9 has no stateVersion. */
import type { DataVersion } from "../../model/data_version.ts";
import { intField, type JsonObject } from "./json_fields.ts";

/** Missing fields read as 0. */
export function dataVersionOf(json: JsonObject): DataVersion {
  return {
    stateVersion: intField(json, "stateVersion", 0),
    timestamp: intField(json, "timestamp", 0),
    counter: intField(json, "counter", 0),
  };
}

/** Keys in Java's order. */
export function jsonOfDataVersion(version: DataVersion): JsonObject {
  return {
    counter: version.counter,
    stateVersion: version.stateVersion,
    timestamp: version.timestamp,
  };
}
