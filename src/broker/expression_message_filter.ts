/** ExpressionMessageFilter: what a subscription lets through, by tags (reference 13.1) or properties (13.2). */
import type { CompiledSelector } from "../filter/compiled_selector.ts";
import { isTagType, SUB_ALL } from "../model/filter_api.ts";
import { findProperty, MessageConst } from "../model/message_properties.ts";
import type { SubscriptionData } from "../model/subscription_data.ts";
import type { MessageFilter } from "../store/get_message_result.ts";

/** Finds the selector that a group has for a topic. */
export type SelectorLookUp = (topic: string) => CompiledSelector | undefined;

/**
 * Null when everything passes; `selector` is that of a subscription which is
 * not by tags. Tags codes collide: clients compare the tag's text.
 */
export function expressionMessageFilter(
  subscriptionData: SubscriptionData,
  selector: CompiledSelector | undefined,
): MessageFilter | null {
  if (subscriptionData.classFilterMode) return null;
  if (!isTagType(subscriptionData.expressionType)) {
    return selector === undefined ? null : {
      isMatchedByConsumeQueue: () => true,
      isMatchedByCommitLog: (text) => selector.matches(text),
    };
  }
  if (subscriptionData.subString === SUB_ALL) return null;
  const { codeSet } = subscriptionData;
  if (codeSet.length === 1) {
    const only = codeSet[0];
    return { isMatchedByConsumeQueue: (tagsCodeLow) => tagsCodeLow === only };
  }
  const codes = new Set(codeSet);
  return { isMatchedByConsumeQueue: (tagsCodeLow) => codes.has(tagsCodeLow) };
}

/**
 * ExpressionForRetryMessageFilter, as 4.9 has it: a message on its way back
 * passes when the selector of its own topic wants it (still). In 5.x the
 * retry topic's subscription, which is by tags, keeps that from happening.
 */
export function expressionForRetryMessageFilter(
  subscriptionData: SubscriptionData,
  lookUp: SelectorLookUp,
): MessageFilter {
  const byTags = expressionMessageFilter(subscriptionData, undefined);
  return {
    isMatchedByConsumeQueue: (tagsCodeLow) =>
      byTags === null || byTags.isMatchedByConsumeQueue(tagsCodeLow),
    isMatchedByCommitLog: (text) => {
      const realTopic = findProperty(text, MessageConst.RETRY_TOPIC);
      const selector = realTopic === undefined ? undefined : lookUp(realTopic);
      return selector === undefined || selector.matches(text);
    },
  };
}
