import { assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import { createSubscriptionGroupConfig } from "../../src/model/subscription_group_config.ts";
import {
  decodeCheckClientRequestBody,
  encodeCheckClientRequestBody,
} from "../../src/protocol/body/check_client_body.ts";
import {
  decodeConsumeStats,
  encodeConsumeStats,
} from "../../src/protocol/body/consume_stats_body.ts";
import {
  decodeConsumerIdList,
  encodeConsumerIdList,
} from "../../src/protocol/body/consumer_list_body.ts";
import {
  decodeSubscriptionGroupConfig,
  encodeSubscriptionGroupConfig,
} from "../../src/protocol/body/subscription_group_config_body.ts";
import {
  decodeTopicStatsTable,
  encodeTopicStatsTable,
} from "../../src/protocol/body/topic_stats_body.ts";
import {
  decodeDeleteSubscriptionGroupRequestHeader,
  decodeGetConsumeStatsRequestHeader,
  decodeUnregisterClientRequestHeader,
  encodeDeleteSubscriptionGroupRequestHeader,
  encodeUnregisterClientRequestHeader,
} from "../../src/protocol/header/broker_admin_header.ts";
import {
  decodeQueryConsumerOffsetRequestHeader,
  decodeUpdateConsumerOffsetRequestHeader,
  encodeQueryConsumerOffsetRequestHeader,
  encodeUpdateConsumerOffsetRequestHeader,
} from "../../src/protocol/header/consumer_offset_header.ts";
import {
  decodeCreateTopicRequestHeader,
  encodeCreateTopicRequestHeader,
} from "../../src/protocol/header/create_topic_request_header.ts";
import { HeaderError } from "../../src/protocol/header/field_reader.ts";
import {
  decodeOffsetResponseHeader,
  decodeSearchOffsetRequestHeader,
  decodeTimestampResponseHeader,
  encodeSearchOffsetRequestHeader,
} from "../../src/protocol/header/queue_offset_header.ts";
import { writePrettyFastjson } from "../../src/protocol/pretty_fastjson.ts";

const QUEUE = { topic: "T", brokerName: "b", queueId: 1 };

test("headers of administration come back as they went", () => {
  const create = {
    topic: "T",
    defaultTopic: "TBW102",
    readQueueNums: 4,
    writeQueueNums: 8,
    perm: 6,
    topicFilterType: "SINGLE_TAG",
    topicSysFlag: 0,
    order: true,
    attributes: "+message.type=FIFO",
  };
  assertEquals(
    decodeCreateTopicRequestHeader(encodeCreateTopicRequestHeader(create)),
    create,
  );
  const search = {
    topic: "T",
    queueId: 3,
    timestamp: 17,
    boundaryType: "upper" as const,
  };
  assertEquals(
    decodeSearchOffsetRequestHeader(encodeSearchOffsetRequestHeader(search)),
    search,
  );
  const query = {
    consumerGroup: "g",
    topic: "T",
    queueId: 3,
    setZeroIfNotFound: false,
  };
  assertEquals(
    decodeQueryConsumerOffsetRequestHeader(
      encodeQueryConsumerOffsetRequestHeader(query),
    ),
    query,
  );
  const update = {
    consumerGroup: "g",
    topic: "T",
    queueId: 3,
    commitOffset: 9,
  };
  assertEquals(
    decodeUpdateConsumerOffsetRequestHeader(
      encodeUpdateConsumerOffsetRequestHeader(update),
    ),
    update,
  );
  const remove = { groupName: "g", cleanOffset: true };
  assertEquals(
    decodeDeleteSubscriptionGroupRequestHeader(
      encodeDeleteSubscriptionGroupRequestHeader(remove),
    ),
    remove,
  );
  const leave = {
    clientID: "c",
    producerGroup: undefined,
    consumerGroup: "g",
  };
  assertEquals(
    decodeUnregisterClientRequestHeader(
      encodeUnregisterClientRequestHeader(leave),
    ),
    leave,
  );
});

test("response headers of offsets are read", () => {
  assertEquals(decodeOffsetResponseHeader({ offset: "-1" }), -1);
  assertEquals(decodeTimestampResponseHeader({ timestamp: "5" }), 5);
  assertThrows(() => decodeOffsetResponseHeader({}), HeaderError, "offset");
});

test("GET_CONSUME_STATS takes a list of topics or one", () => {
  const decode = decodeGetConsumeStatsRequestHeader;
  assertEquals(decode({ consumerGroup: "g", topic: " " }), {
    consumerGroup: "g",
    topic: undefined,
    topicList: [],
  });
  assertEquals(
    decode({ consumerGroup: "g", topic: "T", topicList: "A; ;B" }),
    { consumerGroup: "g", topic: "T", topicList: ["A", "B"] },
  );
});

test("bodies of administration come back as they went", () => {
  const group = createSubscriptionGroupConfig("g", {
    retryMaxTimes: 3,
    attributes: { a: "1" },
    otherKeys: { future: [1] },
  });
  assertEquals(
    decodeSubscriptionGroupConfig(encodeSubscriptionGroupConfig(group)),
    group,
  );
  const offset = {
    queue: QUEUE,
    minOffset: 1,
    maxOffset: 2,
    lastUpdateTimestamp: 3,
  };
  const topicStats = { offsets: [offset], topicPutTps: 1.5 };
  assertEquals(
    decodeTopicStatsTable(encodeTopicStatsTable(topicStats)),
    topicStats,
  );
  const wrapper = {
    queue: QUEUE,
    brokerOffset: 5,
    consumerOffset: 4,
    pullOffset: 4,
    lastTimestamp: 3,
  };
  const consumeStats = { offsets: [wrapper], consumeTps: 0 };
  assertEquals(
    decodeConsumeStats(encodeConsumeStats(consumeStats)),
    consumeStats,
  );
  assertEquals(
    decodeConsumeStats(encodeConsumeStats({ offsets: [], consumeTps: 0 })),
    { offsets: [], consumeTps: 0 },
  );
  assertEquals(
    decodeConsumerIdList(encodeConsumerIdList(["a", "b"])),
    ["a", "b"],
  );
  const check = { clientId: "c", group: "g", subscriptionData: null };
  assertEquals(
    decodeCheckClientRequestBody(encodeCheckClientRequestBody(check)),
    check,
  );
});

test("writePrettyFastjson() lays out as Apache does", () => {
  assertEquals(
    writePrettyFastjson({
      a: {},
      b: [],
      c: [1, { d: null }],
      e: 9223372036854775807n,
      f: new Map([[{ q: 1 }, "x"]]),
      g: undefined,
    }),
    `{
	"a":{},
	"b":[],
	"c":[
		1,
		{
			"d":null
		}
	],
	"e":9223372036854775807,
	"f":{
		{
			"q":1
		}:"x"
	}
}`,
  );
});
