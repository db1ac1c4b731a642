/** PopOptions: what POP consumption reads from broker.conf (reference 15.1). */

/** Fields are spelled as RocketMQ's keys. */
export interface PopOptions {
  /** Of groups for which nobody set one. */
  readonly defaultMessageRequestMode: "PULL" | "POP";
  readonly defaultPopShareQueueNum: number;
  /** False: QUERY_ASSIGNMENT gives every queue to every client. */
  readonly serverLoadBalancerEnable: boolean;
  /** Queues of the revive log. */
  readonly reviveQueueNum: number;
  /** Held requests of one group for one queue, and altogether. */
  readonly popPollingSize: number;
  readonly maxPopPollingSize: number;
  /** Percent of requests that look at the retry topic first. */
  readonly popFromRetryProbability: number;
  readonly enableRetryTopicV2: boolean;
  readonly retrieveMessageFromPopRetryTopicV1: boolean;
  /** True: messages of a retry topic keep its name. */
  readonly popResponseReturnActualRetryTopic: boolean;
  /** Whether a queue with popInflightMessageThreshold unacknowledged messages gives no more. */
  readonly enablePopMessageThreshold: boolean;
  readonly popInflightMessageThreshold: number;
  /** Whether initMode max begins at 0 of a queue that is in memory as a whole. */
  readonly initPopOffsetByCheckMsgInMem: boolean;
}

/** Apache's defaults. */
export const DEFAULT_POP_OPTIONS: PopOptions = Object.freeze({
  defaultMessageRequestMode: "PULL",
  defaultPopShareQueueNum: -1,
  serverLoadBalancerEnable: true,
  reviveQueueNum: 8,
  popPollingSize: 1_024,
  maxPopPollingSize: 100_000,
  popFromRetryProbability: 20,
  enableRetryTopicV2: false,
  retrieveMessageFromPopRetryTopicV1: true,
  popResponseReturnActualRetryTopic: false,
  enablePopMessageThreshold: false,
  popInflightMessageThreshold: 10_000,
  initPopOffsetByCheckMsgInMem: true,
});
