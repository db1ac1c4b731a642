/** SubscriptionGroupConfig: what the broker keeps of a consumer group (reference 4.8.3). */

/** One group; field names are those of subscriptionGroup.json. */
export interface SubscriptionGroupConfig {
  readonly groupName: string;
  readonly consumeEnable: boolean;
  readonly consumeFromMinEnable: boolean;
  readonly consumeBroadcastEnable: boolean;
  readonly consumeMessageOrderly: boolean;
  readonly retryQueueNums: number;
  readonly retryMaxTimes: number;
  /** Kept as it came: only its default type is known here. */
  readonly groupRetryPolicy: Readonly<Record<string, unknown>>;
  readonly brokerId: number;
  readonly whichBrokerWhenConsumeSlowly: number;
  readonly notifyConsumerIdsChangedEnable: boolean;
  readonly groupSysFlag: number;
  readonly consumeTimeoutMinute: number;
  readonly attributes: Readonly<Record<string, string>>;
  /** Keys of other versions (`subscriptionDataSet` among them), kept for a rewrite. */
  readonly otherKeys: Readonly<Record<string, unknown>>;
}

const DEFAULTS = Object.freeze({
  consumeEnable: true,
  consumeFromMinEnable: true,
  consumeBroadcastEnable: true,
  consumeMessageOrderly: false,
  retryQueueNums: 1,
  retryMaxTimes: 16,
  groupRetryPolicy: Object.freeze({ type: "CUSTOMIZED" }),
  brokerId: 0,
  whichBrokerWhenConsumeSlowly: 1,
  notifyConsumerIdsChangedEnable: true,
  groupSysFlag: 0,
  consumeTimeoutMinute: 15,
  attributes: Object.freeze({}),
  otherKeys: Object.freeze({}),
});

/** A group with RocketMQ's defaults. */
export function createSubscriptionGroupConfig(
  groupName: string,
  changes: Partial<SubscriptionGroupConfig> = {},
): SubscriptionGroupConfig {
  return { groupName, ...DEFAULTS, ...changes };
}
