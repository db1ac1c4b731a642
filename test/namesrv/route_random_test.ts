import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import type { RouteInfoManager } from "../../src/namesrv/route_info_manager.ts";
import { newRoutes, register } from "./support.ts";

const CLUSTER = "DefaultCluster";
const STEPS = 300;

function xorshift32(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}

/** What must hold whatever happened. */
function check(routes: RouteInfoManager): void {
  let addressCount = 0;
  for (const brokerName of routes.brokers.brokerNames()) {
    const data = routes.brokers.get(brokerName)!;
    assert(data.brokerAddrs.size > 0, "a group without brokers is kept");
    addressCount += data.brokerAddrs.size;
    const addresses = [...data.brokerAddrs.values()];
    assertEquals(new Set(addresses).size, addresses.length);
    for (const [id, address] of data.brokerAddrs) {
      const live = routes.liveInfo(CLUSTER, address);
      assertEquals([live?.brokerName, live?.brokerId], [brokerName, id]);
    }
    if (data.brokerAddrs.has(0)) continue;
    for (const topic of routes.topics.topicsOfBroker(brokerName)) {
      const perm = routes.topics.queuesOf(topic)!.get(brokerName)!.perm;
      assertEquals(perm & 2, 0, "writable without a master");
    }
  }
  assertEquals(routes.liveBrokerCount, addressCount);
  for (const topic of routes.topics.topics()) {
    for (const brokerName of routes.topics.queuesOf(topic)!.keys()) {
      assert(routes.brokers.get(brokerName) !== undefined, "orphaned queues");
    }
  }
}

for (let seed = 1; seed <= 20; seed++) {
  test(`RouteInfoManager keeps its invariants [seed=${seed}]`, () => {
    const next = xorshift32(seed * 2_654_435);
    const routes = newRoutes({ notifyMinBrokerIdChanged: true });
    for (let step = 0; step < STEPS; step++) {
      const name = `broker-${next(3)}`;
      const addr = `10.0.0.${next(6)}:10911`;
      const id = next(3);
      const connection = next(8);
      const action = next(10);
      if (action < 6) {
        register(routes, {
          name,
          addr,
          id,
          connection,
          nowMs: step,
          counter: next(3),
          stateVersion: next(2),
          timeoutMs: 50 + next(100),
          topics: [`t${next(5)}`, `t${next(5)}`],
          full: next(3) > 0,
          acting: next(2) === 0,
        });
      } else if (action === 6) routes.onConnectionClosed(connection);
      else if (action === 7) routes.scanNotActiveBroker(step);
      else {
        const header = {
          clusterName: CLUSTER,
          brokerName: name,
          brokerAddr: addr,
          brokerId: id,
        };
        if (action === 8) routes.unregisterBroker(header);
        else routes.onHeartbeat(header, connection, step);
      }
      check(routes);
    }
  });
}
