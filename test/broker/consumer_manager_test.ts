import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { test } from "node:test";
import type { ClientChannelInfo } from "../../src/broker/client_channel_info.ts";
import type { ConsumerData } from "../../src/model/heartbeat_data.ts";
import { buildSubscriptionData } from "../../src/model/filter_api.ts";
import { ManagerRig, OPTIONS, RecordingConnection } from "./manager_rig.ts";

const NOTIFY = { isNotifyEnabled: true, withoutSub: false, fingerprint: 0 };

function consumer(
  topics: Record<string, number> = { T: 1 },
  changes: Partial<ConsumerData> = {},
): ConsumerData {
  return {
    groupName: "g",
    consumeType: "CONSUME_PASSIVELY",
    messageModel: "CLUSTERING",
    consumeFromWhere: "CONSUME_FROM_LAST_OFFSET",
    subscriptionDataSet: Object.entries(topics).map(([topic, version]) =>
      buildSubscriptionData(topic, "*", "TAG", version)
    ),
    unitMode: false,
    ...changes,
  };
}

function client(
  rig: ManagerRig,
  clientId: string,
  connection = new RecordingConnection(),
): ClientChannelInfo & { connection: RecordingConnection } {
  return {
    clientId,
    connection,
    language: "JAVA",
    version: 479,
    lastUpdateTimestamp: rig.clock.nowMs(),
    lastUpdateMs: rig.clock.monotonicMs(),
  };
}

function join(rig: ManagerRig, clientId: string, data = consumer()) {
  const it = client(rig, clientId);
  rig.consumerManager.registerConsumer(it, data, NOTIFY);
  return it;
}

test("a new member is told to all members, itself too", () => {
  const rig = new ManagerRig();
  const a = join(rig, "a");
  assertEquals(a.connection.oneways.map((it) => it.code), [40]);
  assertEquals(a.connection.oneways[0]!.extFields, { consumerGroup: "g" });
  rig.clock.advance(1_000);
  const b = join(rig, "b");
  assertEquals(a.connection.oneways.length, 2);
  assertEquals(b.connection.oneways.length, 1);
  const info = rig.consumerManager.getConsumerGroupInfo("g")!;
  assertEquals([...info.clients.keys()], ["a", "b"]);
});

test("a heartbeat without news tells nobody", () => {
  const rig = new ManagerRig();
  const a = join(rig, "a");
  rig.clock.advance(30_000);
  const isChanged = rig.consumerManager.registerConsumer(
    { ...a, lastUpdateMs: rig.clock.monotonicMs() },
    consumer(),
    NOTIFY,
  );
  assertEquals(isChanged, false);
  assertEquals(a.connection.oneways.length, 1);
});

test("subscriptions: a topic that comes or goes is a change, a higher subVersion is not", () => {
  const rig = new ManagerRig();
  const a = join(rig, "a");
  const beat = (topics: Record<string, number>) =>
    rig.consumerManager.registerConsumer(a, consumer(topics), NOTIFY);
  const version = () =>
    rig.consumerManager.findSubscriptionData("g", "T")?.subVersion;
  assertEquals(beat({ T: 5 }), false);
  assertEquals(version(), 5);
  assertEquals(beat({ T: 4 }), false);
  assertEquals(version(), 5);
  assertEquals(beat({ T: 5, U: 1 }), true);
  assertEquals(beat({ U: 1 }), true);
  assertEquals(version(), undefined);
  assertEquals(rig.consumerManager.queryTopicConsumeByWho("U"), ["g"]);
});

test("broadcasting groups, and those that do not want it, are not told", () => {
  const rig = new ManagerRig();
  const a = join(
    rig,
    "a",
    consumer({ T: 1 }, { messageModel: "BROADCASTING" }),
  );
  assertEquals(a.connection.oneways, []);
  const b = client(rig, "b");
  rig.consumerManager.registerConsumer(
    b,
    consumer({ T: 1 }, { groupName: "quiet" }),
    { ...NOTIFY, isNotifyEnabled: false },
  );
  assertEquals(b.connection.oneways, []);
  const off = new ManagerRig({
    ...OPTIONS,
    notifyConsumerIdsChangedEnable: false,
  });
  assertEquals(join(off, "a").connection.oneways, []);
});

test("a closed connection leaves all its groups and the others are told", () => {
  const rig = new ManagerRig();
  const a = join(rig, "a");
  const b = join(rig, "b");
  rig.consumerManager.registerConsumer(
    a,
    consumer({ T: 1 }, { groupName: "alone" }),
    NOTIFY,
  );
  rig.clock.advance(1_000);
  b.connection.oneways.length = 0;
  rig.consumerManager.doChannelCloseEvent(a.connection);
  assertEquals(b.connection.oneways.map((it) => it.code), [40]);
  assertEquals(rig.consumerManager.getConsumerGroupInfo("alone"), undefined);
  assertEquals([...rig.consumerManager.groupNames()], ["g"]);
  rig.consumerManager.unregisterConsumer("g", "b", b.connection, true);
  assertEquals([...rig.consumerManager.groupNames()], []);
  assertEquals(rig.consumerManager.clientCount, 0);
});

test("the same client on a new connection replaces the old one and changes nothing", () => {
  const rig = new ManagerRig();
  const old = join(rig, "a");
  const other = join(rig, "b");
  rig.clock.advance(1_000);
  other.connection.oneways.length = 0;
  const fresh = join(rig, "a");
  assertEquals(other.connection.oneways, []);
  const clients = rig.consumerManager.getConsumerGroupInfo("g")!.clients;
  assertEquals([...clients.keys()].sort(), ["a", "b"]);
  // The late end of the old connection must not take the new one along.
  rig.consumerManager.doChannelCloseEvent(old.connection);
  assertEquals(clients.get("a")?.connection, fresh.connection);
  rig.consumerManager.unregisterConsumer("g", "a", old.connection, true);
  assertEquals(clients.size, 2);
});

test("a client that is silent for channelExpiredTimeout is dropped and closed", () => {
  const rig = new ManagerRig();
  const a = join(rig, "a");
  rig.clock.advance(60_000);
  const b = join(rig, "b");
  rig.clock.advance(60_001);
  rig.consumerManager.tick(rig.clock.monotonicMs());
  assertEquals(a.connection.isOpen, false);
  assertEquals(b.connection.isOpen, true);
  const clients = rig.consumerManager.getConsumerGroupInfo("g")!.clients;
  assertEquals([...clients.keys()], ["b"]);
});

test("a wall clock that is set closes nobody, and saves nobody", () => {
  for (const jumpMs of [86_400_000, -86_400_000]) {
    const rig = new ManagerRig();
    const a = join(rig, "a");
    const p = client(rig, "p");
    rig.producerManager.registerProducer("p", p);
    const tick = () => {
      rig.consumerManager.tick(rig.clock.monotonicMs());
      rig.producerManager.tick(rig.clock.monotonicMs());
    };
    rig.clock.jump(jumpMs);
    rig.clock.advance(20_000);
    tick();
    assertEquals([a.connection.isOpen, p.connection.isOpen], [true, true]);
    rig.clock.advance(110_000);
    tick();
    assertEquals([a.connection.isOpen, p.connection.isOpen], [false, false]);
  }
});

test("a thousand members that join at once cost a handful of rounds", () => {
  const rig = new ManagerRig();
  const members = Array.from(
    { length: 1_000 },
    (_, index) => join(rig, `c${index}`),
  );
  rig.clock.advance(100);
  rig.consumerManager.tick(rig.clock.monotonicMs());
  const sent = members.reduce(
    (sum, it) => sum + it.connection.oneways.length,
    0,
  );
  assertEquals(sent, 1 + 1_000);
  assert(members.every((it) => it.connection.oneways.length >= 1));
});

test("clientChannelMax refuses new members, old ones go on", () => {
  const rig = new ManagerRig({ ...OPTIONS, clientChannelMax: 1 });
  const a = join(rig, "a");
  join(rig, "b");
  assertEquals(rig.consumerManager.clientCount, 1);
  assertEquals(
    rig.consumerManager.registerConsumer(a, consumer({ T: 1, U: 1 }), NOTIFY),
    true,
  );
});

test("a short heartbeat keeps subscriptions; an unknown fingerprint is said", () => {
  const rig = new ManagerRig();
  const manager = rig.consumerManager;
  assertEquals(manager.isSubscriptionUnknown("g", 7, false), false);
  assertEquals(manager.isSubscriptionUnknown("g", 7, true), true);
  const a = client(rig, "a");
  manager.registerConsumer(a, consumer(), { ...NOTIFY, fingerprint: 7 });
  const isChanged = manager.registerConsumer(a, consumer({}), {
    isNotifyEnabled: true,
    withoutSub: true,
    fingerprint: 7,
  });
  assertEquals(isChanged, false);
  assert(manager.findSubscriptionData("g", "T"));
  assertEquals(manager.isSubscriptionUnknown("g", 7, true), false);
  assertEquals(manager.isSubscriptionUnknown("g", 8, true), true);
});

test("producers are found by group and client id, in turn", () => {
  const rig = new ManagerRig();
  const producers = rig.producerManager;
  const a = client(rig, "a");
  const b = client(rig, "b");
  producers.registerProducer("p", a);
  producers.registerProducer("p", b);
  producers.registerProducer("q", a);
  const turns = [1, 2, 3].map(() => producers.getAvailableClient("p"));
  assertEquals(turns, [a, b, a]);
  b.connection.close();
  assertEquals(producers.getAvailableClient("p"), a);
  producers.unregisterProducer("p", "a", a.connection);
  assertEquals(producers.findClient("a"), a);
  producers.doChannelCloseEvent(a.connection);
  assertEquals(producers.findClient("a"), undefined);
  assertEquals(producers.getAvailableClient("q"), undefined);
  rig.clock.advance(120_001);
  producers.tick(rig.clock.monotonicMs());
  assertEquals(producers.groups().size, 0);
});

/** The least processor time of five, whatever else the machine does, that a client of `groups` producer groups takes to go. */
function departureMs(groups: number): number {
  let bestMs = Infinity;
  for (let round = 0; round < 5; round++) {
    const rig = new ManagerRig();
    const a = client(rig, "a");
    for (let index = 0; index < groups; index++) {
      rig.producerManager.registerProducer(`p${index}`, a);
    }
    const before = process.cpuUsage();
    rig.producerManager.doChannelCloseEvent(a.connection);
    const { user, system } = process.cpuUsage(before);
    bestMs = Math.min(bestMs, (user + system) / 1_000);
    assertEquals(rig.producerManager.findClient("a"), undefined);
  }
  return bestMs;
}

test("a client in ten times as many groups does not take a hundred times as long to go", () => {
  assert(departureMs(20_000) < Math.max(departureMs(2_000), 1) * 50);
});
