/** ClientManageProcessor: HEART_BEAT (34), UNREGISTER_CLIENT (35), CHECK_CLIENT_CONFIG (46); reference 11. */
import { shown } from "../../base/shown.ts";
import type { FilterFactory } from "../../filter/filter_factory.ts";
import type { Clock } from "../../io/clock.ts";
import { buildSubscriptionData, isTagType } from "../../model/filter_api.ts";
import type {
  ConsumerData,
  HeartbeatData,
} from "../../model/heartbeat_data.ts";
import type { SubscriptionData } from "../../model/subscription_data.ts";
import { PermName } from "../../model/topic_config.ts";
import { retryTopicOf } from "../../model/topic_names.ts";
import { decodeCheckClientRequestBody } from "../../protocol/body/check_client_body.ts";
import { decodeHeartbeatData } from "../../protocol/body/heartbeat_body.ts";
import { decodeUnregisterClientRequestHeader } from "../../protocol/header/broker_admin_header.ts";
import {
  createResponse,
  type RemotingCommand,
} from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import { ResponseCode } from "../../protocol/response_code.ts";
import type {
  ProcessorTable,
  RequestContext,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { BrokerStatsManager } from "../broker_stats_manager.ts";
import type { ClientChannelInfo } from "../client_channel_info.ts";
import type { ConsumerFilterManager } from "../consumer_filter_manager.ts";
import type { ConsumerManager } from "../consumer_manager.ts";
import type { ProducerManager } from "../producer_manager.ts";
import type { SubscriptionGroupManager } from "../subscription_group_manager.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";

/** What the processor works on. */
export interface ClientManageDeps {
  readonly clock: Clock;
  readonly options: () => BrokerOptions;
  readonly brokerStatsManager: BrokerStatsManager;
  readonly consumerManager: ConsumerManager;
  readonly producerManager: ProducerManager;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
  readonly topicConfigManager: TopicConfigManager;
  readonly consumerFilterManager: ConsumerFilterManager;
  readonly filterFactory: FilterFactory;
}

/** Bit of TopicConfig.topicSysFlag: a topic of subscribers in unit mode. */
const TOPIC_SYS_FLAG_UNIT_SUB = 2;
const CLIENT_ID_LENGTH_MAX = 1_024;

/** Processors by request code. */
export function clientManageProcessors(deps: ClientManageDeps): ProcessorTable {
  const processor = new ClientManageProcessor(deps);
  return new Map<number, RequestProcessor>([
    [RequestCode.HEART_BEAT, processor.heartBeat],
    [RequestCode.UNREGISTER_CLIENT, processor.unregisterClient],
    [RequestCode.CHECK_CLIENT_CONFIG, processor.checkClientConfig],
  ]);
}

/** Keeps the client tables. */
class ClientManageProcessor {
  readonly #deps: ClientManageDeps;

  constructor(deps: ClientManageDeps) {
    this.#deps = deps;
  }

  readonly heartBeat = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const data = decodeHeartbeatData(request.body);
    if (data.clientID === "" || data.clientID.length > CLIENT_ID_LENGTH_MAX) {
      return createResponse(
        ResponseCode.SYSTEM_ERROR,
        `The clientID has ${data.clientID.length} characters, ` +
          `allowed are 1 to ${CLIENT_ID_LENGTH_MAX}.`,
      );
    }
    const { brokerStatsManager: stats, clock } = this.#deps;
    let isSubChange = data.heartbeatFingerprint === 0;
    let startedMs = clock.monotonicMs();
    for (const consumer of data.consumerDataSet) {
      const isUnknown = this.#registerConsumer(
        this.#clientOf(context, request, data.clientID),
        consumer,
        data,
      );
      if (isUnknown) isSubChange = true;
      const endedMs = clock.monotonicMs();
      stats.onRegistered("consumer", Math.floor(endedMs - startedMs));
      startedMs = endedMs;
    }
    for (const producer of data.producerDataSet) {
      this.#deps.producerManager.registerProducer(
        producer.groupName,
        this.#clientOf(context, request, data.clientID),
      );
      const endedMs = clock.monotonicMs();
      stats.onRegistered("producer", Math.floor(endedMs - startedMs));
      startedMs = endedMs;
    }
    return createResponse(ResponseCode.SUCCESS, null, {
      IS_SUPPORT_HEART_BEAT_V2: "true",
      IS_SUB_CHANGE: String(isSubChange),
    });
  };

  readonly unregisterClient = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const header = decodeUnregisterClientRequestHeader(request.extFields);
    const { connection } = context;
    if (header.producerGroup !== undefined) {
      this.#deps.producerManager.unregisterProducer(
        header.producerGroup,
        header.clientID,
        connection,
      );
    }
    if (header.consumerGroup !== undefined) {
      const config = this.#deps.subscriptionGroupManager
        .getSubscriptionGroupConfig(header.consumerGroup);
      this.#deps.consumerManager.unregisterConsumer(
        header.consumerGroup,
        header.clientID,
        connection,
        config?.notifyConsumerIdsChangedEnable ?? true,
      );
    }
    return createResponse(ResponseCode.SUCCESS);
  };

  readonly checkClientConfig = (
    _context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const { subscriptionData } = decodeCheckClientRequestBody(request.body);
    // Apache finds nothing wrong in nothing; no client asks that.
    if (subscriptionData === null) {
      return createResponse(
        ResponseCode.INVALID_PARAMETER,
        "The body holds no subscriptionData: name the topic and the expression to check.",
      );
    }
    if (isTagType(subscriptionData.expressionType)) {
      return createResponse(ResponseCode.SUCCESS);
    }
    const { filterFactory, options } = this.#deps;
    if (!options().enablePropertyFilter) {
      return createResponse(
        ResponseCode.SYSTEM_ERROR,
        "The broker does not support consumer to filter message by " +
          shown(subscriptionData.expressionType),
      );
    }
    const compiled = filterFactory.compile(
      subscriptionData.expressionType,
      subscriptionData.subString,
    );
    return "error" in compiled
      ? createResponse(ResponseCode.SUBSCRIPTION_PARSE_FAILED, compiled.error)
      : createResponse(ResponseCode.SUCCESS);
  };

  /** True when a short heartbeat must be followed by a full one. */
  #registerConsumer(
    client: ClientChannelInfo,
    consumer: ConsumerData,
    heartbeat: HeartbeatData,
  ): boolean {
    const {
      consumerFilterManager,
      consumerManager,
      options,
      subscriptionGroupManager,
    } = this.#deps;
    const isPull = consumer.consumeType === "CONSUME_ACTIVELY";
    if (isPull && options().rejectPullConsumerEnable) return false;
    const group = consumer.groupName;
    const config = subscriptionGroupManager.findSubscriptionGroupConfig(group);
    if (config === undefined) return false;
    const { heartbeatFingerprint: fingerprint, withoutSub } = heartbeat;
    const isUnknown = fingerprint !== 0 &&
      consumerManager.isSubscriptionUnknown(group, fingerprint, withoutSub);
    if (!withoutSub) this.#createRetryTopic(consumer, config.retryQueueNums);
    const subscriptionDataSet = consumer.subscriptionDataSet.map(completed);
    consumerManager.registerConsumer(
      client,
      { ...consumer, subscriptionDataSet },
      {
        isNotifyEnabled: config.notifyConsumerIdsChangedEnable,
        withoutSub,
        fingerprint,
      },
    );
    const isMember = consumerManager.getConsumerGroupInfo(group) !== undefined;
    if (isMember && !withoutSub) {
      consumerFilterManager.register(group, subscriptionDataSet);
    }
    return isUnknown;
  }

  #createRetryTopic(consumer: ConsumerData, queueNums: number): void {
    const { topicConfigManager } = this.#deps;
    const isOrder = consumer.subscriptionDataSet.some((it) =>
      topicConfigManager.isOrderTopic(it.topic)
    );
    topicConfigManager.createTopicInSendMessageBackMethod(
      retryTopicOf(consumer.groupName),
      queueNums,
      PermName.READ | PermName.WRITE,
      consumer.unitMode ? TOPIC_SYS_FLAG_UNIT_SUB : 0,
      isOrder,
    );
  }

  #clientOf(
    context: RequestContext,
    request: RemotingCommand,
    clientId: string,
  ): ClientChannelInfo {
    return {
      clientId,
      language: request.language,
      version: request.version,
      connection: context.connection,
      lastUpdateTimestamp: this.#deps.clock.nowMs(),
      lastUpdateMs: this.#deps.clock.monotonicMs(),
    };
  }
}

/** Some clients send an expression without its tags and codes. */
function completed(data: SubscriptionData): SubscriptionData {
  const isComplete = data.codeSet.length > 0 || data.subString === "*" ||
    !isTagType(data.expressionType);
  if (isComplete || data.subString === "") return data;
  const { topic, subString, subVersion } = data;
  const { tagsSet, codeSet } = buildSubscriptionData(
    topic,
    // A blank expression selects nothing and is no error in a heartbeat.
    subString.replaceAll("|", "").trim() === "" ? " " : subString,
    null,
    subVersion,
  );
  return { ...data, tagsSet, codeSet };
}
