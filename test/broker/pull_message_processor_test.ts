import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { javaHashCode } from "../../src/base/java_hash.ts";
import {
  type BrokerOptions,
  DEFAULT_BROKER_OPTIONS,
} from "../../src/broker/broker_options.ts";
import { PullMessageProcessor } from "../../src/broker/processor/pull_message_processor.ts";
import { ResetOffsets } from "../../src/broker/reset_offsets.ts";
import { PullRequestHoldService } from "../../src/broker/pull_request_hold_service.ts";
import { FilterFactory } from "../../src/filter/filter_factory.ts";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import type { SubscriptionData } from "../../src/model/subscription_data.ts";
import { PermName } from "../../src/model/topic_config.ts";
import {
  encodePullMessageRequestHeader,
  type PullMessageRequestHeader,
} from "../../src/protocol/header/pull_message_request_header.ts";
import {
  createRequest,
  type RemotingCommand,
} from "../../src/protocol/remoting_command.ts";
import { HELD } from "../../src/remoting/request_processor.ts";
import type {
  GetMessageResult,
  GetMessageStatus,
  MessageFilter,
} from "../../src/store/get_message_result.ts";
import {
  FakeClock,
  fakeContext,
  FakeGroups,
  FakeLogger,
  FakeTopics,
  topicOf,
} from "./fakes.ts";

const HEADER: PullMessageRequestHeader = {
  consumerGroup: "g",
  topic: "T",
  queueId: 0,
  queueOffset: 10,
  maxMsgNums: 32,
  sysFlag: 4,
  commitOffset: 0,
  suspendTimeoutMillis: 15_000,
  subscription: "*",
  subVersion: 1,
  expressionType: "TAG",
  maxMsgBytes: undefined,
  requestSource: -1,
};

function found(
  status: GetMessageStatus,
  changes: Partial<GetMessageResult> = {},
): GetMessageResult {
  return {
    status,
    nextBeginOffset: 10,
    minOffset: 2,
    maxOffset: 10,
    body: new Uint8Array(status === "FOUND" ? 5 : 0),
    messageCount: 1,
    suggestPullingFromSlave: false,
    release() {},
    ...changes,
  };
}

class Site {
  readonly clock = new FakeClock();
  readonly topics = new FakeTopics();
  readonly groups = new FakeGroups();
  readonly logger = new FakeLogger();
  readonly commits: unknown[][] = [];
  readonly gets: unknown[][] = [];
  readonly resetOffsets = new ResetOffsets();
  readonly filters: (MessageFilter | null)[] = [];
  readonly deferred: (() => void)[] = [];
  readonly counters = {
    foundTimes: 0,
    missTimes: 0,
    transferredCount: 0,
    transferredBytes: 0,
    timeMaxMs: 0,
  };
  isSlave = false;
  isMasterAlive = false;
  hasSlave = false;
  readonly unknownTopics: string[] = [];
  maxOffset = 10;
  result: () => GetMessageResult | Promise<GetMessageResult> = () =>
    found("OFFSET_OVERFLOW_ONE");
  info:
    | {
      consumeType: "CONSUME_PASSIVELY" | "CONSUME_ACTIVELY";
      messageModel: "CLUSTERING" | "BROADCASTING";
    }
    | undefined = undefined;
  subscription: SubscriptionData | undefined = undefined;
  readonly hold: PullRequestHoldService;
  readonly processor: PullMessageProcessor;

  constructor(options: Partial<BrokerOptions> = {}) {
    this.topics.table.set("T", topicOf("T", { topicSysFlag: 1 }));
    this.groups.add("g", { groupSysFlag: 2 });
    const all = { ...DEFAULT_BROKER_OPTIONS, ...options };
    this.hold = new PullRequestHoldService({
      maxOffsetInQueue: () => this.maxOffset,
      defer: (run) => void this.deferred.push(run),
    }, all);
    this.processor = new PullMessageProcessor({
      store: {
        getMessage: (request) => {
          this.filters.push(request.filter);
          return this.result();
        },
      },
      topics: this.topics,
      groups: this.groups,
      filterFactory: new FilterFactory(),
      filters: { get: () => undefined },
      consumers: {
        getConsumerGroupInfo: () => this.info,
        findSubscriptionData: () => this.subscription,
      },
      offsets: {
        commitOffset: (...commit) => this.commits.push(commit),
        commitPullOffset: () => undefined,
      },
      holdService: this.hold,
      resetOffsets: this.resetOffsets,
      stats: { onGet: (...get) => this.gets.push(get) },
      replication: {
        isSlave: () => this.isSlave,
        isMasterAlive: () => this.isMasterAlive,
        hasReadableSlave: (id) => this.hasSlave && id === 1,
        onUnknownTopic: (topic) => this.unknownTopics.push(topic),
      },
      counters: this.counters,
      clock: this.clock,
      logger: this.logger,
    }, all);
  }

  pull(
    changes: Partial<PullMessageRequestHeader> = {},
    context = fakeContext(),
    code = 11,
  ): RemotingCommand | typeof HELD {
    const fields = encodePullMessageRequestHeader({ ...HEADER, ...changes });
    return this.processor.process(context, createRequest(code, fields));
  }

  answer(changes: Partial<PullMessageRequestHeader> = {}, code = 11) {
    const answer = this.pull(changes, fakeContext(), code);
    assert(answer !== HELD, "the pull was held");
    return answer;
  }

  settle(): void {
    for (const run of this.deferred.splice(0)) run();
  }
}

test("PullMessageProcessor answers every status with its code and all offsets", () => {
  const cases: [GetMessageStatus, number, number][] = [
    ["FOUND", 10, 0],
    ["NO_MATCHED_MESSAGE", 10, 20],
    ["MESSAGE_WAS_REMOVING", 10, 20],
    ["OFFSET_FOUND_NULL", 10, 19],
    ["OFFSET_OVERFLOW_BADLY", 10, 21],
    ["OFFSET_OVERFLOW_ONE", 10, 19],
    ["OFFSET_TOO_SMALL", 10, 21],
    ["NO_MATCHED_LOGIC_QUEUE", 10, 21],
    ["NO_MATCHED_LOGIC_QUEUE", 0, 19],
    ["NO_MESSAGE_IN_QUEUE", 10, 21],
    ["NO_MESSAGE_IN_QUEUE", 0, 19],
    ["OFFSET_RESET", 10, 21],
  ];
  for (const [status, queueOffset, code] of cases) {
    const site = new Site();
    site.result = () => found(status);
    const answer = site.answer({ queueOffset });
    assertEquals(answer.code, code, status);
    assertEquals(answer.remark, status);
    assertEquals(answer.extFields, {
      suggestWhichBrokerId: "0",
      nextBeginOffset: "10",
      minOffset: "2",
      maxOffset: "10",
      topicSysFlag: "1",
      groupSysFlag: "2",
    });
    assertEquals(answer.body.length, status === "FOUND" ? 5 : 0);
  }
});

test("PullMessageProcessor counts what it hands out, and how long it took to read", async () => {
  const site = new Site();
  site.result = () => {
    site.clock.advance(3);
    return found("FOUND", { messageCount: 2 });
  };
  site.answer();
  assertEquals(site.gets, [["T", "g", HEADER.queueId, 2, 5, 3]]);
  const read = Promise.withResolvers<GetMessageResult>();
  site.result = () => read.promise;
  const context = fakeContext();
  assertEquals(site.pull({}, context), HELD);
  site.clock.advance(70);
  read.resolve(found("FOUND"));
  await read.promise;
  await Promise.resolve();
  assertEquals(site.gets[1], ["T", "g", HEADER.queueId, 1, 5, 70]);
  assertEquals([site.counters.foundTimes, site.counters.timeMaxMs], [2, 70]);
});

test("PullMessageProcessor tells a reader once where it was reset to", () => {
  const site = new Site();
  const reset = { offset: 3, minOffset: 1, maxOffset: 9 };
  site.resetOffsets.add("g", "T", HEADER.queueId, reset);
  const moved = site.answer({ sysFlag: 5, commitOffset: 8 });
  assertEquals([moved.code, moved.extFields.nextBeginOffset], [21, "3"]);
  assertEquals(site.commits, []);
  site.result = () => found("FOUND");
  assertEquals(site.answer({ sysFlag: 5, commitOffset: 3 }).code, 0);
  assertEquals(site.commits.length, 1);
});

test("PullMessageProcessor refuses in the order of the reference", () => {
  const refused = (
    prepare: (site: Site) => void,
    changes: Partial<PullMessageRequestHeader> = {},
    options: Partial<BrokerOptions> = {},
    code = 11,
  ) => {
    const site = new Site(options);
    prepare(site);
    const answer = site.answer(changes, code);
    return [answer.code, answer.extFields.forbiddenType];
  };
  const nothing = () => {};
  const noSub = { sysFlag: 0 };
  assertEquals(refused(nothing, {}, { brokerPermission: 2 }), [16, "1"]);
  assertEquals(
    refused(nothing, {}, { litePullMessageEnable: false }, 361),
    [16, "1"],
  );
  assertEquals(refused(nothing, { consumerGroup: "x" }), [26, undefined]);
  assertEquals(
    refused((it) => it.groups.add("g", { consumeEnable: false })),
    [16, "2"],
  );
  assertEquals(refused(nothing, { topic: "x" }), [17, undefined]);
  assertEquals(
    refused((it) => it.topics.table.set("T", topicOf("T", { perm: 2 }))),
    [16, "3"],
  );
  assertEquals(refused(nothing, { queueId: 4 }), [29, undefined]);
  assertEquals(refused(nothing, { queueId: -1 }), [29, undefined]);
  assertEquals(refused(nothing, { subscription: "||" }), [23, undefined]);
  assertEquals(refused(nothing, noSub), [24, undefined]);
  const known = (it: Site) => {
    it.info = { consumeType: "CONSUME_PASSIVELY", messageModel: "CLUSTERING" };
  };
  assertEquals(refused(known, noSub), [24, undefined]);
  const broadcasting = (it: Site) => {
    it.info = {
      consumeType: "CONSUME_PASSIVELY",
      messageModel: "BROADCASTING",
    };
    it.groups.add("g", { consumeBroadcastEnable: false });
  };
  assertEquals(refused(broadcasting, noSub), [16, "4"]);
  const forbidden = (it: Site) => {
    known(it);
    it.groups.forbidden = PermName.READ;
  };
  assertEquals(refused(forbidden, noSub), [16, "5"]);
  const notToWrite = (it: Site) => {
    known(it);
    it.groups.forbidden = PermName.WRITE;
  };
  assertEquals(refused(notToWrite, noSub), refused(known, noSub));
  const subscribed = (it: Site) => {
    known(it);
    it.subscription = buildSubscriptionData("T", "A", "TAG", 5);
  };
  assertEquals(
    refused(subscribed, { ...noSub, subVersion: 6 }),
    [25, undefined],
  );
  assertEquals(
    refused(subscribed, { ...noSub, subVersion: 5 }),
    [19, undefined],
  );
});

test("PullMessageProcessor filters by tags code", () => {
  const site = new Site();
  site.answer({ subscription: "A || B" });
  site.answer({ subscription: "A" });
  site.answer({ subscription: "*" });
  const [two, one, all] = site.filters;
  assert(two!.isMatchedByConsumeQueue(javaHashCode("B")));
  assert(!two!.isMatchedByConsumeQueue(javaHashCode("C")));
  assert(one!.isMatchedByConsumeQueue(javaHashCode("A")));
  assert(!one!.isMatchedByConsumeQueue(0));
  assertEquals(all, null);
});

test("PullMessageProcessor commits with the flag, once, and suggests by the group", () => {
  const site = new Site({ slaveReadEnable: "true" });
  site.groups.add("g", { whichBrokerWhenConsumeSlowly: 3 });
  site.result = () => found("FOUND", { suggestPullingFromSlave: true });
  const answer = site.answer({ sysFlag: 5, commitOffset: 7 });
  assertEquals(site.commits, [["127.0.0.1:40001", "g", "T", 0, 7]]);
  assertEquals(answer.extFields.suggestWhichBrokerId, "3");
  site.answer({ sysFlag: 4, commitOffset: 8 });
  assertEquals(site.commits.length, 1);
  const plain = new Site();
  plain.result = site.result;
  assertEquals(plain.answer().extFields.suggestWhichBrokerId, "0");
});

test("PullMessageProcessor suggests brokers as slaveReadEnable says", () => {
  const suggested = (
    options: Partial<BrokerOptions>,
    role: { isSlave?: boolean; hasSlave?: boolean },
    suggestPullingFromSlave: boolean,
  ) => {
    const site = Object.assign(new Site(options), role);
    site.result = () => found("FOUND", { suggestPullingFromSlave });
    return site.answer().extFields.suggestWhichBrokerId;
  };
  const auto = { slaveReadEnable: "auto" } as const;
  assertEquals(suggested(auto, {}, true), "0");
  assertEquals(suggested(auto, { hasSlave: true }, true), "1");
  assertEquals(suggested(auto, { hasSlave: true }, false), "0");
  const other = Object.assign(new Site(auto), { hasSlave: true });
  other.groups.add("g", { whichBrokerWhenConsumeSlowly: 2 });
  other.result = () => found("FOUND", { suggestPullingFromSlave: true });
  assertEquals(other.answer().extFields.suggestWhichBrokerId, "0");
  assertEquals(suggested(auto, { isSlave: true }, true), "1");
  assertEquals(suggested(auto, { isSlave: true }, false), "0");
  const never = { slaveReadEnable: "false" } as const;
  assertEquals(suggested(never, { hasSlave: true }, true), "0");
  const refused = Object.assign(new Site(never), { isSlave: true }).answer();
  assertEquals(refused.code, 2);
});

test("PullMessageProcessor on a slave never moves a reader, and never sends it round", () => {
  const cases: [GetMessageStatus, boolean, number][] = [
    ["OFFSET_OVERFLOW_BADLY", false, 19],
    ["OFFSET_OVERFLOW_BADLY", true, 19],
    ["NO_MATCHED_LOGIC_QUEUE", false, 19],
    ["NO_MESSAGE_IN_QUEUE", true, 19],
    ["OFFSET_OVERFLOW_ONE", false, 19],
    ["OFFSET_TOO_SMALL", false, 19],
    ["OFFSET_TOO_SMALL", true, 20],
  ];
  for (const [status, isMasterAlive, code] of cases) {
    const site = Object.assign(new Site(), { isSlave: true, isMasterAlive });
    site.result = () => found(status);
    const answer = site.answer();
    assertEquals(answer.code, code, status);
    assertEquals(answer.extFields.nextBeginOffset, "10");
    assertEquals(answer.extFields.suggestWhichBrokerId, "0");
  }
  // offsetCheckInSlave: the store has corrected it, as in Apache.
  const site = Object.assign(new Site(), { isSlave: true });
  site.result = () => found("OFFSET_OVERFLOW_BADLY", { nextBeginOffset: 7 });
  assertEquals(site.answer().code, 21);
});

test("PullMessageProcessor on a slave holds a pull beyond its end until dispatch gets there", () => {
  const site = Object.assign(new Site(), { isSlave: true });
  site.result = () => found("OFFSET_OVERFLOW_BADLY", { maxOffset: 3 });
  site.maxOffset = 3;
  const context = fakeContext();
  assertEquals(site.pull({ sysFlag: 6 }, context), HELD);
  site.hold.notifyMessageArriving("T", 0, 10, 0, "");
  site.settle();
  assertEquals(context.answers.length, 0);
  site.result = () => found("FOUND");
  site.hold.notifyMessageArriving("T", 0, 11, 0, "");
  site.settle();
  assertEquals(context.answers.map((it) => it.code), [0]);
  site.result = () => found("OFFSET_OVERFLOW_BADLY", { maxOffset: 3 });
  const late = fakeContext();
  assertEquals(site.pull({ sysFlag: 6 }, late), HELD);
  site.clock.advance(15_000);
  site.hold.tick(site.clock.monotonicMs());
  site.settle();
  assertEquals(late.answers.map((it) => it.code), [19]);
  assertEquals(late.answers[0]!.extFields.nextBeginOffset, "10");
});

test("44: a topic that a slave does not know sends the reader to a living master, and asks for it", () => {
  const site = Object.assign(new Site(), {
    isSlave: true,
    isMasterAlive: true,
  });
  const answer = site.answer({ topic: "New" });
  assertEquals(answer.code, 20);
  assertEquals(answer.extFields.suggestWhichBrokerId, "0");
  assertEquals(answer.extFields.nextBeginOffset, "10");
  assertEquals(site.unknownTopics, ["New"]);
  site.isMasterAlive = false;
  assertEquals(site.answer({ topic: "New" }).code, 17);
});

test("PullMessageProcessor holds a pull until a message comes", () => {
  const site = new Site();
  const context = fakeContext();
  assertEquals(
    site.pull({ sysFlag: 7, commitOffset: 3 }, context),
    HELD,
  );
  site.hold.notifyMessageArriving("T", 1, 11, 0, "");
  site.hold.notifyMessageArriving("X", 0, 11, 0, "");
  site.settle();
  assertEquals(context.answers.length, 0);
  site.result = () => found("FOUND", { nextBeginOffset: 12 });
  site.hold.notifyMessageArriving("T", 0, 11, 0, "");
  site.hold.notifyMessageArriving("T", 0, 12, 0, "");
  assertEquals(context.answers.length, 0);
  site.settle();
  assertEquals(context.answers.map((it) => it.code), [0]);
  assertEquals(site.filters.length, 2);
  assertEquals(site.commits.length, 1);
  assertEquals(site.hold.heldCount, 0);
});

test("PullMessageProcessor answers 19 when the time is over", () => {
  for (
    const [options, afterMs] of [
      [{}, 15_000],
      [{ longPollingEnable: false }, 1_000],
    ] as const
  ) {
    const site = new Site(options);
    const context = fakeContext();
    assertEquals(site.pull({ sysFlag: 6 }, context), HELD);
    site.clock.advance(afterMs - 1);
    site.hold.tick(site.clock.monotonicMs());
    site.settle();
    assertEquals(context.answers.length, 0);
    site.clock.advance(1);
    site.hold.tick(site.clock.monotonicMs());
    site.settle();
    assertEquals(context.answers.map((it) => it.code), [19]);
  }
});

test("PullMessageProcessor holds after a cold read too, and looks again once parked", async () => {
  const site = new Site();
  const context = fakeContext();
  const cold = Promise.resolve(found("OFFSET_OVERFLOW_ONE"));
  site.result = () => cold;
  assertEquals(site.pull({ sysFlag: 6 }, context), HELD);
  // The message came while the read was under way.
  site.maxOffset = 11;
  await cold;
  await Promise.resolve();
  site.result = () => found("FOUND");
  site.settle();
  assertEquals(context.answers.map((it) => it.code), [0]);
});

test("PullMessageProcessor answers code 1 when a read fails", async () => {
  const site = new Site();
  const context = fakeContext();
  site.result = () => Promise.reject(new Error("the disk is gone"));
  assertEquals(site.pull({}, context), HELD);
  while (context.answers.length === 0) await Promise.resolve();
  assertEquals(context.answers[0]!.code, 1);
  assert(context.answers[0]!.remark!.includes("the disk is gone"));
  assertEquals(site.logger.lines.length, 1);
});

test("PullMessageProcessor answers busy at pullRequestHoldMax", () => {
  const site = new Site({ pullRequestHoldMax: 1 });
  assertEquals(site.pull({ sysFlag: 6 }), HELD);
  const answer = site.answer({ sysFlag: 6 });
  assertEquals(answer.code, 2);
  assert(answer.remark!.includes("pullRequestHoldMax"));
});
