/**
 * Topics over remoting: UPDATE_AND_CREATE_TOPIC (17), its list (18),
 * DELETE_TOPIC_IN_BROKER (215), GET_ALL_TOPIC_CONFIG (21), GET_TOPIC_CONFIG
 * (351), GET_SYSTEM_TOPIC_LIST_FROM_BROKER (305); reference 2.6.
 */
import { shown } from "../../base/shown.ts";
import type { Logger } from "../../io/logger.ts";
import type { TopicConfig } from "../../model/topic_config.ts";
import { retryTopicOf } from "../../model/topic_names.ts";
import { TOPIC_QUEUE_NUMS_MAX, topicError } from "../../model/validators.ts";
import {
  arrayField,
  decodeJson,
  encodeJson,
  objectOf,
} from "../../protocol/body/json_fields.ts";
import {
  topicConfigFromJson,
  topicConfigToJson,
} from "../../protocol/body/topic_config_body.ts";
import { topicConfigWrapperToJson } from "../../protocol/body/topic_config_wrapper.ts";
import { encodeTopicList } from "../../protocol/body/topic_list.ts";
import { decodeTopicHeader } from "../../protocol/header/broker_admin_header.ts";
import { decodeCreateTopicRequestHeader } from "../../protocol/header/create_topic_request_header.ts";
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
import type { ConsumerOffsetManager } from "../consumer_offset_manager.ts";
import {
  alterAttributes,
  AttributeError,
  parseAttributes,
} from "../topic_attributes.ts";
import type { ResetOffsets } from "../reset_offsets.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";
import { bodyResponse, invalid, notStored } from "./admin_response.ts";

/** What the processor works on. */
export interface TopicAdminDeps {
  readonly logger: Logger;
  readonly options: () => BrokerOptions;
  readonly topicConfigManager: TopicConfigManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly brokerStatsManager: BrokerStatsManager;
  readonly resetOffsets: ResetOffsets;
  readonly messageStore: {
    deleteTopics(topics: readonly string[]): Promise<void>;
  };
  /** Tells the name servers; resolves when they answered or after about a second. */
  registerChanges(): Promise<void>;
}

const PERM_MAX = 7;

/** Processors by request code. */
export function topicAdminProcessors(deps: TopicAdminDeps): ProcessorTable {
  const processor = new TopicAdminProcessor(deps);
  return new Map<number, RequestProcessor>([
    [RequestCode.UPDATE_AND_CREATE_TOPIC, processor.updateAndCreateTopic],
    [
      RequestCode.UPDATE_AND_CREATE_TOPIC_LIST,
      processor.updateAndCreateTopicList,
    ],
    [RequestCode.DELETE_TOPIC_IN_BROKER, processor.deleteTopic],
    [RequestCode.GET_ALL_TOPIC_CONFIG, processor.getAllTopicConfig],
    [RequestCode.GET_TOPIC_CONFIG, processor.getTopicConfig],
    [
      RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER,
      processor.getSystemTopicList,
    ],
  ]);
}

/** Changes and lists topics. */
class TopicAdminProcessor {
  readonly #deps: TopicAdminDeps;

  constructor(deps: TopicAdminDeps) {
    this.#deps = deps;
  }

  readonly updateAndCreateTopic = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand | Promise<RemotingCommand> => {
    const header = decodeCreateTopicRequestHeader(request.extFields);
    const { topicFilterType } = header;
    if (topicFilterType !== "SINGLE_TAG" && topicFilterType !== "MULTI_TAG") {
      return invalid(
        `The topicFilterType is "${shown(topicFilterType)}", ` +
          "allowed are SINGLE_TAG and MULTI_TAG.",
      );
    }
    const config: TopicConfig = {
      topicName: header.topic,
      readQueueNums: header.readQueueNums,
      writeQueueNums: header.writeQueueNums,
      perm: header.perm,
      topicFilterType,
      topicSysFlag: header.topicSysFlag,
      order: header.order,
      attributes: {},
    };
    const error = this.#errorOf(config);
    if (error !== undefined) return invalid(error);
    try {
      const modification = parseAttributes(header.attributes);
      return this.#update(context, [this.#altered(config, modification)]);
    } catch (error) {
      return refusedAttributes(error);
    }
  };

  readonly updateAndCreateTopicList = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand | Promise<RemotingCommand> => {
    const name = "CreateTopicListRequestBody";
    const body = objectOf(decodeJson(request.body, name), name);
    const configs = arrayField(body, "topicConfigList").map((it) =>
      topicConfigFromJson(it)
    );
    for (const config of configs) {
      const error = this.#errorOf(config);
      if (error !== undefined) return invalid(error);
    }
    try {
      const altered = configs.map((it) =>
        this.#altered(it, new Map(Object.entries(it.attributes)))
      );
      return this.#update(context, altered);
    } catch (error) {
      return refusedAttributes(error);
    }
  };

  readonly deleteTopic = async (
    context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const topic = decodeTopicHeader(
      request.extFields,
      "DeleteTopicRequestHeader",
    );
    if (topic.trim() === "") return invalid("The specified topic is blank.");
    if (this.#isProtected(topic)) return invalid(conflict(topic));
    const { brokerStatsManager, logger, messageStore } = this.#deps;
    const { topicConfigManager, consumerOffsetManager } = this.#deps;
    logger.info("a client deletes a topic", {
      topic: shown(topic),
      client: context.connection.remoteAddress,
    });
    const topics = [topic, ...this.#popRetryTopicsOf(topic)];
    for (const it of topics) {
      topicConfigManager.deleteTopicConfig(it);
      consumerOffsetManager.cleanOffsetByTopic(it);
      brokerStatsManager.onTopicDeleted(it);
      this.#deps.resetOffsets.onTopicDeleted(it);
    }
    try {
      await Promise.all([
        // First and in this turn: what a send stores from the next one on is of a new topic.
        messageStore.deleteTopics(topics),
        topicConfigManager.persist(),
        consumerOffsetManager.persist(),
      ]);
    } catch (error) {
      return notStored(`The deletion of topic ${shown(topic)}`, error);
    }
    await this.#deps.registerChanges();
    return createResponse(ResponseCode.SUCCESS);
  };

  readonly getAllTopicConfig = (): RemotingCommand => {
    const { topicConfigManager } = this.#deps;
    const wrapper = topicConfigWrapperToJson({
      dataVersion: topicConfigManager.dataVersion,
      topicConfigTable: topicConfigManager.allTopics(),
    });
    return bodyResponse(
      encodeJson({ ...wrapper, ...topicConfigManager.deletions.toJson() }),
    );
  };

  readonly getTopicConfig = (
    _context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const topic = decodeTopicHeader(
      request.extFields,
      "GetTopicConfigRequestHeader",
    );
    const config = this.#deps.topicConfigManager.selectTopicConfig(topic);
    return config === undefined
      ? createResponse(
        ResponseCode.TOPIC_NOT_EXIST,
        `No topic in this broker. topic: ${shown(topic)}`,
      )
      : bodyResponse(encodeJson(topicConfigToJson(config)));
  };

  readonly getSystemTopicList = (): RemotingCommand =>
    bodyResponse(encodeTopicList({
      topicList: this.#deps.topicConfigManager.systemTopicList(),
      brokerAddr: null,
    }));

  /** The topic as it will be; throws `AttributeError`. */
  #altered(
    config: TopicConfig,
    modification: ReadonlyMap<string, string>,
  ): TopicConfig {
    const present = this.#deps.topicConfigManager.selectTopicConfig(
      config.topicName,
    );
    return {
      ...config,
      attributes: alterAttributes(present?.attributes, modification),
    };
  }

  async #update(
    context: RequestContext,
    configs: readonly TopicConfig[],
  ): Promise<RemotingCommand> {
    const { topicConfigManager, logger } = this.#deps;
    const changed = configs.filter((it) =>
      !isSameTopic(it, topicConfigManager.selectTopicConfig(it.topicName))
    );
    if (changed.length === 0) return createResponse(ResponseCode.SUCCESS);
    for (const config of changed) {
      logger.info("a client created or changed a topic", {
        ...config,
        client: context.connection.remoteAddress,
      });
    }
    topicConfigManager.updateTopicConfigs(changed);
    try {
      await topicConfigManager.persist();
    } catch (error) {
      return notStored(
        `The change of topic ${shown(changed[0]!.topicName)}`,
        error,
      );
    }
    await this.#deps.registerChanges();
    return createResponse(ResponseCode.SUCCESS);
  }

  #errorOf(config: TopicConfig): string | undefined {
    const nameError = topicError(config.topicName);
    if (nameError !== undefined) return nameError;
    if (this.#isProtected(config.topicName)) return conflict(config.topicName);
    for (const field of ["readQueueNums", "writeQueueNums"] as const) {
      const value = config[field];
      if (value < 0 || value > TOPIC_QUEUE_NUMS_MAX) {
        return `The ${field} is ${value}, allowed are 0 to ` +
          `${TOPIC_QUEUE_NUMS_MAX}.`;
      }
    }
    return config.perm < 0 || config.perm > PERM_MAX
      ? `The perm is ${config.perm}, allowed are 0 to ${PERM_MAX}.`
      : undefined;
  }

  #isProtected(topic: string): boolean {
    return this.#deps.options().validateSystemTopicWhenUpdateTopic &&
      this.#deps.topicConfigManager.isSystemTopic(topic);
  }

  /** POP's retry topics of groups that consume the topic: they go with it. */
  #popRetryTopicsOf(topic: string): string[] {
    const { topicConfigManager, consumerOffsetManager } = this.#deps;
    return consumerOffsetManager.whichGroupByTopic(topic)
      .flatMap((group) => [
        `${retryTopicOf(group)}+${topic}`,
        `${retryTopicOf(group)}_${topic}`,
      ])
      .filter((it) => topicConfigManager.selectTopicConfig(it) !== undefined);
  }
}

function conflict(topic: string): string {
  return `The topic[${shown(topic)}] is conflict with system topic.`;
}

/** As Java: a wrong attribute answers 1. */
function refusedAttributes(error: unknown): RemotingCommand {
  if (!(error instanceof AttributeError)) throw error;
  return createResponse(ResponseCode.SYSTEM_ERROR, error.message);
}

function isSameTopic(a: TopicConfig, b: TopicConfig | undefined): boolean {
  return b !== undefined &&
    JSON.stringify(topicConfigToJson(a)) ===
      JSON.stringify(topicConfigToJson(b));
}
