/** KVTable: `{"table":{name:value}}`, the body of codes 28, 103 and 219. */
import {
  decodeJson,
  encodeJson,
  jsonOfMap,
  mapField,
  objectOf,
} from "./json_fields.ts";

/** The body of `table`. */
export function encodeKVTable(table: ReadonlyMap<string, string>): Uint8Array {
  return encodeJson({ table: jsonOfMap(table, (it) => it) });
}

/** Reads the table; throws `BodyError`. */
export function decodeKVTable(bytes: Uint8Array): Map<string, string> {
  const object = objectOf(decodeJson(bytes, "KVTable"), "KVTable");
  return mapField(object, "table", (it) => String(it));
}
