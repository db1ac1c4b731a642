/** The keys of the broker room (reference 15.1), spelled as Apache spells them. */
import type { BrokerOptions, BrokerRole } from "../broker/broker_options.ts";
import {
  addresses,
  choice,
  type ConfigKey,
  flag,
  integer,
  millis,
  port,
  text,
} from "./config_key.ts";
import { host } from "./host_key.ts";
import { POP_KEYS } from "./pop_keys.ts";

const LIVE = { isLive: true } as const;

/** Letters of a topic name: whatever breaks a topic breaks a broker's and a cluster's name too. */
function nameError(name: string): string | undefined {
  return /^[\w%|-][\w%|.-]{0,126}$/.test(name) || name === ""
    ? undefined
    : "give at most 127 letters, digits, or any of - _ % | .";
}

const IDENTITY_KEYS = {
  namesrvAddr: addresses(
    "",
    "Name servers to register with, host:port separated by ;",
    LIVE,
  ),
  bindAddress: host("0.0.0.0", "Address on which ports are bound"),
  listenPort: port(
    10_911,
    "Port of clients; the VIP port is two below; 0 takes a free one",
  ),
  brokerIP1: host("", "Address told to clients; empty: chosen at start", {
    isEmptyFine: true,
  }),
  brokerIP2: host("", "Address told to slaves; empty: brokerIP1", {
    isEmptyFine: true,
  }),
  brokerName: text(
    "",
    "Name shared by a master and its slaves; empty: the host's name",
    { errorOf: nameError },
  ),
  brokerClusterName: text("DefaultCluster", "Name of the cluster", {
    errorOf: nameError,
  }),
  brokerId: integer(0, "0: master, above: slave"),
  brokerRole: {
    ...choice(
      ["ASYNC_MASTER", "SYNC_MASTER", "SLAVE"],
      "ASYNC_MASTER",
      "Role of this broker; masters change between SYNC and ASYNC live",
      LIVE,
    ),
    // To and from SLAVE the broker part starts again: see `pocketmq ha`.
    isLiveBetween: (from: BrokerRole, to: BrokerRole) =>
      from !== "SLAVE" && to !== "SLAVE",
  },
  haListenPort: port(0, "Replication port; 0: listenPort+1"),
  brokerPermission: integer(
    6,
    "Permission bits of every topic: 4 read, 2 write",
    { ...LIVE, max: 7 },
  ),
  storePathRootDir: text("", "Folder of the store; empty: $HOME/store"),
} as const;

const TOPIC_KEYS = {
  defaultTopicQueueNums: integer(8, "Queues of an auto-created topic", {
    ...LIVE,
    min: 1,
    max: 65_535,
  }),
  autoCreateTopicEnable: flag(true, "A send creates its topic", LIVE),
  autoCreateSubscriptionGroup: flag(true, "A consumer creates its group", LIVE),
  clusterTopicEnable: flag(true, "Topic named as the cluster is writable"),
  brokerTopicEnable: flag(true, "Topic named as the broker is writable"),
  traceTopicEnable: flag(false, "Create the message trace topic"),
  msgTraceTopicName: text("RMQ_SYS_TRACE_TOPIC", "Name of the trace topic"),
  validateSystemTopicWhenUpdateTopic: flag(
    true,
    "Refuse changes of system topics",
    LIVE,
  ),
  topicMax: integer(50_000, "Topics that may exist", { ...LIVE, min: 1 }),
  subscriptionGroupMax: integer(50_000, "Groups that may exist", {
    ...LIVE,
    min: 1,
  }),
} as const;

const PERIOD_KEYS = {
  flushConsumerOffsetInterval: millis(
    5_000,
    "Between two writes of consumerOffset.json",
    { min: 100 },
  ),
  flushDelayOffsetInterval: millis(
    10_000,
    "Between two writes of delayOffset.json",
    { ...LIVE, min: 100 },
  ),
  timerWheelEnable: flag(
    true,
    "Take timer messages (TIMER_DELAY_SEC, TIMER_DELAY_MS, TIMER_DELIVER_MS)",
  ),
  timerMaxDelaySec: integer(259_200, "A timer message may wait", {
    ...LIVE,
    min: 1,
    max: 2_147_483_647,
    unit: "s",
  }),
  timerRollWindowSlot: integer(
    172_800,
    "A timer message that waits longer is put again; at most half of fileReservedTime",
    { ...LIVE, min: 2, max: 2_147_483_647, unit: "s" },
  ),
  timerFlushIntervalMs: millis(
    1_000,
    "Between two writes of what is done of timer messages",
    { ...LIVE, min: 100 },
  ),
  recallMessageEnable: flag(
    false,
    "Let producers take timer messages back",
    LIVE,
  ),
  allowRecallWhenBrokerNotWriteable: flag(
    true,
    "Even while brokerPermission forbids sends",
    LIVE,
  ),
  registerNameServerPeriod: millis(30_000, "Between two registrations", {
    min: 1_000,
  }),
  registerBrokerTimeoutMills: millis(24_000, "One registration may take", {
    ...LIVE,
    min: 100,
  }),
  forceRegister: flag(true, "Register every time, changed or not", LIVE),
  brokerHeartbeatInterval: millis(
    5_000,
    "Between two heartbeats to name servers",
    { min: 100 },
  ),
  brokerNotActiveTimeoutMillis: millis(
    20_000,
    "Silence after which a name server forgets this broker",
    { min: 1_000 },
  ),
  channelExpiredTimeout: millis(
    120_000,
    "Silence after which a client is dropped",
    { ...LIVE, min: 1_000 },
  ),
  rebalanceLockMaxLiveTime: millis(60_000, "Life of a queue lock", {
    ...LIVE,
    min: 1_000,
  }),
  shutdownDrainMs: millis(5_000, "A stop waits for requests in flight", {
    ...LIVE,
    max: 9_000,
  }),
} as const;

const CLIENT_KEYS = {
  longPollingEnable: flag(true, "Hold pulls as long as clients ask", LIVE),
  shortPollingTimeMills: millis(
    1_000,
    "Hold of a pull without long polling",
    LIVE,
  ),
  litePullMessageEnable: flag(true, "Answer request 361", LIVE),
  slaveReadEnable: choice(
    ["auto", "true", "false"],
    "auto",
    "Let clients read from a slave; auto: where its master suggests it or is gone",
    LIVE,
  ),
  enablePropertyFilter: flag(false, "Allow SQL92 subscriptions", LIVE),
  filterSupportRetry: flag(false, "Filter retry topics too", LIVE),
  filterDataCleanTimeSpan: millis(
    86_400_000,
    "Life of the filter of a group without members",
    LIVE,
  ),
  maxErrorRateOfBloomFilter: integer(
    20,
    "Percent; sizes the bits in consumerFilter.json",
    { min: 1, max: 99 },
  ),
  expectConsumerNumUseFilter: integer(
    32,
    "Groups; sizes the bits in consumerFilter.json",
    { min: 1, max: 1_000_000 },
  ),
  rejectPullConsumerEnable: flag(false, "Refuse pull consumers", LIVE),
  notifyConsumerIdsChangedEnable: flag(
    true,
    "Tell a group when its members change",
    LIVE,
  ),
  useServerSideResetOffset: flag(true, "Reset offsets in the broker", LIVE),
  storeReplyMessageEnable: flag(
    true,
    "Keep replies to requests in the topic <cluster>_REPLY_TOPIC",
    LIVE,
  ),
  rejectTransactionMessage: flag(false, "Refuse half messages", LIVE),
  transactionTimeOut: millis(
    6_000,
    "Age of a half message at which its producer is asked",
    LIVE,
  ),
  transactionCheckMax: integer(
    15,
    "Checks of a half message before it is given up",
    { ...LIVE, min: 1 },
  ),
  transactionCheckInterval: millis(
    30_000,
    "Pause between two rounds of checks",
    { ...LIVE, min: 100 },
  ),
  startAcceptSendRequestTimeStamp: millis(
    0,
    "Wall clock before which sends are refused",
    LIVE,
  ),
  regionId: text("DefaultRegion", "Region named in answers to sends", LIVE),
  traceOn: flag(true, "Trace flag in answers to sends", LIVE),
  pullRequestHoldMax: integer(20_000, "Pulls held at once", {
    ...LIVE,
    min: 1,
  }),
  clientChannelMax: integer(20_000, "Clients registered at once", {
    ...LIVE,
    min: 1,
  }),
} as const;

/** Every key of BrokerOptions. */
export const BROKER_KEYS = {
  ...IDENTITY_KEYS,
  ...TOPIC_KEYS,
  ...PERIOD_KEYS,
  ...CLIENT_KEYS,
  ...POP_KEYS,
} as const satisfies {
  readonly [P in keyof BrokerOptions]: ConfigKey<BrokerOptions[P]>;
};
