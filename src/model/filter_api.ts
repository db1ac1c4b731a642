/** FilterAPI: reads subscription expressions (reference 13.1). */
import { shown } from "../base/shown.ts";
import { javaHashCode } from "../base/java_hash.ts";
import type { SubscriptionData } from "./subscription_data.ts";

export const EXPRESSION_TYPE_TAG = "TAG";
export const EXPRESSION_TYPE_SQL92 = "SQL92";
/** All tags. */
export const SUB_ALL = "*";

/** Thrown for an expression that selects no tag at all; answered with code 23. */
export class SubscriptionParseError extends Error {
  override readonly name = "SubscriptionParseError";
}

/** True for a missing, empty or TAG type. */
export function isTagType(type: string | null | undefined): boolean {
  return type === null || type === undefined || type === "" ||
    type === EXPRESSION_TYPE_TAG;
}

/**
 * Reads `tagA || tagB`, or takes another type's expression as it is.
 * Throws `SubscriptionParseError` for `||` alone and for an empty SQL92 text.
 */
export function buildSubscriptionData(
  topic: string,
  expression: string | null | undefined,
  type?: string | null,
  subVersion = 0,
): SubscriptionData {
  const text = expression ?? "";
  if (!isTagType(type)) {
    if (text === "") {
      throw new SubscriptionParseError(
        `The expression of type ${shown(type!)} for topic ${
          shown(topic)
        } is empty.`,
      );
    }
    return subscription(topic, text, [], subVersion, type!);
  }
  if (text === "" || text === SUB_ALL) {
    return subscription(topic, SUB_ALL, [], subVersion, EXPRESSION_TYPE_TAG);
  }
  const parts = text.split("||");
  const tags = new Set(
    parts.map((it) => it.trim()).filter((it) => it !== ""),
  );
  // As Java: "||" splits into nothing, while " " is one blank tag that selects nothing.
  if (tags.size === 0 && parts.every((it) => it === "")) {
    throw new SubscriptionParseError(
      `The expression "${shown(text)}" for topic ${shown(topic)} names no tag.`,
    );
  }
  return subscription(topic, text, [...tags], subVersion, EXPRESSION_TYPE_TAG);
}

/** True when the low 32 bits of a unit's tags code pass; tags codes collide, clients check the text. */
export function matchesTagsCode(
  subscriptionData: SubscriptionData,
  tagsCodeLow: number,
): boolean {
  return subscriptionData.subString === SUB_ALL ||
    subscriptionData.codeSet.includes(tagsCodeLow | 0);
}

function subscription(
  topic: string,
  subString: string,
  tagsSet: readonly string[],
  subVersion: number,
  expressionType: string,
): SubscriptionData {
  return {
    topic,
    subString,
    tagsSet,
    codeSet: tagsSet.map(javaHashCode),
    subVersion,
    expressionType,
    classFilterMode: false,
  };
}
