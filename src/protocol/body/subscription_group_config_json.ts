/** SubscriptionGroupConfig as JSON (reference 4.8.3). */
import {
  createSubscriptionGroupConfig,
  type SubscriptionGroupConfig,
} from "../../model/subscription_group_config.ts";
import {
  booleanField,
  intField,
  type JsonObject,
  objectField,
  textField,
} from "./json_fields.ts";
import { textsOf } from "./topic_config_json.ts";

const KNOWN_KEYS: ReadonlySet<string> = new Set(
  Object.keys(createSubscriptionGroupConfig("")),
);

/** Missing fields get Java's defaults. Throws `BodyError` for fields of another kind. */
export function subscriptionGroupConfigOf(
  json: JsonObject,
  name = "",
): SubscriptionGroupConfig {
  const base = createSubscriptionGroupConfig(textField(json, "groupName", name));
  const flag = (key: keyof SubscriptionGroupConfig) =>
    booleanField(json, key, base[key] as boolean);
  const int = (key: keyof SubscriptionGroupConfig) =>
    intField(json, key, base[key] as number);
  const groupRetryPolicy = objectField(json, "groupRetryPolicy");
  return {
    groupName: base.groupName,
    consumeEnable: flag("consumeEnable"),
    consumeFromMinEnable: flag("consumeFromMinEnable"),
    consumeBroadcastEnable: flag("consumeBroadcastEnable"),
    consumeMessageOrderly: flag("consumeMessageOrderly"),
    retryQueueNums: int("retryQueueNums"),
    retryMaxTimes: int("retryMaxTimes"),
    groupRetryPolicy: Object.keys(groupRetryPolicy).length === 0
      ? base.groupRetryPolicy
      : groupRetryPolicy,
    brokerId: int("brokerId"),
    whichBrokerWhenConsumeSlowly: int("whichBrokerWhenConsumeSlowly"),
    notifyConsumerIdsChangedEnable: flag("notifyConsumerIdsChangedEnable"),
    groupSysFlag: int("groupSysFlag"),
    consumeTimeoutMinute: int("consumeTimeoutMinute"),
    attributes: textsOf(objectField(json, "attributes")),
    otherKeys: otherKeysOf(json),
  };
}

/** Keys in Java's order; unknown ones between them. */
export function jsonOfSubscriptionGroupConfig(
  config: SubscriptionGroupConfig,
): JsonObject {
  const { otherKeys, ...known } = config;
  const json: Record<string, unknown> = {};
  const all: Record<string, unknown> = { ...otherKeys, ...known };
  for (const key of Object.keys(all).sort()) json[key] = all[key];
  return json;
}

function otherKeysOf(json: JsonObject): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(json).filter(([key, value]) =>
      !KNOWN_KEYS.has(key) && value !== null
    ),
  );
}
