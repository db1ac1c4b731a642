/** The body of GET_CONSUMER_LIST_BY_GROUP (38): `{consumerIdList:[S]}`. */
import {
  decodeJson,
  encodeJson,
  objectOf,
  textArrayField,
} from "./json_fields.ts";

/** The body. */
export function encodeConsumerIdList(ids: readonly string[]): Uint8Array {
  return encodeJson({ consumerIdList: ids });
}

/** Reads the body; throws `BodyError`. */
export function decodeConsumerIdList(bytes: Uint8Array): string[] {
  const name = "GetConsumerListByGroupResponseBody";
  return textArrayField(
    objectOf(decodeJson(bytes, name), name),
    "consumerIdList",
  );
}
