/** Arbitrary content of bodies: what a peer of RocketMQ may hold, and names that nobody should. */
import fc from "fast-check";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";

/** Both versions know these languages. */
const LANGUAGES = ["JAVA", "CPP", "PYTHON", "GO", "OTHER"];

/** Of a table that is not looked at for its version. */
export const VERSION = {
  stateVersion: 0,
  timestamp: 1_700_000_000_000,
  counter: 3,
};

/**
 * Quotes, backslashes, control characters, any script. Half a surrogate pair is left out: UTF-8
 * has none, so that Java writes a question mark.
 */
export const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 10 }),
  fc.string({
    unit: fc.constantFrom(
      ..."\"'\\/{}[]:,$@%<>&_-. \b\f\n\r\t\v\0\x1a\x1f\x7f",
      "\u2028",
      "\u2029",
      "\u202e",
      "\ufeff",
      "é",
      "中",
      "😀",
    ),
    maxLength: 10,
  }),
  fc.constantFrom("__proto__", "constructor", "0", "null", "true", "//", "/*"),
).filter((it) => !/\p{Cs}/u.test(it));

/** As key of a map; fastjson gives these two another meaning, whoever writes them. */
const key = text.filter((it) => it !== "$ref" && it !== "@type");

const flag = fc.boolean();
const int = fc.integer({ min: -1, max: 2 ** 31 - 1 });
export const offset = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc.constantFrom(0, Number.MAX_SAFE_INTEGER, 2 ** 31, 2 ** 32),
);

/** Only of 5.x: `without` stands for it in 4.9. */
function modern<T>(
  isOld: boolean,
  value: fc.Arbitrary<T>,
  without: T,
): fc.Arbitrary<T> {
  return isOld ? fc.constant(without) : value;
}

function record<T>(
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

/** By arbitrary names. */
export function mapOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<Map<string, T>> {
  return fc.array(fc.tuple(key, value), { maxLength: 4 })
    .map((it) => new Map(it));
}

/** By numbers, as queue and broker ids are. */
export function numberMap<T>(
  value: fc.Arbitrary<T>,
): fc.Arbitrary<Map<number, T>> {
  return fc.array(fc.tuple(fc.nat(), value), { maxLength: 4 })
    .map((it) => new Map(it));
}

export const dataVersion = (isOld: boolean) =>
  record({
    stateVersion: modern(isOld, offset, 0),
    timestamp: offset,
    counter: offset,
  });

const attributes = mapOf(text).map((it): Record<string, string> =>
  Object.fromEntries(it)
);

const topicConfig = (isOld: boolean) => (topicName: string) =>
  record({
    topicName: fc.constant(topicName),
    readQueueNums: int,
    writeQueueNums: int,
    perm: fc.nat(15),
    topicFilterType: fc.constantFrom(
      "SINGLE_TAG" as const,
      "MULTI_TAG" as const,
    ),
    topicSysFlag: int,
    order: flag,
    attributes: modern(isOld, attributes, {}),
  });

export const topicConfigWrapper = (isOld: boolean) =>
  record({
    dataVersion: dataVersion(isOld),
    topicConfigTable: fc.array(key.chain(topicConfig(isOld)), { maxLength: 4 })
      .map((it) => new Map(it.map((config) => [config.topicName, config]))),
  });

/** With the fields that both versions have. */
export const subscriptionGroupConfig = record({
  groupName: text,
  consumeEnable: flag,
  consumeFromMinEnable: flag,
  consumeBroadcastEnable: flag,
  retryQueueNums: int,
  retryMaxTimes: int,
  brokerId: offset,
  whichBrokerWhenConsumeSlowly: offset,
  notifyConsumerIdsChangedEnable: flag,
}).map(({ groupName, ...rest }) =>
  createSubscriptionGroupConfig(groupName, rest)
);

export const messageQueues = fc.uniqueArray(
  record({ topic: text, brokerName: text, queueId: int }),
  { maxLength: 4, selector: (it) => JSON.stringify(it) },
);

export const queueOffsets = messageQueues.chain((queues) =>
  fc.tuple(
    ...queues.map((queue) => record({ queue: fc.constant(queue), offset })),
  )
);

const brokerData = (isOld: boolean) =>
  record({
    cluster: text,
    brokerName: text,
    brokerAddrs: numberMap(text),
    enableActingMaster: modern(isOld, flag, false),
    zoneName: modern(isOld, fc.option(text), null),
  });

const queueData = record({
  brokerName: text,
  readQueueNums: int,
  writeQueueNums: int,
  perm: int,
  topicSysFlag: int,
});

export const topicRouteData = (isOld: boolean) =>
  record({
    orderTopicConf: fc.option(text),
    queueDatas: fc.array(queueData, { maxLength: 3 }),
    brokerDatas: fc.array(brokerData(isOld), { maxLength: 3 }),
    filterServerTable: mapOf(fc.array(text, { maxLength: 3 })),
  });

export const clusterInfo = (isOld: boolean) =>
  record({
    brokerAddrTable: mapOf(brokerData(isOld)),
    clusterAddrTable: mapOf(fc.uniqueArray(text, { maxLength: 3 })),
  });

/** A double that both write alike. */
const tps = fc.oneof(
  fc.nat(),
  fc.integer({ min: 0, max: 1_000_000 }).map((it) => it / 64),
);

export const consumeStats = (isOld: boolean) =>
  record({
    offsets: messageQueues.chain((queues) =>
      fc.tuple(...queues.map((queue) =>
        record({
          queue: fc.constant(queue),
          brokerOffset: offset,
          consumerOffset: offset,
          pullOffset: modern(isOld, offset, 0),
          lastTimestamp: offset,
        })
      ))
    ),
    consumeTps: tps,
  });

export const topicStatsTable = (isOld: boolean) =>
  record({
    offsets: messageQueues.chain((queues) =>
      fc.tuple(...queues.map((queue) =>
        record({
          queue: fc.constant(queue),
          minOffset: offset,
          maxOffset: offset,
          lastUpdateTimestamp: offset,
        })
      ))
    ),
    topicPutTps: modern(isOld, tps, 0),
  });

export const connections = fc.array(
  record({
    clientId: text,
    clientAddr: text,
    language: fc.constantFrom(...LANGUAGES),
    version: fc.nat(),
  }),
  { maxLength: 4 },
);

const subscriptionData = record({
  topic: text,
  subString: text,
  tagsSet: fc.uniqueArray(text, { maxLength: 3 }),
  codeSet: fc.uniqueArray(fc.integer(), { maxLength: 3 }),
  subVersion: offset,
  expressionType: fc.constantFrom("TAG", "SQL92"),
  classFilterMode: flag,
});

const consumer = {
  consumeType: fc.constantFrom(
    "CONSUME_ACTIVELY" as const,
    "CONSUME_PASSIVELY" as const,
  ),
  messageModel: fc.constantFrom("BROADCASTING" as const, "CLUSTERING" as const),
  consumeFromWhere: fc.constantFrom(
    "CONSUME_FROM_LAST_OFFSET" as const,
    "CONSUME_FROM_FIRST_OFFSET" as const,
    "CONSUME_FROM_TIMESTAMP" as const,
  ),
};

export const consumerConnection = record({
  connectionSet: connections,
  ...consumer,
  subscriptionTable: mapOf(subscriptionData),
});

export const heartbeatData = (isOld: boolean) =>
  record({
    clientID: text,
    producerDataSet: fc.uniqueArray(text, { maxLength: 3 })
      .map((it) => it.map((groupName) => ({ groupName }))),
    consumerDataSet: fc.array(
      record({
        groupName: text,
        ...consumer,
        subscriptionDataSet: fc.uniqueArray(subscriptionData, {
          maxLength: 2,
          selector: (it) => it.topic,
        }),
        unitMode: flag,
      }),
      { maxLength: 2 },
    ),
    heartbeatFingerprint: modern(isOld, fc.integer(), 0),
    withoutSub: modern(isOld, flag, false),
  });

export const topicList = record({
  topicList: fc.uniqueArray(text, { maxLength: 4 }),
  brokerAddr: fc.option(text),
});

export const lockBatchRequest = (isOld: boolean) =>
  record({
    consumerGroup: text,
    clientId: text,
    onlyThisBroker: modern(isOld, flag, false),
    mqSet: messageQueues,
  });
