/** MetadataVersions: the versions of the tables that a slave copies; body of WAIT_METADATA_CHANGE (31001). */
import type { DataVersion } from "../../model/data_version.ts";
import { isSameVersion } from "../../model/data_version.ts";
import { dataVersionFromJson, dataVersionToJson } from "./data_version_body.ts";
import { decodeJson, encodeJson, objectOf } from "./json_fields.ts";

/** The tables, in the order in which they are copied. */
export const METADATA_SETS = [
  "topics",
  "subscriptionGroups",
  "consumerOffsets",
  "delayOffsets",
  "auth",
] as const;

/** One of them. */
export type MetadataSet = typeof METADATA_SETS[number];

/** A version per table. */
export type MetadataVersions = Readonly<Record<MetadataSet, DataVersion>>;

/** True when every table has the same version in both. */
export function isSameVersions(
  a: MetadataVersions,
  b: MetadataVersions,
): boolean {
  return METADATA_SETS.every((it) => isSameVersion(a[it], b[it]));
}

/** The body. */
export function encodeMetadataVersions(versions: MetadataVersions): Uint8Array {
  return encodeJson(
    Object.fromEntries(
      METADATA_SETS.map((it) => [it, dataVersionToJson(versions[it])]),
    ),
  );
}

/** Reads that body; a missing version is zero. Throws `BodyError`. */
export function decodeMetadataVersions(bytes: Uint8Array): MetadataVersions {
  const json = objectOf(
    decodeJson(bytes, "MetadataVersions"),
    "MetadataVersions",
  );
  const version = (set: MetadataSet) => dataVersionFromJson(json[set]);
  return {
    topics: version("topics"),
    subscriptionGroups: version("subscriptionGroups"),
    consumerOffsets: version("consumerOffsets"),
    delayOffsets: version("delayOffsets"),
    auth: version("auth"),
  };
}
