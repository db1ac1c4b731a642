/**
 * BrokerOptions: what the broker room reads from broker.conf.
 *
 * Fields are spelled as RocketMQ's keys (reference 15.1); a unit is part of the name only where
 * the key is ours. A slice is frozen; a live change builds a new one for `reconfigure`.
 */

import { DEFAULT_POP_OPTIONS, type PopOptions } from "./pop/pop_options.ts";
import type { SlaveReadEnable } from "./pull_replication.ts";

/** brokerRole. */
export type BrokerRole = "ASYNC_MASTER" | "SYNC_MASTER" | "SLAVE";

/** Every key of the broker room. */
export interface BrokerOptions extends PopOptions {
  /** `host:port` list separated by `;`; empty: registers nowhere. */
  readonly namesrvAddr: string;
  /** Where ports are bound: 0.0.0.0, ::, or one address. */
  readonly bindAddress: string;
  /** 0: a free port p is taken where p-2, p and p+1 all bind. */
  readonly listenPort: number;
  /** Address given to clients; empty: chosen at start. */
  readonly brokerIP1: string;
  /** Address given to slaves; empty: brokerIP1. */
  readonly brokerIP2: string;
  /** Empty: the host's name. */
  readonly brokerName: string;
  readonly brokerClusterName: string;
  readonly brokerId: number;
  readonly brokerRole: BrokerRole;
  /** 0: listenPort+1. */
  readonly haListenPort: number;
  /** Permission bits ANDed to every registered topic. */
  readonly brokerPermission: number;
  /** Folder that holds `config/`. */
  readonly storePathRootDir: string;

  readonly defaultTopicQueueNums: number;
  readonly autoCreateTopicEnable: boolean;
  readonly autoCreateSubscriptionGroup: boolean;
  readonly clusterTopicEnable: boolean;
  readonly brokerTopicEnable: boolean;
  readonly traceTopicEnable: boolean;
  readonly msgTraceTopicName: string;
  readonly validateSystemTopicWhenUpdateTopic: boolean;

  /** Milliseconds between two writes of consumerOffset.json. */
  readonly flushConsumerOffsetInterval: number;
  /** Milliseconds between two writes of delayOffset.json. */
  readonly flushDelayOffsetInterval: number;
  /** False: timer messages are refused, and what waits is kept. */
  readonly timerWheelEnable: boolean;
  /** Seconds that a timer message may wait. */
  readonly timerMaxDelaySec: number;
  /** Seconds after which one that waits is put again; at most half of fileReservedTime. */
  readonly timerRollWindowSlot: number;
  /** Milliseconds between two writes of what is done of timer messages. */
  readonly timerFlushIntervalMs: number;
  readonly recallMessageEnable: boolean;
  readonly allowRecallWhenBrokerNotWriteable: boolean;
  /** Milliseconds between full registrations; clamped to 10000..60000 as in Apache. */
  readonly registerNameServerPeriod: number;
  /** Milliseconds that one registration may take. */
  readonly registerBrokerTimeoutMills: number;
  /** False: ask 322 first and register only what changed. */
  readonly forceRegister: boolean;
  /** Milliseconds between BROKER_HEARTBEATs to the name servers. */
  readonly brokerHeartbeatInterval: number;
  /** Milliseconds after which a name server may forget us (heartbeatTimeoutMillis). */
  readonly brokerNotActiveTimeoutMillis: number;

  readonly longPollingEnable: boolean;
  /** Milliseconds a pull is held when longPollingEnable is false. */
  readonly shortPollingTimeMills: number;
  readonly litePullMessageEnable: boolean;
  /** `auto`: a slave answers pulls, and a master suggests one that follows. */
  readonly slaveReadEnable: SlaveReadEnable;
  readonly enablePropertyFilter: boolean;
  readonly filterSupportRetry: boolean;
  /** Milliseconds that the filter of a group without members is kept. */
  readonly filterDataCleanTimeSpan: number;
  /** Percent. */
  readonly maxErrorRateOfBloomFilter: number;
  readonly expectConsumerNumUseFilter: number;
  readonly rejectPullConsumerEnable: boolean;
  readonly notifyConsumerIdsChangedEnable: boolean;
  readonly useServerSideResetOffset: boolean;
  /** Milliseconds without heartbeat after which a client is dropped. */
  readonly channelExpiredTimeout: number;
  /** Milliseconds without renewal after which a queue lock is free. */
  readonly rebalanceLockMaxLiveTime: number;

  /** False: replies are pushed only. */
  readonly storeReplyMessageEnable: boolean;
  readonly rejectTransactionMessage: boolean;
  /** Milliseconds that a producer has to end a transaction before it is asked. */
  readonly transactionTimeOut: number;
  readonly transactionCheckMax: number;
  /** Milliseconds between two rounds of checks. */
  readonly transactionCheckInterval: number;
  /** Wall clock, milliseconds: sends before it answer 1. */
  readonly startAcceptSendRequestTimeStamp: number;
  readonly regionId: string;
  readonly traceOn: boolean;

  /** Ours. Pulls held at once over all connections; the next one answers 19 at once. */
  readonly pullRequestHoldMax: number;
  /** Ours. Clients (channels) registered at once. */
  readonly clientChannelMax: number;
  /** Ours. Topics, and subscription groups, that may be created by sends and heartbeats. */
  readonly topicMax: number;
  readonly subscriptionGroupMax: number;
  /** Ours. Milliseconds that stop() waits for requests in flight. */
  readonly shutdownDrainMs: number;
}

/** Apache's defaults; `standalone` and config override some. */
export const DEFAULT_BROKER_OPTIONS: BrokerOptions = Object.freeze({
  namesrvAddr: "",
  bindAddress: "0.0.0.0",
  listenPort: 10_911,
  brokerIP1: "",
  brokerIP2: "",
  brokerName: "",
  brokerClusterName: "DefaultCluster",
  brokerId: 0,
  brokerRole: "ASYNC_MASTER",
  haListenPort: 0,
  brokerPermission: 6,
  storePathRootDir: "./pocketmq-data/store",
  defaultTopicQueueNums: 8,
  autoCreateTopicEnable: true,
  autoCreateSubscriptionGroup: true,
  clusterTopicEnable: true,
  brokerTopicEnable: true,
  traceTopicEnable: false,
  msgTraceTopicName: "RMQ_SYS_TRACE_TOPIC",
  validateSystemTopicWhenUpdateTopic: true,
  flushConsumerOffsetInterval: 5_000,
  flushDelayOffsetInterval: 10_000,
  timerWheelEnable: true,
  timerMaxDelaySec: 259_200,
  timerRollWindowSlot: 172_800,
  timerFlushIntervalMs: 1_000,
  recallMessageEnable: false,
  allowRecallWhenBrokerNotWriteable: true,
  registerNameServerPeriod: 30_000,
  registerBrokerTimeoutMills: 24_000,
  forceRegister: true,
  brokerHeartbeatInterval: 5_000,
  brokerNotActiveTimeoutMillis: 20_000,
  longPollingEnable: true,
  shortPollingTimeMills: 1_000,
  litePullMessageEnable: true,
  slaveReadEnable: "auto",
  enablePropertyFilter: false,
  filterSupportRetry: false,
  filterDataCleanTimeSpan: 86_400_000,
  maxErrorRateOfBloomFilter: 20,
  expectConsumerNumUseFilter: 32,
  rejectPullConsumerEnable: false,
  notifyConsumerIdsChangedEnable: true,
  useServerSideResetOffset: true,
  channelExpiredTimeout: 120_000,
  rebalanceLockMaxLiveTime: 60_000,
  storeReplyMessageEnable: true,
  rejectTransactionMessage: false,
  transactionTimeOut: 6_000,
  transactionCheckMax: 15,
  transactionCheckInterval: 30_000,
  startAcceptSendRequestTimeStamp: 0,
  regionId: "DefaultRegion",
  traceOn: true,
  pullRequestHoldMax: 20_000,
  clientChannelMax: 20_000,
  topicMax: 50_000,
  subscriptionGroupMax: 50_000,
  shutdownDrainMs: 5_000,
  ...DEFAULT_POP_OPTIONS,
});
