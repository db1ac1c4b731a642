/** The bodies that both sides write and read, with arbitrary content for each. */
import fc from "fast-check";
import {
  ConsumerOffsetTable,
  offsetsFileText,
  parseOffsets,
} from "../../src/broker/consumer_offset_table.ts";
import { OffsetGenerations } from "../../src/broker/offset_generations.ts";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import {
  decodeClusterInfo,
  encodeClusterInfo,
} from "../../src/protocol/body/cluster_info.ts";
import {
  decodeConsumerConnection,
  decodeProducerConnection,
  encodeConsumerConnection,
  encodeProducerConnection,
} from "../../src/protocol/body/connection_body.ts";
import {
  decodeConsumeStats,
  encodeConsumeStats,
} from "../../src/protocol/body/consume_stats_body.ts";
import {
  decodeConsumerIdList,
  encodeConsumerIdList,
} from "../../src/protocol/body/consumer_list_body.ts";
import {
  dataVersionFromJson,
  dataVersionToJson,
} from "../../src/protocol/body/data_version_body.ts";
import {
  decodeHeartbeatData,
  encodeHeartbeatData,
} from "../../src/protocol/body/heartbeat_body.ts";
import {
  decodeJson,
  encodeJson,
  encodeJsonText,
  integerOf,
  jsonOfMap,
  mapField,
  objectOf,
} from "../../src/protocol/body/json_fields.ts";
import {
  decodeKVTable,
  encodeKVTable,
} from "../../src/protocol/body/kv_table.ts";
import {
  decodeLockBatchRequestBody,
  decodeLockBatchResponseBody,
  encodeLockBatchRequestBody,
  encodeLockBatchResponseBody,
} from "../../src/protocol/body/lock_batch_body.ts";
import { messageQueueMapEntries } from "../../src/protocol/body/message_queue_body.ts";
import { encodeResetOffsetBody } from "../../src/protocol/body/reset_offset_body.ts";
import {
  subscriptionGroupConfigFromJson,
  subscriptionGroupConfigToJson,
} from "../../src/protocol/body/subscription_group_config_body.ts";
import {
  decodeTopicConfigWrapper,
  encodeTopicConfigWrapper,
} from "../../src/protocol/body/topic_config_wrapper.ts";
import {
  decodeTopicList,
  encodeTopicList,
} from "../../src/protocol/body/topic_list.ts";
import {
  decodeTopicRouteData,
  encodeTopicRouteData,
} from "../../src/protocol/body/topic_route_data.ts";
import {
  decodeTopicStatsTable,
  encodeTopicStatsTable,
} from "../../src/protocol/body/topic_stats_body.ts";
import * as any from "./codec_values.ts";

/** One body: Java's class, and our two halves of it. */
export interface BodyKind {
  readonly className: string;
  readonly sample: (count: number, seed: number) => readonly BodySample[];
}

/** One body of ours. */
export interface BodySample {
  readonly model: unknown;
  readonly bytes: Uint8Array;
  /** Reads what Java made of it. */
  decode(bytes: Uint8Array): unknown;
}

function kind<T>(
  className: string,
  model: fc.Arbitrary<T>,
  encode: (model: T) => Uint8Array,
  decode: (bytes: Uint8Array) => unknown,
): BodyKind {
  return {
    className,
    sample: (count, seed) =>
      fc.sample(model, { numRuns: count, seed }).map((it) => ({
        model: it,
        bytes: encode(it),
        decode,
      })),
  };
}

const groupTable = any.mapOf(any.subscriptionGroupConfig);

/** What GET_ALL_SUBSCRIPTIONGROUP_CONFIG answers. */
function encodeGroups(
  table: ReadonlyMap<string, ReturnType<typeof createSubscriptionGroupConfig>>,
): Uint8Array {
  return encodeJson({
    dataVersion: dataVersionToJson(any.VERSION),
    forbiddenTable: {},
    subscriptionGroupTable: jsonOfMap(table, subscriptionGroupConfigToJson),
  });
}

function decodeGroups(bytes: Uint8Array): unknown {
  const json = objectOf(decodeJson(bytes, "groups"), "groups");
  return mapField(
    json,
    "subscriptionGroupTable",
    (value, name) => ({
      ...subscriptionGroupConfigFromJson(value, name),
      // Java adds what is not told here.
      otherKeys: {},
    }),
  );
}

type Offsets = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** consumerOffset.json, which is what GET_ALL_CONSUMER_OFFSET answers. */
function encodeOffsets(offsets: Offsets): Uint8Array {
  const table = new ConsumerOffsetTable();
  for (const [key, queues] of offsets) {
    const entry = table.entry(`g${key}`, "t");
    for (const [queueId, offset] of queues) entry.offsets.set(queueId, offset);
  }
  const text = offsetsFileText(
    table,
    new OffsetGenerations(),
    any.VERSION,
    {},
  );
  return encodeJsonText(text);
}

function decodeOffsets(bytes: Uint8Array): unknown {
  const { table } = parseOffsets(new TextDecoder().decode(bytes), () => {});
  return new Map(
    [...table.entries()].map(([group, , { offsets }]) =>
      [group.slice(1), offsets] as const
    ),
  );
}

function decodeResetOffsetBody(bytes: Uint8Array): unknown {
  const json = objectOf(decodeJson(bytes, "offsets"), "offsets");
  return messageQueueMapEntries(json.offsetTable).map(([queue, offset]) => ({
    queue,
    offset: integerOf(offset, "offset"),
  }));
}

/** All kinds that both versions know; `isOld`: without the fields that 4.9 has not. */
export function bodyKinds(isOld: boolean): readonly BodyKind[] {
  return [
    kind(
      "DataVersion",
      any.dataVersion(isOld),
      (it) => encodeJson(dataVersionToJson(it)),
      (bytes) => dataVersionFromJson(decodeJson(bytes, "DataVersion")),
    ),
    kind(
      "TopicConfigSerializeWrapper",
      any.topicConfigWrapper(isOld),
      encodeTopicConfigWrapper,
      decodeTopicConfigWrapper,
    ),
    kind(
      "SubscriptionGroupWrapper",
      groupTable,
      encodeGroups,
      decodeGroups,
    ),
    kind(
      "ConsumerOffsetSerializeWrapper",
      any.mapOf(any.numberMap(any.offset)),
      encodeOffsets,
      decodeOffsets,
    ),
    kind(
      "TopicRouteData",
      any.topicRouteData(isOld),
      encodeTopicRouteData,
      decodeTopicRouteData,
    ),
    kind(
      "ClusterInfo",
      any.clusterInfo(isOld),
      encodeClusterInfo,
      decodeClusterInfo,
    ),
    kind(
      "ConsumeStats",
      any.consumeStats(isOld),
      encodeConsumeStats,
      decodeConsumeStats,
    ),
    kind(
      "TopicStatsTable",
      any.topicStatsTable(isOld),
      encodeTopicStatsTable,
      decodeTopicStatsTable,
    ),
    kind(
      "ConsumerConnection",
      any.consumerConnection,
      encodeConsumerConnection,
      decodeConsumerConnection,
    ),
    kind(
      "ProducerConnection",
      any.connections,
      encodeProducerConnection,
      decodeProducerConnection,
    ),
    kind(
      "HeartbeatData",
      any.heartbeatData(isOld),
      encodeHeartbeatData,
      decodeHeartbeatData,
    ),
    kind("KVTable", any.mapOf(any.text), encodeKVTable, decodeKVTable),
    kind("TopicList", any.topicList, encodeTopicList, decodeTopicList),
    kind(
      "GetConsumerListByGroupResponseBody",
      fc.array(any.text, { maxLength: 5 }),
      encodeConsumerIdList,
      decodeConsumerIdList,
    ),
    kind(
      "LockBatchRequestBody",
      any.lockBatchRequest(isOld),
      encodeLockBatchRequestBody,
      decodeLockBatchRequestBody,
    ),
    kind(
      "LockBatchResponseBody",
      any.messageQueues,
      encodeLockBatchResponseBody,
      decodeLockBatchResponseBody,
    ),
    kind(
      "ResetOffsetBody",
      any.queueOffsets,
      encodeResetOffsetBody,
      decodeResetOffsetBody,
    ),
  ];
}
