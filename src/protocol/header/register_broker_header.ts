/** Headers of REGISTER_BROKER (103), reference 2.9. */
import type { ExtFields } from "../remoting_command.ts";
import {
  optionalBoolean,
  optionalInt,
  optionalLong,
  optionalText,
  requireLong,
  requireText,
} from "./field_reader.ts";

const REQUEST = "RegisterBrokerRequestHeader";

/** Who registers. */
export interface RegisterBrokerRequestHeader {
  readonly brokerName: string;
  readonly brokerAddr: string;
  readonly clusterName: string;
  readonly haServerAddr: string;
  readonly brokerId: number;
  readonly compressed: boolean;
  /** Masked CRC-32 of the body as sent; 0 is not checked. */
  readonly bodyCrc32: number;
  /** How long silence is taken for life; undefined from 4.x brokers. */
  readonly heartbeatTimeoutMillis: number | undefined;
  /** Undefined from 4.x brokers. */
  readonly enableActingMaster: boolean | undefined;
  /** The ext field `__ZONE_NAME`. */
  readonly zoneName: string | undefined;
}

/** Whom a slave replicates from; both absent when no master lives. */
export interface RegisterBrokerResponseHeader {
  readonly haServerAddr: string | undefined;
  readonly masterAddr: string | undefined;
}

/** The ext field that carries a zone, here and in route queries. */
export const ZONE_NAME_FIELD = "__ZONE_NAME";

/** The ext fields. */
export function encodeRegisterBrokerRequestHeader(
  header: RegisterBrokerRequestHeader,
): ExtFields {
  const fields: ExtFields = {
    brokerName: header.brokerName,
    brokerAddr: header.brokerAddr,
    clusterName: header.clusterName,
    haServerAddr: header.haServerAddr,
    brokerId: String(header.brokerId),
    compressed: String(header.compressed),
    bodyCrc32: String(header.bodyCrc32),
  };
  if (header.heartbeatTimeoutMillis !== undefined) {
    fields.heartbeatTimeoutMillis = String(header.heartbeatTimeoutMillis);
  }
  if (header.enableActingMaster !== undefined) {
    fields.enableActingMaster = String(header.enableActingMaster);
  }
  if (header.zoneName !== undefined) fields[ZONE_NAME_FIELD] = header.zoneName;
  return fields;
}

/** Reads the ext fields; throws `HeaderError`. */
export function decodeRegisterBrokerRequestHeader(
  fields: ExtFields,
): RegisterBrokerRequestHeader {
  const timeout = optionalLong(fields, "heartbeatTimeoutMillis", -1);
  return {
    brokerName: requireText(fields, "brokerName", REQUEST),
    brokerAddr: requireText(fields, "brokerAddr", REQUEST),
    clusterName: requireText(fields, "clusterName", REQUEST),
    haServerAddr: optionalText(fields, "haServerAddr") ?? "",
    brokerId: requireLong(fields, "brokerId", REQUEST),
    compressed: optionalBoolean(fields, "compressed", false),
    bodyCrc32: optionalInt(fields, "bodyCrc32", 0),
    heartbeatTimeoutMillis: timeout > 0 ? timeout : undefined,
    enableActingMaster: fields.enableActingMaster === undefined
      ? undefined
      : optionalBoolean(fields, "enableActingMaster", false),
    zoneName: optionalText(fields, ZONE_NAME_FIELD),
  };
}

/** The ext fields of the answer. */
export function encodeRegisterBrokerResponseHeader(
  header: RegisterBrokerResponseHeader,
): ExtFields {
  const fields: ExtFields = {};
  if (header.haServerAddr !== undefined) {
    fields.haServerAddr = header.haServerAddr;
  }
  if (header.masterAddr !== undefined) fields.masterAddr = header.masterAddr;
  return fields;
}

/** Reads the answer; empty texts count as absent. */
export function decodeRegisterBrokerResponseHeader(
  fields: ExtFields,
): RegisterBrokerResponseHeader {
  return {
    haServerAddr: optionalText(fields, "haServerAddr") || undefined,
    masterAddr: optionalText(fields, "masterAddr") || undefined,
  };
}
