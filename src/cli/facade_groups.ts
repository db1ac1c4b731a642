/** GroupAdmin over a running broker. */
import type {
  GroupAdmin,
  GroupConnection,
  QueueLag,
  ResetPlace,
} from "../admin/group_routes.ts";
import type { BrokerController } from "../broker/broker_controller.ts";
import { createSubscriptionGroupConfig } from "../model/subscription_group_config.ts";
import { groupError, isSystemGroup } from "../model/validators.ts";
import { encodeSubscriptionGroupConfig } from "../protocol/body/subscription_group_config_body.ts";
import { encodeDeleteSubscriptionGroupRequestHeader } from "../protocol/header/broker_admin_header.ts";
import { RequestCode } from "../protocol/request_code.ts";
import type { RunningBroker } from "./broker_server.ts";
import type { LocalBroker } from "./local_broker.ts";

/** Reads the managers; changes go through the port. */
export function groupFacade(
  { broker }: RunningBroker,
  local: LocalBroker,
): GroupAdmin {
  const groups = () => broker.parts.subscriptionGroupManager;
  return {
    groups: () => [...groups().allGroups().values()],
    group: (name) => groups().allGroups().get(name),
    connection: (name) => connectionOf(broker, name),
    lag: (name) => lagOf(broker, name),
    groupError,
    isSystemGroup,
    hasTopic: (name) =>
      broker.parts.topicConfigManager.selectTopicConfig(name) !== undefined,
    resetOffset: (group, place) => resetOffset(broker, local, group, place),
    cloneOffset: async (destGroup, srcGroup, topic) => {
      await local.invoke(RequestCode.CLONE_GROUP_OFFSET, {
        srcGroup,
        destGroup,
        ...(topic === undefined ? {} : { topic }),
        offline: "true",
      });
      return lagOf(broker, destGroup);
    },
    newGroup: createSubscriptionGroupConfig,
    putGroup: async (config) => {
      await local.invoke(
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        {},
        encodeSubscriptionGroupConfig(config),
      );
    },
    deleteGroup: async (groupName) => {
      await local.invoke(
        RequestCode.DELETE_SUBSCRIPTIONGROUP,
        encodeDeleteSubscriptionGroupRequestHeader({
          groupName,
          cleanOffset: true,
        }),
      );
    },
  };
}

function connectionOf(
  broker: BrokerController,
  group: string,
): GroupConnection | undefined {
  const info = broker.parts.consumerManager.getConsumerGroupInfo(group);
  if (info === undefined) return undefined;
  return {
    consumeType: info.consumeType,
    messageModel: info.messageModel,
    consumeFromWhere: info.consumeFromWhere,
    members: [...info.clients.values()].map((it) => ({
      clientId: it.clientId,
      address: it.connection.remoteAddress,
      language: it.language,
      version: it.version,
      lastUpdateTimestamp: it.lastUpdateTimestamp,
    })),
    subscriptions: [...info.subscriptions.values()].map((it) => ({
      topic: it.topic,
      expressionType: it.expressionType,
      expression: it.subString,
    })),
  };
}

/** Every queue of every topic on which the group has offsets or a living subscription. */
export function lagOf(broker: BrokerController, group: string): QueueLag[] {
  const { consumerManager, consumerOffsetManager, topicConfigManager } =
    broker.parts;
  const topics = new Set(consumerOffsetManager.whichTopicByConsumer(group));
  const info = consumerManager.getConsumerGroupInfo(group);
  for (const topic of info?.subscriptions.keys() ?? []) topics.add(topic);
  const lags: QueueLag[] = [];
  for (const topic of [...topics].sort()) {
    const config = topicConfigManager.selectTopicConfig(topic);
    for (let queueId = 0; queueId < (config?.readQueueNums ?? 0); queueId++) {
      const brokerOffset = broker.messageStore.getMaxOffsetInQueue(
        topic,
        queueId,
      );
      const offset = consumerOffsetManager.queryOffset(group, topic, queueId);
      lags.push({
        topic,
        queueId,
        brokerOffset,
        consumerOffset: offset < 0 ? null : offset,
        lag: lagIn(brokerOffset, offset),
        popInflight: broker.pop.log.table.inFlight(topic, group, queueId),
      });
    }
  }
  return lags;
}

/** Null: unknown, for nothing was ever committed. Nobody is behind in an empty queue. */
function lagIn(brokerOffset: number, offset: number): number | null {
  if (offset < 0) return brokerOffset === 0 ? 0 : null;
  return Math.max(0, brokerOffset - offset);
}

/** As tools do it: through the port, so that members on line learn of it too. */
async function resetOffset(
  broker: BrokerController,
  local: LocalBroker,
  group: string,
  { topic, timestampMs, queueId = -1, offset = -1 }: ResetPlace,
): Promise<QueueLag[]> {
  await local.invoke(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, {
    topic,
    group,
    timestamp: String(timestampMs),
    isForce: "true",
    queueId: String(queueId),
    offset: String(offset),
  });
  return lagOf(broker, group).filter((it) => it.topic === topic);
}
