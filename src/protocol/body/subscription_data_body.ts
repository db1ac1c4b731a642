/** SubscriptionData as JSON (reference 4.8.2). */
import type { SubscriptionData } from "../../model/subscription_data.ts";
import {
  arrayField,
  booleanField,
  integerOf,
  intField,
  type JsonObject,
  objectOf,
  textArrayField,
  textField,
} from "./json_fields.ts";

/** The JSON object, keys as Java sorts them. */
export function subscriptionDataToJson(data: SubscriptionData): JsonObject {
  return {
    classFilterMode: data.classFilterMode,
    codeSet: data.codeSet,
    expressionType: data.expressionType,
    subString: data.subString,
    subVersion: data.subVersion,
    tagsSet: data.tagsSet,
    topic: data.topic,
  };
}

/** Reads the object; missing fields get Java's defaults. */
export function subscriptionDataFromJson(value: unknown): SubscriptionData {
  const object = objectOf(value, "SubscriptionData");
  return {
    topic: textField(object, "topic", ""),
    subString: textField(object, "subString", ""),
    tagsSet: textArrayField(object, "tagsSet"),
    codeSet: arrayField(object, "codeSet").map((it) =>
      integerOf(it, "codeSet")
    ),
    subVersion: intField(object, "subVersion", 0),
    expressionType: textField(object, "expressionType", "TAG"),
    classFilterMode: booleanField(object, "classFilterMode", false),
  };
}
