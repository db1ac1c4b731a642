/** Headers of the KV codes 100, 101, 102 and 219 (reference 2.9). */
import type { ExtFields } from "../remoting_command.ts";
import { optionalText, requireText } from "./field_reader.ts";

/** Which entry; the request header of 101 and 102. */
export interface KVConfigKeyHeader {
  readonly namespace: string;
  readonly key: string;
}

/** The request header of 100. */
export interface PutKVConfigRequestHeader extends KVConfigKeyHeader {
  readonly value: string;
}

/** The request header of 219. */
export interface KVConfigNamespaceHeader {
  readonly namespace: string;
}

/** The response header of 101. */
export interface GetKVConfigResponseHeader {
  readonly value: string | undefined;
}

/** Reads the header of 101 and 102; throws `HeaderError`. */
export function decodeKVConfigKeyHeader(fields: ExtFields): KVConfigKeyHeader {
  const name = "KVConfigRequestHeader";
  return {
    namespace: requireText(fields, "namespace", name),
    key: requireText(fields, "key", name),
  };
}

/** Reads the header of 100; throws `HeaderError`. */
export function decodePutKVConfigRequestHeader(
  fields: ExtFields,
): PutKVConfigRequestHeader {
  return {
    ...decodeKVConfigKeyHeader(fields),
    value: requireText(fields, "value", "PutKVConfigRequestHeader"),
  };
}

/** Reads the header of 219; throws `HeaderError`. */
export function decodeKVConfigNamespaceHeader(
  fields: ExtFields,
): KVConfigNamespaceHeader {
  return {
    namespace: requireText(fields, "namespace", "GetKVListRequestHeader"),
  };
}

/** Reads the answer to 101. */
export function decodeGetKVConfigResponseHeader(
  fields: ExtFields,
): GetKVConfigResponseHeader {
  return { value: optionalText(fields, "value") };
}
