/** Request header of GET_ROUTEINFO_BY_TOPIC (105). */
import type { ExtFields } from "../remoting_command.ts";
import { optionalBoolean, optionalText, requireText } from "./field_reader.ts";
import { ZONE_NAME_FIELD } from "./register_broker_header.ts";

const ZONE_MODE_FIELD = "__ZONE_MODE";

/** Whose route, and from which zone it is asked. */
export interface GetRouteInfoRequestHeader {
  readonly topic: string;
  readonly acceptStandardJsonOnly: boolean;
  /** Only brokers of this zone; undefined when the client asked for all. */
  readonly zoneName: string | undefined;
}

/** The ext fields. */
export function encodeGetRouteInfoRequestHeader(topic: string): ExtFields {
  return { topic, acceptStandardJsonOnly: "true" };
}

/** Reads the ext fields; throws `HeaderError`. */
export function decodeGetRouteInfoRequestHeader(
  fields: ExtFields,
): GetRouteInfoRequestHeader {
  const isZoned = optionalBoolean(fields, ZONE_MODE_FIELD, false);
  const zoneName = optionalText(fields, ZONE_NAME_FIELD);
  return {
    topic: requireText(fields, "topic", "GetRouteInfoRequestHeader"),
    acceptStandardJsonOnly: optionalBoolean(
      fields,
      "acceptStandardJsonOnly",
      false,
    ),
    zoneName: isZoned ? zoneName || undefined : undefined,
  };
}
