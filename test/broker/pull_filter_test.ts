/** What a pull lets through: checkPull() on subscriptions by properties. */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  type BrokerOptions,
  DEFAULT_BROKER_OPTIONS,
} from "../../src/broker/broker_options.ts";
import { checkPull } from "../../src/broker/pull_check.ts";
import { PullSysFlag } from "../../src/broker/pull_subscription.ts";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import type { SubscriptionData } from "../../src/model/subscription_data.ts";
import type { PullMessageRequestHeader } from "../../src/protocol/header/pull_message_request_header.ts";
import type { MessageFilter } from "../../src/store/get_message_result.ts";
import { FakeGroups, FakeTopics, topicOf } from "./fakes.ts";
import { ManagerRig } from "./manager_rig.ts";

const HEADER: PullMessageRequestHeader = {
  consumerGroup: "g",
  topic: "T",
  queueId: 0,
  queueOffset: 0,
  maxMsgNums: 32,
  sysFlag: 0,
  commitOffset: 0,
  suspendTimeoutMillis: 15_000,
  subscription: undefined,
  subVersion: 5,
  expressionType: "SQL92",
  maxMsgBytes: undefined,
  requestSource: -1,
};
const ON = { enablePropertyFilter: true };

class Site {
  readonly rig = new ManagerRig();
  readonly topics = new FakeTopics();
  readonly groups = new FakeGroups();
  subscription: SubscriptionData | undefined;

  constructor() {
    this.groups.add("g");
    for (const it of ["T", "%RETRY%g"]) this.topics.table.set(it, topicOf(it));
  }

  /** Heartbeats with a filter of that version. */
  register(expression: string, subVersion: number): this {
    this.subscription = buildSubscriptionData("T", expression, "SQL92", 5);
    this.rig.consumerFilterManager.register("g", [
      { ...this.subscription, subVersion },
    ]);
    return this;
  }

  check(
    changes: Partial<PullMessageRequestHeader> = {},
    options: Partial<BrokerOptions> = ON,
  ): ReturnType<typeof checkPull> {
    const { rig: { filterFactory, consumerFilterManager: filters } } = this;
    return checkPull(
      {
        topics: this.topics,
        groups: this.groups,
        filterFactory,
        filters,
        consumers: {
          getConsumerGroupInfo: () => ({
            consumeType: "CONSUME_PASSIVELY",
            messageModel: "CLUSTERING",
          }),
          findSubscriptionData: () => this.subscription,
        },
      },
      { ...DEFAULT_BROKER_OPTIONS, ...options },
      { ...HEADER, ...changes },
      false,
    );
  }

  filter(
    changes: Partial<PullMessageRequestHeader> = {},
    options: Partial<BrokerOptions> = ON,
  ): MessageFilter | null {
    const pull = this.check(changes, options);
    assert(!("code" in pull), JSON.stringify(pull));
    return pull.filter;
  }
}

/** 0 when the pull may go on. */
function codeOf(checked: ReturnType<typeof checkPull>): number {
  return "code" in checked ? checked.code : 0;
}

test("checkPull() answers for subscriptions of heartbeats as reference 9.1", () => {
  const off = { enablePropertyFilter: false };
  const known = () => new Site().register("a = 5", 5);
  assertEquals(codeOf(known().check()), 0);
  assertEquals(codeOf(known().check({}, off)), 1);
  assertEquals(codeOf(known().check({ subVersion: 6 })), 25);
  assertEquals(codeOf(new Site().register("a = 5", 4).check()), 28);
  const wrong = new Site().register("a =", 5);
  assertEquals(codeOf(wrong.check()), 27);
  assertEquals(codeOf(wrong.check({}, off)), 27);
});

test("checkPull() answers for subscriptions in the header as reference 9.1", () => {
  const check = (
    subscription: string,
    expressionType = "SQL92",
    options: Partial<BrokerOptions> = ON,
  ) => {
    const header = {
      sysFlag: PullSysFlag.SUBSCRIPTION,
      subscription,
      expressionType,
    };
    return new Site().check(header, options);
  };
  assertEquals(codeOf(check("a = 5")), 0);
  assertEquals(check("a = 5", "SQL92", { enablePropertyFilter: false }), {
    code: 1,
    remark: "The broker does not support consumer to filter message by SQL92",
  });
  assertEquals(check("a = "), {
    code: 23,
    remark: "parse the consumer's subscription failed: The SQL92 expression " +
      "cannot be read at position 5: expected a value, a name, NOT or (, " +
      "found the end",
  });
  assertEquals(codeOf(check("")), 23);
  assertEquals(codeOf(check("a = 5", "CLASS")), 23);
});

test("checkPull() gives a filter on the properties of records", () => {
  const filter = new Site().register("a = 5", 5).filter()!;
  assert(filter.isMatchedByConsumeQueue(7));
  assert(filter.isMatchedByCommitLog!("a\u00015\u0002"));
  assert(!filter.isMatchedByCommitLog!("a\u00016\u0002"));
  assert(!filter.isMatchedByCommitLog!(""));
});

test("checkPull() filters retries by the filter of their own topic, with filterSupportRetry", () => {
  const site = new Site().register("a = 5", 5);
  const header = {
    topic: "%RETRY%g",
    sysFlag: PullSysFlag.SUBSCRIPTION,
    subscription: "A",
    expressionType: "TAG",
  };
  assertEquals(site.filter(header)!.isMatchedByCommitLog, undefined);
  const filter = site.filter(header, { filterSupportRetry: true })!;
  const passes = (topic: string, a: string) =>
    filter.isMatchedByCommitLog!(`RETRY_TOPIC\u0001${topic}\u0002a\u0001${a}`);
  assertEquals([passes("T", "5"), passes("T", "6")], [true, false]);
  // Of a topic without a filter, and of none.
  assertEquals(passes("U", "6"), true);
  assertEquals(filter.isMatchedByCommitLog!("a\u00016\u0002"), true);
  // By tags besides: 65 is the hash of A.
  assertEquals([65, 66].map(filter.isMatchedByConsumeQueue), [true, false]);
  const all = site.filter({ ...header, subscription: "*" }, {
    filterSupportRetry: true,
  })!;
  assertEquals(all.isMatchedByConsumeQueue(66), true);
});
