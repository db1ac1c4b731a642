/** SubscriptionGroupConfig as JSON (reference 4.8.3), in bodies and in subscriptionGroup.json. */
import {
  createSubscriptionGroupConfig,
  type SubscriptionGroupConfig,
} from "../../model/subscription_group_config.ts";
import {
  booleanField,
  decodeJson,
  encodeJson,
  intField,
  type JsonObject,
  mapField,
  objectField,
  objectOf,
  textField,
} from "./json_fields.ts";

const KNOWN_KEYS: ReadonlySet<string> = new Set(
  Object.keys(createSubscriptionGroupConfig("")),
);

type BooleanKey =
  | "consumeEnable"
  | "consumeFromMinEnable"
  | "consumeBroadcastEnable"
  | "consumeMessageOrderly"
  | "notifyConsumerIdsChangedEnable";

type IntKey =
  | "retryQueueNums"
  | "retryMaxTimes"
  | "brokerId"
  | "whichBrokerWhenConsumeSlowly"
  | "groupSysFlag"
  | "consumeTimeoutMinute";

/** The JSON object, keys as Java sorts them, keys of other versions among them. */
export function subscriptionGroupConfigToJson(
  config: SubscriptionGroupConfig,
): JsonObject {
  const { otherKeys, ...known } = config;
  const all: JsonObject = { ...otherKeys, ...known };
  return Object.fromEntries(
    Object.keys(all).sort().map((key) => [key, all[key]]),
  );
}

/** Reads the object; `groupName` is the fallback for the field of that name. */
export function subscriptionGroupConfigFromJson(
  value: unknown,
  groupName = "",
): SubscriptionGroupConfig {
  const object = objectOf(value, "SubscriptionGroupConfig");
  const base = createSubscriptionGroupConfig(
    textField(object, "groupName", groupName),
  );
  const flag = (key: BooleanKey) => booleanField(object, key, base[key]);
  const int = (key: IntKey) => intField(object, key, base[key]);
  const retryPolicy = objectField(object, "groupRetryPolicy");
  return {
    groupName: base.groupName,
    consumeEnable: flag("consumeEnable"),
    consumeFromMinEnable: flag("consumeFromMinEnable"),
    consumeBroadcastEnable: flag("consumeBroadcastEnable"),
    consumeMessageOrderly: flag("consumeMessageOrderly"),
    retryQueueNums: int("retryQueueNums"),
    retryMaxTimes: int("retryMaxTimes"),
    groupRetryPolicy: Object.keys(retryPolicy).length === 0
      ? base.groupRetryPolicy
      : retryPolicy,
    brokerId: int("brokerId"),
    whichBrokerWhenConsumeSlowly: int("whichBrokerWhenConsumeSlowly"),
    notifyConsumerIdsChangedEnable: flag("notifyConsumerIdsChangedEnable"),
    groupSysFlag: int("groupSysFlag"),
    consumeTimeoutMinute: int("consumeTimeoutMinute"),
    attributes: Object.fromEntries(
      mapField(object, "attributes", (it) => String(it)),
    ),
    otherKeys: Object.fromEntries(
      Object.entries(object).filter(([key, it]) =>
        !KNOWN_KEYS.has(key) && it !== null && it !== undefined
      ),
    ),
  };
}

/** The body of UPDATE_AND_CREATE_SUBSCRIPTIONGROUP. */
export function encodeSubscriptionGroupConfig(
  config: SubscriptionGroupConfig,
): Uint8Array {
  return encodeJson(subscriptionGroupConfigToJson(config));
}

/** Reads that body; throws `BodyError`. */
export function decodeSubscriptionGroupConfig(
  bytes: Uint8Array,
): SubscriptionGroupConfig {
  return subscriptionGroupConfigFromJson(
    decodeJson(bytes, "SubscriptionGroupConfig"),
  );
}
