/** Response header of QUERY_DATA_VERSION (322); its request is a BrokerIdentityHeader. */
import type { ExtFields } from "../remoting_command.ts";
import { optionalBoolean } from "./field_reader.ts";

/** Whether the stored version differs from the one sent. */
export interface QueryDataVersionResponseHeader {
  readonly changed: boolean;
}

/** The ext fields. */
export function encodeQueryDataVersionResponseHeader(
  header: QueryDataVersionResponseHeader,
): ExtFields {
  return { changed: String(header.changed) };
}

/** Reads the ext fields; absent means changed. */
export function decodeQueryDataVersionResponseHeader(
  fields: ExtFields,
): QueryDataVersionResponseHeader {
  return { changed: optionalBoolean(fields, "changed", true) };
}
