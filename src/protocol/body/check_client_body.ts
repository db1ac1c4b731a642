/** The body of CHECK_CLIENT_CONFIG (46), reference 2.4. */
import type { SubscriptionData } from "../../model/subscription_data.ts";
import { decodeJson, encodeJson, objectOf, textField } from "./json_fields.ts";
import {
  subscriptionDataFromJson,
  subscriptionDataToJson,
} from "./subscription_data_body.ts";

/** Which subscription a client wants checked. */
export interface CheckClientRequestBody {
  readonly clientId: string;
  readonly group: string;
  readonly subscriptionData: SubscriptionData | null;
}

/** The body. */
export function encodeCheckClientRequestBody(
  body: CheckClientRequestBody,
): Uint8Array {
  return encodeJson({
    clientId: body.clientId,
    group: body.group,
    ...(body.subscriptionData === null
      ? {}
      : { subscriptionData: subscriptionDataToJson(body.subscriptionData) }),
  });
}

/** Reads the body; throws `BodyError`. */
export function decodeCheckClientRequestBody(
  bytes: Uint8Array,
): CheckClientRequestBody {
  const name = "CheckClientRequestBody";
  const object = objectOf(decodeJson(bytes, name), name);
  const data = object.subscriptionData;
  return {
    clientId: textField(object, "clientId", ""),
    group: textField(object, "group", ""),
    subscriptionData: data === undefined || data === null
      ? null
      : subscriptionDataFromJson(data),
  };
}
