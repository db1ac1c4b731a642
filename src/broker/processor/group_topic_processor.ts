/**
 * What a group has to do with topics: QUERY_TOPICS_BY_CONSUMER (343),
 * QUERY_SUBSCRIPTION_BY_CONSUMER (345), UPDATE_AND_GET_GROUP_FORBIDDEN (353);
 * reference 2.6, 2.7.
 */
import { shown } from "../../base/shown.ts";
import type { Logger } from "../../io/logger.ts";
import { PermName } from "../../model/topic_config.ts";
import { encodeJson } from "../../protocol/body/json_fields.ts";
import { subscriptionDataToJson } from "../../protocol/body/subscription_data_body.ts";
import { encodeTopicList } from "../../protocol/body/topic_list.ts";
import {
  decodeGroupTopicHeader,
  decodeQueryTopicsByConsumerRequestHeader,
  decodeUpdateGroupForbiddenRequestHeader,
} from "../../protocol/header/consumer_admin_header.ts";
import type { RemotingCommand } from "../../protocol/remoting_command.ts";
import { RequestCode } from "../../protocol/request_code.ts";
import type {
  ProcessorTable,
  RequestContext,
  RequestProcessor,
} from "../../remoting/request_processor.ts";
import { joinHostPort } from "../broker_addresses.ts";
import type { BrokerOptions } from "../broker_options.ts";
import type { ConsumerManager } from "../consumer_manager.ts";
import type { ConsumerOffsetManager } from "../consumer_offset_manager.ts";
import type { SubscriptionGroupManager } from "../subscription_group_manager.ts";
import { bodyResponse, notStored } from "./admin_response.ts";

/** What the processors work on. */
export interface GroupTopicDeps {
  readonly logger: Logger;
  readonly options: () => BrokerOptions;
  readonly consumerManager: ConsumerManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
}

/** Processors by request code. */
export function groupTopicProcessors(deps: GroupTopicDeps): ProcessorTable {
  return new Map<number, RequestProcessor>([
    [
      RequestCode.QUERY_TOPICS_BY_CONSUMER,
      (_context, request) => topicsByConsumer(deps, request),
    ],
    [
      RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER,
      (_context, request) => subscriptionByConsumer(deps, request),
    ],
    [
      RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN,
      (context, request) => groupForbidden(deps, context, request),
    ],
  ]);
}

function topicsByConsumer(
  { consumerOffsetManager, options }: GroupTopicDeps,
  request: RemotingCommand,
): RemotingCommand {
  const group = decodeQueryTopicsByConsumerRequestHeader(request.extFields);
  const { brokerIP1, listenPort } = options();
  return bodyResponse(encodeTopicList({
    topicList: consumerOffsetManager.whichTopicByConsumer(group),
    brokerAddr: joinHostPort(brokerIP1, listenPort),
  }));
}

function subscriptionByConsumer(
  { consumerManager }: GroupTopicDeps,
  request: RemotingCommand,
): RemotingCommand {
  const { group, topic } = decodeGroupTopicHeader(
    request.extFields,
    "QuerySubscriptionByConsumerRequestHeader",
  );
  const subscription = consumerManager.findSubscriptionData(group, topic);
  return bodyResponse(encodeJson({
    group,
    subscriptionData: subscription && subscriptionDataToJson(subscription),
    topic,
  }));
}

/** Says whether the group may read the topic, having changed it when told to. */
async function groupForbidden(
  deps: GroupTopicDeps,
  context: RequestContext,
  request: RemotingCommand,
): Promise<RemotingCommand> {
  const { group, topic, readable } = decodeUpdateGroupForbiddenRequestHeader(
    request.extFields,
  );
  const { subscriptionGroupManager: groups } = deps;
  if (readable !== undefined) {
    deps.logger.info("a client changed whether a group may read a topic", {
      group: shown(group),
      topic: shown(topic),
      readable,
      client: context.connection.remoteAddress,
    });
    const others = groups.getForbidden(group, topic) & ~PermName.READ;
    groups.updateForbidden(
      group,
      topic,
      readable ? others : others | PermName.READ,
    );
    try {
      await groups.persist();
    } catch (error) {
      return notStored(`The permission of group ${shown(group)}`, error);
    }
  }
  const isForbidden = (groups.getForbidden(group, topic) & PermName.READ) !== 0;
  return bodyResponse(encodeJson({ group, readable: !isForbidden, topic }));
}
