import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import {
  bodyOf,
  brokersOf,
  headerOf,
  newRoutes,
  permOf,
  register,
  topicConfig,
} from "./support.ts";

const MASTER = "10.0.0.1:10911";
const SLAVE = "10.0.0.2:10911";
const CLUSTER = "DefaultCluster";
const identity = (brokerAddr: string, brokerId: number) => ({
  clusterName: CLUSTER,
  brokerName: "broker-a",
  brokerAddr,
  brokerId,
});

test("RouteInfoManager.registerBroker() makes a route of master and slave", () => {
  const routes = newRoutes();
  assertEquals(routes.hasEverRegistered, false);
  register(routes);
  const slave = register(routes, { id: 1 });
  assert(slave.kind === "registered");
  assertEquals(slave.header, {
    masterAddr: MASTER,
    haServerAddr: "10.0.0.1:10912",
  });
  assertEquals(routes.pickupTopicRouteData("T"), {
    orderTopicConf: null,
    queueDatas: [{
      brokerName: "broker-a",
      readQueueNums: 4,
      writeQueueNums: 4,
      perm: 6,
      topicSysFlag: 0,
    }],
    brokerDatas: [{
      brokerName: "broker-a",
      cluster: CLUSTER,
      brokerAddrs: new Map([[0, MASTER], [1, SLAVE]]),
      enableActingMaster: false,
      zoneName: null,
    }],
    filterServerTable: new Map(),
  });
  assertEquals(routes.hasEverRegistered, true);
  assertEquals(routes.pickupTopicRouteData("nothing"), undefined);
});

test("RouteInfoManager.onConnectionClosed() spares a broker that came back over another connection", () => {
  const routes = newRoutes();
  register(routes, { connection: 1 });
  register(routes, { connection: 2 });
  routes.onConnectionClosed(1);
  assertEquals(brokersOf(routes), `broker-a 0=${MASTER}`);
  routes.onHeartbeat(identity(MASTER, 0), 3, 5);
  routes.onConnectionClosed(2);
  assertEquals(brokersOf(routes), `broker-a 0=${MASTER}`);
  routes.onConnectionClosed(3);
  assertEquals(brokersOf(routes), undefined);
  assertEquals(routes.topics.topicCount, 0);
  assertEquals(routes.brokers.clusterNames(), []);
  assertEquals(routes.liveBrokerCount, 0);
});

test("RouteInfoManager.scanNotActiveBroker() removes whoever was silent for its own time-out", () => {
  const routes = newRoutes();
  register(routes, { nowMs: 0, timeoutMs: 20_000 });
  register(routes, { name: "broker-b", addr: "10.0.0.9:10911", connection: 9 });
  routes.onHeartbeat(identity(MASTER, 0), 1, 5_000);
  assertEquals(routes.scanNotActiveBroker(25_000), []);
  const effects = routes.scanNotActiveBroker(25_001);
  assertEquals(effects.filter((it) => it.kind === "closeConnection"), [
    { kind: "closeConnection", connectionId: 1 },
  ]);
  assertEquals(brokersOf(routes), "broker-b 0=10.0.0.9:10911");
  routes.queryDataVersion(
    { ...identity("10.0.0.9:10911", 0), brokerName: "broker-b" },
    { stateVersion: 0, timestamp: 1, counter: 1 },
    9,
    100_000,
  );
  routes.scanNotActiveBroker(220_000);
  assertEquals(routes.liveBrokerCount, 1);
  routes.scanNotActiveBroker(220_001);
  assertEquals(routes.liveBrokerCount, 0);
});

test("RouteInfoManager keeps topics readable, not writable, while only a slave lives", () => {
  const routes = newRoutes();
  register(routes);
  register(routes, { id: 1 });
  routes.onConnectionClosed(1);
  assertEquals([brokersOf(routes), permOf(routes)], [`broker-a 1=${SLAVE}`, 4]);
  register(routes);
  assertEquals(permOf(routes), 6);

  const restarted = newRoutes();
  const alone = register(restarted, { id: 1 });
  assert(alone.kind === "registered");
  assertEquals(alone.header.masterAddr, undefined);
  assertEquals(permOf(restarted), 4);
  register(restarted, { id: 2 });
  assertEquals(permOf(restarted), 4);
  register(restarted);
  assertEquals(permOf(restarted), 6);
});

test("RouteInfoManager lets an address change its id", () => {
  const routes = newRoutes();
  register(routes, { id: 0, addr: MASTER });
  register(routes, { id: 1, addr: SLAVE });
  routes.onConnectionClosed(1);
  register(routes, { id: 0, addr: SLAVE, connection: 2 });
  assertEquals([brokersOf(routes), permOf(routes)], [`broker-a 0=${SLAVE}`, 6]);
  // What was said of the slave does not touch the master it became.
  routes.unregisterBroker(identity(SLAVE, 1));
  assertEquals(brokersOf(routes), `broker-a 0=${SLAVE}`);
  register(routes, { id: 1, addr: SLAVE, connection: 2 });
  assertEquals([brokersOf(routes), permOf(routes)], [`broker-a 1=${SLAVE}`, 4]);
  routes.unregisterBroker(identity(SLAVE, 1));
  assertEquals(brokersOf(routes), undefined);
});

test("RouteInfoManager takes a broker's new address and forgets the old one", () => {
  const routes = newRoutes();
  register(routes, { connection: 1, addr: "10.0.0.1:10911" });
  register(routes, { connection: 2, addr: "10.0.0.77:10911", counter: 2 });
  assertEquals(brokersOf(routes), "broker-a 0=10.0.0.77:10911");
  routes.onConnectionClosed(1);
  assertEquals(brokersOf(routes), "broker-a 0=10.0.0.77:10911");
});

test("RouteInfoManager does not flap between two brokers of one name and id", () => {
  const routes = newRoutes();
  register(routes, { connection: 1, addr: "10.0.0.1:10911" });
  register(routes, { connection: 2, addr: "10.0.0.2:10911" });
  const again = register(routes, { connection: 1, addr: "10.0.0.1:10911" });
  assert(again.kind === "refused");
  assertEquals(
    again.reason,
    "broker id 0 of broker-a is held by 10.0.0.2:10911, which registered later",
  );
  assertEquals(brokersOf(routes), "broker-a 0=10.0.0.2:10911");
  routes.onConnectionClosed(2);
  register(routes, { connection: 1, addr: "10.0.0.1:10911" });
  assertEquals(brokersOf(routes), "broker-a 0=10.0.0.1:10911");
});

test("RouteInfoManager refuses a broker name that another cluster uses", () => {
  const routes = newRoutes();
  register(routes);
  const other = register(routes, {
    cluster: "Other",
    addr: "10.0.0.8:1",
    connection: 8,
  });
  assertEquals(other, {
    kind: "refused",
    reason: "broker name broker-a is in use in cluster DefaultCluster",
  });
  routes.onConnectionClosed(1);
  assertEquals(
    register(routes, { cluster: "Other", connection: 8 }).kind,
    "registered",
  );
});

test("RouteInfoManager ignores an older epoch and yields to a newer one", () => {
  const routes = newRoutes();
  register(routes, { addr: "10.0.0.1:10911", stateVersion: 3 });
  const old = register(routes, {
    addr: "10.0.0.2:10911",
    stateVersion: 2,
    connection: 2,
  });
  assertEquals(old.kind, "ignored");
  assertEquals(brokersOf(routes), "broker-a 0=10.0.0.1:10911");
  assertEquals(routes.liveBrokerCount, 1);
  register(routes, {
    addr: "10.0.0.2:10911",
    stateVersion: 4,
    connection: 2,
  });
  assertEquals(brokersOf(routes), "broker-a 0=10.0.0.2:10911");
});

test("RouteInfoManager lets nothing of an overtaken master near the route", () => {
  const routes = newRoutes();
  const old = "10.0.0.1:10911";
  const promoted = "10.0.0.2:10911";
  register(routes, { addr: old });
  register(routes, { id: 1, addr: promoted, connection: 2 });
  // Promoted while the old one is still registered: the route is its at once.
  register(routes, { addr: promoted, stateVersion: 1, connection: 2 });
  assertEquals(brokersOf(routes), `broker-a 0=${promoted}`);
  assertEquals(permOf(routes), 6);
  // The old one goes on as if nothing had happened, then starts anew.
  for (const connection of [1, 3]) {
    const tried = register(routes, { addr: old, connection, topics: ["Own"] });
    assertEquals(tried.kind, "ignored");
    register(routes, {
      addr: old,
      connection,
      topics: ["Own"],
      full: false,
      counter: 9,
    });
    routes.onHeartbeat(identity(old, 0), connection, 1);
    routes.unregisterBroker(identity(old, 0));
    routes.onConnectionClosed(connection);
    assertEquals(brokersOf(routes), `broker-a 0=${promoted}`);
    assertEquals(brokersOf(routes, "Own"), undefined);
  }
});

test("RouteInfoManager.queryDataVersion() of another broker is no sign of life", () => {
  const routes = newRoutes();
  register(routes, { addr: MASTER, stateVersion: 3, timeoutMs: 20_000 });
  const zero = { stateVersion: 0, timestamp: 0, counter: 0 };
  const known = routes.queryDataVersion(identity(MASTER, 0), zero, 7, 19_000);
  assertEquals(known?.stateVersion, 3);
  // Neither does the entry go with the connection of whoever asked.
  routes.onConnectionClosed(7);
  assertEquals(brokersOf(routes), `broker-a 0=${MASTER}`);
  routes.scanNotActiveBroker(20_001);
  assertEquals(routes.liveBrokerCount, 0);
});

test("RouteInfoManager.registerBroker() wants the full table before a single topic", () => {
  const routes = newRoutes();
  assertEquals(
    register(routes, { full: false, topics: ["T"] }).kind,
    "refused",
  );
  assertEquals(routes.brokers.brokerNames(), []);
  register(routes);
  register(routes, { full: false, topics: ["New"], counter: 2 });
  assertEquals(brokersOf(routes, "New"), `broker-a 0=${MASTER}`);
  assertEquals(brokersOf(routes, "T"), `broker-a 0=${MASTER}`);
});

test("RouteInfoManager.registerBroker() with a full table takes deleted topics out of the route", () => {
  const routes = newRoutes();
  register(routes, { topics: ["T", "Gone"] });
  register(routes, {
    name: "broker-b",
    addr: "10.0.0.9:1",
    connection: 9,
    topics: ["T", "Gone"],
  });
  register(routes, { topics: ["T"], counter: 2 });
  assertEquals(brokersOf(routes, "Gone"), "broker-b 0=10.0.0.9:1");
  const apache = newRoutes({ deleteTopicWithBrokerRegistration: false });
  register(apache, { topics: ["T", "Gone"] });
  register(apache, { topics: ["T"], counter: 2 });
  assertEquals(brokersOf(apache, "Gone"), `broker-a 0=${MASTER}`);
});

test("RouteInfoManager.registerBroker() writes queues only when the version changed", () => {
  const routes = newRoutes();
  register(routes);
  assertEquals(routes.topics.wipeWritePerm("broker-a"), 3);
  assertEquals(routes.topics.wipeWritePerm("nobody"), 0);
  register(routes);
  assertEquals(permOf(routes), 4);
  register(routes, { counter: 2, topics: [topicConfig("T", 16)] });
  const queues = routes.pickupTopicRouteData("T")!.queueDatas[0]!;
  assertEquals([queues.perm, queues.readQueueNums], [6, 16]);
});

test("RouteInfoManager tells the others of a new smallest id", () => {
  const routes = newRoutes({ notifyMinBrokerIdChanged: true });
  register(routes, { id: 1, acting: true });
  const joined = register(routes, { id: 0, acting: true });
  assert(joined.kind === "registered");
  assertEquals(joined.effects.filter((it) => it.kind === "notify"), [{
    kind: "notify",
    brokerAddr: SLAVE,
    header: {
      minBrokerId: 0,
      brokerName: "broker-a",
      minBrokerAddr: MASTER,
      offlineBrokerAddr: undefined,
      haBrokerAddr: "10.0.0.1:10912",
    },
  }]);
  const left = routes.onConnectionClosed(1);
  assertEquals(left.filter((it) => it.kind === "notify"), [{
    kind: "notify",
    brokerAddr: SLAVE,
    header: {
      minBrokerId: 1,
      brokerName: "broker-a",
      minBrokerAddr: SLAVE,
      offlineBrokerAddr: MASTER,
      haBrokerAddr: "10.0.0.1:10912",
    },
  }]);
});

test("RouteInfoManager.deleteTopic() and registerTopic() change one topic", () => {
  const routes = newRoutes();
  register(routes);
  const queues = { readQueueNums: 2, writeQueueNums: 2, perm: 6 };
  routes.registerTopic("X", [
    { brokerName: "broker-a", topicSysFlag: 0, ...queues },
    { brokerName: "nobody", topicSysFlag: 0, ...queues },
  ]);
  assertEquals(brokersOf(routes, "X"), `broker-a 0=${MASTER}`);
  routes.deleteTopic("X", "Other");
  assertEquals(brokersOf(routes, "X"), `broker-a 0=${MASTER}`);
  routes.deleteTopic("X", undefined);
  assertEquals(brokersOf(routes, "X"), undefined);
  assertEquals(routes.topicsOfCluster(CLUSTER).sort(), [
    "SELF_TEST_TOPIC",
    "T",
    "TBW102",
  ]);
});

test("RouteInfoManager holds its limits", () => {
  const routes = newRoutes({ registeredBrokersMax: 1, topicsMax: 4 });
  register(routes);
  const second = register(routes, { name: "b", addr: "1:1", connection: 2 });
  assertEquals(second.kind, "refused");
  const tooMany = register(routes, { topics: ["T", "U", "V"], counter: 2 });
  assertEquals(tooMany.kind, "refused");
  assertEquals(register(routes, { id: -1 }).kind, "refused");
  assertEquals(
    register(routes, { topics: ["T", "U"], counter: 3 }).kind,
    "registered",
  );
});

test("RouteInfoManager takes no registration that no client could use", () => {
  const routes = newRoutes();
  const odd = topicConfig("Odd", -1);
  for (
    const [spec, reason] of [
      [{ addr: "nowhere" }, 'brokerAddr "nowhere" is no host:port'],
      [{ addr: "10.0.0.1:0" }, "is no host:port"],
      [{ addr: "10.0.0.1:70000" }, "is no host:port"],
      [{ topics: [odd] }, "topic Odd has -1 queues to read and -1 to write"],
      [{ topics: [topicConfig("T", 4, 16)] }, "topic T has perm 16"],
      [{ topics: [topicConfig(" ")] }, "a topic has a blank name"],
    ] as const
  ) {
    const result = register(routes, spec);
    assert(result.kind === "refused" && result.reason.includes(reason), reason);
  }
  // As Java writes an address of IPv6.
  const address = "fe80:0:0:0:1:2:3:4:10911";
  assertEquals(register(routes, { addr: address }).kind, "registered");
});

test("RouteInfoManager stays linear at 10,000 topics", () => {
  const routes = newRoutes();
  const topics = Array.from({ length: 10_000 }, (_, it) => `topic-${it}`);
  const body = bodyOf({ topics });
  for (let broker = 0; broker < 4; broker++) {
    const header = headerOf({ name: `b${broker}`, addr: `10.0.1.${broker}:1` });
    routes.registerBroker(header, body, broker, 0);
  }
  for (let round = 0; round < 20; round++) {
    const header = headerOf({ name: "b0", addr: "10.0.1.0:1" });
    routes.registerBroker(header, body, 0, round);
  }
  assertEquals(routes.topics.topicCount, 10_002);
  assertEquals(
    routes.pickupTopicRouteData("topic-9999")!.brokerDatas.length,
    4,
  );
  for (let broker = 0; broker < 4; broker++) routes.onConnectionClosed(broker);
  assertEquals(routes.topics.topicCount, 0);
});
