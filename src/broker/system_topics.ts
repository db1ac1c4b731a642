/** The topics that every broker has (reference 3.8). */
import { PermName, type TopicConfig } from "../model/topic_config.ts";
import {
  BENCHMARK_TOPIC_QUEUE_NUMS,
  replyTopicOf,
  reviveTopicOf,
  SCHEDULE_TOPIC_QUEUE_NUMS,
  syncBrokerMemberTopicOf,
  TopicNames,
} from "../model/topic_names.ts";
import type { BrokerOptions } from "./broker_options.ts";

const READ_WRITE = PermName.READ | PermName.WRITE;
const CLUSTER_TOPIC_QUEUE_NUMS = 16;
/** reviveQueueNum of a broker that does not say otherwise. */
const REVIVE_QUEUE_NUMS = 8;

/** A topic with one queue, perm 6 and RocketMQ's defaults. */
export function createTopicConfig(
  topicName: string,
  changes: Partial<TopicConfig> = {},
): TopicConfig {
  return {
    topicName,
    readQueueNums: 1,
    writeQueueNums: 1,
    perm: READ_WRITE,
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: 0,
    order: false,
    attributes: {},
    ...changes,
  };
}

/** The system topics that a broker of these options creates at start. */
export function systemTopicConfigs(options: BrokerOptions): TopicConfig[] {
  const topics = [
    createTopicConfig(TopicNames.RMQ_SYS_SELF_TEST_TOPIC),
    withQueues(TopicNames.RMQ_SYS_BENCHMARK_TOPIC, BENCHMARK_TOPIC_QUEUE_NUMS),
    withQueues(options.brokerClusterName, CLUSTER_TOPIC_QUEUE_NUMS, {
      perm: inheritedPerm(options.clusterTopicEnable),
    }),
    createTopicConfig(options.brokerName, {
      perm: inheritedPerm(options.brokerTopicEnable),
    }),
    createTopicConfig(TopicNames.RMQ_SYS_OFFSET_MOVED_EVENT),
    withQueues(TopicNames.RMQ_SYS_SCHEDULE_TOPIC, SCHEDULE_TOPIC_QUEUE_NUMS),
    createTopicConfig(replyTopicOf(options.brokerClusterName)),
    withQueues(reviveTopicOf(options.brokerClusterName), REVIVE_QUEUE_NUMS),
    createTopicConfig(syncBrokerMemberTopicOf(options.brokerName), {
      perm: PermName.INHERIT,
    }),
    createTopicConfig(TopicNames.RMQ_SYS_TRANS_HALF_TOPIC),
    createTopicConfig(TopicNames.RMQ_SYS_TRANS_OP_HALF_TOPIC),
  ];
  if (options.timerWheelEnable) {
    topics.push(createTopicConfig(TopicNames.TIMER_TOPIC));
  }
  if (options.autoCreateTopicEnable) {
    topics.push(
      withQueues(
        TopicNames.AUTO_CREATE_TOPIC_KEY_TOPIC,
        options.defaultTopicQueueNums,
        { perm: READ_WRITE | PermName.INHERIT },
      ),
    );
  }
  if (options.traceTopicEnable) {
    topics.push(createTopicConfig(options.msgTraceTopicName));
  }
  return topics;
}

/** True for topics named after this cluster or broker. */
export function isOfBroker(topic: string, options: BrokerOptions): boolean {
  return topic === options.brokerClusterName || topic === options.brokerName ||
    topic === replyTopicOf(options.brokerClusterName) ||
    (options.traceTopicEnable && topic === options.msgTraceTopicName);
}

function withQueues(
  topicName: string,
  queueNums: number,
  changes: Partial<TopicConfig> = {},
): TopicConfig {
  return createTopicConfig(topicName, {
    readQueueNums: queueNums,
    writeQueueNums: queueNums,
    ...changes,
  });
}

function inheritedPerm(isEnabled: boolean): number {
  return isEnabled ? READ_WRITE | PermName.INHERIT : PermName.INHERIT;
}

/** True when topics may be made after `template`; TBW102 serves only with autoCreateTopicEnable. */
export function isInherited(
  template: TopicConfig,
  options: Pick<BrokerOptions, "autoCreateTopicEnable">,
): boolean {
  if (
    template.topicName === TopicNames.AUTO_CREATE_TOPIC_KEY_TOPIC &&
    !options.autoCreateTopicEnable
  ) return false;
  return (template.perm & PermName.INHERIT) !== 0;
}
