/**
 * ConsumerManageProcessor: GET_CONSUMER_LIST_BY_GROUP (38),
 * QUERY_CONSUMER_OFFSET (14), UPDATE_CONSUMER_OFFSET (15); reference 9.6, 11.3.
 */
import { shown } from "../../base/shown.ts";
import { encodeConsumerIdList } from "../../protocol/body/consumer_list_body.ts";
import { decodeConsumerGroupHeader } from "../../protocol/header/broker_admin_header.ts";
import {
  decodeQueryConsumerOffsetRequestHeader,
  decodeUpdateConsumerOffsetRequestHeader,
} from "../../protocol/header/consumer_offset_header.ts";
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
import type { ConsumerManager } from "../consumer_manager.ts";
import type { ConsumerOffsetManager } from "../consumer_offset_manager.ts";
import type { ResetOffsets } from "../reset_offsets.ts";
import type { SubscriptionGroupManager } from "../subscription_group_manager.ts";
import type { TopicConfigManager } from "../topic_config_manager.ts";

/** What a query without a stored offset asks of the store. */
export interface ConsumerOffsetStore {
  getMinOffsetInQueue(topic: string, queueId: number): number;
  /** True when the record at this queue offset is still in memory. */
  checkInMemByConsumeOffset(
    topic: string,
    queueId: number,
    queueOffset: number,
  ): boolean;
}

/** What the processor works on. */
export interface ConsumerManageDeps {
  readonly consumerManager: ConsumerManager;
  readonly consumerOffsetManager: ConsumerOffsetManager;
  readonly subscriptionGroupManager: SubscriptionGroupManager;
  /** On a slave without a master also topics that only the log knows. */
  readonly topics: Pick<TopicConfigManager, "selectTopicConfig">;
  readonly messageStore: ConsumerOffsetStore;
  readonly resetOffsets: ResetOffsets;
}

/** Processors by request code. */
export function consumerManageProcessors(
  deps: ConsumerManageDeps,
): ProcessorTable {
  const processor = new ConsumerManageProcessor(deps);
  return new Map<number, RequestProcessor>([
    [RequestCode.GET_CONSUMER_LIST_BY_GROUP, processor.getConsumerList],
    [RequestCode.QUERY_CONSUMER_OFFSET, processor.queryConsumerOffset],
    [RequestCode.UPDATE_CONSUMER_OFFSET, processor.updateConsumerOffset],
  ]);
}

/** Answers members about their group and their offsets. */
class ConsumerManageProcessor {
  readonly #deps: ConsumerManageDeps;

  constructor(deps: ConsumerManageDeps) {
    this.#deps = deps;
  }

  readonly getConsumerList = (
    _context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const group = decodeConsumerGroupHeader(
      request.extFields,
      "GetConsumerListByGroupRequestHeader",
    );
    const info = this.#deps.consumerManager.getConsumerGroupInfo(group);
    if (info === undefined || info.clients.size === 0) {
      return createResponse(
        ResponseCode.SYSTEM_ERROR,
        `no consumer for this group, ${shown(group)}`,
      );
    }
    return createResponse(
      ResponseCode.SUCCESS,
      null,
      {},
      encodeConsumerIdList([...info.clients.keys()]),
    );
  };

  readonly queryConsumerOffset = (
    _context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const header = decodeQueryConsumerOffsetRequestHeader(request.extFields);
    const { topic, queueId } = header;
    const offset = this.#deps.consumerOffsetManager.queryOffset(
      header.consumerGroup,
      topic,
      queueId,
    );
    if (offset >= 0) return offsetResponse(offset);
    if (!header.setZeroIfNotFound) {
      return createResponse(
        ResponseCode.QUERY_NOT_FOUND,
        "Not found, do not set to zero, maybe this group boot first",
      );
    }
    const { messageStore } = this.#deps;
    // A queue that is all in memory is new: the group begins at its start.
    const isNew = messageStore.getMinOffsetInQueue(topic, queueId) <= 0 &&
      messageStore.checkInMemByConsumeOffset(topic, queueId, 0);
    if (isNew) return offsetResponse(0);
    return createResponse(
      ResponseCode.QUERY_NOT_FOUND,
      "Not found, maybe this group consumer boot first",
    );
  };

  readonly updateConsumerOffset = (
    context: RequestContext,
    request: RemotingCommand,
  ): RemotingCommand => {
    const header = decodeUpdateConsumerOffsetRequestHeader(request.extFields);
    const { consumerGroup, topic } = header;
    const { subscriptionGroupManager, topics } = this.#deps;
    if (!subscriptionGroupManager.containsSubscriptionGroup(consumerGroup)) {
      return createResponse(
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        `Group ${shown(consumerGroup)} not exist!`,
      );
    }
    if (topics.selectTopicConfig(topic) === undefined) {
      return createResponse(
        ResponseCode.TOPIC_NOT_EXIST,
        `Topic ${shown(topic)} not exist!`,
      );
    }
    if (
      this.#deps.resetOffsets.has(consumerGroup, topic, header.queueId)
    ) {
      return createResponse(
        ResponseCode.SUCCESS,
        "Offset has been previously reset",
      );
    }
    const refusal = this.#deps.consumerOffsetManager.commitOffset(
      context.connection.remoteAddress,
      consumerGroup,
      topic,
      header.queueId,
      header.commitOffset,
    );
    return refusal === undefined
      ? createResponse(ResponseCode.SUCCESS)
      : createResponse(ResponseCode.INVALID_PARAMETER, refusal);
  };
}

function offsetResponse(offset: number): RemotingCommand {
  return createResponse(ResponseCode.SUCCESS, null, {
    offset: String(offset),
  });
}
