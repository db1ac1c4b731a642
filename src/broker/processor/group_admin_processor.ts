/**
 * Consumer groups over remoting: UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200), its
 * list (225), GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201),
 * GET_SUBSCRIPTIONGROUP_CONFIG (352), DELETE_SUBSCRIPTIONGROUP (207),
 * QUERY_TOPIC_CONSUME_BY_WHO (300); reference 2.6, 2.7.
 */
import { shown } from "../../base/shown.ts";
import type { Logger } from "../../io/logger.ts";
import type { SubscriptionGroupConfig } from "../../model/subscription_group_config.ts";
import { groupError, TOPIC_QUEUE_NUMS_MAX } from "../../model/validators.ts";
import { dataVersionToJson } from "../../protocol/body/data_version_body.ts";
import {
  arrayField,
  decodeJson,
  encodeJson,
  jsonOfMap,
  objectOf,
} from "../../protocol/body/json_fields.ts";
import {
  decodeSubscriptionGroupConfig,
  encodeSubscriptionGroupConfig,
  subscriptionGroupConfigFromJson,
  subscriptionGroupConfigToJson,
} from "../../protocol/body/subscription_group_config_body.ts";
import {
  decodeDeleteSubscriptionGroupRequestHeader,
  decodeSubscriptionGroupHeader,
  decodeTopicHeader,
} from "../../protocol/header/broker_admin_header.ts";
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
import type { BrokerStatsManager } from "../broker_stats_manager.ts";
import type { ConsumerManager } from "../consumer_manager.ts";
import type { ConsumerOffsetManager } from "../consumer_offset_manager.ts";
import type { ResetOffsets } from "../reset_offsets.ts";
import type { SubscriptionGroupManager } from "../subscription_group_manager.ts";
import { bodyResponse, invalid, notStored } from "./admin_response.ts";

/** What the processor works on. */
export interface GroupAdminDeps {
  readonly logger: Logger;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly brokerStatsManager: BrokerStatsManager;
  readonly resetOffsets: ResetOffsets;
  readonly consumerManager: ConsumerManager;
}

/** -1 means for ever, as Java clients mean it. */
const RETRY_MAX_TIMES_MIN = -1;

/** Processors by request code. */
export function groupAdminProcessors(deps: GroupAdminDeps): ProcessorTable {
  const processor = new GroupAdminProcessor(deps);
  return new Map<number, RequestProcessor>([
    [RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, processor.updateGroup],
    [
      RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
      processor.updateGroupList,
    ],
    [RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, processor.getAllGroups],
    [RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, processor.getGroup],
    [RequestCode.DELETE_SUBSCRIPTIONGROUP, processor.deleteGroup],
    [RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, processor.queryTopicConsumeByWho],
  ]);
}

/** Changes and lists groups. */
class GroupAdminProcessor {
  readonly #deps: GroupAdminDeps;

  constructor(deps: GroupAdminDeps) {
    this.#deps = deps;
  }

  readonly updateGroup = (
    context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> =>
    this.#update(context, [decodeSubscriptionGroupConfig(request.body)]);

  readonly updateGroupList = (
    context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const name = "SubscriptionGroupList";
    const body = objectOf(decodeJson(request.body, name), name);
    const configs = arrayField(body, "groupConfigList").map((it) =>
      subscriptionGroupConfigFromJson(it)
    );
    return this.#update(context, configs);
  };

  readonly getAllGroups = (): RemotingCommand => {
    const { subscriptionGroupManager: groups } = this.#deps;
    return bodyResponse(encodeJson({
      dataVersion: dataVersionToJson(groups.dataVersion),
      forbiddenTable: groups.forbiddenTable(),
      subscriptionGroupTable: jsonOfMap(
        groups.allGroups(),
        subscriptionGroupConfigToJson,
      ),
    }));
  };

  readonly getGroup = (
    _context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const group = decodeSubscriptionGroupHeader(request.extFields);
    const config = this.#deps.subscriptionGroupManager
      .getSubscriptionGroupConfig(group);
    return config === undefined
      ? createResponse(
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        `No group in this broker. group: ${shown(group)}`,
      )
      : bodyResponse(encodeSubscriptionGroupConfig(config));
  };

  readonly deleteGroup = async (
    context: RequestContext,
    request: RemotingCommand,
  ): Promise<RemotingCommand> => {
    const { groupName, cleanOffset } =
      decodeDeleteSubscriptionGroupRequestHeader(request.extFields);
    if (groupName.trim() === "") {
      return invalid("The specified group is blank.");
    }
    const { subscriptionGroupManager, consumerOffsetManager } = this.#deps;
    this.#deps.logger.info("a client deletes a group", {
      group: shown(groupName),
      cleanOffset,
      client: context.connection.remoteAddress,
    });
    subscriptionGroupManager.deleteSubscriptionGroupConfig(groupName);
    this.#deps.brokerStatsManager.onGroupDeleted(groupName);
    this.#deps.resetOffsets.onGroupDeleted(groupName);
    if (cleanOffset) consumerOffsetManager.removeOffset(groupName);
    try {
      await subscriptionGroupManager.persist();
      if (cleanOffset) await consumerOffsetManager.persist();
    } catch (error) {
      return notStored(`The deletion of group ${shown(groupName)}`, error);
    }
    return createResponse(ResponseCode.SUCCESS);
  };

  readonly queryTopicConsumeByWho = (
    _context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const topic = decodeTopicHeader(
      request.extFields,
      "QueryTopicConsumeByWhoRequestHeader",
    );
    const { consumerManager, consumerOffsetManager } = this.#deps;
    const groups = new Set([
      ...consumerManager.queryTopicConsumeByWho(topic),
      ...consumerOffsetManager.whichGroupByTopic(topic),
    ]);
    return bodyResponse(encodeJson({ groupList: [...groups] }));
  };

  async #update(
    context: RequestContext,
    configs: readonly SubscriptionGroupConfig[],
  ): Promise<RemotingCommand> {
    for (const config of configs) {
      const error = errorOf(config);
      if (error !== undefined) return invalid(error);
    }
    if (configs.length === 0) return createResponse(ResponseCode.SUCCESS);
    const { subscriptionGroupManager, logger } = this.#deps;
    const next = configs.map((it) => this.#withAttributes(it));
    for (const config of next) {
      logger.info("a client created or changed a group", {
        group: config.groupName,
        client: context.connection.remoteAddress,
      });
    }
    subscriptionGroupManager.updateSubscriptionGroupConfigs(next);
    try {
      await subscriptionGroupManager.persist();
    } catch (error) {
      return notStored(
        `The change of group ${shown(next[0]!.groupName)}`,
        error,
      );
    }
    return createResponse(ResponseCode.SUCCESS);
  }

  /** Attributes come as changes `+key`, `-key`; what is not named stays. */
  #withAttributes(config: SubscriptionGroupConfig): SubscriptionGroupConfig {
    const present = this.#deps.subscriptionGroupManager
      .getSubscriptionGroupConfig(config.groupName);
    const attributes = new Map(Object.entries(present?.attributes ?? {}));
    for (const [key, value] of Object.entries(config.attributes)) {
      if (key.startsWith("-")) attributes.delete(key.slice(1));
      else attributes.set(key.replace(/^\+/, ""), value);
    }
    return { ...config, attributes: Object.fromEntries(attributes) };
  }
}

function errorOf(config: SubscriptionGroupConfig): string | undefined {
  const nameError = groupError(config.groupName);
  if (nameError !== undefined) return nameError;
  const { retryQueueNums, retryMaxTimes } = config;
  if (retryQueueNums < 0 || retryQueueNums > TOPIC_QUEUE_NUMS_MAX) {
    return `The retryQueueNums is ${retryQueueNums}, allowed are 0 to ` +
      `${TOPIC_QUEUE_NUMS_MAX}.`;
  }
  if (retryMaxTimes < RETRY_MAX_TIMES_MIN || retryMaxTimes > 0x7fff_ffff) {
    return `The retryMaxTimes is ${retryMaxTimes}, allowed are ` +
      `${RETRY_MAX_TIMES_MIN} to 2147483647.`;
  }
  return undefined;
}
