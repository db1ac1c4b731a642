/** Request header of NOTIFY_MIN_BROKER_ID_CHANGE (905), name server to broker, oneway. */
import type { ExtFields } from "../remoting_command.ts";
import { optionalText, requireLong } from "./field_reader.ts";

/** Who has the smallest living id now, and who went. */
export interface NotifyMinBrokerIdHeader {
  readonly minBrokerId: number;
  readonly brokerName: string;
  readonly minBrokerAddr: string | undefined;
  readonly offlineBrokerAddr: string | undefined;
  readonly haBrokerAddr: string | undefined;
}

/** The ext fields. */
export function encodeNotifyMinBrokerIdHeader(
  header: NotifyMinBrokerIdHeader,
): ExtFields {
  const fields: ExtFields = {
    minBrokerId: String(header.minBrokerId),
    brokerName: header.brokerName,
  };
  if (header.minBrokerAddr !== undefined) {
    fields.minBrokerAddr = header.minBrokerAddr;
  }
  if (header.offlineBrokerAddr !== undefined) {
    fields.offlineBrokerAddr = header.offlineBrokerAddr;
  }
  if (header.haBrokerAddr !== undefined) {
    fields.haBrokerAddr = header.haBrokerAddr;
  }
  return fields;
}

/** Reads the ext fields; throws `HeaderError`. */
export function decodeNotifyMinBrokerIdHeader(
  fields: ExtFields,
): NotifyMinBrokerIdHeader {
  return {
    minBrokerId: requireLong(fields, "minBrokerId", "NotifyMinBrokerIdHeader"),
    brokerName: optionalText(fields, "brokerName") ?? "",
    minBrokerAddr: optionalText(fields, "minBrokerAddr") || undefined,
    offlineBrokerAddr: optionalText(fields, "offlineBrokerAddr") || undefined,
    haBrokerAddr: optionalText(fields, "haBrokerAddr") || undefined,
  };
}
