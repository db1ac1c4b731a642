/** SubscriptionData as JSON (reference 4.8.2). */
import type { SubscriptionData } from "../../model/subscription_data.ts";
import {
  arrayField,
  booleanField,
  integerOf,
  intField,
  type JsonObject,
  textArrayField,
  textField,
} from "./json_fields.ts";

/** Missing fields get Java's defaults. Throws `BodyError` for fields of another kind. */
export function subscriptionDataOf(json: JsonObject): SubscriptionData {
  return {
    topic: textField(json, "topic", ""),
    subString: textField(json, "subString", ""),
    tagsSet: textArrayField(json, "tagsSet"),
    codeSet: arrayField(json, "codeSet").map((it) => integerOf(it, "codeSet")),
    subVersion: intField(json, "subVersion", 0),
    expressionType: textField(json, "expressionType", "TAG"),
    classFilterMode: booleanField(json, "classFilterMode", false),
  };
}

/** Keys in Java's order. */
export function jsonOfSubscriptionData(data: SubscriptionData): JsonObject {
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
