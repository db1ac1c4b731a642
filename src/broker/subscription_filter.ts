/** SubscriptionFilter: the tag filter of one subscription (reference 13.1). */
import { SUB_ALL } from "../model/filter_api.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import type { MessageFilter } from "../store/get_message_result.ts";

/** Null when everything passes. Collisions pass too: clients compare the tag's text. */
export function subscriptionFilter(
  subscriptionData: SubscriptionData,
): MessageFilter | null {
  if (
    subscriptionData.classFilterMode || subscriptionData.subString === SUB_ALL
  ) {
    return null;
  }
  const { codeSet } = subscriptionData;
  if (codeSet.length === 1) {
    const only = codeSet[0];
    return { isMatchedByConsumeQueue: (tagsCodeLow) => tagsCodeLow === only };
  }
  const codes = new Set(codeSet);
  return { isMatchedByConsumeQueue: (tagsCodeLow) => codes.has(tagsCodeLow) };
}
