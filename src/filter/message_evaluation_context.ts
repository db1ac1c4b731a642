/** MessageEvaluationContext: the properties of one message, as its record holds them. */
import { decodeProperties, findProperty } from "../model/message_properties.ts";
import type { EvaluationContext } from "./evaluator.ts";

/** Up to so many look-ups are cheaper than decoding all properties. */
const LOOK_UPS_MAX = 4;

/** `lookUps` is how many the expression may make at most. */
export function messageEvaluationContext(
  propertiesText: string,
  lookUps: number,
): EvaluationContext {
  if (lookUps <= LOOK_UPS_MAX) {
    return { get: (name) => findProperty(propertiesText, name) ?? null };
  }
  const properties = decodeProperties(propertiesText);
  return { get: (name) => properties.get(name) ?? null };
}
