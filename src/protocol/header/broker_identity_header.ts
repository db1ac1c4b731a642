/**
 * BrokerIdentityHeader: the request header of UNREGISTER_BROKER (104),
 * QUERY_DATA_VERSION (322) and BROKER_HEARTBEAT (904), reference 2.9.
 */
import type { ExtFields } from "../remoting_command.ts";
import { optionalLong, requireText } from "./field_reader.ts";

/** Which broker speaks. */
export interface BrokerIdentityHeader {
  readonly clusterName: string;
  readonly brokerName: string;
  readonly brokerAddr: string;
  /** Undefined where a heartbeat leaves it out. */
  readonly brokerId: number | undefined;
}

/** The ext fields. */
export function encodeBrokerIdentityHeader(
  header: BrokerIdentityHeader,
): ExtFields {
  const fields: ExtFields = {
    clusterName: header.clusterName,
    brokerName: header.brokerName,
    brokerAddr: header.brokerAddr,
  };
  if (header.brokerId !== undefined) fields.brokerId = String(header.brokerId);
  return fields;
}

/** Reads the ext fields; throws `HeaderError`. */
export function decodeBrokerIdentityHeader(
  fields: ExtFields,
): BrokerIdentityHeader {
  const name = "BrokerIdentityHeader";
  const brokerId = optionalLong(fields, "brokerId", -1);
  return {
    clusterName: requireText(fields, "clusterName", name),
    brokerName: requireText(fields, "brokerName", name),
    brokerAddr: requireText(fields, "brokerAddr", name),
    brokerId: brokerId < 0 ? undefined : brokerId,
  };
}
