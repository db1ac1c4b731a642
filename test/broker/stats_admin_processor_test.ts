import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { BrokerStats } from "../../src/broker/broker_stats.ts";
import { connectionAdminProcessors } from "../../src/broker/processor/connection_admin_processor.ts";
import { runtimeInfoProcessors } from "../../src/broker/processor/runtime_info_processor.ts";
import { statsAdminProcessors } from "../../src/broker/processor/stats_admin_processor.ts";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import {
  decodeConsumerConnection,
  decodeProducerConnection,
  decodeProducerTable,
} from "../../src/protocol/body/connection_body.ts";
import { decodeConsumeStats } from "../../src/protocol/body/consume_stats_body.ts";
import { decodeKVTable } from "../../src/protocol/body/kv_table.ts";
import { decodeTopicStatsTable } from "../../src/protocol/body/topic_stats_body.ts";
import { RequestCode } from "../../src/protocol/request_code.ts";
import { RpcStats } from "../../src/remoting/rpc_stats.ts";
import { FakeClock, topicOf } from "./fakes.ts";
import {
  ask,
  bodyText,
  ManagerRig,
  OPTIONS,
  RecordingConnection,
} from "./manager_rig.ts";

function open() {
  const rig = new ManagerRig();
  rig.topicConfigManager.updateTopicConfigs([
    topicOf("T", { readQueueNums: 2, writeQueueNums: 3 }),
    topicOf("U", { readQueueNums: 1, writeQueueNums: 1 }),
  ]);
  rig.maxOffsets.set("T/0", 10).set("U/0", 4);
  const table = statsAdminProcessors({
    ...rig,
    messageStore: {
      getMinOffsetInQueue: (topic) => topic === "T" ? 2 : -1,
      getMaxOffsetInQueue: (topic, queueId) =>
        rig.maxOffsets.get(`${topic}/${queueId}`) ?? 0,
      getMessageStoreTimeStamp: (_topic, _queueId, queueOffset) =>
        Promise.resolve(1_000 + queueOffset),
    },
  });
  return { rig, table };
}

function subscribe(rig: ManagerRig, group: string, topic: string) {
  const client = {
    clientId: "10.0.0.9@1",
    language: "GO",
    version: 401,
    connection: new RecordingConnection("10.0.0.9:7000"),
    lastUpdateTimestamp: 5,
    lastUpdateMs: 5,
  };
  rig.consumerManager.registerConsumer(
    client,
    {
      groupName: group,
      consumeType: "CONSUME_PASSIVELY",
      messageModel: "CLUSTERING",
      consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
      subscriptionDataSet: [buildSubscriptionData(topic, "TagA", "TAG", 3)],
      unitMode: false,
    },
    { isNotifyEnabled: true, withoutSub: false, fingerprint: 0 },
  );
  return client;
}

test("202 answers all queues of reading or writing, keyed by queue objects", async () => {
  const { table } = open();
  const ofTopic = (topic: string) =>
    ask(table, RequestCode.GET_TOPIC_STATS_INFO, { topic });
  const answer = await ofTopic("T");
  assert(
    bodyText(answer).startsWith(
      '{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:' +
        '{"lastUpdateTimestamp":1009,"maxOffset":10,"minOffset":2},',
    ),
  );
  const stats = decodeTopicStatsTable(answer.body);
  assertEquals(stats.offsets.map((it) => it.queue.queueId), [0, 1, 2]);
  assertEquals(stats.offsets[1]!.lastUpdateTimestamp, 0);
  assertEquals((await ofTopic("no")).code, 17);
});

test("208 tells where a group stands", async () => {
  const { rig, table } = open();
  rig.consumerOffsetManager.commitOffset("x", "g", "T", 0, 4);
  rig.consumerOffsetManager.commitPullOffset("x", "g", "T", 0, 7);
  rig.consumerOffsetManager.commitOffset("x", "g", "U", 0, 0);
  const answer = await ask(table, RequestCode.GET_CONSUME_STATS, {
    consumerGroup: "g",
  });
  assertEquals(decodeConsumeStats(answer.body).offsets, [
    {
      queue: { topic: "T", brokerName: "broker-a", queueId: 0 },
      brokerOffset: 10,
      consumerOffset: 4,
      pullOffset: 7,
      lastTimestamp: 1_003,
    },
    {
      queue: { topic: "T", brokerName: "broker-a", queueId: 1 },
      brokerOffset: 0,
      consumerOffset: 0,
      pullOffset: 0,
      lastTimestamp: 0,
    },
    {
      queue: { topic: "U", brokerName: "broker-a", queueId: 0 },
      brokerOffset: 4,
      consumerOffset: 0,
      pullOffset: 0,
      lastTimestamp: 0,
    },
  ]);
});

test("208 never gives a negative lag, whatever is stored", async () => {
  const { rig, table } = open();
  rig.consumerOffsetManager.commitOffset("x", "g", "U", 0, 4);
  rig.consumerOffsetManager.commitPullOffset("x", "g", "U", 0, 9);
  rig.maxOffsets.set("U/0", 2);
  const answer = await ask(table, RequestCode.GET_CONSUME_STATS, {
    consumerGroup: "g",
  });
  const [only] = decodeConsumeStats(answer.body).offsets;
  assertEquals(
    [only!.brokerOffset, only!.consumerOffset, only!.pullOffset],
    [2, 2, 2],
  );
});

test("208 leaves out topics that a living group no longer subscribes", async () => {
  const { rig, table } = open();
  rig.consumerOffsetManager.commitOffset("x", "g", "T", 0, 4);
  rig.consumerOffsetManager.commitOffset("x", "g", "U", 0, 0);
  subscribe(rig, "g", "U");
  const topics = async (fields: Record<string, string>) => {
    const answer = await ask(table, RequestCode.GET_CONSUME_STATS, {
      consumerGroup: "g",
      ...fields,
    });
    const { offsets } = decodeConsumeStats(answer.body);
    return [...new Set(offsets.map((it) => it.queue.topic))];
  };
  assertEquals(await topics({}), ["U"]);
  assertEquals(await topics({ topic: "T" }), []);
  assertEquals(await topics({ topicList: "T;U; " }), ["T", "U"]);
  assertEquals(await topics({ topic: "no" }), []);
});

test("203, 204 and 328 list connections", async () => {
  const { rig } = open();
  const table = connectionAdminProcessors(rig);
  const consumers = (consumerGroup: string) =>
    ask(table, RequestCode.GET_CONSUMER_CONNECTION_LIST, { consumerGroup });
  const producers = (producerGroup: string) =>
    ask(table, RequestCode.GET_PRODUCER_CONNECTION_LIST, { producerGroup });
  const offline = await consumers("g");
  assertEquals(
    [offline.code, offline.remark],
    [206, "the consumer group[g] not online"],
  );
  assertEquals((await producers("p")).code, 1);

  const client = subscribe(rig, "g", "T");
  rig.producerManager.registerProducer("p", client);
  const connection = {
    clientId: "10.0.0.9@1",
    clientAddr: "10.0.0.9:7000",
    language: "GO",
    version: 401,
  };
  const consumer = decodeConsumerConnection((await consumers("g")).body);
  assertEquals(consumer.connectionSet, [connection]);
  assertEquals(consumer.consumeType, "CONSUME_PASSIVELY");
  assertEquals(consumer.subscriptionTable.get("T")?.codeSet, [2598919]);
  assertEquals(
    decodeProducerConnection((await producers("p")).body),
    [connection],
  );
  const all = await ask(table, RequestCode.GET_ALL_PRODUCER_INFO);
  assertEquals([...decodeProducerTable(all.body)], [["p", [{
    clientId: "10.0.0.9@1",
    remoteIP: "/10.0.0.9:7000",
    language: "GO",
    version: 401,
    lastUpdateTimestamp: 5,
  }]]]);
});

/** Reference 2.10, and 4.9's getTransferedTps: a tool may throw on a missing one. */
const RUNTIME_KEYS = `brokerActive brokerVersionDesc brokerVersion
msgPutTotalYesterdayMorning msgPutTotalTodayMorning msgPutTotalTodayNow
msgGetTotalYesterdayMorning msgGetTotalTodayMorning msgGetTotalTodayNow
dispatchBehindBytes pageCacheLockTimeMills earliestMessageTimeStamp
startAcceptSendRequestTimeStamp commitLogDirCapacity sendThreadPoolQueueSize
sendThreadPoolQueueCapacity pullThreadPoolQueueSize pullThreadPoolQueueCapacity
queryThreadPoolQueueSize queryThreadPoolQueueCapacity
sendThreadPoolQueueHeadWaitTimeMills pullThreadPoolQueueHeadWaitTimeMills
queryThreadPoolQueueHeadWaitTimeMills EndTransactionQueueSize
EndTransactionThreadPoolQueueCapacity remainTransientStoreBufferNumbs
remainHowManyDataToFlush timerReadBehind
timerOffsetBehind timerCongestNum timerEnqueueTps timerDequeueTps
litePullThreadPoolQueueSize litePullThreadPoolQueueCapacity
litePullThreadPoolQueueHeadWaitTimeMills ackThreadPoolQueueSize
ackThreadPoolQueueCapacity ackThreadPoolQueueHeadWaitTimeMills bootTimestamp
runtime putMessageEntireTimeMax putMessageTimesTotal putMessageFailedTimes
putMessageSizeTotal putMessageDistributeTime putMessageAverageSize
dispatchMaxBuffer getMessageEntireTimeMax putTps getFoundTps getMissTps
getTotalTps getTransferredTps getTransferedTps putLatency99 putLatency999 commitLogDiskRatio
consumeQueueDiskRatio commitLogMinOffset commitLogMaxOffset`.split(/\s+/);

test("28 answers every key of reference 2.10", async () => {
  const rig = new ManagerRig(OPTIONS, {
    delayOffsets: '{"offsetTable":{2:30}}',
  });
  const counters = { putCount: 4, putBytes: 4_000, putFailedCount: 1 };
  const brokerStats = new BrokerStats(
    rig.clock,
    () => counters,
    () => ({ put: 3, get: 2 }),
  );
  for (const ms of [0, 0, 0, 7, 60_000]) brokerStats.putTimes.add(ms);
  brokerStats.pull.timeMaxMs = 8;
  const sends = new RpcStats();
  sends.received = 3;
  sends.answered = 1;
  const deps = {
    ...rig,
    brokerStats,
    schedule: {
      offsets: () => rig.delayOffsetFile.offsets(),
      timers: {
        store: { nextAtMs: undefined, pendingCount: 5 },
        unreadCount: 2,
        enqueueTps: 1.5,
        dequeueTps: 0,
      },
    },
    requests: new Map([[310, sends]]),
    diskSpace: () => ({ totalBytes: 4 * 2 ** 30, freeBytes: 2 ** 30 }),
    messageStore: {
      minPhyOffset: 100,
      maxPhyOffset: 5_000,
      flushedOffset: 2_000,
      dispatchBehindBytes: 7,
      counters,
      getMaxOffsetInQueue: (_topic: string, queueId: number) => 40 + queueId,
      selectOneMessageByOffset: () => Promise.resolve(undefined),
    },
  };
  rig.clock.advance(90_061_000);
  brokerStats.tick(rig.clock.nowMs(), rig.clock.monotonicMs());
  const answer = await ask(
    runtimeInfoProcessors(deps),
    RequestCode.GET_BROKER_RUNTIME_INFO,
  );
  const table = decodeKVTable(answer.body);
  assertEquals(RUNTIME_KEYS.filter((it) => !table.has(it)), []);
  const values = (...keys: string[]) => keys.map((it) => table.get(it));
  assertEquals(values("commitLogDiskRatio", "commitLogDirCapacity"), [
    "0.75",
    "Total : 4.0 GiB, Free : 1.0 GiB.",
  ]);
  assertEquals(values("runtime"), [
    "[ 1 days, 1 hours, 1 minutes, 1 seconds ]",
  ]);
  assertEquals(values("commitLogMinOffset", "commitLogMaxOffset"), [
    "100",
    "5000",
  ]);
  assertEquals(values("remainHowManyDataToFlush", "putMessageAverageSize"), [
    "2.9 KiB",
    "1000.0",
  ]);
  assertEquals(values("scheduleMessageOffset_2"), ["30,41"]);
  assertEquals(
    values(
      "putMessageEntireTimeMax",
      "getMessageEntireTimeMax",
      "sendThreadPoolQueueSize",
      "pullThreadPoolQueueSize",
      "brokerVersionDesc",
      "msgPutTotalTodayNow",
      "msgGetTotalTodayNow",
    ),
    ["60000", "8", "2", "0", "V5_3_3", "3", "2"],
  );
  assertEquals(
    table.get("putMessageDistributeTime"),
    "[<=0ms]:3 [0~10ms]:1 [10~50ms]:0 [50~100ms]:0 [100~200ms]:0 " +
      "[200~500ms]:0 [500ms~1s]:0 [1~2s]:0 [2~3s]:0 [3~4s]:0 [4~5s]:0 " +
      "[5~10s]:0 [10s~]:1 ",
  );
  assertEquals(values("putTps", "earliestMessageTimeStamp"), [
    "0.0 0.0 0.0",
    "-1",
  ]);
});

test("BrokerStats gives rates over three windows", () => {
  const clock = new FakeClock();
  const counters = { putCount: 0, putBytes: 0, putFailedCount: 0 };
  const stats = new BrokerStats(
    clock,
    () => counters,
    () => ({ put: 0, get: 0 }),
  );
  for (let second = 0; second <= 700; second++) {
    counters.putCount += second < 640 ? 10 : 100;
    stats.pull.transferredCount += 5;
    stats.tick(clock.nowMs(), clock.monotonicMs());
    clock.advance(1_000);
    if (second === 695) clock.jump(3_600_000);
  }
  const [ten, sixty, sixHundred] = stats.tps("put").split(" ").map(Number);
  assertEquals([ten, sixty], [100, 100]);
  assertEquals(sixHundred, (100 * 61 + 10 * 539) / 600);
  assertEquals(stats.tps("getTransferred"), "5.0 5.0 5.0");
});

test("BrokerStats turns the day at midnight", () => {
  const clock = new FakeClock();
  const day = { put: 0, get: 0 };
  const counters = { putCount: 0, putBytes: 0, putFailedCount: 0 };
  const stats = new BrokerStats(clock, () => counters, () => day);
  for (const count of [7, 9]) {
    clock.advance(86_400_000);
    Object.assign(day, { put: count, get: count + 1 });
    stats.tick(clock.nowMs(), clock.monotonicMs());
  }
  day.put = 12;
  assertEquals(stats.putTotals, { now: 12, today: 9, yesterday: 7 });
  assertEquals(stats.getTotals, { now: 10, today: 10, yesterday: 8 });
});

test("315 answers rates, and 1 for a name or key that counted nothing", async () => {
  const { rig, table } = open();
  const view = (statsName: string, statsKey: string) =>
    ask(table, RequestCode.VIEW_BROKER_STATS_DATA, { statsName, statsKey });
  for (let ms = 0; ms <= 60_000; ms += 10_000) {
    rig.brokerStatsManager.tick(ms);
    rig.brokerStatsManager.onPut("T", 0, "normal", 5, 50, 0);
    rig.brokerStatsManager.onGet("T", "g", 0, 3, 30, 0);
  }
  rig.brokerStatsManager.tick(70_000);
  const answer = await view("TOPIC_PUT_NUMS", "T");
  assertEquals(answer.code, 0);
  assertEquals(JSON.parse(bodyText(answer)).statsMinute, {
    sum: 30,
    tps: 0.5,
    avgpt: 5,
  });
  const unknown = await view("TOPIC_PUT_NUMS", "nosuch");
  assertEquals([unknown.code, unknown.remark], [
    1,
    "The stats <TOPIC_PUT_NUMS> <nosuch> not exist",
  ]);
  const stats = await ask(table, RequestCode.GET_TOPIC_STATS_INFO, {
    topic: "T",
  });
  assertEquals(bodyText(stats).includes('"topicPutTps":0.5'), true);
  const consumed = await ask(table, RequestCode.GET_CONSUME_STATS, {
    consumerGroup: "g",
    topic: "T",
  });
  assertEquals(bodyText(consumed).includes('"consumeTps":0.3'), true);
});

test("317 answers every group, its positions, and the sums of their lags", async () => {
  const { rig, table } = open();
  rig.subscriptionGroupManager.updateSubscriptionGroupConfig({
    ...rig.subscriptionGroupManager.findSubscriptionGroupConfig("g")!,
  });
  rig.consumerOffsetManager.commitOffset("x", "g", "T", 0, 4);
  rig.consumerOffsetManager.commitOffset("x", "g", "U", 0, 1);
  const all = bodyText(
    await ask(table, RequestCode.GET_BROKER_CONSUME_STATS, {
      isOrder: "false",
    }),
  );
  assertEquals(/"totalDiff":(\d+)/.exec(all)?.[1], String(10 - 4 + 4 - 1));
  assertEquals(all.includes('"g":[{'), true, all);
  const ordered = bodyText(
    await ask(table, RequestCode.GET_BROKER_CONSUME_STATS, { isOrder: "true" }),
  );
  // As in Apache, groups without such positions are there, with nothing in them.
  assertEquals(ordered.includes('"g":[]'), true, ordered);
  assertEquals(/"totalDiff":(\d+)/.exec(ordered)?.[1], "0");
});
