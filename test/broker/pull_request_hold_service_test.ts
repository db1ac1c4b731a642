import { test } from "node:test";
import { assertEquals } from "@std/assert";
import {
  type PullRequest,
  PullRequestHoldService,
} from "../../src/broker/pull_request_hold_service.ts";
import { fakeConnection } from "./fakes.ts";

class Site {
  readonly woken: string[] = [];
  readonly deferred: (() => void)[] = [];
  asked = 0;
  maxOffset = 0;
  readonly hold = new PullRequestHoldService({
    maxOffsetInQueue: () => {
      this.asked++;
      return this.maxOffset;
    },
    defer: (run) => void this.deferred.push(run),
  }, { pullRequestHoldMax: 10_000 });

  add(name: string, changes: Partial<PullRequest> = {}): void {
    this.hold.suspendPullRequest({
      topic: "T",
      queueId: 0,
      pullFromThisOffset: 0,
      deadlineMs: 100_000,
      filter: null,
      connection: fakeConnection(),
      wakeup: () => void this.woken.push(name),
      ...changes,
    });
  }

  settle(): string[] {
    for (const run of this.deferred.splice(0)) run();
    return this.woken.splice(0);
  }
}

test("PullRequestHoldService passes over what the filter refuses until the sweep", () => {
  const site = new Site();
  site.hold.tick(0);
  site.add("tag 7", {
    filter: { isMatchedByConsumeQueue: (code) => code === 7 },
  });
  site.add("all");
  site.hold.notifyMessageArriving("T", 0, 1, 8, "");
  assertEquals(site.settle(), ["all"]);
  site.maxOffset = 1;
  site.hold.tick(4_999);
  assertEquals(site.settle(), []);
  site.hold.tick(5_000);
  assertEquals(site.settle(), ["tag 7"]);
  assertEquals(site.hold.heldCount, 0);
});

test("PullRequestHoldService asks the properties when the filter wants them", () => {
  const site = new Site();
  site.add("sql", {
    filter: {
      isMatchedByConsumeQueue: () => true,
      isMatchedByCommitLog: (text) => text === "a\u00011\u0002",
    },
  });
  site.hold.notifyMessageArriving("T", 0, 1, 0, "a\u00012\u0002");
  assertEquals(site.settle(), []);
  site.hold.notifyMessageArriving("T", 0, 2, 0, "a\u00011\u0002");
  assertEquals(site.settle(), ["sql"]);
});

test("PullRequestHoldService keeps a pull for an offset that is not reached", () => {
  const site = new Site();
  site.add("later", { pullFromThisOffset: 5 });
  site.hold.notifyMessageArriving("T", 0, 5, 0, "");
  assertEquals(site.settle(), []);
  site.hold.notifyMessageArriving("T", 0, 6, 0, "");
  assertEquals(site.settle(), ["later"]);
});

test("PullRequestHoldService drops the pulls of a closed connection, woken ones too", () => {
  const site = new Site();
  const gone = fakeConnection();
  site.add("a", { connection: gone });
  site.add("b", { connection: gone, queueId: 1 });
  site.add("c", { queueId: 1 });
  site.hold.notifyMessageArriving("T", 0, 1, 0, "");
  site.hold.onConnectionClosed(gone);
  assertEquals(site.settle(), []);
  assertEquals(site.hold.heldCount, 1);
  site.hold.notifyMessageArriving("T", 1, 1, 0, "");
  assertEquals(site.settle(), ["c"]);
});

test("PullRequestHoldService expires each pull at its own time", () => {
  const site = new Site();
  site.add("first", { deadlineMs: 1_000 });
  site.add("second", { deadlineMs: 2_000 });
  site.hold.tick(999);
  assertEquals(site.settle(), []);
  site.hold.tick(1_000);
  assertEquals(site.settle(), ["first"]);
  site.hold.tick(2_000);
  assertEquals(site.settle(), ["second"]);
});

test("PullRequestHoldService.wakeAll() answers everything at once", () => {
  const site = new Site();
  site.add("a");
  site.add("b", { topic: "U", queueId: 3 });
  site.hold.wakeAll();
  assertEquals(site.woken, ["a", "b"]);
});

test("PullRequestHoldService looks at no other queue when a message arrives", () => {
  const site = new Site();
  let tested = 0;
  for (let index = 0; index < 1_000; index++) {
    site.add(`held ${index}`, {
      topic: `T${index}`,
      filter: { isMatchedByConsumeQueue: () => (tested++, true) },
    });
  }
  site.asked = 0;
  for (let index = 0; index < 1_000; index++) {
    site.hold.notifyMessageArriving("other", 0, index, 0, "");
  }
  site.hold.notifyMessageArriving("T7", 0, 1, 0, "");
  assertEquals([tested, site.asked], [1, 0]);
  assertEquals(site.settle(), ["held 7"]);
});
